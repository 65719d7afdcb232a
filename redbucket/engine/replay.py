"""Runs a capture again in its recorded conditions, and finds the smallest order that still fails."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from redbucket.core.bisect import fewest
from redbucket.core.classification import FAILING
from redbucket.core.errors import ACCEPTED, REFUSED, Undecided
from redbucket.core.evidence import failure_print
from redbucket.core.noisecapture import NoiseCapture
from redbucket.core.plural import about, plural
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.replayreport import ReplayReport, rate_of
from redbucket.core.runspec import RunSpec
from redbucket.core.seeds import derive
from redbucket.engine.flakes import Replayed
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs

# Pinned by the spec itself; everything else with a value is put back as it was.
_BY_SPEC = frozenset({"PYTHONHASHSEED", "TEST_SEED"})
_CERTAIN = 3
_MOST_CHECKS = 12
_MISSED = 0.05
# A few first, which tell how long the others will take; then so many at once that all CPUs are busy.
_FIRST, _AT_ONCE = 2, 6


@dataclass
class Replay:
    """One capture on one bench. ``specs`` knows the capture's world by its tree."""

    capture: NoiseCapture
    specs: Specs
    bench: Bench
    say: Callable[[str], None]
    over: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = lambda: 0.0
    notes: list[str] = field(default_factory=list)

    def report(self, n: int, name: str, *, shrink: bool) -> ReplayReport:
        """Run it ``n`` times; raises Undecided where the runs show nothing."""
        capture = self.capture
        tests = self.counted(n)
        rate = rate_of([t.outcome for t in tests])
        red = [t for t in tests if t.outcome in FAILING]
        known = capture.failing.fingerprint if capture.failing else ""
        left: list[str] | None = None
        left_rate = None
        if shrink and red:
            left = self.shrink(rate.rate)
            left_rate = rate_of([t.outcome for t in self.runs(left, n)]) if left != capture.order else rate
            if left_rate.failed == 0:
                self.notes.append(
                    "the smallest order did not fail when it was run once more: do not rely on it"
                )
        return ReplayReport(
            nodeid=capture.nodeid,
            capture=name,
            exit_code=ACCEPTED if red else REFUSED,
            replays=bool(red),
            tree=capture.tree,
            order=len(capture.order),
            rate=rate,
            same_failure=sum(failure_print(t) == known for t in red),
            outcomes=dict(Counter(t.outcome.value for t in tests)),
            message=next((t.message for t in red if t.message), "")[:4000],
            smallest=left,
            smallest_rate=left_rate,
            notes=self.notes,
        )

    def counted(self, n: int) -> list[Test]:
        """Return what the test did in ``n`` runs in the recorded conditions; say how long they take."""
        order = self.capture.order
        before = f", after the {plural(len(order), 'test')} before it" if order else ""
        what = f"running {self.capture.nodeid} {plural(n, 'time')}{before}"
        self.say(what)
        began = self.clock()
        tests: list[Test] = []
        while len(tests) < n:
            tests += self.runs(order, min(_FIRST if not tests else _AT_ONCE, n - len(tests)))
            if left := n - len(tests):
                seconds = (self.clock() - began) / len(tests) * left
                # first what changes: a terminal's line is cut at its end
                self.say(f"{len(tests)} done, {about(seconds)} to go: {what}")
        return tests

    def runs(self, order: Sequence[str], n: int, **over: Any) -> list[Test]:
        """Return what the test did in ``n`` runs after ``order``; raises Undecided if none is whole."""
        specs = [self.spec(order, **over) for _ in range(n)]
        if self.capture.used_home and "used_home" not in over:
            self.bench.run(specs)
            specs = [
                self.spec(order, **{**over, "used_home": s.name, "condition": "replay again"}) for s in specs
            ]
        return self._results(self.bench.run(specs))

    def spec(self, order: Sequence[str], **over: Any) -> RunSpec:
        """Return one run of the test after ``order``, in the recorded conditions."""
        capture = self.capture
        env = {k: v for k, v in capture.environment.items() if v is not None and k not in _BY_SPEC}
        conditions = msgspec.structs.replace(capture.conditions, env={**env, **capture.conditions.env})
        values: dict[str, Any] = {
            "only": (*order, capture.nodeid),
            "order": "given",
            "seed": capture.seed,
            "hash_seed": capture.hash_seed,
            "conditions": conditions,
        }
        return self.specs.make(capture.world, over.pop("condition", "replay"), **{**values, **over})

    def _results(self, runs: Sequence[Run]) -> list[Test]:
        tests = [run.tests[self.capture.nodeid] for run in runs if self.capture.nodeid in run.tests]
        whole = [run for run in runs if not run.broken]
        if whole and not tests:
            raise Undecided(
                "no-such-test",
                f"the tree has no test {self.capture.nodeid} when it is run here",
                f"check the interpreter ({whole[0].session.interpreter}) and what it has installed",
            )
        if not whole or len(tests) < len(runs):
            broken = next((run.cut for run in runs if run.broken), "the test is missing in some runs")
            raise Undecided(
                "record-incomplete",
                f"{len(runs) - len(whole)} of {len(runs)} runs were not whole: {broken}",
                "fix what ends the run early",
            )
        return tests

    def shrink(self, rate: float) -> list[str]:
        """Return the smallest part of the order after which the test still fails."""
        every = (
            _CERTAIN if rate >= 1 else min(_MOST_CHECKS, math.ceil(math.log(_MISSED) / math.log(1 - rate)))
        )

        def holds(parts: Sequence[Sequence[str]]) -> list[bool]:
            self.say(f"shrinking: {' and '.join(str(len(p)) for p in parts[:4])} tests before it")
            answers = []
            for part in parts:
                outcomes = [t.outcome for t in self.runs(part, every)]
                failed = sum(o in FAILING for o in outcomes)
                answers.append(failed == len(outcomes) if rate >= 1 else failed > 0)
                if answers[-1]:  # the first that holds is taken
                    return answers + [False] * (len(parts) - len(answers))
            return answers

        order = self.capture.order
        if not order or holds([[]])[0]:
            return []
        return fewest(order, holds, self.over)

    def for_freeze(self, n: int) -> Replayed:
        """Return what a freeze needs: is it noise, today?

        A test that fails every time in the recorded conditions is noise only if another condition makes
        it pass every time.
        """
        tests = self.counted(n)
        outcomes = [t.outcome for t in tests]
        failed = sum(o in FAILING for o in outcomes)
        if failed == 0:
            return Replayed(n, 0, "stable_pass")
        if failed < n:
            return Replayed(n, failed, "noise")
        if len({failure_print(t) for t in tests}) > 1:
            return Replayed(n, failed, "noise", "it failed each time, in different ways")
        for what, over in self._contrasts():
            order = [] if what == "alone" else self.capture.order
            self.say(f"it failed each time: does it pass {what}?")
            seen = [t.outcome for t in self.runs(order, _CERTAIN, condition=f"replay {what}", **over)]
            if all(o is Outcome.PASSED for o in seen):
                return Replayed(n, failed, "noise", f"it passes {what}")
        return Replayed(n, failed, "invariant_miss", "nothing that was tried makes it pass")

    def _contrasts(self) -> list[tuple[str, dict[str, Any]]]:
        capture, found = self.capture, list[tuple[str, dict[str, Any]]]()
        if capture.order:
            found.append(("alone", {}))
        for number in (1, 2):
            other = derive(capture.tree, f"replay {number}")
            found.append((f"with another hash seed ({other})", {"hash_seed": other}))
        if capture.used_home:
            found.append(("with a fresh HOME", {"used_home": ""}))
        if capture.conditions.for_recorder() or capture.conditions.load:
            found.append(("without the recorded conditions", {"conditions": type(capture.conditions)()}))
        return found
