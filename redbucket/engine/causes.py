"""The gate's search for causes besides those that it asks of every failure: the engine of ``explain``, in a time limit.

A failure of each run may be one of the clock, of threads or of what an earlier run left behind; a
mixed test may hold still once the system's entropy or the clock is pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from redbucket.core.axes import Axis
from redbucket.core.buckets import Cause
from redbucket.core.classification import FAILING
from redbucket.core.conditions import Conditions
from redbucket.core.entropy import kinds_of
from redbucket.core.evidence import is_inconsistent
from redbucket.core.plural import plural
from redbucket.core.records import Run
from redbucket.core.runspec import RunSpec
from redbucket.core.tally import PLAIN, Tally
from redbucket.core.trials import Trials
from redbucket.engine.axistrial import AxisTrials, counted
from redbucket.engine.challenge import Challenge
from redbucket.engine.found import CONFIRMED, Found
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs

# What each axis is of use for: a test that was seen to touch this, "" for any.
_OF_FAILURES = {"clock": "clock", "concurrency": "thread", "leftover files": ""}
_OF_NOISE = {"system entropy": "urandom", "clock": "clock", "concurrency": "thread", "load": ""}
_CAUSES = {
    "clock": Cause.CLOCK,
    "concurrency": Cause.CONCURRENCY,
    "leftover files": Cause.LEFTOVERS,
}


@dataclass
class Causes:
    """``over`` is True once the time for it is up; what was not tried by then is said."""

    specs: Specs
    bench: Bench
    trials: Trials
    challenge: Challenge
    axes: Sequence[Axis]
    say: Callable[[str], None]
    over: Callable[[], bool]

    def look(self, failing: Sequence[str], noisy: Sequence[str], first: Run) -> None:
        """Name the cause of tests that fail each time, and of those that are mixed, as far as time goes."""
        present = [n for n in (*failing, *noisy) if n in first.tests]
        if not present or not self.axes:
            return
        if self.over():
            self.challenge.untried += [f"the cause of {name}" for name in present]
            return
        touched = self._touched(present)
        for name in present:
            wanted = _OF_NOISE if name in noisy else _OF_FAILURES
            axes = [a for a in self.axes if a.cause in wanted and {wanted[a.cause]} <= {*touched[name], ""}]
            if self.over():
                self.challenge.untried += [f"{axis.cause} ({name})" for axis in axes]
            elif name in noisy:
                self._mixed(name, axes, touched[name], first)
            else:
                self._failing(name, axes, touched[name])

    def _touched(self, names: Sequence[str]) -> dict[str, frozenset[str]]:
        """What the tests were seen to touch, and what one run sees that looks more closely."""
        self.say(f"looking what entropy {plural(len(names), 'test touches', 'tests touch')}")
        (run,) = self.bench.run([self._spec(tuple(names), "sites", conditions=Conditions(sites=True))])
        found = {}
        for name in names:
            seen = {kind for test in self.trials.tests(name, "H") for kind in test.entropy}
            test = run.tests.get(name)
            found[name] = frozenset(seen | (kinds_of(test.sites) if test else set()))
        return found

    def _failing(self, name: str, axes: Sequence[Axis], touched: frozenset[str]) -> None:
        known = self.challenge.of(name)
        found = None
        for axis in axes:
            trials = self._trials(name, (name,), [axis], touched, steady=True)
            found = trials.find()
            known.wavers |= trials.wavered
            self._note(name, trials)
            if found is not None and self._base_fails(name, found, trials.tally):
                known.tried.append(axis.cause)
                known.notes.append(
                    f"It passes with another {axis.cause}, and base fails there: the test turns with it."
                )
                found = None
            known.looks += trials.tally.experiments(found.conditions if found else ())
            if found is not None or known.wavers:
                break
        if found is not None:
            known.cause = _CAUSES[found.cause]
            known.notes.append(_sentence(found))

    def _base_fails(self, name: str, found: Found, tally: Tally) -> bool:
        """Under the condition that makes head pass: what base fails there is no noise of head's."""
        if not found.change:
            return False
        runs = self.bench.run(
            [
                self.specs.make("B", found.cause, only=(name,), order="given", **found.change)
                for _ in range(CONFIRMED)
            ]
        )
        seen = [run.tests[name].outcome for run in runs if name in run.tests]
        for outcome in seen:
            tally.add(found.cause, found.conditions[0], outcome, world="B")
        return any(outcome in FAILING for outcome in seen)

    def _mixed(self, name: str, axes: Sequence[Axis], touched: frozenset[str], first: Run) -> None:
        known = self.challenge.of(name)
        if any(is_inconsistent(t) for t in self.trials.tests(name, "H")):
            known.explained, known.flipped_by = "inconsistent property", PLAIN
            return
        runs = self.bench.run([self._spec((name,), "alone") for _ in range(CONFIRMED)])
        alone = [run.tests[name].outcome for run in runs if name in run.tests]
        only: tuple[str, ...] = (name,)
        if len({o in FAILING for o in alone}) < 2:  # mixed in the suite only: there it is to be watched
            ids = first.beside(name)
            only = ids[: ids.index(name) + 1]
        trials = self._trials(name, only, axes, touched, steady=False)
        trials.seen = counted(self.trials.outcomes(name, "H"))
        for outcome in alone:
            trials.tally.add("order", "alone", outcome)
        found = trials.find()
        known.looks += trials.tally.experiments(found.conditions if found else ())
        self._note(name, trials)
        if found is not None:
            known.explained = found.cause
            known.notes.append(_sentence(found))

    def _note(self, name: str, trials: AxisTrials) -> None:
        self.challenge.of(name).tried += [t for t in trials.tried if "(" not in t]
        self.challenge.untried += [f"{axis} ({name})" for axis in trials.untried]

    def _trials(
        self, name: str, only: tuple[str, ...], axes: Sequence[Axis], touched: frozenset[str], *, steady: bool
    ) -> AxisTrials:
        return AxisTrials(
            name,
            lambda condition, **over: self._spec(only, condition, **over),
            self.bench,
            axes,
            self.say,
            self.over,
            touched,
            steady=steady,
            fails=steady,
        )

    def _spec(self, only: tuple[str, ...], condition: str, **over: Any) -> RunSpec:
        return self.specs.make("H", condition, only=only, order="given", **over)


def _sentence(found: Found) -> str:
    return f"{found.what[0].upper()}{found.what[1:]} ({'; '.join(found.evidence)})."
