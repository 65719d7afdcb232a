"""``flakes.toml`` in the work tree: read, and changed whole or not at all, by one at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from redbucket.core.errors import Misused, WorldFailed

LOCK_NAME = "redbucket-flakes.lock"


def read(path: Path) -> bytes | None:
    """Return the file's bytes, None if there is none. Raises Misused for what is no plain file."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise Misused("flakes-not-a-file", f"{path.name} is not a plain file", "make it one")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def edit(path: Path, git_dir: Path, change: Callable[[bytes], bytes]) -> None:
    """Replace the file by what ``change`` makes of it; an error leaves it as it was.

    ``git_dir`` is the folder that all work trees share: the lock lies there, so that the file's own
    replacement can't take it away. It stays, empty, for the next one.
    """
    try:
        with (git_dir / LOCK_NAME).open("ab") as lock:
            fcntl.flock(
                lock, fcntl.LOCK_EX
            )  # the system lets go of it when the process ends, however it ends
            before = read(path)
            _replace(path, change(before or b""), None if before is None else path.stat().st_mode)
    except OSError as error:
        raise WorldFailed(
            "disk-full" if error.errno in (28, 122) else "not-writable",
            f"{path.name} could not be written: {error.strerror or error}",
            "free some space, or look at the permissions; the file is as it was",
        ) from error


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is None:
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask
        Path(aside).chmod(mode & 0o7777)
        Path(aside).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(aside).unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:
        pass  # some file systems can't; the replacement itself is done
    finally:
        os.close(folder)
