"""A bench that splits runs into shards, and gives each back as one run.

Tests of two shards are never in one process: not in a whole run, and not in one of few tests either. So what the
one can tell of an order, the other can, and nothing is compared that ran in different company.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from redbucket.core.records import Run, Shard
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.shards import Split, join, split
from redbucket.engine.ports import Bench


@dataclass
class Sharded:
    """``count`` shards are asked for; ``decide`` says how, once, before the first whole run.

    ``seconds`` are durations of tests by id, ``paths`` base's files, ``draw`` names a run as nothing else is named.
    """

    bench: Bench
    count: int
    seconds: Mapping[str, float]
    paths: Container[str]
    draw: Callable[[], str]
    split: Split | None = None
    _placed: dict[str, int] = field(default_factory=dict)
    _homes: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def shards(self) -> int:
        """How many there are: fewer than asked for where the suite has fewer files."""
        return len(self.split.files) if self.split is not None else 1

    def decide(self, listed: Run) -> None:
        """Split the suite as ``listed``, a run that collected base's tests, has it."""
        self.split = split(listed.collected, self.seconds, self.count, self.paths)

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        """Return one run for each spec, in the order of the specs."""
        parted = [self._parts(spec) for spec in specs]
        runs = iter(self.bench.run([part for parts in parted for part in parts.values()]))
        made = []
        for spec, parts in zip(specs, parted, strict=True):
            found = [next(runs) for _ in parts]
            if spec.only is None and len(parts) > 1:
                for number, run in zip(parts, found, strict=True):
                    self._placed.update(dict.fromkeys(run.tests, number))
            if len(parts) > 1:
                self._homes[spec.name] = {number: part.name for number, part in parts.items()}
            made.append(join(found) if len(parts) > 1 else found[0])
        return made

    def _parts(self, spec: RunSpec) -> dict[int, RunSpec]:
        """Return {shard: what it is to do of a run}; a run in one shard is made as it is."""
        if self.split is None or spec.collect_only or spec.files:
            return {0: spec}
        if spec.only is None:
            return {
                number: replace(
                    spec,
                    files=() if number == self.split.rest else files,
                    without=self.split.without(number) if number == self.split.rest else (),
                    shard=shard,
                )
                for (number, files), shard in zip(
                    enumerate(self.split.files), self._shards(range(self.shards)), strict=True
                )
            }
        chosen: dict[int, list[str]] = {}
        for nodeid in spec.only:
            chosen.setdefault(self._number(nodeid), []).append(nodeid)
        homes = self._homes.get(spec.used_home, {})
        if len(chosen) < 2:
            home = next((homes[number] for number in chosen if number in homes), spec.used_home)
            return {0: spec if home == spec.used_home else replace(spec, used_home=home)}
        numbers = sorted(chosen)
        return {
            number: replace(
                spec, only=tuple(chosen[number]), used_home=homes.get(number, spec.used_home), shard=shard
            )
            for number, shard in zip(numbers, self._shards(numbers), strict=True)
        }

    def _number(self, nodeid: str) -> int:
        """Return the shard of a test: where it ran, or where its file belongs."""
        assert self.split is not None
        if nodeid not in self._placed:
            self._placed[nodeid] = self.split.number(nodeid, self.paths)
        return self._placed[nodeid]

    def _shards(self, numbers: Iterable[int]) -> list[Shard]:
        assert self.split is not None
        whole, numbers = self.draw(), list(numbers)
        return [
            Shard(
                number=place,
                of=len(numbers),
                whole=whole,
                split=self.split.name,
                files=list(self.split.files[number]),
                rest=number == self.split.rest,
            )
            for place, number in enumerate(numbers, 1)
        ]


def notes_on(shards: int, asked: int) -> list[Problem]:
    """Return what a reader must know of a suite of which ``asked`` shards were to be made."""
    if shards > 1:
        return [
            Problem(
                code="shards",
                reason=f"order: kept within {shards} shards of whole files, the same in every world; the order of the "
                "whole suite was not tried",
                remedy="what one shard's tests leave behind for another's is not seen; --shards 1 runs the whole suite "
                "in one process",
            )
        ]
    if asked > 1:
        return [
            Problem(
                code="shards-unused",
                reason=f"{asked} shards were asked for, and the suite has one file of tests: each run was whole",
                remedy="",
            )
        ]
    return []
