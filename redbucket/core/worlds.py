"""The worlds: which path of which tree goes into each combination of source and judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redbucket.core.patch import Entry

Updates = dict[str, Entry | None]


@dataclass(frozen=True)
class Sides:
    """The trees that worlds are made of, and the questions that separate their paths.

    ``distrusted`` are judge-side paths whose patch's bytes must not judge: an
    agent wrote them and nobody endorsed them. ``composed`` are shared
    configuration files (``pyproject.toml``) with base's test part put in.
    """

    base: Mapping[str, Entry]
    merged: Mapping[str, Entry]
    is_judge: Callable[[str], bool]
    is_fixture: Callable[[str], bool]
    distrusted: frozenset[str]
    composed: Mapping[str, Entry | None]


def judged(sides: Sides) -> Updates:
    """H: the merge tree with base's judge side. Returned as changes to the merge tree."""
    updates: Updates = {path: sides.base.get(path) for path in sides.distrusted}
    updates.update(sides.composed)
    return updates


def other_fixtures(sides: Sides, changed: frozenset[str]) -> Updates:
    """F: H with the other side's bytes of the changed fixtures, as changes to the merge tree.

    Where H has base's bytes of a fixture, F has the patch's, and the other way
    round for a fixture that counts as trusted.
    """
    updates = judged(sides)
    for path in changed:
        if path in sides.distrusted:
            updates.pop(path)
        else:
            updates[path] = sides.base.get(path)
    return updates


def reverted(sides: Sides) -> Updates:
    """R: base's source with the patch's judge side, as changes to the base tree."""
    paths = set(sides.base) | set(sides.merged)
    return {
        path: sides.merged.get(path)
        for path in paths
        if sides.is_judge(path) and sides.base.get(path) != sides.merged.get(path)
    }


def moved_fixtures(sides: Sides) -> frozenset[str]:
    """Return the fixtures that differ between base and the merge tree."""
    paths = set(sides.base) | set(sides.merged)
    return frozenset(
        path for path in paths if sides.base.get(path) != sides.merged.get(path) and sides.is_fixture(path)
    )
