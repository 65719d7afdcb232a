"""Writes what a user asked for to where they said, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def put(path: Path, data: bytes) -> None:
    """Write ``data`` to a file, with the mode that it has; to what a link names; straight into a device or a pipe.

    A device must not be replaced: as root, that would leave a file where ``/dev/null`` was. Raises OSError.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb", buffering=0) as stream:
            left = memoryview(data)
            while left:
                left = left[stream.write(left) :]
        return
    real = Path(os.path.realpath(path))
    aside = real.with_name(f".{real.name}.{os.getpid()}")
    try:
        aside.write_bytes(data)
        if mode is not None:
            aside.chmod(stat.S_IMODE(mode))
        aside.replace(real)
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
