"""Which fixtures of a tree are not what its lock says: evidence for the table, line 5."""

from __future__ import annotations

from collections.abc import Iterable

from redbucket.core.lfs import LARGEST, Filter, pointed_at
from redbucket.core.manifests import Scope, locks_of
from redbucket.core.paths import JudgeSide
from redbucket.guards.context import TreeView


def off_lock(tree: TreeView, judge: JudgeSide, paths: Iterable[str]) -> frozenset[str]:
    """Return those of ``paths`` that a lock of ``tree`` lists with other bytes than the tree has."""
    entries = tree.entries
    modes = {path: entry.mode for path, entry in entries.items()}
    locks = locks_of(Scope(judge), modes, tree.read)
    listed = [p for p in paths if p in locks.shas and p in entries and entries[p].is_file]
    if not listed:
        return frozenset()
    shas = tree.sha256s(listed)
    wrong = (path for path in listed if shas[path] != locks.shas[path])
    filtered = Filter(modes, tree.read)
    return frozenset(path for path in wrong if _pointer(tree, path, filtered) != locks.shas[path])


def _pointer(tree: TreeView, path: str, filtered: Filter) -> str | None:
    found = pointed_at(tree.read(path)) if tree.size(path) < LARGEST else None
    return found if found is not None and filtered(path) else None
