"""The files that a command's PATHs mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from redbucket.core.errors import Misused


class Chosen:
    """The files at or below some paths. ``named`` maps each path from the top ("" for it) to what was typed."""

    def __init__(self, named: Mapping[str, str]) -> None:
        self.named = named

    def __call__(self, path: str) -> bool:
        """Return whether ``path`` is one of the files."""
        return path in self.named or path.startswith(self._below)

    @cached_property
    def _below(self) -> tuple[str, ...]:
        return tuple(f"{name}/" if name else "" for name in self.named)

    def empty(self, paths: Iterable[str]) -> list[str]:
        """Return what was typed where none of ``paths`` is; a folder of another repository ends in a slash."""
        there: set[str] = set()
        for path in paths:
            above = path.removesuffix("/")
            while above not in there:
                there.add(above)
                above = above.rpartition("/")[0]
        return [typed for name, typed in self.named.items() if name and name not in there]


def nothing_at(typed: Iterable[str]) -> Misused:
    """Return the error for paths where there is no file, so that nothing would be looked at in silence."""
    return Misused(
        "nothing-there",
        f"nothing is at {', '.join(typed)}: neither git nor a lock knows a file there",
        "look at the name; it counts from the folder in which redbucket runs (or that -C names)",
    )
