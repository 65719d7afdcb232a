"""Writes a run record, one line at a time, so that a kill leaves all that came before."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from redbucket.core.errors import WorldFailed
from redbucket.core.records import Event


class RecordFile:
    """An append-only JSON Lines file; each line reaches the system as it is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._encoder = msgspec.json.Encoder()
        self._stream: BinaryIO | None = None
        self._written = hashlib.sha256()

    def __enter__(self) -> RecordFile:
        self._stream = self._path.open("xb", buffering=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()

    @property
    def digest(self) -> str:
        """The SHA-256 of all that was written: code under test could reach the file by its path."""
        return self._written.hexdigest()

    def write(self, event: Event) -> None:
        """Write one event; raise WorldFailed if the disk does not take it."""
        self._put(self._encoder.encode(event))

    def write_raw(self, event: dict[str, Any]) -> None:
        """Write an event as the recorder sent it (already checked for its origin)."""
        self._put(self._encoder.encode(event))

    def _put(self, line: bytes) -> None:
        assert self._stream is not None
        data = memoryview(line + b"\n")
        self._written.update(data)
        try:
            while data:
                data = data[self._stream.write(data) :]
        except OSError as error:
            raise WorldFailed(
                "disk-full" if error.errno == 28 else "not-writable",
                f"a record could not be written: {error.strerror}",
                "free some space, or point TMPDIR at a larger disk",
            ) from error
