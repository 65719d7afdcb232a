"""Which tests before it make a test fail, or pass: found by bisection, and confirmed both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redbucket.core.bisect import fewest
from redbucket.core.classification import FAILING
from redbucket.core.conditions import PLAIN, Conditions
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.engine.found import CONFIRMED, Culprits
from redbucket.engine.ports import Bench

_CHECKS = 2
_MORE_CHECKS = 3
_MOST_CULPRITS = 3
_MOST_STATES = 3
# What every test changes, and what names nothing.
_USUAL = ("sys.modules[", "the import of ")


@dataclass
class OrderSearch:
    """``make`` gives the spec of one run over the given ids in that order.

    ``order`` is the order of the run in which the test flipped; ``alone_fails`` says what it does alone.
    """

    nodeid: str
    order: Sequence[str]
    alone_fails: bool
    make: Callable[..., RunSpec]
    bench: Bench
    say: Callable[[str], None]
    over: Callable[[], bool]

    def find(self) -> Culprits:
        """Return who it is. Nothing is named that was not confirmed three of three both ways."""
        at = self.order.index(self.nodeid)
        before = list(self.order[:at])
        after = list(self.order[at + 1 :])
        found = Culprits()
        pool = before
        if not before or not self._holds([before])[0]:
            pool = [*before, *after]
            if not after or not self._holds([pool])[0]:
                found.why_not = "the tests before it do not flip it when they are run again"
                return found
            found.imported = True
        self.say(f"looking for what flips it among {plural(len(pool), 'test')}")
        found.tests = fewest(pool, self._holds, self.over)
        if self.over():
            found.why_not = "time was up before the bisection had ended"
            found.tests = []
            return found
        self._confirm(found, pool)
        if found.confirmed and not found.imported:
            self._name_state(found)
        return found

    def _confirm(self, found: Culprits, pool: Sequence[str]) -> None:
        self.say("confirming it both ways")
        with_it = [found.tests] * CONFIRMED
        without: list[list[str]] = [[]] * CONFIRMED
        runs = self._runs([part for pair in zip(with_it, without, strict=True) for part in pair])
        tests = [run.tests.get(self.nodeid) for run in runs]
        if not all(self._flipped(t) for t in tests[::2]) or any(self._flipped(t) for t in tests[1::2]):
            found.why_not = (
                "the test is mixed: what the bisection found did not hold three of three both ways"
            )
            found.tests = []
            return
        found.confirmed = True
        found.failing = runs[1 if self.alone_fails else 0]
        rest = [i for i in pool if i not in set(found.tests)]
        while rest and not self.over() and len(found.others) < _MOST_CULPRITS:
            seen = [self._flipped(run.tests.get(self.nodeid)) for run in self._runs([rest] * CONFIRMED)]
            if not any(seen):
                found.complete = True
                return
            found.complete = False
            if not all(seen):
                return
            more = fewest(rest, self._holds, self.over)
            if self.over() or not all(self._holds([more])):
                return
            found.others.append(more)
            rest = [i for i in rest if i not in set(more)]
        if not rest:
            found.complete = True

    def _name_state(self, found: Culprits) -> None:
        """Put back what the culprits left changed, all of it and then ever less: which of it undoes the flip?"""
        if self.over():
            return
        (run,) = self._runs([found.tests], [Conditions(state=True)])
        if not self._flipped(run.tests.get(self.nodeid)):
            return  # looking changes it: then nothing can be said
        changed = dict.fromkeys(s for name in found.tests if (t := run.tests.get(name)) for s in t.state)
        usual = [s for s in changed if s.startswith(_USUAL)]

        def undone(parts: Sequence[Sequence[str]], checks: int = _CHECKS) -> list[bool]:
            """Does putting these pieces back between the tests undo the flip, each time?"""
            restored = [Conditions(restore=tuple(part)) for part in parts for _ in range(checks)]
            seen = iter(self._runs([found.tests] * len(restored), restored))
            flips = [[self._flipped(next(seen).tests.get(self.nodeid)) for _ in range(checks)] for _ in parts]
            return [not any(each) for each in flips]

        for names in ([s for s in changed if s not in usual], usual):
            if not names or self.over() or not undone([names])[0]:
                continue
            self.say(f"which of {plural(len(names), 'piece')} of changed state is it?")
            few = fewest(names, undone, self.over)
            if not self.over() and len(few) <= _MOST_STATES and undone([few], CONFIRMED - _CHECKS)[0]:
                found.state = few
            return

    def _holds(self, parts: Sequence[Sequence[str]]) -> list[bool]:
        """One run each; what seems to hold is run again, and where the two disagree four of five count."""
        seen = [[self._flipped(run.tests.get(self.nodeid))] for run in self._runs(parts)]
        for more in (_CHECKS - 1, _MORE_CHECKS):
            open_ = [
                n for n, flips in enumerate(seen) if (flips == [True] if more == 1 else len(set(flips)) > 1)
            ]
            runs = iter(self._runs([parts[n] for n in open_ for _ in range(more)]))
            for n in open_:
                seen[n] += [self._flipped(next(runs).tests.get(self.nodeid)) for _ in range(more)]
        return [sum(flips) * 5 >= len(flips) * 4 for flips in seen]

    def _runs(self, parts: Sequence[Sequence[str]], conditions: Sequence[Conditions] = ()) -> list[Run]:
        if not parts:
            return []
        place = {nodeid: n for n, nodeid in enumerate(self.order)}
        specs = [
            self.make(
                "order",
                only=tuple(sorted([*part, self.nodeid], key=place.__getitem__)),
                order="given",
                conditions=changed,
            )
            for part, changed in zip(parts, conditions or [PLAIN] * len(parts), strict=True)
        ]
        return list(self.bench.run(specs))

    def _flipped(self, test: Test | None) -> bool:
        """True if it does what it does not do alone."""
        if test is None or test.outcome is Outcome.SKIPPED:
            return False
        return (test.outcome in FAILING) != self.alone_fails
