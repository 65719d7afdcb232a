"""Runs of a capture, with the bench scripted: what is said while they go on."""

from __future__ import annotations

import itertools

from redbucket.core.noisecapture import NoiseCapture
from redbucket.engine.replay import Replay
from redbucket.engine.specs import Specs
from tests.engine.scripted import F, P, ScriptedBench, always

A, X = "t.py::test_a", "t.py::test_x"


def replay(outcome) -> tuple[Replay, list[str]]:  # type: ignore[no-untyped-def]
    said: list[str] = []
    ticks = itertools.count()
    bench = ScriptedBench({A: always(P), X: outcome})
    capture = NoiseCapture(nodeid=X, bucket="noise", tree="tree", order=[A], seed="7")
    specs = Specs(trees={"": "tree"}, seed="7", roots=(".",), timeout=1)
    return Replay(capture, specs, bench, said.append, clock=lambda: next(ticks) * 60.0), said


def test_it_says_how_far_it_is_and_how_long_it_takes() -> None:
    work, said = replay(always(F))
    tests = work.counted(20)
    assert [t.outcome for t in tests] == [F] * 20
    what = "running t.py::test_x 20 times, after the 1 test before it"
    assert said == [
        what,
        f"2 done, about 9 minutes to go: {what}",
        f"8 done, about 3 minutes to go: {what}",
        f"14 done, about 77 seconds to go: {what}",
    ]


def test_a_freeze_asks_for_the_runs_and_says_what_else_it_tries() -> None:
    work, said = replay(always(F))
    answer = work.for_freeze(4)
    assert (answer.runs, answer.failed, answer.bucket) == (4, 4, "invariant_miss")
    assert "it failed each time: does it pass alone?" in said
