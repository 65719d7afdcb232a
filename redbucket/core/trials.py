"""All that was seen of each test, by world and condition; and what can be said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redbucket.core.align import function_of, names, unstable_functions
from redbucket.core.classification import FAILING
from redbucket.core.evidence import PASSING
from redbucket.core.records import Outcome, Run, Test

Key = tuple[str, str]


@dataclass
class Trials:
    """The results of many runs, collected under common names."""

    unstable: frozenset[str] = frozenset()
    results: dict[str, dict[Key, list[Test]]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Trials:
        """Return trials whose names are aligned over the full runs of one tree."""
        orders = [run.collected for run in runs if run.collected]
        return cls(unstable=unstable_functions(orders))

    def learn(self, orders: Sequence[Sequence[str]], known: Sequence[str]) -> dict[str, str]:
        """Take ids of further runs of one tree into account; return {old name: new name}.

        What is already here came from runs that collected ``known``.
        """
        new = unstable_functions(orders) - self.unstable
        if not new:
            return {}
        self.unstable |= new
        renamed = {i: name for i, name in names(known, self.unstable).items() if function_of(i) in new}
        self.order = list(dict.fromkeys(renamed.get(n, n) for n in self.order))
        for old, name in renamed.items():
            for key, tests in self.results.pop(old, {}).items():
                self.results.setdefault(name, {}).setdefault(key, []).extend(tests)
        return renamed

    def names(self, run: Run) -> dict[str, str]:
        """Return {id in the run: common name}."""
        return names(run.collected or tuple(run.tests), self.unstable)

    def add(self, run: Run, *, among: frozenset[str] | None = None) -> None:
        """Take the results of ``run``, of all tests or of those ``among`` the names."""
        common = self.names(run)
        key = (run.world, run.condition)
        self.runs.append(run)
        for nodeid, test in run.tests.items():
            name = common.get(nodeid, nodeid)
            if among is not None and name not in among:
                continue
            if name not in self.results:
                self.results[name] = {}
                self.order.append(name)
            self.results[name].setdefault(key, []).append(test)

    def missing(self, name: str, key: Key, message: str = "", seed: str = "") -> None:
        """Note that a test was not there in a run that was complete."""
        if name not in self.results:
            self.results[name] = {}
            self.order.append(name)
        test = Test(nodeid=name, outcome=Outcome.MISSING, message=message, seed=seed)
        self.results[name].setdefault(key, []).append(test)

    def tests(self, name: str, world: str, condition: str = "plain") -> list[Test]:
        """Return the results of one test in one world and condition."""
        return self.results.get(name, {}).get((world, condition), [])

    def outcomes(self, name: str, world: str, condition: str = "plain") -> tuple[Outcome, ...]:
        """Return the outcomes of one test in one world and condition."""
        return tuple(t.outcome for t in self.tests(name, world, condition))

    def everywhere(self, name: str, world: str) -> tuple[Outcome, ...]:
        """Return the outcomes of one test in all conditions of one world."""
        return tuple(
            t.outcome for (w, _), tests in self.results.get(name, {}).items() if w == world for t in tests
        )

    def strata(self, name: str) -> list[tuple[int, int, int, int]]:
        """Return (failed, runs) of head and (failed, runs) of base for each condition that was run in both.

        A plain run again, of few tests, is one more plain run, but for a test that base can't pass without the others.
        """
        conditions = {c: [c] for w, c in self.results.get(name, {}) if w == "H"}
        if "plain" in conditions and "again" in conditions and not self.needs_others(name):
            conditions["plain"] += conditions.pop("again")
        found = []
        for together in conditions.values():
            head, base = ([o for c in together for o in self.outcomes(name, w, c)] for w in ("H", "B"))
            found.append((_red(head), len(head), _red(base), len(base)))
        return [counts for counts in found if counts[3]]

    def needs_others(self, name: str) -> bool:
        """True if base passes it in the whole suite, and never in a run of few tests."""
        return all_passed(self.outcomes(name, "B")) and all_failed(self.outcomes(name, "B", "again"))

    def fails_among_others(self, name: str) -> bool:
        """True if in both worlds it fails in each whole run, and passes in each of three or more runs of few tests."""
        return all(
            all_failed(self.outcomes(name, w)) and len(few) > 2 and all_passed(few)
            for w, few in ((w, self.outcomes(name, w, "again")) for w in ("H", "B"))
        )

    def wavers(self, name: str, world: str) -> bool:
        """True if the test both passed and failed in one condition of ``world``."""
        return any(
            0 < _red(t.outcome for t in tests) < len(tests)
            for (w, _), tests in self.results.get(name, {}).items()
            if w == world
        )

    def base_shows(self, name: str) -> bool:
        """True if base failed, and not just for want of the other tests."""
        return _red(self.everywhere(name, "B")) > 0 and not self.needs_others(name)

    def is_unsteady(self, name: str) -> bool:
        """True if base ever failed, or one world both passed and failed in one condition: chance may be at work."""
        return self.wavers(name, "H") or _red(self.everywhere(name, "B")) > 0

    def run_of(self, test: Test) -> Run | None:
        """Return the run in which a result was seen, None for one that no run has (a missing test)."""
        return next((run for run in self.runs if run.tests.get(test.nodeid) is test), None)

    def seen(self, name: str) -> Mapping[Key, list[Test]]:
        """Return everything that was seen of one test."""
        return self.results.get(name, {})


def _red(outcomes: Iterable[Outcome]) -> int:
    return sum(o in FAILING for o in outcomes)


def all_failed(outcomes: Iterable[Outcome]) -> bool:
    """True if there is at least one outcome and all are failures."""
    values = list(outcomes)
    return bool(values) and all(o in FAILING for o in values)


def all_passed(outcomes: Iterable[Outcome]) -> bool:
    """True if there is at least one outcome and all are passes."""
    values = list(outcomes)
    return bool(values) and all(o in PASSING for o in values)
