"""A suite in shards: how it is split, and how the runs of its shards are one run again.

The split is decided once, from base's list of tests, and used for every whole run of every world: what a verdict
compares has always run beside the same tests, in the same order. A file is never split, so what a module, a class
or a file shares is set up as it is in a whole run. A shard is a stretch of the suite in its own order.
"""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import msgspec

from redbucket.core.records import Part, Run, Shard
from redbucket.core.testpath import file_of

# A test costs more than its own time: setup, its events. Without it a thousand quick tests would weigh nothing.
_LEAST_SECONDS = 0.001
_STEPS = 60  # halvings of a range of seconds, down to the precision of a float


@dataclass(frozen=True)
class Split:
    """``files`` are those of each shard, in the suite's order; ``rest`` is the shard of whatever is in none of them.

    That is the lightest one, and what it holds besides is what base's list did not have: a file that is new in head.
    """

    files: tuple[tuple[str, ...], ...]
    rest: int

    @property
    def name(self) -> str:
        """What tells splits apart."""
        told = json.dumps([self.files, self.rest], ensure_ascii=True).encode("ascii")
        return hashlib.sha256(told).hexdigest()[:16]

    def number(self, nodeid: str, paths: Container[str]) -> int:
        """Return the shard of a test, counted from 0, by its file among ``paths``."""
        file = file_of(nodeid, paths)
        return next((number for number, files in enumerate(self.files) if file in files), self.rest)

    def without(self, number: int) -> tuple[str, ...]:
        """Return the files that are not of the shard ``number``, counted from 0, which takes the rest."""
        return tuple(file for n, files in enumerate(self.files) if n != number for file in files)


def split(
    ids: Sequence[str], seconds: Mapping[str, float], count: int, paths: Container[str]
) -> Split | None:
    """Return ``count`` shards of a suite, or fewer where it has fewer files; None where that leaves one.

    ``ids`` are the tests in the suite's order, ``seconds`` what some of them took, ``paths`` the files of the tree.
    The longest shard is as short as it can be with stretches of whole files. A test of unknown duration takes what
    the others take on average.
    """
    known = {i: max(_LEAST_SECONDS, took) for i in ids if math.isfinite(took := seconds.get(i, math.nan))}
    usual = sum(known.values()) / len(known) if known else 1.0
    weights: dict[str, float] = {}
    for nodeid in ids:
        file = file_of(nodeid, paths)
        if file is not None:
            weights[file] = weights.get(file, 0.0) + known.get(nodeid, usual)
    count = min(count, len(weights))
    if count < 2:
        return None
    stretches = _stretches(list(weights.values()), count)
    names = list(weights)
    files = tuple(tuple(names[start:end]) for start, end in stretches)
    loads = [sum(weights[file] for file in shard) for shard in files]
    return Split(files, loads.index(min(loads)))


def _stretches(weights: Sequence[float], count: int) -> list[tuple[int, int]]:
    """Return the (start, end) of ``count`` stretches of which the heaviest is as light as it can be."""
    low, high = max(weights), sum(weights)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if len(_filled(weights, middle)) <= count:
            high = middle
        else:
            low = middle
    found = _filled(weights, high)
    while len(found) < count:  # fewer do: cut the heaviest that can be cut
        start, end = max(
            (s for s in found if s[1] - s[0] > 1), key=lambda stretch: sum(weights[slice(*stretch)])
        )
        sums = list(accumulate(weights[start:end]))
        cut = start + min(max(1, bisect_left(sums, sums[-1] / 2)), end - start - 1)
        at = found.index((start, end))
        found[at : at + 1] = [(start, cut), (cut, end)]
    return found


def _filled(weights: Sequence[float], capacity: float) -> list[tuple[int, int]]:
    """Return stretches that hold no more than ``capacity`` each, as few as there can be."""
    found, start, load = [], 0, 0.0
    for index, weight in enumerate(weights):
        if index > start and load + weight > capacity:
            found.append((start, index))
            start, load = index, 0.0
        load += weight
    return [*found, (start, len(weights))]


def whole_runs(runs: Iterable[Run]) -> list[Run]:
    """Return ``runs`` with the shards of one run joined, each where its first shard stood.

    A shard's record that is given twice counts once.
    """
    groups: dict[object, dict[object, Run]] = {}
    for place, run in enumerate(runs):
        shard = _shard_of(run)
        if shard is None:
            groups[place] = {place: run}
        else:
            groups.setdefault(shard.whole, {}).setdefault((shard.number, run.nonce), run)
    return [
        join(list(group.values())) if isinstance(whole, str) else group[whole]
        for whole, group in groups.items()
    ]


def join(parts: Sequence[Run]) -> Run:
    """Return the one run whose shards are ``parts``.

    It is broken where a part is, where a shard is missing or there twice, where they are not of one run, and where a
    test was reported by a shard that it is not of: no recorder says that.
    """
    runs = sorted(parts, key=lambda run: _number(run))
    first = runs[0]
    shard = _shard_of(first)
    assert shard is not None
    header = msgspec.structs.replace(first.header, shard=None) if first.header is not None else None
    return Run(
        run_id=first.run_id,
        source=first.source,
        world=first.world,
        condition=first.condition,
        tree=first.tree,
        seed=first.seed,
        nonce=f"{shard.whole} {' '.join(run.nonce for run in runs)}",
        tests=_union(run.tests for run in runs),
        collected=tuple(dict.fromkeys(i for run in runs for i in run.collected)),
        errors=_union(run.errors for run in runs),
        session=first.session,
        broken=f"{first.source}: {why}" if (why := _why_broken(runs, shard)) else "",
        foreign=_union(run.foreign for run in runs),
        elsewhere=_union(run.elsewhere for run in runs),
        parts=_union(run.parts for run in runs),
        pinned=_every(run.pinned for run in runs),
        sentinels="; ".join(dict.fromkeys(run.sentinels for run in runs if run.sentinels)),
        tampered=_every(run.tampered for run in runs),
        prepared=_every(run.prepared for run in runs),
        patched=_every(run.patched for run in runs),
        dropped=_every(run.dropped for run in runs),
        unwatched=_every(run.unwatched for run in runs),
        appeared=_every(run.appeared for run in runs),
        unplayed=_unplayed(runs),
        openers=_openers(runs),
        duration=max(run.duration for run in runs),
        header=header,
        shards=tuple(Part(source=run.source, ids=run.collected or tuple(run.tests)) for run in runs),
    )


def _shard_of(run: Run) -> Shard | None:
    return run.header.shard if run.header is not None else None


def _number(run: Run) -> int:
    shard = _shard_of(run)
    return shard.number if shard is not None else 0


def _why_broken(runs: Sequence[Run], shard: Shard) -> str:
    """Return why shards can't be counted on as one run, "" if they can."""
    numbers = [_number(run) for run in runs]
    for number in range(1, shard.of + 1):
        if number not in numbers:
            return f"shard {number} of {shard.of} has no record, so the run is incomplete"
        if numbers.count(number) > 1:
            return f"shard {number} of {shard.of} has {numbers.count(number)} records"
    if len({_same(run) for run in runs}) > 1 or len(runs) != shard.of:
        return "its shards are not of one run: they differ in tree, seed, world, condition or split"
    for run in runs:
        if run.broken:
            return f"shard {_number(run)} of {shard.of}: {run.broken.removeprefix(f'{run.source}: ')}"
    return _misplaced(runs)


def _same(run: Run) -> tuple[object, ...]:
    shard = _shard_of(run)
    assert shard is not None
    return run.run_id, run.world, run.condition, run.tree, run.seed, shard.of, shard.split


def _misplaced(runs: Sequence[Run]) -> str:
    """Return that a test was reported where it does not belong, "" if none was."""
    holders = {file: _number(run) for run in runs if (s := _shard_of(run)) is not None for file in s.files}
    seen: dict[str, int] = {}
    for run in runs:
        mine = _number(run)
        for nodeid in dict.fromkeys((*run.collected, *run.tests)):
            if nodeid in seen:
                return f"shards {seen[nodeid]} and {mine} both report {nodeid}: one of the two is forged"
            seen[nodeid] = mine
            file, colons, _ = nodeid.partition("::")
            if colons and holders.get(file, mine) != mine:
                return f"shard {mine} reports {nodeid}, which is shard {holders[file]}'s: it is forged"
    return ""


def _union(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        found.update(part)
    return found


def _every(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def _unplayed(runs: Sequence[Run]) -> dict[str, int]:
    """Where one shard alone reads a cassette: which interactions none of several asked for is not known."""
    readers = Counter(p for run in runs for p in {p for test in run.tests.values() for p in test.fixtures})
    return {path: n for run in runs for path, n in run.unplayed.items() if readers[path] == 1}


def _openers(runs: Sequence[Run]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for run in runs:
        for path, files in run.openers.items():
            found[path] = sorted({*found.get(path, ()), *files})
    return found
