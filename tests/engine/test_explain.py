"""What the experiments conclude, with the runs scripted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone

import pytest

from redbucket.core.axes import Axis, Variant, axes, instants
from redbucket.core.conditions import Conditions
from redbucket.core.errors import Undecided
from redbucket.core.experiments import Experiment, Tries
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.explain import Explain
from redbucket.engine.explained import experiments
from redbucket.engine.found import CONFIRMED, Found
from redbucket.engine.specs import Specs
from tests.engine.scripted import F, P, ScriptedBench, always

NAMES = [f"t.py::test_{n}" for n in range(12)]
X = "t.py::test_x"
NOW = 1767268800.0
# What the runs of an axis are called: "first" is the first of two, "at once" changes several.
CAUSES = {axis.cause for axis in axes(str, NOW, 6, "7")} | {"first", "at once"}


class Process(ScriptedBench):
    """A bench whose test under question sees what ran before it in the same process."""

    def __init__(self, rule: Callable[[RunSpec, Sequence[str]], bool], names: Sequence[str]) -> None:
        super().__init__({n: always(P) for n in names})
        self.rule = rule

    def _test(self, nodeid: str, spec: RunSpec, ids: Sequence[str]):  # type: ignore[no-untyped-def]
        if nodeid == X:
            fails = self.rule(spec, ids[: ids.index(X)])
            self.tests[X] = always(F if fails else P)
        return super()._test(nodeid, spec, ids)


def explain(
    rule: Callable[[RunSpec, Sequence[str]], bool],
    *,
    names: Sequence[str] = (*NAMES, X),
    budget: float | None = None,
    tick: float = 0.0,
    asked: str = X,
) -> tuple[Explain, Found | None]:
    bench = Process(rule, names)
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    ticks = itertools.count()
    work = Explain(
        asked,
        "",
        specs,
        bench,
        axes(specs.other_seed, NOW, 6, "7"),
        lambda step: None,
        lambda: next(ticks) * tick,
        budget=budget,
        per_suite=1e9,
    )
    return work, work.run()


def pictured(work: Explain, found: Found | None, base: Sequence[str] = ()) -> list[Experiment]:
    """The experiments of the report; every run of an axis is counted once, and under the axis that it changes."""
    every = experiments(work, found, list(base))
    axis_runs = [s for s in work.bench.ran if s.condition in CAUSES]  # type: ignore[attr-defined]
    counted = [one for one in every if one.changes not in ("", "order")]
    assert sum(one.head.runs for one in counted if one.head) == len(axis_runs)
    assert {(one.changes, one.condition) for one in every if one.confirmed} == {
        (found.cause if found.cause != "inconsistent property" else "", condition)
        for condition in (found.conditions if found and not found.culprits else ())
    } | ({("order", found.culprits.condition)} if found and found.culprits else set())
    return every


def cause(found: Found | None) -> str:
    return found.cause if found else ""


def test_a_victim_and_its_polluter() -> None:
    work, found = explain(lambda spec, before: NAMES[4] in before)
    assert found is not None and found.culprits is not None
    assert (found.cause, found.culprits.tests, found.culprits.complete) == ("order", [NAMES[4]], True)
    three, none = Tries(failed=3, runs=3), Tries(failed=0, runs=3)
    assert [
        (e.condition, e.changes, e.head, e.base, e.flipped) for e in pictured(work, found, ["passed"] * 3)
    ] == [
        ("in the suite", "", three, none, None),
        ("alone", "order", none, None, True),
        (f"after {NAMES[4]}", "order", three, None, True),
        ("without, in between", "order", none, None, None),
        ("after all the others instead", "order", none, None, False),
    ]
    assert found.what.startswith("a victim")
    assert len(found.evidence) == 3


def test_a_question_that_one_run_answers_wrong_is_asked_again() -> None:
    """Each of the questions of the search in turn gets a wrong answer, once."""
    for wrong in range(12):
        asked = itertools.count()

        def rule(spec: RunSpec, before: Sequence[str], asked=asked, wrong=wrong) -> bool:  # type: ignore[no-untyped-def]
            truth = NAMES[4] in before
            return truth != (spec.condition == "order" and next(asked) == wrong)

        work, found = explain(rule)
        if found is None:  # a wrong answer to what confirms it makes the test mixed
            assert not work.steady or work.notes
        else:
            assert found.culprits is not None and found.culprits.tests == [NAMES[4]], wrong


def test_a_victim_among_a_thousand_takes_few_runs() -> None:
    names = [f"t.py::test_{n}" for n in range(1000)]
    work, found = explain(lambda spec, before: names[777] in before, names=[*names, X])
    assert found is not None and found.culprits is not None
    assert found.culprits.tests == [names[777]]
    assert len(work.bench.ran) <= 36  # type: ignore[attr-defined]


@pytest.mark.parametrize("lucky", range(6))
def test_a_value_that_lets_a_failing_test_pass_is_found_among_draws_at_once(lucky: int) -> None:
    seeds = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    value = seeds.other_seed(f"hash {lucky + 1}")
    work, found = explain(lambda spec, before: spec.hash_seed != value)
    assert cause(found) == "hash order"
    assert found is not None and found.what == f"it passes with PYTHONHASHSEED={value}"
    assert len(work.bench.ran) <= 30  # type: ignore[attr-defined]


def test_two_polluters_that_act_together() -> None:
    _, found = explain(lambda spec, before: {NAMES[2], NAMES[9]} <= set(before))
    assert found is not None and found.culprits is not None
    assert found.culprits.tests == [NAMES[2], NAMES[9]]


def test_two_polluters_of_which_each_does() -> None:
    work, found = explain(lambda spec, before: bool({NAMES[2], NAMES[9]} & set(before)))
    assert found is not None and found.culprits is not None
    assert found.culprits.tests == [NAMES[2]]
    assert found.culprits.others == [[NAMES[9]]]
    assert any("each of these does it, too" in note for note in work.notes)


def test_a_brittle_test_and_its_helper() -> None:
    _, found = explain(lambda spec, before: NAMES[7] not in before)
    assert found is not None and found.culprits is not None
    assert found.culprits.tests == [NAMES[7]]
    assert found.what.startswith("a brittle")


def test_a_victim_whose_polluter_comes_later() -> None:
    _, found = explain(lambda spec, before: NAMES[4] in before, names=(X, *NAMES))
    assert found is not None and found.culprits is not None
    assert found.culprits.tests == [NAMES[4]]


def test_the_state_that_is_put_back_is_named() -> None:
    bench = Process(
        lambda spec, before: NAMES[4] in before and "a.B" not in spec.conditions.restore, [*NAMES, X]
    )
    plain = bench._test

    def with_state(nodeid: str, spec: RunSpec, ids: Sequence[str]):  # type: ignore[no-untyped-def]
        import msgspec

        test = plain(nodeid, spec, ids)
        states = ("c.D", "a.B") if spec.conditions.state and nodeid == NAMES[4] else ()
        return msgspec.structs.replace(test, state=states)

    bench._test = with_state  # type: ignore[method-assign]
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    found = Explain(X, "", specs, bench, (), lambda step: None, lambda: 0.0, per_suite=1e9).run()
    assert found is not None and found.culprits is not None
    assert found.culprits.state == ["a.B"]


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (lambda spec, before: bool(spec.hash_seed), "hash order"),
        (lambda spec, before: spec.seed != "7", "random seed"),
        (lambda spec, before: spec.conditions.clock is None or spec.conditions.clock > NOW, "clock"),
        (lambda spec, before: spec.conditions.env.get("TZ") == "Asia/Kolkata", "time zone"),
        (lambda spec, before: "LC_ALL" in spec.conditions.env, "locale"),
        (lambda spec, before: spec.conditions.env.get("COLUMNS") == "40", "terminal width"),
        (lambda spec, before: spec.conditions.umask == 0o77, "umask"),
        (lambda spec, before: spec.conditions.empty_home, "home folder"),
        (lambda spec, before: spec.conditions.listing == "ascending", "directory order"),
        (lambda spec, before: bool(spec.used_home), "leftover files"),
        (lambda spec, before: spec.conditions.twice, "leftover state"),
        (lambda spec, before: spec.conditions.switch_interval == 1e-6, "concurrency"),
        (lambda spec, before: spec.conditions.load > 0, "load"),
    ],
)
def test_each_axis_names_its_cause(rule: Callable[[RunSpec, Sequence[str]], bool], name: str) -> None:
    work, found = explain(rule)
    assert cause(found) == name
    assert name not in work.tried
    assert found is not None and found.fix and found.evidence
    confirmed = [one for one in pictured(work, found) if one.confirmed]
    assert {one.changes for one in confirmed} == {name}
    if work.steady and name not in ("concurrency", "load"):
        (one,) = confirmed
        assert one.flipped and one.head is not None and one.head.runs >= CONFIRMED
        assert one.head.failed == (0 if work.fails else one.head.runs)
        beside = [e for e in pictured(work, found) if (e.changes, e.condition) == (name, "as it is")]
        assert [(e.head and e.head.failed, e.flipped) for e in beside] == [(3 if work.fails else 0, None)]


def test_what_each_run_can_say_at_once_is_not_asked_one_by_one() -> None:
    """A sound test, and one that fails in the same way whatever is changed."""
    sound, _ = explain(lambda spec, before: False)
    assert len(sound.bench.ran) <= 27  # type: ignore[attr-defined]
    assert "concurrency" in sound.tried
    real, found = explain(lambda spec, before: True)
    assert found is None
    assert len(real.bench.ran) <= 33  # type: ignore[attr-defined]
    assert {"time zone", "locale", "home folder", "concurrency"} <= set(real.tried)


def test_a_race_that_shows_now_and_then_is_asked_for_once_runs_with_all_changed_show_it() -> None:
    turn = itertools.count()

    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        return spec.conditions.switch_interval == 1e-6 and next(turn) % 3 == 0

    _, found = explain(rule)
    assert cause(found) == "concurrency"


def test_a_race_that_passes_where_threads_are_seldom_switched() -> None:
    work, found = explain(lambda spec, before: spec.conditions.switch_interval != 5.0)
    assert cause(found) == "concurrency"
    pictured(work, found)


def test_a_failure_that_another_one_hides_where_all_is_changed_is_asked_for_one_by_one() -> None:
    """It passes with an empty HOME, and fails otherwise with another umask."""

    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        return not spec.conditions.empty_home or spec.conditions.umask is not None

    class Telling(Process):
        def _test(self, nodeid: str, spec: RunSpec, ids: Sequence[str]):  # type: ignore[no-untyped-def]
            self.messages[X] = lambda spec, count: (
                "a configuration" if not spec.conditions.empty_home else f"mode {spec.conditions.umask}"
            )
            return super()._test(nodeid, spec, ids)

    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    bench = Telling(rule, [*NAMES, X])
    work = Explain(
        X,
        "",
        specs,
        bench,
        axes(specs.other_seed, NOW, 6, "7"),
        lambda step: None,
        lambda: 0.0,
        per_suite=1e9,
    )
    assert cause(work.run()) == "home folder"


@pytest.mark.parametrize("mixed", [False, True])
def test_a_run_that_was_cut_short_is_no_failure(mixed: bool) -> None:
    """Under load each run ends before the test was reached."""
    import msgspec

    class Cut(Process):
        def _one(self, spec: RunSpec) -> Run:
            run = super()._one(spec)
            cut = spec.conditions.load or spec.conditions.switch_interval == 1e-6
            return msgspec.structs.replace(run, broken="killed", tests={}) if cut else run

    turn = itertools.count()
    bench = Cut(lambda spec, before: mixed and next(turn) % 3 == 0, [*NAMES, X])
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    work = Explain(X, "", specs, bench, axes(specs.other_seed, NOW, 6, "7"), lambda step: None, lambda: 0.0)
    assert work.run() is None
    # what was not seen was not tried
    assert "load (no run of it was whole)" in work.untried and "load" not in work.tried
    assert any("cut short" in note and "killed" in note for note in work.notes)


@pytest.mark.parametrize("how", ["alone", "plain", "reversed"])
def test_runs_that_end_before_the_test_say_nothing_of_it(how: str) -> None:
    import msgspec

    class Cut(Process):
        def _one(self, spec: RunSpec) -> Run:
            run = super()._one(spec)
            first = spec.run_id == 1
            cut = how in (spec.condition, spec.order) or (how == "reversed" and spec.order == "shuffled")
            return run if first or not cut else msgspec.structs.replace(run, broken="killed", tests={})

    bench = Cut(lambda spec, before: False, [*NAMES, X])
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    work = Explain(X, "", specs, bench, axes(specs.other_seed, NOW, 6, "7"), lambda step: None, lambda: 0.0)
    if how == "reversed":
        assert work.run() is None
        assert "order (no run of it was whole)" in work.untried and "order" not in work.tried
        return
    with pytest.raises(Undecided) as caught:
        work.run()
    assert "killed" in caught.value.reason


def test_midnight_is_looked_for_in_the_zone_where_it_is_one() -> None:
    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        clock = spec.conditions.clock
        return clock is not None and clock % 86400 > 86399 and "TZ" not in spec.conditions.env

    _, found = explain(rule)
    assert cause(found) == "clock"
    assert found is not None and "before midnight" in found.what


def test_a_network_that_is_not_used_is_not_denied() -> None:
    work, found = explain(lambda spec, before: spec.conditions.no_network)
    assert found is None
    assert "network (it was not seen to use it)" in work.tried


def test_a_mixed_test_that_a_pinned_entropy_holds_still() -> None:
    turn = itertools.count()

    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        if spec.conditions.entropy:
            return int(spec.conditions.entropy) % 2 == 0
        return next(turn) % 2 == 0

    work, found = explain(rule)
    assert cause(found) == "system entropy"
    assert not work.steady
    assert "order (a mixed test does not tell)" in work.untried
    red, green = (one for one in pictured(work, found) if one.confirmed)
    assert {(red.head, red.flipped), (green.head, green.flipped)} == {
        (Tries(failed=6, runs=6), None),
        (Tries(failed=0, runs=6), None),
    }


def test_a_mixed_test_blames_nobody() -> None:
    turn = itertools.count()
    work, found = explain(lambda spec, before: next(turn) % 3 == 0)
    assert found is None
    assert not work.steady
    assert [one.flipped for one in pictured(work, found) if one.flipped] == []


def test_a_mixed_test_without_a_cause_has_a_run_of_each_kind_under_equal_conditions() -> None:
    """What is to be frozen needs a capture, whether its cause is known or not."""
    turn = itertools.count()
    work, found = explain(lambda spec, before: bool(before) and next(turn) % 3 == 0)
    assert found is None
    failing, passing = work.both_ways(found)
    assert failing is not None and passing is not None
    assert (failing.tests[X].outcome, passing.tests[X].outcome) == (Outcome.FAILED, Outcome.PASSED)
    # it is mixed in the suite alone, so both come from there
    assert len(failing.tests) == len(passing.tests) == len(NAMES) + 1


def test_both_sides_of_a_cause_are_there_for_the_capture() -> None:
    for rule in (
        lambda spec, before: NAMES[4] in before,
        lambda spec, before: NAMES[4] not in before,
        lambda spec, before: "TZ" in spec.conditions.env,
        lambda spec, before: "TZ" not in spec.conditions.env,
    ):
        work, found = explain(rule)
        failing, passing = work.both_ways(found)
        assert found is not None and failing is not None and passing is not None
        assert (failing.tests[X].outcome, passing.tests[X].outcome) == (Outcome.FAILED, Outcome.PASSED)


@pytest.mark.parametrize("fails", [True, False])
def test_what_never_differs_has_nothing_to_capture(fails: bool) -> None:
    work, found = explain(lambda spec, before: fails)
    assert work.both_ways(found) == (None, None)


def test_a_suite_that_shuffles_itself_has_its_polluter_found_in_an_order_that_is_asked_for() -> None:
    class Shuffling(Process):
        def run(self, specs: Sequence[RunSpec]) -> list[Run]:
            runs = []
            for spec in specs:
                if spec.order == "natural":
                    # the polluter stands before the test in every other run
                    rest = [n for n in self.tests if n != X]
                    last = [*rest, X] if spec.run_id % 2 else [X, *rest]
                    self.tests = {name: self.tests[name] for name in last}
                runs += super().run([spec])
            return runs

    bench = Shuffling(lambda spec, before: NAMES[4] in before, [*NAMES, X])
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    work = Explain(X, "", specs, bench, axes(specs.other_seed, NOW, 6, "7"), lambda step: None, lambda: 0.0)
    found = work.run()
    assert found is not None and found.culprits is not None, work.notes
    assert found.culprits.tests == [NAMES[4]]
    assert any("shuffles" in note for note in work.notes)


@pytest.mark.parametrize(("lone", "company"), [*itertools.permutations([F, P, Outcome.SKIPPED], 2)])
def test_a_test_that_is_skipped_on_one_side_has_no_polluter(lone: Outcome, company: Outcome) -> None:
    class Skipping(Process):
        def _test(self, nodeid: str, spec: RunSpec, ids: Sequence[str]):  # type: ignore[no-untyped-def]
            self.tests[X] = always(company if NAMES[4] in ids[: ids.index(X)] else lone)
            return ScriptedBench._test(self, nodeid, spec, ids)

    bench = Skipping(lambda spec, before: False, [*NAMES, X])
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    work = Explain(X, "", specs, bench, axes(specs.other_seed, NOW, 6, "7"), lambda step: None, lambda: 0.0)
    found = work.run()
    if Outcome.SKIPPED in (lone, company):
        assert found is None
        assert any("it is skipped" in note for note in work.notes)
    else:
        assert found is not None and found.culprits is not None and found.culprits.tests == [NAMES[4]]


def test_what_looks_steady_by_chance_is_not_pinned_on_the_order() -> None:
    """Fails three times in the suite, passes three times alone, and is a coin otherwise."""
    turn = itertools.count()
    flips = [False, True, True, False, True, False, False, True]

    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        if spec.condition == "plain":
            return True
        return spec.condition != "alone" and flips[next(turn) % len(flips)]

    _, found = explain(rule)
    assert found is None or found.culprits is None


def test_what_flips_once_and_never_again_is_mixed() -> None:
    turn = itertools.count()

    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        return not (spec.conditions.twice and next(turn) == 0)

    work, found = explain(rule)
    assert found is None
    assert not work.steady


@pytest.mark.parametrize(("fails", "steady"), [(True, True), (False, True)])
def test_a_real_failure_and_a_sound_test_have_no_cause(fails: bool, steady: bool) -> None:
    work, found = explain(lambda spec, before: fails)
    assert found is None
    assert (work.steady, work.fails) == (steady, fails)
    assert {one.flipped for one in pictured(work, found)} == {None, False}
    assert {"order", "hash order", "clock", "leftover files"} <= set(work.tried)


def test_what_there_is_no_time_for_is_said() -> None:
    work, found = explain(lambda spec, before: True, budget=4, tick=1.0)
    assert found is None
    assert {"leftover files", "leftover state"} <= set(work.untried)
    assert not set(work.untried) & set(work.tried)


class Timed(Process):
    """Each run takes as long as the suite: the worst case of a limit in suites."""

    now = 0.0
    cpus = 2

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        self.now += -(-len(specs) // self.cpus)
        return super().run(specs)


@pytest.mark.parametrize(
    "rule",
    [
        lambda spec, before: True,
        lambda spec, before: False,
        lambda spec, before: hash((spec.run_id, "coin")) % 2 == 0,
        lambda spec, before: spec.run_id % 7 == 0,
        lambda spec, before: NAMES[4] in before,
        lambda spec, before: bool({NAMES[2], NAMES[5], NAMES[9]} & set(before)),
        lambda spec, before: {NAMES[1], NAMES[3], NAMES[5], NAMES[9]} <= set(before),
        lambda spec, before: spec.conditions.load > 0 and spec.run_id % 2 == 0,
        lambda spec, before: spec.conditions.switch_interval == 1e-6 and spec.run_id % 3 > 0,
    ],
)
@pytest.mark.parametrize("cpus", [1, 2, 8])
def test_all_ends_within_forty_times_the_suite(
    rule: Callable[[RunSpec, Sequence[str]], bool], cpus: int
) -> None:
    bench = Timed(rule, [*NAMES, X])
    bench.cpus = cpus
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    work = Explain(
        X, "", specs, bench, axes(specs.other_seed, NOW, 6, "7"), lambda step: None, lambda: bench.now
    )
    work.run()
    assert work.suite_seconds == 1
    assert bench.now <= 40


class Slowing(Timed):
    """A first run that is cold takes ten times as long, and then the machine is shared."""

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        import msgspec

        cold = not self.ran
        found = super().run(specs)
        self.now += 9 if cold else 0
        return [msgspec.structs.replace(run, duration=10.0 if cold else 1.0) for run in found]


def test_what_the_suite_takes_is_not_what_its_first_cold_run_took() -> None:
    bench = Slowing(lambda spec, before: False, [*NAMES, X])
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    work = Explain(X, "", specs, bench, (), lambda step: None, lambda: bench.now)
    work.run()
    assert work.suite_seconds == 1


def test_a_test_that_is_not_there() -> None:
    with pytest.raises(Undecided) as caught:
        explain(lambda spec, before: True, names=["other.py::test_x"])
    assert "other.py::test_x" in caught.value.reason


def test_a_row_that_is_another_in_each_process_is_said_to_be_that() -> None:
    with pytest.raises(Undecided) as caught:
        explain(lambda spec, before: True, asked="t.py::test_x[#1]")
    assert "another one in each process" in caught.value.reason


def test_no_axis_freezes_the_clock_or_repeats_a_name() -> None:
    found = axes(lambda purpose: purpose, NOW, 6, "7")
    assert len({axis.cause for axis in found}) == len(found)
    assert len(dict(instants(NOW))) == len(instants(NOW)) == 8
    assert all(isinstance(v, Variant) and axis.fix for axis in found for v in axis.variants)
    assert isinstance(found[0], Axis) and Conditions() == Conditions()
    assert Outcome.PASSED in (P,)


DAYS = [datetime(2023, 1, 1, 15, tzinfo=timezone.utc) + timedelta(days=n) for n in range(4 * 366)]
TRIPS: dict[str, Callable[[datetime], bool]] = {
    "a weekend, or a day of work": lambda day: day.weekday() >= 5,
    "December": lambda day: day.month == 12,
    "a 31st": lambda day: day.day == 31,
    "a leap day": lambda day: (day.month, day.day) == (2, 29),
}


@pytest.mark.parametrize("trips", TRIPS.values(), ids=TRIPS)
def test_dates_at_which_code_trips_are_among_the_instants_on_each_day_of_the_year(
    trips: Callable[[datetime], bool],
) -> None:
    for today in DAYS:
        found = [datetime.fromtimestamp(at, timezone.utc) for _, at in instants(today.timestamp())]
        assert len({trips(day) for day in (today, *found)}) == 2, today
        assert max(found) > today + timedelta(days=365) and min(found) < today - timedelta(days=365)
