"""The experiments on one test along the axes other than order: one at a time, each confirmed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from redbucket.core.axes import Axis, Variant, at_once
from redbucket.core.classification import FAILING
from redbucket.core.compare import redder_by_chance
from redbucket.core.evidence import failure_print
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.core.tally import Tally
from redbucket.engine.found import CONFIRMED, Found
from redbucket.engine.ports import Bench

# Two groups of twenty tell 1 in 3 from none. Looks at it, and by which chance each is believed: 1 in 100 in all.
_RATE_LOOKS = {6: 0.0012, 12: 0.0038, 20: 0.005}
_RATE_FIRST = 4
# First looks that are taken side by side: they keep all CPUs busy, and the last ones overrun the limit by little.
_BATCH = 6
# Pairs of a failing and a passing value, in steps, so that a coin ends it early: it passes all five
# by chance once in a thousand times at most, (p (1 - p))^5.
_PAIRS = (1, 2, 2)
_NOT_RUN = (Outcome.MISSING, Outcome.SKIPPED)
_WITHOUT, _MIXED, _BROKEN = "it fails without", "a mixed test does not tell", "no run of it was whole"
# Why an axis is left untried, or tells nothing, where time is not the reason.
UNTOLD = (_WITHOUT, _MIXED, _BROKEN)
_AS_IT_IS = Variant("as it is")


@dataclass
class AxisTrials:
    """``make`` gives the spec of one run of the test with some fields replaced.

    ``steady``: it did the same each time, and ``fails`` says what. ``seen`` is what it did, in words, ``failure`` by
    what its one failure is known again.
    ``wavered`` is set where it turns out to be mixed after all. ``tally`` counts every run.
    """

    nodeid: str
    make: Callable[..., RunSpec]
    bench: Bench
    axes: Sequence[Axis]
    say: Callable[[str], None]
    over: Callable[[], bool]
    touched: frozenset[str]
    steady: bool
    fails: bool
    seen: str = ""
    failure: str = ""
    tried: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wavered: bool = False
    tally: Tally = field(init=False)
    _whole: set[str] = field(default_factory=set)
    _cut: str = ""

    def __post_init__(self) -> None:
        self.tally = Tally(self.fails if self.steady else None)

    def find(self) -> Found | None:
        """Return the cause, None if none was confirmed."""
        spared, together = self._screened()
        found = self._followed([(axis, variant) for axis, variant in together if not axis.rates])
        if found is not None:
            return found
        first = {axis.cause for axis, _ in together}

        def turn(axis: Axis) -> int:
            if axis.rates and axis.cause in first:
                return 0  # one look of each of the others did not flip it
            return 1 if axis.cause in first or axis.hints & self.touched else 2

        waiting: list[Axis] = []
        for axis in sorted(self.axes, key=turn):
            if self.steady and self.wavered:
                return None
            if axis.cause in spared:
                self.tried.append(axis.cause)
            elif axis.needs and not axis.needs & self.touched:
                self.tried.append(f"{axis.cause} (it was not seen to use it)")
            elif axis.quiet and self.steady and self.fails:
                self.untried.append(f"{axis.cause} ({_WITHOUT})")
            elif not (self.steady or axis.pins or axis.rates):
                self.untried.append(f"{axis.cause} ({_MIXED})")
            elif self.steady and not axis.again and not (axis.rates and not self.fails):
                waiting.append(axis)
                if sum(len(a.variants) for a in waiting) >= _BATCH:
                    found = self._looked(waiting)
                    waiting = []
                    if found is not None:
                        return found
            else:
                found = self._looked(waiting) or self._alone(axis)
                waiting = []
                if found is not None:
                    return found
        return self._looked(waiting)

    def _alone(self, axis: Axis) -> Found | None:
        """Try an axis that is not a matter of one look."""
        if self.steady and self.wavered:
            return None
        if self.over():
            self.untried.append(axis.cause)
            return None
        self.say(f"trying another {axis.cause}")
        found = self._rates(axis) if axis.rates else self._again(axis) if axis.again else self._pinned(axis)
        if found is None:
            self._done([axis])
        return found

    def _screened(self) -> tuple[set[str], list[tuple[Axis, Variant]]]:
        """With many axes changed at once: those that the test is spared, and the values that flipped it together."""
        spared: set[str] = set()
        groups: dict[str, list[Axis]] = {}
        for axis in self.axes:
            if (axis.draws or (axis.alike and self.failure)) if self.fails else axis.together:
                groups.setdefault(axis.together, []).append(axis)
        for group in groups.values() if self.steady else ():
            if self.over():
                break
            self.say(f"trying another {', '.join(axis.cause for axis in group)}, all at once")
            specs = [self.make("at once", **changed) for changed in at_once(group)]
            together = ", ".join(axis.cause for axis in group)
            runs = list(self._in_time(specs, [(together, "all of these at once")] * len(specs)))
            for number, (run, test) in enumerate(runs):
                if self.differs(run, test):
                    return spared, [(axis, axis.variants[number % len(axis.variants)]) for axis in group]
            ran = [_ran(run, test) for run, test in runs]
            if self.fails and any(axis.alike for axis in group):
                ran = [failure_print(test) == self.failure for _, test in runs]
            if len(ran) == len(specs) and all(ran):
                spared |= {axis.cause for axis in group}
        return spared, []

    def _looked(self, waiting: Sequence[Axis]) -> Found | None:
        """Take one look along each axis, side by side; follow what flips."""
        if not waiting:
            return None
        if self.over():
            self.untried += [axis.cause for axis in waiting]
            return None
        self.say(f"trying another {', '.join(axis.cause for axis in waiting)}")
        found = self._followed([(axis, variant) for axis in waiting for variant in axis.variants])
        if found is None and not self.wavered:
            self._done(waiting)
        return found

    def _done(self, axes: Sequence[Axis]) -> None:
        """They did not flip it, as far as there was time, and the test was there at all."""
        for axis in axes:
            if self.over():
                self.untried.append(axis.cause)
            elif axis.cause not in self._whole:
                self.untried.append(f"{axis.cause} ({_BROKEN})")
            else:
                self.tried.append(axis.cause)

    def _followed(self, every: Sequence[tuple[Axis, Variant]]) -> Found | None:
        """Take one look with each of these values; confirm what flips."""
        specs = [self.make(axis.cause, **variant.change) for axis, variant in every]
        names = [(axis.cause, variant.name) for axis, variant in every]
        for (axis, variant), (run, test) in zip(every, self._in_time(specs, names), strict=False):
            if self.differs(run, test) and not (axis.slows and test.outcome is Outcome.TIMEOUT):
                found = self._confirmed(axis, variant)
                if found is not None or self.wavered:
                    return found
        return None

    def _in_time(
        self, specs: Sequence[RunSpec], names: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[Run, Test]]:
        """Yield what became of the runs, several at a time, until the time is up; all are counted by ``names``."""
        for at in range(0, len(specs), _BATCH):
            if self.over():
                return
            runs = self.bench.run(specs[at : at + _BATCH])
            seen = list(zip(runs, self.tests(runs), strict=True))
            for (changes, name), (run, test) in zip(names[at : at + _BATCH], seen, strict=True):
                self._count(changes, name, run, test)
            yield from seen

    def _count(self, changes: str, name: str, run: Run, test: Test) -> None:
        if run.broken and not self._cut:
            self._cut = run.cut
            self.notes.append(f"a run was cut short, and counts for nothing ({changes}, {name}): {self._cut}")
        if _ran(run, test):
            if name != _AS_IT_IS.name:
                self._whole.add(changes)
            self.tally.add(changes, name, test.outcome, aside=name == _AS_IT_IS.name)

    def _confirmed(self, axis: Axis, variant: Variant) -> Found | None:
        # side by side, so that what comes and goes with the time of day hits both alike
        flips: list[bool] = []
        for rounds in (1, CONFIRMED - 1):
            pairs = self._try(axis, [variant, _AS_IT_IS] * rounds)
            flips = [self.differs(r, t) for r, t in zip(pairs, self.tests(pairs), strict=True)]
            if not all(flips[::2]) or any(flips[1::2]):
                break
        else:
            return self._found(axis, variant, pairs[0], pairs[1])
        self.notes.append(f"{axis.cause}: it flipped once with {variant.name}, which did not hold")
        # it flipped with this once before: a single look that says otherwise makes it mixed
        self.wavered = any(flips[1::2]) or not all(flips[::2])
        return None

    def tests(self, runs: Sequence[Run]) -> list[Test]:
        """Return what the test did in each run."""
        return [
            run.tests.get(self.nodeid) or Test(nodeid=self.nodeid, outcome=Outcome.MISSING) for run in runs
        ]

    def differs(self, run: Run, test: Test) -> bool:
        """True if it ran, and did not do what it does by itself."""
        return _ran(run, test) and _fails(test) != self.fails

    def _try(self, axis: Axis, variants: Sequence[Variant]) -> list[Run]:
        specs = [self.make(axis.cause, **variant.change) for variant in variants]
        alone = ([spec] for spec in specs)
        runs = [run for some in (alone if axis.quiet else [specs]) for run in self.bench.run(some)]
        for variant, run, test in zip(variants, runs, self.tests(runs), strict=True):
            self._count(axis.cause, variant.name, run, test)
        return runs

    def _found(self, axis: Axis, variant: Variant, flipped: Run, plain: Run) -> Found:
        did, lone = ("passes", "fails") if self.fails else ("fails", "passes")
        # what is a plain NAME=VALUE is said; a piece of shell is for the commands alone
        without = f"with {axis.plain}" if re.fullmatch(r"\w+=\w+", axis.plain) else "without"
        return Found(
            axis.cause,
            f"it {did} with {variant.name}",
            [f"with {variant.name}: it {did} 3 of 3", f"{without}: it {lone} 3 of 3, in between"],
            axis.fix,
            show=variant.shell,
            plain=axis.plain,
            recorded=axis.recorded,
            failing=plain if self.fails else flipped,
            passing=flipped if self.fails else plain,
            conditions=(variant.name,),
            change=dict(variant.change),
        )

    def _again(self, axis: Axis) -> Found | None:
        """Each time a first run in a fresh place, and a second in what it left behind."""
        before: list[Run] = []
        second: list[Run] = []
        for rounds in (1, CONFIRMED - 1):
            first = [self.make("first") for _ in range(rounds)]
            fresh = self.bench.run(first)
            used = self.bench.run([self.make(axis.cause, used_home=s.name) for s in first])
            for name, runs in ((_AS_IT_IS.name, fresh), (axis.variants[0].name, used)):
                for run, test in zip(runs, self.tests(runs), strict=True):
                    self._count(axis.cause, name, run, test)
            before += fresh
            second += used
            if any(self.differs(r, t) for r, t in zip(before, self.tests(before), strict=True)):
                return None
            if not all(self.differs(r, t) for r, t in zip(second, self.tests(second), strict=True)):
                return None
        return self._found(axis, axis.variants[0], second[0], before[0])

    def _pinned(self, axis: Axis) -> Found | None:
        """A mixed test that fails each time with one value of the axis and passes each time with another."""
        red: tuple[Variant, Run] | None = None
        green: tuple[Variant, Run] | None = None
        half = (len(axis.variants) + 1) // 2
        for variants in (axis.variants[:half], axis.variants[half:]):
            runs = self._try(axis, variants)
            for variant, run, test in zip(variants, runs, self.tests(runs), strict=True):
                if not _ran(run, test):
                    continue
                if _fails(test):
                    red = red or (variant, run)
                else:
                    green = green or (variant, run)
            if (red is not None and green is not None) or self.over():
                break
        if red is None or green is None:
            return None
        for rounds in _PAIRS:
            if self.over():
                return None
            runs = self._try(axis, [red[0], green[0]] * rounds)
            seen = zip(runs, self.tests(runs), strict=True)
            if not all(_ran(r, t) and _fails(t) == (n % 2 == 0) for n, (r, t) in enumerate(seen)):
                return None
        every = 1 + sum(_PAIRS)
        return Found(
            axis.cause,
            f"it fails with {red[0].name} and passes with {green[0].name}",
            [
                f"as it is: {self.seen}",
                f"with {red[0].name}: it fails {every} of {every}",
                f"with {green[0].name}: it passes {every} of {every}, in between",
            ],
            axis.fix,
            failing=red[1],
            passing=green[1],
            conditions=(red[0].name, green[0].name),
        )

    def _rates(self, axis: Axis) -> Found | None:
        """Does it fail more often with one variant than with the other, or than as it is?"""
        one = axis.variants[0]
        other = axis.variants[1] if len(axis.variants) > 1 else _AS_IT_IS
        # one that did the same each time must do something else at all before anything is compared
        if self.steady and not self._ever(axis, other if self.fails else one):
            return None
        counts = {one.name: [0, 0], other.name: [0, 0]}
        failing: Run | None = None
        for number in range(1, max(_RATE_LOOKS) + 1):
            if self.over():
                return None
            runs = self._try(axis, [one, other])
            for variant, run, test in zip((one, other), runs, self.tests(runs), strict=True):
                if not _ran(run, test):
                    continue  # a run that was cut short is no failure of the test
                counts[variant.name][0] += _fails(test)
                counts[variant.name][1] += 1
                failing = run if _fails(test) and variant is one else failing
            (red, ran), (other_red, other_ran) = counts[one.name], counts[other.name]
            if number == _RATE_FIRST and red * other_ran <= other_red * ran:
                return None  # no sign of it, or it can't be run here: more runs would not be spent well
            chance = redder_by_chance(red, ran, other_red, other_ran)
            if chance < _RATE_LOOKS.get(number, 0.0):
                break
        else:
            return None
        return Found(
            axis.cause,
            f"it fails more often with {one.name}",
            [
                f"with {one.name}: it fails {red} of {ran}",
                f"with {other.name}: it fails {other_red} of {other_ran}, in between",
                f"chance alone: {chance:.2g} (Fisher's exact test)",
            ],
            axis.fix,
            failing=failing,
            conditions=(one.name,),
        )

    def _ever(self, axis: Axis, variant: Variant) -> bool:
        """Does it flip? A few runs, and where they must stand alone no more than it takes."""
        at_a_time = 1 if axis.quiet else _RATE_FIRST
        for _ in range(0, _RATE_FIRST, at_a_time):
            if self.over():
                return False
            runs = self._try(axis, [variant] * at_a_time)
            if any(self.differs(r, t) for r, t in zip(runs, self.tests(runs), strict=True)):
                return True
        return False


def _ran(run: Run, test: Test) -> bool:
    return not run.broken and test.outcome not in _NOT_RUN


def _fails(test: Test) -> bool:
    return test.outcome in FAILING


def counted(outcomes: Sequence[Any]) -> str:
    """Return "it fails 2 of 3"."""
    failed = sum(o in FAILING for o in outcomes)
    return f"it fails {failed} of {len(outcomes)}"
