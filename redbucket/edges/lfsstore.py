"""Contents that Git LFS has on this machine, read from its own folder: git-lfs is not asked, nothing is fetched."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path

from redbucket.core.lfs import Pointer


class LfsStore:
    """The contents below one folder, by checksum."""

    def __init__(self, folder: Path) -> None:
        """Take the repository's LFS folder, ``.git/lfs`` if nothing else is configured."""
        self._objects = folder / "objects"

    def holds(self, wanted: Pointer) -> bool:
        """Return whether a file of the pointer's name and size is there."""
        try:
            known = self._place(wanted).stat(follow_symlinks=False)
        except OSError:
            return False
        return stat.S_ISREG(known.st_mode) and known.st_size == wanted.size

    def read(self, wanted: Pointer) -> bytes | None:
        """Return the content, None if it is not here or not what the pointer says."""
        try:
            handle = os.open(self._place(wanted), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as stream:
                data = stream.read(wanted.size + 1)
        except OSError:
            return None
        return data if sha256(data).hexdigest() == wanted.sha256 else None

    def _place(self, wanted: Pointer) -> Path:
        name = wanted.sha256
        return self._objects / name[:2] / name[2:4] / name
