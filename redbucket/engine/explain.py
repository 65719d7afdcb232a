"""Says why a test is noisy, by experiment: one axis at a time, and nothing that was not confirmed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from redbucket.core.axes import FIX_INCONSISTENT, FIX_ORDER, Axis
from redbucket.core.classification import FAILING
from redbucket.core.conditions import Conditions
from redbucket.core.errors import Undecided
from redbucket.core.evidence import failure_print, is_inconsistent
from redbucket.core.experiments import Experiment
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.engine.axistrial import AxisTrials, counted
from redbucket.engine.found import CONFIRMED, Found
from redbucket.engine.orders import OrderSearch
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs

# All of it ends within 40 times the suite's time; what is under way when this is over takes the rest.
_PER_SUITE = 34.0
IN_SUITE = "in the suite"


def _that_very_one(nodeid: str, ids: Iterable[str]) -> str | None:
    return nodeid if nodeid in ids else None


@dataclass
class Explain:
    """The experiments on one test. ``axes`` are tried in turn until one is confirmed.

    ``find`` says which of the suite's ids is meant; ``nodeid`` becomes that. ``looked`` are the runs of the test
    as it is, in the suite's order, alone and in other orders.
    """

    nodeid: str
    world: str
    specs: Specs
    bench: Bench
    axes: Sequence[Axis]
    say: Callable[[str], None]
    clock: Callable[[], float]
    budget: float | None = None
    per_suite: float = _PER_SUITE
    find: Callable[[str, Iterable[str]], str | None] = _that_very_one
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    looks: list[Experiment] = field(default_factory=list)
    looked: list[list[Run]] = field(default_factory=list)
    message: str = ""
    plugins: tuple[str, ...] = ()
    suite_seconds: float = 0.0
    steady: bool = True
    fails: bool = False
    _began: float = 0.0
    _limit: float = float("inf")
    _suite: tuple[str, ...] = ()
    _base: list[Outcome] = field(default_factory=list)
    _only: tuple[str, ...] = ()
    _inconsistent: bool = False
    _unconfirmed: bool = False

    @property
    def alone(self) -> bool:
        """True if the axes were tried on the test alone, without tests before it."""
        return self._only in ((), (self.nodeid,))

    def over(self) -> bool:
        """True once the time is up."""
        return self.clock() - self._began > self._limit

    def run(self) -> Found | None:
        """Return the cause, None if none was confirmed."""
        self._began = self.clock()
        found = self._search_all()
        if self.touched or (found is not None and found.culprits is None) or not self.steady:
            self._look_at_sites()
        return found

    def _look_at_sites(self) -> None:
        """Once, in a run that counts for nothing: which lines touch entropy?"""
        if self.over():
            return
        self.say("looking at the lines that touch entropy")
        (run,) = self.bench.run([self._spec((self.nodeid,), "sites", conditions=Conditions(sites=True))])
        self.sites = list(self._tests([run])[0].sites)

    def _search_all(self) -> Found | None:
        found = self._order(*self._baseline())
        if found is not None:
            return found
        if self._inconsistent:
            return Found(
                "inconsistent property",
                "the framework ran one input twice and saw two results",
                [f"{CONFIRMED} of {CONFIRMED} runs end with the framework's own report of inconsistency"],
                FIX_INCONSISTENT,
                conditions=(IN_SUITE,),
            )
        return self._axes()

    def _axes(self) -> Found | None:
        trials = AxisTrials(
            self.nodeid,
            lambda condition, **over: self._spec(self._only, condition, **over),
            self.bench,
            self.axes,
            self.say,
            self.over,
            frozenset(self.touched),
            self.steady,
            self.fails,
            counted(self._base),
            self._failure(),
            self.tried,
            self.untried,
            self.notes,
        )
        found = trials.find()
        self.looks += trials.tally.experiments(found.conditions if found else ())
        if found is None and trials.steady and (trials.wavered or self._unconfirmed) and not self.over():
            # it looked steady by chance: what tells a mixed test was not asked yet
            self.steady = False
            return self._axes()
        return found

    def _failure(self) -> str:
        """By what its failure is known again, "" if it has none or several."""
        prints = {failure_print(t) for runs in self.looked for t in self._tests(runs) if _fails(t)}
        return prints.pop() if len(prints) == 1 else ""

    # -- what it does by itself -------------------------------------------------------------------

    def _baseline(self) -> tuple[list[Test], list[Test]]:
        self.say("running the suite once")
        began = self.clock()
        (first,) = self.bench.run([self.specs.make(self.world)])
        took = self.clock() - began
        _require_whole([first], "the suite")
        self.nodeid = self._named(first.tests)
        self._suite = tuple(first.tests)
        self.plugins = tuple(first.session.plugins)
        self.say("running it alone, and the suite twice more")
        whole = [self.specs.make(self.world) for _ in range(CONFIRMED - 1)]
        lone = [self._spec((self.nodeid,), "alone") for _ in range(CONFIRMED)]
        runs = self.bench.run([*whole, *lone])
        # a run that ended before the test is no failure of it
        _require_whole([run for run in runs if self.nodeid not in run.tests], "a run of it")
        suites = [first, *runs[: len(whole)]]
        # a cold first run is not what the suite takes, and neither is one on a machine that was idle just then
        self.suite_seconds = took - first.duration + median(run.duration for run in suites)
        self._limit = self.budget if self.budget is not None else self.per_suite * self.suite_seconds
        suite = self._tests(suites)
        alone = self._tests(runs[len(whole) :])
        self.looked = [runs[len(whole) :], suites]
        self.outcomes[IN_SUITE] = [t.outcome.value for t in suite]
        self.outcomes["alone"] = [t.outcome.value for t in alone]
        self.touched = sorted({e for t in (*suite, *alone) for e in t.entropy})
        self.message = next((t.message for t in (*suite, *alone) if t.outcome in FAILING), "")
        self._inconsistent = all(is_inconsistent(t) for t in suite)
        return suite, alone

    def _named(self, ids: Iterable[str]) -> str:
        found = self.find(self.nodeid, ids)
        if found is not None:
            return found
        if "[#" in self.nodeid:
            raise Undecided(
                "no-such-test",
                f"the id of {self.nodeid} is another one in each process, so that no run can ask for it",
                "give its parameters ids that stay (pytest.param(..., id=...)), and then explain it",
            )
        rows = [i for i in ids if i.partition("[")[0] == self.nodeid]
        near = rows or [i for i in ids if i.rpartition("::")[2] == self.nodeid.rpartition("::")[2]]
        more = f" and {plural(len(near) - 1, 'more of that name')}" if len(near) > 1 else ""
        raise Undecided(
            "no-such-test",
            f"the suite has no test {self.nodeid}" + (f"; it has {near[0]}{more}" if near else ""),
            "copy the id from a report of redbucket",
        )

    def both_ways(self, found: Found | None) -> tuple[Run | None, Run | None]:
        """Return a run in which it failed and one in which it passed, None for what was not seen.

        Without a cause both are of equal conditions where those differ: that is the noise.
        """
        if found is not None and found.failing is not None:
            passing = found.passing or self._one_that(self.looked, fails=False)
            return found.failing, passing
        mixed = [runs for runs in self.looked if _kind(self._tests(runs)) is None]
        for groups in (mixed, self.looked):
            failing, passing = (self._one_that(groups, fails=f) for f in (True, False))
            if failing is not None and passing is not None:
                return failing, passing
        return None, None

    def _one_that(self, groups: Iterable[Sequence[Run]], *, fails: bool) -> Run | None:
        for run in (run for runs in groups for run in runs if not run.broken):
            test = run.tests.get(self.nodeid)
            if test is not None and (test.outcome in FAILING if fails else test.outcome is Outcome.PASSED):
                return run
        return None

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
        if by_itself is not None and in_suite is None:
            found = self._shuffled_by_itself(by_itself)
            if found is not None:
                return found
        if by_itself is None or in_suite is None:
            self.steady = False
            if by_itself is not None:  # mixed in the suite only: that is where it is to be watched
                self._only = self._suite[: self._suite.index(self.nodeid) + 1]
                self._base = [t.outcome for t in suite]
            self.notes.append("the test is mixed under equal conditions, so an order can't be told apart")
            self.untried.append("order (a mixed test does not tell)")
            return None
        self.fails = by_itself
        skipped = [{t.outcome for t in tests} == {Outcome.SKIPPED} for tests in (suite, alone)]
        if skipped[0] != skipped[1]:
            where = "in the suite" if skipped[0] else "alone"
            self.notes.append(
                f"it is skipped {where}: that goes with the order, and no test is looked for by it"
            )
            self.untried.append(f"order (it is skipped {where})")
            return None
        if in_suite != by_itself:
            return self._search(self._suite, alone_fails=by_itself, how="in the suite's order")
        orders: dict[str, dict[str, str]] = {
            "reversed": {"order": "reversed"},
            "shuffled": {"order": "shuffled", "shuffle": self.specs.other_seed("explain 1")},
            "shuffled again": {"order": "shuffled", "shuffle": self.specs.other_seed("explain 2")},
        }
        if len(self._suite) < 2:
            orders = {}
        runs = self.bench.run([self.specs.make(self.world, how, **over) for how, over in orders.items()])
        self.looked += [[run] for run in runs]
        for how, run, test in zip(orders, runs, self._tests(runs), strict=True):
            self.outcomes[how] = [test.outcome.value]
            if not run.broken and _fails(test) != by_itself and test.outcome is not Outcome.MISSING:
                found = self._search(tuple(run.tests), alone_fails=by_itself, how=f"in the {how} order")
                if found is not None:
                    return found
        whole = not runs or not all(run.broken for run in runs)
        (self.tried if whole else self.untried).append("order" if whole else "order (no run of it was whole)")
        return None

    def _shuffled_by_itself(self, alone_fails: bool) -> Found | None:
        """Where the project orders its tests anew in each run: ask for an order in which it flipped."""
        _, suites = self.looked
        if len({tuple(run.tests) for run in suites}) == 1:
            return None
        self.notes.append(
            "the suite has another order in each run: something in it or in a plugin shuffles the tests"
        )
        for run, test in zip(suites, self._tests(suites), strict=True):
            if _fails(test) != alone_fails and not run.broken:
                self.fails = alone_fails
                return self._search(tuple(run.tests), alone_fails=alone_fails, how="in one of these orders")
        return None

    def _search(self, order: Sequence[str], *, alone_fails: bool, how: str) -> Found | None:
        search = OrderSearch(self.nodeid, order, alone_fails, self._make, self.bench, self.say, self.over)
        culprits = search.find()
        self.looks += search.tally.experiments([culprits.condition] if culprits.confirmed else ())
        if not culprits.confirmed:
            self.notes.append(f"it flips {how}, but no test was found to do it: {culprits.why_not}")
            (self.untried if self.over() else self.tried).append("order")
            self._unconfirmed = True
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
            passing=culprits.passing,
        )

    def _make(self, condition: str, **over: Any) -> RunSpec:
        return self.specs.make(self.world, condition, **over)


def _require_whole(runs: Iterable[Run], what: str) -> None:
    for run in runs:
        if run.broken:
            raise Undecided(
                "record-incomplete",
                f"{what} did not run to its end: {run.cut}",
                "raise --budget" if "time budget" in run.broken else "fix what ends the run early",
            )


def _fails(test: Test) -> bool:
    return test.outcome in FAILING


def _kind(tests: Sequence[Test]) -> bool | None:
    """True if it fails every time, False if never, None if mixed."""
    kinds = {_fails(t) for t in tests}
    return kinds.pop() if len(kinds) == 1 else None
