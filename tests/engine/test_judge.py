"""What the judge makes of runs: every bucket, with the bench scripted and everything else real."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.experiments import Tries
from redbucket.core.patch import Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.core.records import Outcome, Run, Session
from redbucket.core.report import Row, Verdict
from redbucket.core.runspec import RunSpec
from redbucket.core.verdict import decide
from redbucket.core.worlds import Sides
from redbucket.engine.judge import Judge
from redbucket.engine.judged import Judged
from redbucket.engine.specs import Specs
from redbucket.engine.troubles import troubles_of
from tests.engine.scripted import F, P, ScriptedBench, always, broken_by_patch

A, B, C, D, E = (f"tests/test_m.py::test_{c}" for c in "abcde")
CLEAN = {i: always(P) for i in (B, C, D, E)}
FIXTURE = "tests/data/x.json"


def e(oid: str) -> Entry:
    return Entry("100644", oid)


def judge(
    bench: ScriptedBench,
    *,
    agent: bool = True,
    moved: bool = False,
    scope: str = "all",
    reruns: int = 3,
    doubt: float | None = None,
    over: bool = False,
    trusted_test_file: bool = False,
    changed: str = "pkg.py",
) -> Judged:
    base = {"pkg.py": e("p0"), "tests/test_m.py": e("t0"), FIXTURE: e("f0")}
    merged = {**base, changed: e("p1")}
    if moved:
        merged[FIXTURE] = e("f1")
    if trusted_test_file:
        merged["tests/test_m.py"] = e("t1")
    side = JudgeSide(Policy())
    distrusted = frozenset({FIXTURE}) if moved and agent else frozenset[str]()
    sides = Sides(base, merged, side.is_judge, side.is_fixture, distrusted, {})
    subject = SimpleNamespace(
        policy=Policy(),
        judge=side,
        sides=sides,
        touched=frozenset(path for path in merged if base.get(path) != merged[path]),
        distrusted=distrusted,
        identity=SimpleNamespace(agent=agent),
        merged_tree="m",
    )
    specs = Specs(trees={"H": "h", "B": "b", "P": "p"}, seed="7", roots=(".",), timeout=1)
    objects = SimpleNamespace(write_tree=lambda tree, updates: "f", entries=lambda tree: merged)
    return Judge(
        subject=cast("Any", subject),
        objects=cast("Any", objects),
        specs=specs,
        bench=bench,
        reruns=reruns,
        scope=scope,
        doubt=doubt,
        say=lambda step: None,
        over=lambda: over,
    ).judge()


def only(judged: Judged, name: str = A) -> Row:
    (row,) = [r for r in judged.rows if r.nodeid == name]
    return row


def conditions(bench: ScriptedBench, world: str) -> list[str]:
    return [spec.condition for spec in bench.ran if spec.world == world]


def test_green_costs_three_runs_and_one_collection() -> None:
    bench = ScriptedBench({A: always(P), **CLEAN})
    judged = judge(bench)
    assert {r.bucket for r in judged.rows} == {Bucket.STABLE_PASS}
    assert [(s.world, s.condition) for s in bench.ran] == [("H", "plain")] * 3 + [("B", "collect")]
    assert not judged.problems
    assert not judged.findings


def test_what_the_patch_breaks_is_an_introduced_miss() -> None:
    bench = ScriptedBench({A: broken_by_patch, **CLEAN})
    row = only(judge(bench))
    assert (row.bucket, row.introduced, row.blocks) == (Bucket.INVARIANT_MISS, True, True)
    assert row.doubt is not None
    assert row.doubt < 0.001  # nine failures against seven passes
    assert {"alone", "reversed", "hash-seed 1", "seed 1"} <= set(row.tried)


def test_each_condition_is_run_in_both_worlds() -> None:
    bench = ScriptedBench({A: broken_by_patch, **CLEAN})
    judge(bench)
    for condition in ("alone", "reversed", "hash-seed 1", "hash-seed 2", "seed 1", "seed 2"):
        assert condition in conditions(bench, "H")
        assert condition in conditions(bench, "B")


def test_red_in_base_is_not_the_patchs_doing() -> None:
    row = only(judge(ScriptedBench({A: always(F), **CLEAN})))
    assert (row.introduced, row.blocks, row.state) == (False, False, "already red")


def test_noise_in_base_too_is_not_the_patchs_doing() -> None:
    flaky = lambda spec, count: F if count % 2 else P  # noqa: E731
    row = only(judge(ScriptedBench({A: flaky, **CLEAN})))
    assert (row.bucket, row.introduced, row.state) == (Bucket.NOISE, False, "already noisy")


def test_noise_that_only_head_shows_is_introduced() -> None:
    flaky = lambda spec, count: F if spec.world == "H" and count % 2 else P  # noqa: E731
    bench = ScriptedBench({A: flaky, **CLEAN})
    row = only(judge(bench))
    assert (row.bucket, row.introduced, row.blocks) == (Bucket.NOISE, True, True)
    assert conditions(bench, "B").count("again") == 10


def test_one_failure_in_many_is_not_pinned_on_the_patch() -> None:
    once = lambda spec, count: F if spec.world == "H" and count == 2 else P  # noqa: E731
    row = only(judge(ScriptedBench({A: once, **CLEAN})))
    assert (row.bucket, row.introduced, row.blocks) == (Bucket.NOISE, False, False)
    assert "too few" in row.why.lower()


def test_three_different_failures_are_noise() -> None:
    bench = ScriptedBench(
        {A: broken_by_patch, **CLEAN}, messages={A: lambda spec, count: f"assert {count} == 99"}
    )
    assert only(judge(bench)).bucket is Bucket.NOISE


@pytest.mark.parametrize(
    ("passes_when", "cause"),
    [
        (lambda spec: spec.condition == "alone", "order"),
        (lambda spec: spec.order == "reversed", "order"),
        (lambda spec: spec.condition.startswith("hash-seed"), "hash order"),
    ],
)
def test_a_flip_names_its_cause(passes_when: Any, cause: str) -> None:
    def behaviour(spec: RunSpec, count: int) -> Outcome:
        return P if spec.world == "B" or passes_when(spec) else F

    row = only(judge(ScriptedBench({A: behaviour, **CLEAN})))
    assert (row.bucket, row.cause, row.introduced, row.blocks) == (Bucket.NOISE, cause, True, True)
    (one, *_) = confirmed = [e for e in row.experiments if e.confirmed]
    assert (len(confirmed), one.changes, one.flipped) == (1, cause, True)
    assert (one.head, one.base) == (Tries(failed=0, runs=3), Tries(failed=0, runs=3))
    assert_counted(row)


def assert_counted(row: Row) -> None:
    """The experiments of a row count what its outcomes list."""
    for one in row.experiments:
        for world, tries in (("H", one.head), ("B", one.base)):
            key = world if one.condition == "plain" else f"{world} {one.condition}"
            seen = row.outcomes.get(key, [])
            assert (tries.failed, tries.runs) == (seen.count("failed"), len(seen)) if tries else not seen


def test_a_flip_that_does_not_hold_is_no_cause() -> None:
    def behaviour(spec: RunSpec, count: int) -> Outcome:
        # passes once alone, then fails alone, too
        return P if spec.world == "B" or (spec.condition == "alone" and count < 6) else F

    row = only(judge(ScriptedBench({A: behaviour, **CLEAN})))
    assert row.cause is None
    assert [one.condition for one in row.experiments if one.flipped] == ["alone"]
    assert not any(one.confirmed for one in row.experiments)
    assert_counted(row)


def test_other_seeds_that_pass_do_not_excuse_what_base_passes_with_this_seed() -> None:
    def behaviour(spec: RunSpec, count: int) -> Outcome:
        return F if spec.world == "H" and spec.seed == "7" else P

    row = only(judge(ScriptedBench({A: behaviour, **CLEAN})))
    assert (row.bucket, row.cause, row.blocks) == (Bucket.INVARIANT_MISS, "seed", True)


def test_the_patchs_fixture_alone_fails_it() -> None:
    behaviour = lambda spec, count: F if spec.world == "F" else P  # noqa: E731
    bench = ScriptedBench({A: behaviour, **CLEAN}, reads={A: (FIXTURE,)})
    row = only(judge(bench, moved=True))
    assert (row.bucket, row.introduced, row.blocks, row.fixtures) == (
        Bucket.FIXTURE_DRIFT,
        True,
        True,
        [FIXTURE],
    )
    assert {s.only for s in bench.ran if s.world == "F" and not s.collect_only} == {(A,)}  # the readers alone


def test_a_persons_fixture_that_fails_its_test_is_drift() -> None:
    behaviour = lambda spec, count: F if spec.world == "H" else P  # noqa: E731
    bench = ScriptedBench({A: behaviour, **CLEAN}, reads={A: (FIXTURE,)})
    row = only(judge(bench, moved=True, agent=False))
    assert (row.bucket, row.blocks) == (Bucket.FIXTURE_DRIFT, True)


def test_source_and_fixture_moved_together_is_a_miss_that_names_the_fixture() -> None:
    behaviour = lambda spec, count: F if spec.world == "H" else P  # noqa: E731
    bench = ScriptedBench({A: behaviour, **CLEAN}, reads={A: (FIXTURE,)})
    row = only(judge(bench, moved=True))
    assert row.bucket is Bucket.INVARIANT_MISS
    assert FIXTURE in row.why
    assert "endorse" in row.why


def test_a_moved_fixture_that_changes_nothing_is_no_drift() -> None:
    bench = ScriptedBench({A: always(P), **CLEAN}, reads={A: (FIXTURE,)})
    assert only(judge(bench, moved=True)).bucket is Bucket.STABLE_PASS


def test_a_test_that_did_its_work_in_base_and_is_skipped_now_counts_as_failed() -> None:
    behaviour = lambda spec, count: Outcome.SKIPPED if spec.world == "H" else P  # noqa: E731
    row = only(judge(ScriptedBench({A: behaviour, **CLEAN})))
    assert (row.bucket, row.introduced, row.blocks) == (Bucket.INVARIANT_MISS, True, True)


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.XFAILED])
def test_skipped_in_base_too_is_nobodys_doing_and_base_is_not_run_in_full(outcome: Outcome) -> None:
    bench = ScriptedBench({A: always(outcome), **CLEAN})
    row = only(judge(bench))
    assert not row.blocks
    assert conditions(bench, "B") == ["collect", "absent"]


def test_a_test_that_is_gone_is_refused() -> None:
    bench = ScriptedBench({A: always(P), **CLEAN}, absent={"H": {A}})
    judged = judge(bench)
    assert [f.rule for f in judged.findings] == ["vanished-test"]
    assert only(judged).blocks


def test_a_row_that_a_persons_patch_takes_out_is_said_and_not_refused() -> None:
    bench = ScriptedBench({A: always(P), **CLEAN}, absent={"H": {A}})
    judged = judge(bench, agent=False)
    assert [(f.rule, f.severity.value) for f in judged.findings] == [("vanished-test", "warn")]
    assert not any(r.blocks for r in judged.rows)


def test_a_trusted_change_of_the_file_may_remove_its_tests() -> None:
    bench = ScriptedBench({A: always(P), **CLEAN}, absent={"H": {A}})
    judged = judge(bench, agent=False, trusted_test_file=True)
    assert not judged.findings
    assert not [r for r in judged.rows if r.nodeid == A]


def test_a_file_that_does_not_import_with_the_patch_breaks_its_tests() -> None:
    everything = {A, B, C, D, E}
    bench = ScriptedBench(
        {A: always(P), **CLEAN, "tests/test_o.py::test_f": always(P)},
        absent={"H": everything},
        errors={"H": {"tests/test_m.py": "ImportError: cannot import name 'gone'"}},
    )
    judged = judge(bench)
    assert {r.nodeid for r in judged.rows if r.blocks} == everything
    assert all("ImportError" in r.message for r in judged.rows if r.blocks)


def test_a_red_suite_in_both_worlds_is_the_environment() -> None:
    bench = ScriptedBench({i: always(F) for i in (A, B, C, D, E)})
    judged = judge(bench)
    assert [p.code for p in judged.problems] == ["environment-failed"]
    assert {r.bucket for r in judged.rows} == {Bucket.UNCLASSIFIED}


def test_no_tests_is_no_answer() -> None:
    assert [p.code for p in judge(ScriptedBench({})).problems] == ["no-tests"]


def test_out_of_time_is_never_green() -> None:
    judged = judge(ScriptedBench({A: broken_by_patch, **CLEAN}), over=True)
    assert "out-of-time" in [p.code for p in judged.problems]


def test_scope_failed_reruns_what_failed_only() -> None:
    bench = ScriptedBench({A: broken_by_patch, **CLEAN})
    judged = judge(bench, scope="failed")
    plain = [s for s in bench.ran if (s.world, s.condition) == ("H", "plain")]
    assert [s.only for s in plain] == [None, (A,), (A,)]
    assert only(judged).bucket is Bucket.INVARIANT_MISS
    assert only(judged, B).bucket is Bucket.STABLE_PASS


def test_one_run_can_not_tell_noise_from_a_miss() -> None:
    judged = judge(ScriptedBench({A: broken_by_patch, **CLEAN}), reruns=1)
    assert only(judged).bucket is Bucket.UNCLASSIFIED


def test_doubt_is_brought_down_by_more_runs() -> None:
    bench = ScriptedBench({A: broken_by_patch, **CLEAN})
    row = only(judge(bench, doubt=1e-6))
    assert row.doubt is not None
    assert row.doubt <= 1e-6
    assert conditions(bench, "B").count("again") == conditions(bench, "H").count("again") > 0


def scouted(change: Mapping[str, Any], *, base: bool) -> Row:
    """A test that passes in the plain runs and fails under one change, in head or in both worlds."""

    def behaviour(spec: RunSpec, count: int) -> Outcome:
        hit = all(getattr(spec, key) != value for key, value in change.items())
        return F if hit and (spec.world == "H" or base) else P

    return only(judge(ScriptedBench({A: behaviour, **CLEAN}, touches={A})))


def test_the_scout_finds_what_one_seed_hides() -> None:
    row = scouted({"seed": "7"}, base=False)
    assert (row.bucket, row.cause, row.introduced, row.blocks) == (Bucket.INVARIANT_MISS, "seed", True, True)
    # the pinned runs passed: that is said beside how often which seed failed
    assert row.outcomes["H"] == ["passed"] * 3
    red = len(row.outcomes["H scout seed"])
    said = rf"it passed 3 of 3 runs as they were pinned, and failed {red} of {red} runs with the seed (\d+)"
    found = re.match(said, row.why)
    assert found is not None, row.why
    assert found[1] != "7"
    assert row.why[found.end() :] == "; base passes with that very seed"


@pytest.mark.parametrize(
    ("change", "cause"),
    [({"hash_seed": ""}, "hash order"), ({"used_home": ""}, "leftover files"), ({"shuffle": ""}, "order")],
)
def test_the_scout_finds_what_fails_at_the_second_start(change: dict[str, str], cause: str) -> None:
    if "hash_seed" in change:

        def behaviour(spec: RunSpec, count: int) -> Outcome:
            other = spec.hash_seed not in ("", "7")
            return F if other and spec.world == "H" else P

        row = only(judge(ScriptedBench({A: behaviour, **CLEAN}, touches={A})))
    else:
        row = scouted(change, base=False)
    assert [(one.changes, one.flipped) for one in row.experiments if one.confirmed] == [(cause, True)]
    assert_counted(row)
    assert (row.bucket, row.cause, row.introduced, row.blocks) == (Bucket.NOISE, cause, True, True)
    assert row.why.startswith("it passed 3 of 3 runs as they were pinned, and failed ")
    how = {"hash order": "with another hash seed", "order": "in a shuffled order"}
    assert f" runs {how.get(cause, 'with a HOME that was used before')}; base passes" in row.why


def test_what_the_scout_finds_in_base_too_does_not_block() -> None:
    row = scouted({"seed": "7"}, base=True)
    assert not row.blocks
    assert row.why.endswith("; base fails too")


def test_the_scout_runs_only_what_executes_changed_lines() -> None:
    bench = ScriptedBench({A: always(P), **CLEAN}, touches={B})
    judge(bench)
    (spec,) = [s for s in bench.ran if s.condition == "scout"]
    assert spec.only == (B,)
    assert spec.used_home == "H-plain-1"
    assert spec.seed != "7"


@pytest.mark.parametrize(
    ("cut", "codes"),
    [({"H scout": "ended by a signal"}, ["scout-broken"]), ({"H scout": "x", "B scout": "x"}, [])],
    ids=["in head alone", "in base too"],
)
def test_a_scout_that_the_patch_ends_each_time_is_not_green(cut: dict[str, str], codes: list[str]) -> None:
    judged = judge(ScriptedBench({A: always(P), **CLEAN}, touches={B}, cut=cut))
    assert [problem.code for problem in judged.problems] == codes


def test_a_scout_in_part_is_not_blamed_on_the_time_budget() -> None:
    many = {f"tests/test_m.py::test_{n}": always(P) for n in range(400)}
    judged = judge(ScriptedBench(many, touches=set(many)))
    (note,) = [n for n in judged.notes if "seeds" in n.reason]
    assert note.code == "scout-in-part"
    assert note.reason.startswith("100 of the 400 tests")
    assert "budget" not in note.remedy


def test_what_all_runs_have_in_common_is_said_once_and_names_the_interpreter() -> None:
    runs = [
        Run(run_id=n, elsewhere={"pkg.py": "/site/pkg.py"}, session=Session(interpreter="/env/bin/python"))
        for n in (1, 2, 3)
    ]
    (problem,) = troubles_of(runs, Run(run_id=4))
    assert problem.reason.startswith("runs 1, 2, 3: code from outside the judged tree was tested: pkg.py")
    assert "/env/bin/python" in problem.remedy


def test_different_troubles_stay_apart() -> None:
    runs = [
        Run(run_id=1, source="/tmp/x/H-1.jsonl", broken="/tmp/x/H-1.jsonl: the run is incomplete: disk full"),
        Run(run_id=2, sentinels="one passed that must fail"),
    ]
    assert [p.reason for p in troubles_of(runs, Run(run_id=3))] == [
        "run 1: the run is incomplete: disk full",
        "run 2: one passed that must fail",
    ]


@pytest.mark.parametrize("scope", ["all", "failed"])
@pytest.mark.parametrize("fails", ["each time", "one time in two"])
def test_a_failure_with_which_base_could_not_be_compared_is_not_green(fails: str, scope: str) -> None:
    """What ends base's runs alone: a disk that is full then, a process that kills them, an interpreter that changes."""
    behaviour = always(F) if fails == "each time" else lambda spec, count: F if count % 2 else P
    bench = ScriptedBench({A: behaviour, **CLEAN}, cut={"B": "the disk is full"})
    judged = judge(bench, scope=scope)
    row = only(judged)
    assert (row.bucket, row.introduced, row.blocks) == (Bucket.UNCLASSIFIED, None, False)
    assert "the disk is full" in row.why
    assert decide(judged.rows, judged.findings, judged.problems) is Verdict.UNDECIDED
    (note,) = [n for n in judged.notes if n.code == "experiment-broken"]  # one for all that broke off alike
    assert note.reason.endswith("): the disk is full")


def test_a_skip_of_which_base_says_nothing_is_not_green_and_what_passes_needs_no_base() -> None:
    bench = ScriptedBench({A: always(Outcome.SKIPPED), **CLEAN}, cut={"B": "the disk is full"})
    judged = judge(bench)
    assert {r.nodeid: r.bucket for r in judged.rows if r.bucket is not Bucket.STABLE_PASS} == {
        A: Bucket.UNCLASSIFIED
    }
    assert "the disk is full" in only(judged).why
    assert {r.bucket for r in judge(ScriptedBench(CLEAN, cut={"B": "cut"})).rows} == {Bucket.STABLE_PASS}


def test_base_that_cannot_be_listed_is_not_green() -> None:
    # nobody would know which of base's tests are gone
    (problem,) = troubles_of([Run(run_id=1)], Run(run_id=2, broken="the process ended before the first test"))
    assert problem.code == "record-incomplete"
    assert "base's tests could not be listed" in problem.reason


CLOCK = "tests/test_m.py::test_clock[{}]"


class ClockBench(ScriptedBench):
    """One test's id holds the time: the same within a batch, another one in the next (seen in marshmallow)."""

    late_collection = False

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        batch = self.counts["batch", ""] = self.counts.get(("batch", ""), 0) + 1
        runs = []
        for spec in specs:
            late = self.late_collection and spec.collect_only
            self.tests = {i: b for i, b in self.tests.items() if "test_clock" not in i}
            self.tests[CLOCK.format(batch + 100 * late)] = always(P)
            runs += super().run([spec])
        return runs


def test_an_id_with_the_time_in_it_is_one_test_in_every_run() -> None:
    judged = judge(ClockBench({A: broken_by_patch, **CLEAN}))
    assert only(judged).bucket is Bucket.INVARIANT_MISS
    assert only(judged, CLOCK.format("#1")).bucket is Bucket.STABLE_PASS
    assert len(judged.rows) == 6
    assert not judged.findings


def test_an_id_with_the_time_in_it_has_not_vanished_from_head() -> None:
    bench = ClockBench(dict(CLEAN))
    bench.late_collection = True
    judged = judge(bench)
    assert not judged.findings
    assert {r.bucket for r in judged.rows} == {Bucket.STABLE_PASS}
    assert conditions(bench, "B") == ["collect", "collect"]


def test_an_id_with_the_time_in_it_is_no_find_of_the_scout() -> None:
    bench = ClockBench(dict(CLEAN), touches={CLOCK.format(1)})
    judged = judge(bench)
    assert "scout" in conditions(bench, "H")
    assert {r.bucket for r in judged.rows} == {Bucket.STABLE_PASS}


def test_a_parameter_that_the_patch_replaces_has_vanished() -> None:
    old, new = "tests/test_m.py::test_row[old]", "tests/test_m.py::test_row[new]"
    bench = ScriptedBench({old: always(P), new: always(P), **CLEAN}, absent={"H": {old}, "B": {new}})
    assert [f.rule for f in judge(bench).findings] == ["vanished-test"]


class BuiltBench(ScriptedBench):
    """A module that is built, and in no tree, comes from the installed copy."""

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        parts = {"pkg._speed": "/site/pkg/_speed.so"}
        return [msgspec.structs.replace(run, parts=parts) for run in super().run(specs)]


def test_a_changed_extension_that_nobody_built_is_not_green() -> None:
    (problem,) = judge(BuiltBench(dict(CLEAN)), changed="pkg/_speed.c").problems
    assert problem.code == "stale-build"
    assert "pkg/_speed.c" in problem.reason
    assert "prepare" in problem.remedy


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("pkg/grammar.lark", True),
        ("setup.py", True),
        ("pyproject.toml", True),
        ("pkg/m.py", False),
        ("README.md", False),
    ],
)
def test_built_modules_are_told_where_the_patch_may_change_what_they_are_made_from(
    changed: str, said: bool
) -> None:
    judged = judge(BuiltBench(dict(CLEAN)), changed=changed)
    assert not judged.problems
    assert ["built-parts" in n.code and changed in n.reason for n in judged.notes] == [True] * said


def test_a_test_that_a_trusted_hand_took_out_is_no_row_when_base_runs_too() -> None:
    # seen on pytest-mock: a release that renames a test, in a suite with one that was red before
    bench = ScriptedBench({A: always(F), **CLEAN}, absent={"H": {B}})
    judged = judge(bench, agent=False, trusted_test_file=True)
    assert "plain" in conditions(bench, "B")
    assert B not in {r.nodeid for r in judged.rows}
    assert not [r for r in judged.rows if r.bucket is Bucket.UNCLASSIFIED]
    assert not judged.findings


def test_a_trouble_is_the_same_whatever_time_it_took() -> None:
    runs = [Run(run_id=n, broken=f"no tests ran in {n}.75s") for n in (1, 2)]
    (problem,) = troubles_of(runs, Run(run_id=3))
    assert problem.reason == "runs 1, 2: no tests ran in 1.75s"


def test_plain_noise_ends_the_comparison_early() -> None:
    bench = ScriptedBench(
        {A: broken_by_patch, **CLEAN}, messages={A: lambda spec, count: f"assert {count} == 99"}
    )
    assert only(judge(bench)).introduced is True
    assert conditions(bench, "B").count("again") == 3  # 6 of 6 against 0 of 4: Fisher 0.005


def test_a_fixture_and_its_test_that_a_person_moved_together_pass() -> None:
    # base's bytes fail the new test: of course, they are not what it was written for
    behaviour = lambda spec, count: F if spec.world == "F" else P  # noqa: E731
    bench = ScriptedBench({A: behaviour, **CLEAN}, reads={A: (FIXTURE,)})
    judged = judge(bench, moved=True, agent=False)
    assert only(judged).bucket is Bucket.STABLE_PASS
    assert not [s for s in bench.ran if s.world == "F"]


# --- chance: what base does, too, is not the patch's doing, and what it doesn't, is -------------------------


def blocked(tests: Mapping[str, Any], gates: int, **over: Any) -> int:
    """Return how many of so many gates block."""
    found = [judge(ScriptedBench({**tests, **CLEAN}, **over), agent=False) for _ in range(gates)]
    return sum(any(row.blocks for row in judged.rows) for judged in found)


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
def test_a_test_that_fails_by_chance_in_both_worlds_blocks_nobody(rate: float) -> None:
    chance = random.Random(f"both {rate}")
    coin = lambda spec, count: F if chance.random() < rate else P  # noqa: E731
    # by one pass of base alone 4 of 100 were blocked
    assert blocked({A: coin}, 400, touches={A}) <= 6


@pytest.mark.parametrize("rate", [0.35, 0.5, 0.7, 0.9, 1.0])
def test_noise_that_the_patch_brings_blocks(rate: float) -> None:
    chance = random.Random(f"head {rate}")
    coin = lambda spec, count: F if spec.world != "B" and chance.random() < rate else P  # noqa: E731
    seen = 1 - (1 - rate) ** 3
    assert blocked({A: coin}, 200) >= 200 * seen * 0.93


def test_a_noisy_test_that_the_patch_breaks_blocks_all_the_same() -> None:
    chance = random.Random("noisy, then broken")
    coin = lambda spec, count: F if spec.world != "B" or chance.random() < 0.15 else P  # noqa: E731
    assert blocked({A: coin}, 200) >= 150


def test_a_test_that_needs_the_whole_suite_and_that_the_patch_breaks_blocks() -> None:
    """Base passes in the suite and fails in any run of few: those say nothing of the patch."""
    brittle = lambda spec, count: P if spec.world == "B" and spec.only is None else F  # noqa: E731
    bench = ScriptedBench({A: brittle, **CLEAN})
    row = only(judge(bench, agent=False))
    assert (row.bucket, row.state, row.blocks) == (Bucket.INVARIANT_MISS, "introduced", True)
    assert conditions(bench, "B").count("plain") == 4


def test_a_test_that_needs_the_whole_suite_and_passes_is_left_alone() -> None:
    brittle = lambda spec, count: P if spec.only is None else F  # noqa: E731
    assert not blocked({A: brittle}, 1)


def test_what_the_scout_alone_sees_is_noise_where_no_axis_holds() -> None:
    """Clean three times, red in the scout and now and then after it: no seed does that."""
    chance = random.Random("scout")
    coin = lambda spec, count: P if spec.world == "B" else F if count > 3 and chance.random() < 0.5 else P  # noqa: E731
    rows = [only(judge(ScriptedBench({A: coin, **CLEAN}, touches={A}), agent=False)) for _ in range(60)]
    red = [row for row in rows if row.outcomes.get("H scout") == ["failed"]]
    assert len(red) > 20
    assert {(row.bucket, row.cause, row.state) for row in red} == {(Bucket.NOISE, None, "introduced")}


def test_one_failure_of_the_scout_that_never_comes_again_is_said_and_does_not_block() -> None:
    once = lambda spec, count: F if spec.condition == "scout" else P  # noqa: E731
    row = only(judge(ScriptedBench({A: once, **CLEAN}, touches={A}), agent=False))
    assert (row.bucket, row.blocks) == (Bucket.NOISE, False)
    assert row.state == "not shown to come from the patch"


def test_what_is_red_in_base_costs_no_pairs() -> None:
    bench = ScriptedBench({A: always(F), **CLEAN})
    assert only(judge(bench, agent=False)).state == "already red"
    assert conditions(bench, "H").count("again") == 0
    assert conditions(bench, "B").count("again") == 2


def test_a_race_of_the_patch_is_noise_and_hardly_ever_a_miss() -> None:
    """Three failures in a row, and a seed that passes three times, are chance too."""
    chance = random.Random("race")
    coin = lambda spec, count: F if spec.world != "B" and chance.random() < 0.5 else P  # noqa: E731
    rows = [only(judge(ScriptedBench({A: coin, **CLEAN}), agent=False)) for _ in range(400)]
    seen = [row.bucket for row in rows if row.blocks]
    assert len(seen) > 300
    assert seen.count(Bucket.INVARIANT_MISS) <= 2


def test_what_other_tests_break_in_base_too_is_noise_and_takes_few_pairs() -> None:
    """A victim in both worlds: red in each whole run, green in each run of few."""
    bench = ScriptedBench({A: lambda spec, count: F if spec.only is None else P, **CLEAN})
    row = only(judge(bench))
    assert (row.bucket, row.introduced, row.blocks) == (Bucket.NOISE, False, False)
    assert row.cause == "order"
    assert conditions(bench, "B").count("again") <= 5
