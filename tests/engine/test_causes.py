"""The gate's search for causes, with the runs scripted."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from redbucket.core.axes import axes
from redbucket.core.buckets import Cause
from redbucket.core.experiments import Tries
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.core.trials import Trials
from redbucket.engine.causes import Causes
from redbucket.engine.challenge import Challenge, Known
from redbucket.engine.specs import Specs
from tests.engine.scripted import F, P, ScriptedBench
from tests.engine.test_explain import NOW, X

QUIET = "t.py::test_quiet"


def look(
    rule: Callable[[RunSpec], bool],
    *,
    noisy: bool = False,
    sites: tuple[str, ...] = ("t.py:3 time.time", "t.py:4 a thread", "t.py:5 os.urandom"),
    over: bool = False,
) -> tuple[Known, Challenge, ScriptedBench]:
    import msgspec

    bench = ScriptedBench({QUIET: lambda s, n: P, X: lambda s, n: F if rule(s) else P})
    plain = bench._test

    def with_sites(nodeid: str, spec: RunSpec, ids):  # type: ignore[no-untyped-def]
        test = plain(nodeid, spec, ids)
        return msgspec.structs.replace(test, sites=sites if spec.conditions.sites and nodeid == X else ())

    bench._test = with_sites  # type: ignore[method-assign]
    specs = Specs(trees={"H": "h", "B": "b"}, seed="7", roots=(".",), timeout=1)
    trials = Trials()
    (first,) = bench.run([specs.make("H")])
    trials.add(first)
    challenge = Challenge(specs, bench, trials, lambda step: None, lambda: over)
    every = axes(specs.other_seed, NOW, 6, "7")
    search = Causes(specs, bench, trials, challenge, every, lambda step: None, lambda: over)
    search.look([] if noisy else [X], [X] if noisy else [], first)
    return challenge.of(X), challenge, bench


def head(spec: RunSpec) -> bool:
    return spec.world == "H"


def test_a_failure_that_goes_with_the_clock() -> None:
    known, _, _ = look(lambda s: head(s) and s.conditions.clock is None)
    assert known.cause is Cause.CLOCK
    assert any(note.startswith("It passes with noon") for note in known.notes)
    (noon,) = [one for one in known.looks if one.confirmed]
    assert noon.condition.startswith("noon (")
    assert (noon.head, noon.base, noon.flipped) == (Tries(failed=0, runs=4), Tries(failed=0, runs=3), True)
    assert [one.head for one in known.looks if one.condition == "as it is"] == [Tries(failed=3, runs=3)]


def test_where_base_turns_with_the_clock_it_is_no_excuse() -> None:
    known, _, _ = look(lambda s: head(s) == (s.conditions.clock is None))
    assert known.cause is None
    assert "clock" in known.tried
    assert "base fails there" in known.notes[0]
    (noon,) = [one for one in known.looks if one.base]
    assert (noon.changes, noon.base, noon.confirmed) == ("clock", Tries(failed=3, runs=3), False)


def test_a_failure_that_goes_with_the_threads() -> None:
    known, _, _ = look(lambda s: head(s) and s.conditions.switch_interval != 5.0)
    assert known.cause is Cause.CONCURRENCY


def test_a_failure_that_needs_what_a_run_before_it_left() -> None:
    known, _, _ = look(lambda s: head(s) and not s.used_home)
    assert known.cause is Cause.LEFTOVERS


def test_a_real_failure_has_no_cause_and_says_what_was_tried() -> None:
    known, _, _ = look(head)
    assert known.cause is None and not known.wavers
    assert set(known.tried) == {"clock", "concurrency", "leftover files"}
    assert {one.changes for one in known.looks} == set(known.tried)
    assert not any(one.flipped or one.confirmed for one in known.looks)


def test_axes_of_what_it_does_not_touch_are_spared() -> None:
    known, _, bench = look(head, sites=())
    assert known.tried == ["leftover files"]
    assert len(bench.ran) <= 5


def test_a_mixed_test_and_the_system_entropy() -> None:
    turn = itertools.count()

    def rule(spec: RunSpec) -> bool:
        if spec.conditions.entropy:
            return int(spec.conditions.entropy) % 2 == 0
        return next(turn) % 2 == 0

    known, _, _ = look(rule, noisy=True)
    assert (known.cause, known.explained) == (None, "system entropy")
    assert [one.head and one.head.runs for one in known.looks if one.confirmed] == [6, 6]
    assert [one.head and one.head.runs for one in known.looks if one.condition == "alone"] == [3]


def test_a_coin_has_no_cause() -> None:
    turn = itertools.count()
    known, _, _ = look(lambda s: next(turn) % 3 == 0, noisy=True)
    assert (known.cause, known.explained) == (None, "")


def test_what_there_is_no_time_for_is_said() -> None:
    known, challenge, bench = look(head, over=True)
    assert known.cause is None
    assert challenge.untried == [f"the cause of {X}"]
    assert len(bench.ran) == 1


def test_a_test_that_is_not_there_is_left_alone() -> None:
    bench = ScriptedBench({QUIET: lambda s, n: P})
    specs = Specs(trees={"H": "h"}, seed="7", roots=(".",), timeout=1)
    challenge = Challenge(specs, bench, Trials(), lambda step: None, lambda: False)
    search = Causes(
        specs, bench, Trials(), challenge, axes(specs.other_seed, NOW, 6, "7"), lambda s: None, lambda: False
    )
    search.look([X], [], Run(run_id=1, tests={}))
    assert bench.ran == [] and Outcome.PASSED is P
