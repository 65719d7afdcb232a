"""What the experiments on one test gave: how often it failed in each condition, in head and in base."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Tries(msgspec.Struct, frozen=True, kw_only=True):
    """How often the test failed, of how many runs."""

    failed: int
    runs: int


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """What one test did in one condition, in head and in base; None where it was not run there.

    ``changes`` is the cause that a flip would name, "" where nothing is changed. ``flipped`` says whether
    head did at least once what it does not do by itself; None where that can't be told: nothing is changed, or the
    test is mixed by itself. ``confirmed`` marks what the cause rests on.
    """

    condition: str
    changes: str = ""
    head: Tries | None = None
    base: Tries | None = None
    flipped: bool | None = None
    confirmed: bool = False


def joined(*parts: Iterable[Experiment]) -> list[Experiment]:
    """Return experiments from several places, those with one condition as one."""
    found: dict[tuple[str, str], Experiment] = {}
    for one in (one for part in parts for one in part):
        key = (one.changes, one.condition)
        before = found.get(key)
        found[key] = one if before is None else _both(before, one)
    return list(found.values())


def _both(one: Experiment, other: Experiment) -> Experiment:
    flipped = [f for f in (one.flipped, other.flipped) if f is not None]
    return Experiment(
        condition=one.condition,
        changes=one.changes,
        head=_sum(one.head, other.head),
        base=_sum(one.base, other.base),
        flipped=any(flipped) if flipped else None,
        confirmed=one.confirmed or other.confirmed,
    )


def _sum(one: Tries | None, other: Tries | None) -> Tries | None:
    if one is None or other is None:
        return one or other
    return Tries(failed=one.failed + other.failed, runs=one.runs + other.runs)


def unconfirmed(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Return them without the marks: no cause rests on any."""
    return [msgspec.structs.replace(one, confirmed=False) for one in experiments]
