"""Which tests before it make a test fail, or pass: found by bisection, and confirmed both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redbucket.core.bisect import fewest
from redbucket.core.classification import FAILING
from redbucket.core.conditions import PLAIN, Conditions
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.core.tally import Tally
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

    ``order`` is the order of the run in which the test flipped; ``alone_fails`` says what it does alone. ``tally``
    counts the runs that confirm.
    """

    nodeid: str
    order: Sequence[str]
    alone_fails: bool
    make: Callable[..., RunSpec]
    bench: Bench
    say: Callable[[str], None]
    over: Callable[[], bool]
    tally: Tally = field(init=False)
    _answers: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tally = Tally(self.alone_fails)

    def find(self) -> Culprits:
        """Return who it is. Nothing is named that was not confirmed three of three both ways."""
        at = self.order.index(self.nodeid)
        before = list(self.order[:at])
        after = list(self.order[at + 1 :])
        found = Culprits()
        pool = before
        if not before or not self._seems([before])[0]:
            pool = [*before, *after]
            if not after or not self._seems([pool])[0]:
                found.why_not = "the tests before it do not flip it when they are run again"
                return found
            found.imported = True
        self.say(f"looking for what flips it among {plural(len(pool), 'test')}")
        # most answer alike each time: only where that leads astray each question is asked again
        for holds in (self._seems, self._holds):
            found.tests = fewest(pool, holds, self.over)
            if self.over():
                found.why_not = "time was up before the bisection had ended"
                found.tests = []
                return found
            found.tests = self._needed(found.tests)
            self._confirm(found)
            if found.confirmed:
                break
        if found.confirmed:
            self._look_for_others(found, pool)
        if found.confirmed and not found.imported:
            self._name_state(found)
        return found

    def _needed(self, tests: list[str]) -> list[str]:
        """Leave out, one at a time, what it flips without: one wrong answer makes an innocent test look needed."""
        for name in list(tests) if len(tests) > 1 else ():
            rest = [t for t in tests if t != name]
            if rest and any(
                self._flipped(run.tests.get(self.nodeid)) for run in self._runs([rest] * _CHECKS)
            ):
                tests = rest
        return tests

    def _confirm(self, found: Culprits) -> None:
        self.say("confirming it both ways")
        for rounds in (1, CONFIRMED - 1):
            runs = self._runs([found.tests, []] * rounds)
            tests = [run.tests.get(self.nodeid) for run in runs]
            self._count(found.condition, tests[::2])
            self._count("without, in between", tests[1::2], aside=True)
            if not all(self._flipped(t) for t in tests[::2]) or any(self._flipped(t) for t in tests[1::2]):
                found.why_not = (
                    "the test is mixed: what the bisection found did not hold three of three both ways"
                )
                found.tests = []
                return
        found.confirmed, found.why_not = True, ""
        found.failing, found.passing = runs[1::-1] if self.alone_fails else runs[:2]

    def _look_for_others(self, found: Culprits, pool: Sequence[str]) -> None:
        rest = [i for i in pool if i not in set(found.tests)]
        while rest and not self.over() and len(found.others) < _MOST_CULPRITS:
            tests = [run.tests.get(self.nodeid) for run in self._runs([rest] * CONFIRMED)]
            self._count("after all the others instead", tests)
            seen = [self._flipped(test) for test in tests]
            if not any(seen):
                found.complete = True
                return
            found.complete = False
            if not all(seen):
                return
            more = self._needed(fewest(rest, self._seems, self.over))
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

        answers: dict[tuple[str, ...], bool] = {}

        def undone(parts: Sequence[Sequence[str]]) -> list[bool]:
            """Does putting these pieces back between the tests undo the flip?"""
            asked = list(dict.fromkeys(tuple(part) for part in parts if tuple(part) not in answers))
            seen = self._runs([found.tests] * len(asked), [Conditions(restore=part) for part in asked])
            for part, run in zip(asked, seen, strict=True):
                answers[part] = not self._flipped(run.tests.get(self.nodeid))
            return [answers[tuple(part)] for part in parts]

        for names in ([s for s in changed if s not in usual], usual):
            if not names or self.over() or not undone([names])[0]:
                continue
            self.say(f"which of {plural(len(names), 'piece')} of changed state is it?")
            few = fewest(names, undone, self.over)
            if self.over() or len(few) > _MOST_STATES:
                return
            again = [Conditions(restore=tuple(few))] * (CONFIRMED - 1)
            runs = self._runs([found.tests] * len(again), again)
            if undone([few])[0] and not any(self._flipped(run.tests.get(self.nodeid)) for run in runs):
                found.state = few
            return

    def _seems(self, parts: Sequence[Sequence[str]]) -> list[bool]:
        """One run for each part that was not asked yet."""
        asked = list(dict.fromkeys(tuple(part) for part in parts if tuple(part) not in self._answers))
        for part, run in zip(asked, self._runs(asked), strict=True):
            self._answers[part] = self._flipped(run.tests.get(self.nodeid))
        return [self._answers[tuple(part)] for part in parts]

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

    def _count(self, condition: str, tests: Sequence[Test | None], *, aside: bool = False) -> None:
        for test in tests:
            if test is not None:
                self.tally.add("order", condition, test.outcome, aside=aside)

    def _flipped(self, test: Test | None) -> bool:
        """True if it does what it does not do alone."""
        if test is None or test.outcome is Outcome.SKIPPED:
            return False
        return (test.outcome in FAILING) != self.alone_fails
