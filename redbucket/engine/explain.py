"""Says why a test is noisy, by experiment: one axis at a time, and nothing that was not confirmed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from redbucket.core.axes import FIX_INCONSISTENT, FIX_ORDER, Axis, Variant, at_once
from redbucket.core.classification import FAILING
from redbucket.core.compare import redder_by_chance
from redbucket.core.errors import Undecided
from redbucket.core.evidence import is_inconsistent
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.engine.orders import CONFIRMED, Culprits, OrderSearch
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs

# Two groups of twenty tell 1 in 3 from none. Two looks at it, so each must be surer than 1 in 100.
_RATE_LOOKS = (10, 20)
_RATE_CHANCE = 0.005
_RATE_FIRST = 4


@dataclass
class Found:
    """What was confirmed. ``failing`` is a run that shows it."""

    cause: str
    what: str
    evidence: list[str]
    fix: str
    show: str = ""
    culprits: Culprits | None = None
    failing: Run | None = None


@dataclass
class Explain:
    """The experiments on one test. ``axes`` are tried in turn until one is confirmed."""

    nodeid: str
    world: str
    specs: Specs
    bench: Bench
    axes: Sequence[Axis]
    say: Callable[[str], None]
    clock: Callable[[], float]
    budget: float | None = None
    per_suite: float = 40.0
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    message: str = ""
    suite_seconds: float = 0.0
    steady: bool = True
    fails: bool = False
    _began: float = 0.0
    _limit: float = float("inf")
    _suite: tuple[str, ...] = ()
    _base: list[Outcome] = field(default_factory=list)
    _only: tuple[str, ...] = ()
    _inconsistent: bool = False
    _wavered: bool = False

    def over(self) -> bool:
        """True once the time is up."""
        return self.clock() - self._began > self._limit

    def run(self) -> Found | None:
        """Return the cause, None if none was confirmed."""
        self._began = self.clock()
        found = self._order(*self._baseline())
        if found is not None:
            return found
        if self._inconsistent:
            return Found(
                "inconsistent property",
                "the framework ran one input twice and saw two results",
                [f"{CONFIRMED} of {CONFIRMED} runs end with the framework's own report of inconsistency"],
                FIX_INCONSISTENT,
            )
        found = self._axes()
        if found is None and self.steady and self._wavered and not self.over():
            # it looked steady by chance: what tells a mixed test was not asked yet
            self.steady = False
            found = self._axes()
        return found

    def _axes(self) -> Found | None:
        spared, first = self._screened()
        for axis in sorted(self.axes, key=lambda a: not (a.cause in first or a.hints & set(self.touched))):
            if self.steady and self._wavered:
                return None
            if axis.cause in spared:
                self.tried.append(axis.cause)
            elif self.over():
                self.untried.append(axis.cause)
            elif axis.needs and not axis.needs & set(self.touched):
                self.tried.append(f"{axis.cause} (it was not seen to use it)")
            elif axis.quiet and self.steady and self.fails:
                self.untried.append(f"{axis.cause} (it fails without)")
            elif not (self.steady or axis.pins or axis.rates):
                self.untried.append(f"{axis.cause} (a mixed test does not tell)")
            else:
                self.say(f"trying another {axis.cause}")
                found = self._axis(axis)
                if found is not None:
                    return found
                self.tried.append(axis.cause)
        return None

    def _screened(self) -> tuple[set[str], set[str]]:
        """With many axes changed at once: those that a passing test is spared, those that go first."""
        group = [axis for axis in self.axes if axis.together]
        if not group or not self.steady or self.fails or self.over():
            return set(), set()
        self.say("trying another zone, locale, width, umask and HOME, all at once")
        specs = [self._spec(self._only, "at once", conditions=changed) for changed in at_once(group)]
        runs = self.bench.run(specs)
        causes = {axis.cause for axis in group}
        if all(
            t.outcome is Outcome.PASSED and not r.broken for r, t in zip(runs, self._tests(runs), strict=True)
        ):
            return causes, set()
        return set(), causes

    # -- what it does by itself -------------------------------------------------------------------

    def _baseline(self) -> tuple[list[Test], list[Test]]:
        self.say("running the suite once")
        began = self.clock()
        (first,) = self.bench.run([self.specs.make(self.world)])
        self.suite_seconds = self.clock() - began
        self._limit = self.budget if self.budget is not None else self.per_suite * self.suite_seconds
        if first.broken:
            raise Undecided(
                "record-incomplete",
                f"the suite did not run to its end: {first.broken.removeprefix(f'{first.source}: ')}",
                "fix what ends the run early",
            )
        if self.nodeid not in first.tests:
            near = [i for i in first.tests if i.rpartition("::")[2] == self.nodeid.rpartition("::")[2]]
            raise Undecided(
                "no-such-test",
                f"the suite has no test {self.nodeid}" + (f"; it has {near[0]}" if near else ""),
                "copy the id from a report of redbucket",
            )
        self._suite = tuple(first.tests)
        self.say("running it alone, and the suite twice more")
        whole = [self.specs.make(self.world) for _ in range(CONFIRMED - 1)]
        lone = [self._spec((self.nodeid,), "alone") for _ in range(CONFIRMED)]
        runs = self.bench.run([*whole, *lone])
        suite = self._tests([first, *runs[: len(whole)]])
        alone = self._tests(runs[len(whole) :])
        self.outcomes["in the suite"] = [t.outcome.value for t in suite]
        self.outcomes["alone"] = [t.outcome.value for t in alone]
        self.touched = sorted({e for t in (*suite, *alone) for e in t.entropy})
        self.message = next((t.message for t in (*suite, *alone) if t.outcome in FAILING), "")
        self._inconsistent = all(is_inconsistent(t) for t in suite)
        return suite, alone

    def _tests(self, runs: Sequence[Run]) -> list[Test]:
        return [
            run.tests.get(self.nodeid) or Test(nodeid=self.nodeid, outcome=Outcome.MISSING) for run in runs
        ]

    def _spec(self, only: tuple[str, ...], condition: str, **over: Any) -> RunSpec:
        return self.specs.make(self.world, condition, **{"only": only, "order": "given", **over})

    # -- order --------------------------------------------------------------------------------------

    def _order(self, suite: list[Test], alone: list[Test]) -> Found | None:
        """Settle the baseline, and look for a cause in the order of the tests."""
        in_suite, by_itself = _kind(suite), _kind(alone)
        self._only = (self.nodeid,)
        self._base = [t.outcome for t in alone]
        if by_itself is None or in_suite is None:
            self.steady = False
            if by_itself is not None:  # mixed in the suite only: that is where it is to be watched
                self._only = self._suite[: self._suite.index(self.nodeid) + 1]
                self._base = [t.outcome for t in suite]
            self.notes.append("the test is mixed under equal conditions, so an order can't be told apart")
            self.untried.append("order (a mixed test does not tell)")
            return None
        self.fails = by_itself
        if in_suite != by_itself:
            return self._search(self._suite, alone_fails=by_itself, how="in the suite's order")
        for how, over in (
            ("reversed", {"order": "reversed"}),
            ("shuffled", {"order": "shuffled", "shuffle": self.specs.other_seed("explain 1")}),
            ("shuffled again", {"order": "shuffled", "shuffle": self.specs.other_seed("explain 2")}),
        ):
            if len(self._suite) < 2:
                break
            (run,) = self.bench.run([self.specs.make(self.world, how, **over)])
            (test,) = self._tests([run])
            self.outcomes[how] = [test.outcome.value]
            if not run.broken and _fails(test) != by_itself and test.outcome is not Outcome.MISSING:
                found = self._search(tuple(run.tests), alone_fails=by_itself, how=f"in the {how} order")
                if found is not None:
                    return found
        self.tried.append("order")
        return None

    def _search(self, order: Sequence[str], *, alone_fails: bool, how: str) -> Found | None:
        culprits = OrderSearch(
            self.nodeid, order, alone_fails, self._make, self.bench, self.say, self.over
        ).find()
        if not culprits.confirmed:
            self.notes.append(f"it flips {how}, but no test was found to do it: {culprits.why_not}")
            (self.untried if self.over() else self.tried).append("order")
            if not self.over():
                self._only = tuple(order[: order.index(self.nodeid) + 1]) if not alone_fails else self._only
            return None
        kind = "brittle" if alone_fails else "victim"
        names = " and ".join(culprits.tests)
        did, lone = ("passes", "fails") if alone_fails else ("fails", "passes")
        does = "needs what is set up by" if alone_fails else "is broken by what is left by"
        if culprits.imported:
            does = "needs the import of the file of" if alone_fails else "is broken by importing the file of"
        evidence = [f"after {names}: it {did} 3 of 3", f"alone: it {lone} 3 of 3"]
        if culprits.complete is not None:
            evidence.append(
                "with all others before it and without "
                + ("them" if culprits.others or len(culprits.tests) > 1 else "that one")
                + (f": it {lone} 3 of 3" if culprits.complete else ": it still flips, so there are others")
            )
        if culprits.others:
            self.notes.append(
                "each of these does it, too: " + "; ".join(" and ".join(g) for g in culprits.others)
            )
        if culprits.state:
            evidence[1] += f"; and when {' and '.join(culprits.state)} is put back between them, 3 of 3"
        return Found(
            "order",
            f"a {kind}: it {does} {names}",
            evidence,
            FIX_ORDER[kind],
            culprits=culprits,
            failing=culprits.failing,
        )

    def _make(self, condition: str, **over: Any) -> RunSpec:
        return self.specs.make(self.world, condition, **over)

    # -- the other axes -------------------------------------------------------------------------------

    def _axis(self, axis: Axis) -> Found | None:
        if axis.rates and (not self.steady or not self.fails):
            return self._rates(axis)
        if axis.again:
            return self._again(axis)
        if not self.steady:
            return self._pinned(axis)
        runs = self._try(axis, list(axis.variants))
        for variant, run in zip(axis.variants, runs, strict=True):
            (test,) = self._tests([run])
            if not self._differs(run, test):
                continue
            plain = Variant("as it is")
            # side by side, so that what comes and goes with the time of day hits both alike
            pairs = self._try(axis, [variant, plain] * CONFIRMED)
            flips = [self._differs(r, t) for r, t in zip(pairs, self._tests(pairs), strict=True)]
            if all(flips[::2]) and not any(flips[1::2]):
                return self._found(axis, variant, pairs[0], pairs[1])
            self.notes.append(f"{axis.cause}: it flipped once with {variant.name}, which did not hold")
            if any(flips[1::2]) or len(set(flips[::2])) > 1:
                self._wavered = True
                return None
        return None

    def _differs(self, run: Run, test: Test) -> bool:
        """True if it ran, and did not do what it does by itself."""
        if run.broken or test.outcome in (Outcome.MISSING, Outcome.SKIPPED):
            return False
        return _fails(test) != self.fails

    def _try(self, axis: Axis, variants: Sequence[Variant]) -> list[Run]:
        specs = [self._spec(self._only, axis.cause, **variant.change) for variant in variants]
        if axis.quiet:
            return [run for spec in specs for run in self.bench.run([spec])]
        return list(self.bench.run(specs))

    def _found(self, axis: Axis, variant: Variant, flipped: Run, plain: Run) -> Found:
        did, lone = ("passes", "fails") if self.fails else ("fails", "passes")
        return Found(
            axis.cause,
            f"it {did} with {variant.name}",
            [f"with {variant.name}: it {did} 3 of 3", f"without: it {lone} 3 of 3, in between"],
            axis.fix,
            show=variant.shell,
            failing=plain if self.fails else flipped,
        )

    def _again(self, axis: Axis) -> Found | None:
        """Each time a first run in a fresh place, and a second in what it left behind."""
        before: list[Run] = []
        second: list[Run] = []
        for rounds in (1, CONFIRMED - 1):
            first = [self._spec(self._only, "first") for _ in range(rounds)]
            before += self.bench.run(first)
            second += self.bench.run([self._spec(self._only, axis.cause, used_home=s.name) for s in first])
            if any(self._differs(r, t) for r, t in zip(before, self._tests(before), strict=True)):
                return None
            if not all(self._differs(r, t) for r, t in zip(second, self._tests(second), strict=True)):
                return None
        return self._found(axis, axis.variants[0], second[0], before[0])

    def _pinned(self, axis: Axis) -> Found | None:
        """A mixed test that holds still under each value of the axis, and differs between values."""
        names = {v.name: v for v in axis.variants}
        seen: dict[str, list[Run]] = {name: [] for name in names}
        for _ in range(CONFIRMED):
            for variant, run in zip(axis.variants, self._try(axis, list(axis.variants)), strict=True):
                seen[variant.name].append(run)
            if self.over() or any(len({_fails(t) for t in self._tests(runs)}) > 1 for runs in seen.values()):
                return None
        fails = [n for n, runs in seen.items() if all(_fails(t) for t in self._tests(runs))]
        passes = [n for n in names if n not in fails]
        if not fails or not passes:
            return None
        one, other = fails[0], passes[0]
        runs = self._try(axis, [names[one], names[other]] * CONFIRMED)
        if not all(_fails(t) == (n % 2 == 0) for n, t in enumerate(self._tests(runs))):
            return None
        every = 2 * CONFIRMED
        return Found(
            axis.cause,
            f"it fails with {one} and passes with {other}",
            [
                f"as it is: {_mixed(self._base)}",
                f"with {one}: it fails {every} of {every}",
                f"with {other}: it passes {every} of {every}",
            ],
            axis.fix,
            failing=seen[one][0],
        )

    def _rates(self, axis: Axis) -> Found | None:
        """Does it fail more often with one variant than with the other, or than as it is?"""
        one = axis.variants[0]
        other = axis.variants[1] if len(axis.variants) > 1 else Variant("as it is")
        if self.steady:  # it never failed yet: before anything is compared it must fail at all
            runs = self._try(axis, [one] * _RATE_FIRST)
            if not any(_fails(t) for t in self._tests(runs)):
                return None
        counts = {one.name: [0, 0], other.name: [0, 0]}
        failing: Run | None = None
        for number in range(1, _RATE_LOOKS[-1] + 1):
            if self.over():
                return None
            runs = self._try(axis, [one, other])
            for variant, run, test in zip((one, other), runs, self._tests(runs), strict=True):
                counts[variant.name][0] += _fails(test)
                counts[variant.name][1] += 1
                failing = run if _fails(test) and variant is one else failing
            if number == _RATE_FIRST and counts[one.name][0] <= counts[other.name][0]:
                return None  # no sign of it: more runs would not be spent well
            (red, ran), (other_red, other_ran) = counts[one.name], counts[other.name]
            chance = redder_by_chance(red, ran, other_red, other_ran)
            if number in _RATE_LOOKS and chance < _RATE_CHANCE:
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
        )


def _fails(test: Test) -> bool:
    return test.outcome in FAILING


def _kind(tests: Sequence[Test]) -> bool | None:
    """True if it fails every time, False if never, None if mixed."""
    kinds = {_fails(t) for t in tests}
    return kinds.pop() if len(kinds) == 1 else None


def _mixed(outcomes: Sequence[Outcome]) -> str:
    failed = sum(o in FAILING for o in outcomes)
    return f"it fails {failed} of {len(outcomes)}"
