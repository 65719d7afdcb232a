"""Fixtures as tests read them: an LFS pointer is replaced by the content that it stands for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from redbucket.core.drift import Content, Side
from redbucket.core.lfs import Pointer, pointer
from redbucket.edges.lfsstore import LfsStore
from redbucket.edges.staged import Staged

LARGEST = 64 * 1024 * 1024  # of one side; larger ones are said by size and checksum alone


class Contents:
    """What pointers of one repository stand for."""

    def __init__(self, source: Staged) -> None:
        self._source = source

    @cached_property
    def _store(self) -> LfsStore:
        out = self._source.run("config", "--type", "path", "--default", "lfs", "--get", "lfs.storage")
        return LfsStore(self._source.common_dir / Path(os.fsdecode(out).rstrip("\n")))

    def of(self, path: str, raw: Content, filtered: Callable[[str], bool]) -> Content:
        """Return ``raw``, or what it points to where Git LFS replaces it."""
        found = pointer(raw) if isinstance(raw, bytes) else None
        return self.pointed_at(found) if found is not None and filtered(path) else raw

    def pointed_at(self, wanted: Pointer) -> Content:
        """Return a content by its pointer, as far as it is here."""
        here = self._store.holds(wanted)
        if here and wanted.size <= LARGEST:
            data = self._store.read(wanted)
            if data is not None:
                return data
            here = False
        return Side(wanted.size, wanted.sha256, here)
