"""Frames on a pair of pipes: a kind, the number of a call, bytes. Both sides use it: standard library only."""

from __future__ import annotations

import json
import os
import select
import struct
import threading
import time
from typing import Any, NamedTuple

_HEAD = struct.Struct(">cQI")
_LARGEST = 1 << 30
_PART = 1 << 16

# What ends what a shell's start-up files print, and begins the frames.
MAGIC = b"\x00redbucket 1\x00"

REQUEST, BODY, EVENT, RESULT, ERROR, PULSE, CANCEL = b"Q", b"B", b"E", b"R", b"X", b"P", b"C"
BEAT, SILENCE = 5.0, 45.0  # seconds between two signs of life, and after which the other side counts as gone


class Frame(NamedTuple):
    """One frame."""

    kind: bytes
    call: int
    data: bytes

    def json(self) -> Any:
        """Return what the frame says."""
        return json.loads(self.data)


class Gone(Exception):
    """The other side closed the pipe, said something that makes no sense, or is silent."""


class Reader:
    """Reads frames from a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()

    def skip_to(self, mark: bytes, most: int, seconds: float) -> None:
        """Drop everything up to and including ``mark``."""
        until = time.monotonic() + seconds
        while mark not in self._buffer:
            if len(self._buffer) > most:
                raise Gone("it says something else than was expected")
            self._more(max(0.0, until - time.monotonic()))
        del self._buffer[: self._buffer.index(mark) + len(mark)]

    def frame(self, seconds: float = SILENCE) -> Frame:
        """Return the next frame; raise Gone if nothing comes for so many seconds."""
        self._need(_HEAD.size, seconds)
        kind, call, size = _HEAD.unpack(bytes(self._buffer[: _HEAD.size]))
        if size > _LARGEST:
            raise Gone("a frame that makes no sense")
        self._need(_HEAD.size + size, seconds)
        data = bytes(self._buffer[_HEAD.size : _HEAD.size + size])
        del self._buffer[: _HEAD.size + size]
        return Frame(kind, call, data)

    def _need(self, size: int, seconds: float) -> None:
        while len(self._buffer) < size:
            self._more(seconds)

    def _more(self, seconds: float) -> None:
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            raise Gone(f"it has been silent for {seconds:.0f} seconds")
        try:
            data = os.read(self._fd, _PART)
        except OSError as error:
            raise Gone(str(error.strerror)) from error
        if not data:
            raise Gone("it closed the connection")
        self._buffer += data


class Writer:
    """Writes frames to a file descriptor, each in one piece."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._shut = False

    def shut(self) -> None:
        """Write nothing any more: the descriptor is about to be closed, and its number to be somebody else's."""
        with self._lock:
            self._shut = True

    def send(self, kind: bytes, call: int = 0, data: bytes = b"") -> None:
        """Write one frame; raise Gone if nobody reads."""
        self.write(_HEAD.pack(kind, call, len(data)) + data)

    def write(self, data: bytes) -> None:
        """Write bytes as they are; raise Gone if nobody reads."""
        whole = memoryview(data)
        with self._lock:
            if self._shut:
                raise Gone("it was closed")
            try:
                while whole:
                    whole = whole[os.write(self._fd, whole) :]
            except OSError as error:
                raise Gone(str(error.strerror)) from error

    def say(self, kind: bytes, call: int, value: Any) -> None:
        """Write a value as JSON."""
        self.send(kind, call, json.dumps(value).encode("ascii"))
