"""Where the tests of a report are defined, so that a viewer can point there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from redbucket.core.buckets import Bucket
from redbucket.core.patch import Entry
from redbucket.core.report import Row
from redbucket.core.testlookup import find_test

_MOST = 1000  # rows that are looked up: a report points to more by their ids alone
_QUIET = frozenset({Bucket.STABLE_PASS, Bucket.SKIPPED})


class View(Protocol):
    """The files of one tree."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The files by path."""

    def read(self, path: str) -> bytes:
        """Return one file's bytes."""


def placed(rows: Sequence[Row], view: View) -> list[Row]:
    """Return the rows, those that a reader may have to look at with their file and line in ``view``."""
    files = {path for path, entry in view.entries.items() if entry.is_file}
    read: dict[str, bytes] = {}

    def content(path: str) -> bytes:
        if path not in read:
            read[path] = view.read(path)
        return read[path]

    found: dict[int, Row] = {}
    # by file, so that each is parsed once
    for number, row in sorted(_loud(rows), key=lambda pair: pair[1].nodeid)[:_MOST]:
        test = find_test(row.nodeid, files, content)
        if test.path is not None:
            found[number] = msgspec.structs.replace(row, path=test.path, line=test.line)
    return [found.get(number, row) for number, row in enumerate(rows)]


def _loud(rows: Sequence[Row]) -> Iterable[tuple[int, Row]]:
    return ((n, row) for n, row in enumerate(rows) if row.blocks or row.bucket not in _QUIET)
