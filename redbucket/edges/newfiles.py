"""Which files a run left under the fixture paths, tracked by nobody: a new recording, for instance.

git's ignore rules count for nothing here: a patch can write them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from redbucket.core.byproducts import is_byproduct

_MOST = 200  # what is named of one run


def listing(tree: Path) -> frozenset[str]:
    """Return the files and links of ``tree`` by their paths in it, without what tools leave behind anywhere."""
    return frozenset(_files(str(tree), ""))


def new(tree: Path, before: frozenset[str]) -> list[str]:
    """Return the files and links of ``tree`` that are not in ``before``."""
    return [path for path in _files(str(tree), "") if path not in before]


def appeared(tree: Path, before: frozenset[str], patterns: Sequence[str]) -> list[str]:
    """Return the first files that match ``patterns`` (gitignore) and are not in ``before``, sorted."""
    return matching(new(tree, before), patterns)


def matching(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the first of ``paths`` that match ``patterns`` (gitignore), sorted."""
    from redbucket.core.paths import Matcher  # not on the far side of a connection

    matcher = Matcher(patterns)
    return sorted(path for path in paths if matcher.matches(path))[:_MOST]


def _files(top: str, folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(f"{top}/{folder}" if folder else top))
    except OSError:  # closed or gone: what is in it can't be read by a test either
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if is_byproduct(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(top, path)
        else:
            yield path
