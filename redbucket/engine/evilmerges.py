"""Merge commits whose tree is not what merging their parents gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from redbucket.core.errors import Undecided
from redbucket.core.patch import Commit
from redbucket.engine.ports import Objects

# Each costs two git processes; a branch that merges more often than this is looked at in its net result only.
_MOST = 200


def evil_merges(commits: Iterable[Commit], objects: Objects) -> Mapping[str, tuple[str, ...]]:
    """Return {merge commit: paths that it holds otherwise than the merge of its parents gives}.

    Paths that conflict are left out: somebody had to decide there. A merge of
    more than two parents, or of unrelated histories, can't be made again:
    there the paths count that differ from every parent.
    """
    found: dict[str, tuple[str, ...]] = {}
    merges = [commit for commit in commits if len(commit.parents) > 1]
    for commit in merges[:_MOST]:
        paths = _delta(commit, objects)
        if paths:
            found[commit.oid] = paths
    return found


def by_hand(commit: Commit, objects: Objects) -> Commit:
    """Return ``commit`` with only those paths as touched that somebody decided.

    A merge differs from all its parents also in each file that both sides changed
    and git merged by itself: whoever merged did not write, read or vouch for it.
    """
    if len(commit.parents) != 2 or not commit.touched:
        return commit
    try:
        merged = objects.merge_tree(*commit.parents)
    except Undecided:
        return commit
    decided = {change.path for change in objects.diff(merged.tree, objects.tree_of(commit.oid))}
    return replace(commit, touched=tuple(path for path in commit.touched if path in decided))


def _delta(commit: Commit, objects: Objects) -> tuple[str, ...]:
    if len(commit.parents) > 2:
        return commit.touched
    try:
        merged = objects.merge_tree(*commit.parents)
    except Undecided:
        return commit.touched
    # A conflict between a file and a folder, or of renames, leaves names such as "a.py~branch" behind.
    decided = {*merged.conflicts, *(name.split("~", 1)[0] for name in merged.conflicts)}
    return tuple(
        change.path
        for change in objects.diff(merged.tree, objects.tree_of(commit.oid))
        if change.path not in decided and change.path.split("~", 1)[0] not in decided
    )
