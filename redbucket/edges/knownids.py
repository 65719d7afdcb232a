"""The SHA-256 of blobs hashed before, in one file of the git folder; only where the policy allows it.

A blob's id names its bytes, so that what is known of one never goes stale. But whatever runs as
the same user, a test too, can write such a file: that is why nobody reads it unasked.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

NAME = "known-ids"
_LARGEST = 64 * 1024 * 1024  # about half a million ids
_MAGIC = b"redbucket known ids 1 "


def read(folder: Path, object_format: str) -> dict[str, str]:
    """Return {blob id: SHA-256}; nothing if the file is absent, cut, damaged, no file, or of another format."""
    try:
        handle = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return {}
    known = os.fstat(handle)
    if not stat.S_ISREG(known.st_mode) or known.st_size > _LARGEST:
        os.close(handle)
        return {}
    with os.fdopen(handle, "rb") as stream:
        head, _, rows = stream.read(_LARGEST).partition(b"\n")
    if head != _head(rows, object_format):
        return {}
    words = rows.decode("ascii").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def write(folder: Path, object_format: str, known: Mapping[str, str]) -> None:
    """Put ``known`` in the file's place, whole or not at all; a folder that can't be written keeps what it has."""
    rows = "".join(f"{oid} {sha}\n" for oid, sha in known.items()).encode("ascii")
    if len(rows) > _LARGEST // 2:
        return
    aside = folder / f"{NAME}.{os.getpid()}"
    try:
        folder.mkdir(exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(aside, flags, 0o600), "wb") as stream:
            stream.write(_head(rows, object_format) + b"\n" + rows)
        aside.replace(folder / NAME)
    except OSError:  # nothing is lost: the blobs are hashed again
        with contextlib.suppress(OSError):
            aside.unlink()


def _head(rows: bytes, object_format: str) -> bytes:
    # not a seal against forgery: it only tells a file that is cut or damaged
    return _MAGIC + f"{object_format} {hashlib.sha256(rows).hexdigest()}".encode("ascii")
