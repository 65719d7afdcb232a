"""Files changed whole or not at all, one writer at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from redbucket.core.errors import Misused, WorldFailed

_FOLDER = "redbucket/pending"


@contextlib.contextmanager
def one_writer(common_dir: Path) -> Iterator[None]:
    """Hold the repository's lock for writing fixture locks; waits for whoever has it."""
    folder = common_dir / "redbucket"
    try:
        folder.mkdir(exist_ok=True)
        handle = os.open(folder / "fixtures.flock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise WorldFailed(
            "not-writable", f"{folder}: {problem.strerror}", "make the git folder writable"
        ) from problem
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def place_of(git_dir: Path, lock: str) -> Path:
    """Return where a proposed lock lies: in the git folder, from where no ``git add`` takes it."""
    return git_dir / _FOLDER / lock


def make_room(place: Path) -> None:
    """Make the folder of a proposed lock. Raises WorldFailed "not-writable"."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WorldFailed(
            "not-writable", f"{place.parent}: {problem.strerror}", "make the git folder writable"
        ) from problem


def content(place: Path) -> bytes | None:
    """Return a file's bytes, None if there is none. Raises Misused for anything but a file."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise Misused("not-a-file", f"{place}: {problem.strerror}", "make it a regular file") from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Misused("not-a-file", f"{place} is a folder, a pipe or a device", "make it a regular file")
    with os.fdopen(handle, "rb") as stream:
        try:
            return stream.read()
        except OSError as problem:
            raise Misused("not-a-file", f"{place}: {problem.strerror}", "make it a regular file") from problem


def replace(place: Path, data: bytes) -> None:
    """Write a file aside, sync it, and put it in place. Raises WorldFailed; the old file is then untouched."""
    aside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(place)
    except OSError as problem:
        raise WorldFailed(
            "not-writable", f"{place}: {problem.strerror}", "free some space, or open the folder"
        ) from problem
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
