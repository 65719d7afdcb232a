"""A bench at the port that answers from a script: what each test does in each world and condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redbucket.core import records
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec

P, F = Outcome.PASSED, Outcome.FAILED

Behaviour = Callable[[RunSpec, int], Outcome]


@dataclass
class ScriptedBench:
    """``tests`` maps a node id to what it does, given the spec and how often it ran in that world so far.

    ``cut`` says of a world, or of one condition there ("H scout"), why its runs break off, but for a collection.
    """

    tests: dict[str, Behaviour]
    reads: dict[str, tuple[str, ...]] = field(default_factory=dict)
    touches: set[str] = field(default_factory=set)
    ran: list[RunSpec] = field(default_factory=list)
    messages: dict[str, Callable[[RunSpec, int], str]] = field(default_factory=dict)
    absent: dict[str, set[str]] = field(default_factory=dict)
    errors: dict[str, dict[str, str]] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        return [self._one(spec) for spec in specs]

    def _one(self, spec: RunSpec) -> Run:
        self.ran.append(spec)
        ids = [i for i in self.tests if i not in self.absent.get(spec.world, set())]
        if spec.only is not None:
            ids = (
                [i for i in spec.only if i in ids]
                if spec.order == "given"
                else [i for i in ids if i in spec.only]
            )
        if spec.order == "reversed":
            ids.reverse()
        cut = self.cut.get(f"{spec.world} {spec.condition}") or self.cut.get(spec.world, "")
        tests = {} if spec.collect_only else {i: self._test(i, spec, ids) for i in ids}
        return Run(
            run_id=spec.run_id,
            world=spec.world,
            condition=spec.condition,
            tree=spec.tree,
            seed=spec.seed,
            tests=tests,
            collected=tuple(ids),
            errors=self.errors.get(spec.world, {}),
            session=records.Session(interpreter="python"),
            source="record.jsonl" if cut else "",
            broken=f"record.jsonl: {cut}" if cut and not spec.collect_only else "",
        )

    def _test(self, nodeid: str, spec: RunSpec, ids: Sequence[str]) -> records.Test:
        count = self.counts[spec.world, nodeid] = self.counts.get((spec.world, nodeid), 0) + 1
        outcome = self.tests[nodeid](spec, count)
        message = self.messages.get(nodeid, lambda spec, count: "assert 1 == 2")(spec, count)
        return records.Test(
            nodeid=nodeid,
            outcome=outcome,
            seed=spec.seed,
            message=message if outcome is not P else "",
            exception="AssertionError" if outcome is F else "",
            fixtures=self.reads.get(nodeid, ()),
            touched=("pkg.py:1",) if nodeid in self.touches else (),
            duration=0.01,
        )


def always(outcome: Outcome) -> Behaviour:
    """The same in every world."""
    return lambda spec, count: outcome


def broken_by_patch(spec: RunSpec, count: int) -> Outcome:
    """Fails wherever the patch's source is."""
    return F if spec.world in ("H", "F") else P
