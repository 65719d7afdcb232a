"""The JUnit reports that a command left in a tree: found, opened without following links, read in pieces."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

# More than that is no report: reading it must not fill this machine's memory or time.
LARGEST = 4 << 30
_PIECE = 1 << 20


class NotAReport(ValueError):
    """What is there can't be a report; the text says why."""


def found(tree: Path, pattern: str) -> list[str]:
    """Return the paths in the tree that ``pattern`` names, a path or a glob, sorted; folders are none."""
    if not any(c in pattern for c in "*?["):
        place = tree / pattern
        return [pattern] if os.path.lexists(place) and not (place.is_dir() and not place.is_symlink()) else []
    places = (place for place in tree.glob(pattern) if place.is_symlink() or not place.is_dir())
    return sorted(place.relative_to(tree).as_posix() for place in places)


def pieces(tree: Path, path: str) -> Callable[[], Iterator[bytes]]:
    """Return what reads a report in pieces, from its beginning each time.

    Raises NotAReport for a link, a pipe, a file that is reached through a link, or one that is too large.
    """
    place = tree / path
    if place.parent.resolve() != tree.resolve() / Path(path).parent:
        raise NotAReport(f"{path} lies behind a link")
    fd = _open(place, path)
    try:
        seen = os.fstat(fd)
    finally:
        os.close(fd)
    if not stat.S_ISREG(seen.st_mode):
        raise NotAReport(f"{path} is not a regular file")
    if seen.st_size > LARGEST:
        raise NotAReport(f"{path} has {seen.st_size >> 30} GiB")

    def read() -> Iterator[bytes]:
        with os.fdopen(_open(place, path), "rb") as stream:
            left = LARGEST
            while left > 0 and (piece := stream.read(_PIECE)):
                left -= len(piece)
                yield piece

    return read


def _open(place: Path, path: str) -> int:
    try:
        return os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise NotAReport(f"{path} is no file that can be read: {error.strerror}") from error
