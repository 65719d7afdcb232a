"""One connection to a far side that something has started, and the calls over it."""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from redbucket.core import errors
from redbucket.core.errors import RedbucketError
from redbucket.edges.bundle import payload
from redbucket.edges.frames import (
    BEAT,
    BODY,
    CANCEL,
    ERROR,
    EVENT,
    MAGIC,
    PULSE,
    REQUEST,
    RESULT,
    Frame,
    Gone,
    Reader,
    Writer,
)
from redbucket.edges.grounds import SiteLost

_STARTING = 120.0  # seconds for a name, a connection, a login and an interpreter
_PART = 1 << 18


class Carrier(Protocol):
    """Carries bytes to a starter (``bundle.STARTER``) that waits at the far side, and back."""

    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> Writer: ...
    def unreachable(self, problem: Gone) -> Exception:
        """Return the error for a far side that did not begin."""

    def last_words(self) -> str:
        """Return what was said beside the bytes, "" for nothing."""

    def hang_up(self) -> None:
        """Send nothing any more: the far side ends. May be called again."""

    def end(self) -> None:
        """Wait until the far side has cleared up, but not for ever."""

    def cut(self) -> None:
        """End it now, without waiting."""


class Link:
    """A connection that is open, or ``lost``. Several threads may call at once."""

    def __init__(self, carrier: Carrier, cancelled: threading.Event) -> None:
        """Start the far side. Raises what the carrier says of one that does not begin."""
        self._carrier, self._cancelled, self._told = carrier, cancelled, False
        self._lock = threading.Lock()
        self._calls: dict[int, queue.Queue[Frame | None]] = {}
        self._numbers = itertools.count(1)
        self.lost = ""
        self._reader, self._writer = carrier.reader, carrier.writer
        try:
            self._writer.write(payload())
            self._reader.skip_to(MAGIC, 1 << 20, _STARTING)
        except Gone as problem:
            carrier.cut()
            raise carrier.unreachable(problem) from problem
        except BaseException:
            carrier.cut()
            raise
        for work in (self._receive, self._beat):
            threading.Thread(target=work, daemon=True).start()

    def call(
        self,
        name: str,
        given: dict[str, Any],
        *,
        on_event: Callable[[dict[str, Any]], None] = lambda event: None,
        body: Iterable[bytes] | None = None,
        over: Callable[[], bool] = lambda: False,
    ) -> Any:
        """Have something done on the far side and return what it gives; its errors are raised here.

        ``body`` is sent after the call; when ``over`` says so, the far side is told that its time is.
        Raises SiteLost when the connection breaks.
        """
        number, answers = next(self._numbers), queue.Queue[Frame | None]()
        with self._lock:
            if self.lost:
                raise SiteLost(self.lost)
            self._calls[number] = answers
        try:
            try:
                self._writer.say(REQUEST, number, [name, given])
                for part in body or ():
                    self._writer.send(BODY, number, part)
                if body is not None:
                    self._writer.send(BODY, number)
            except Gone as problem:
                self._break(str(problem))
            return self._answer(number, answers, on_event, over)
        finally:
            with self._lock:
                del self._calls[number]

    def _answer(
        self,
        number: int,
        answers: queue.Queue[Frame | None],
        on_event: Callable[[dict[str, Any]], None],
        over: Callable[[], bool],
    ) -> Any:
        told = False
        while True:
            try:
                frame = answers.get(timeout=0.2)
            except queue.Empty:
                if self._cancelled.is_set():
                    self._cancel()
                if not told and over():
                    told = True
                    with contextlib.suppress(Gone):
                        self._writer.send(BODY, number, b"over")
                continue
            if frame is None:
                raise SiteLost(self.lost)
            if frame.kind == EVENT:
                on_event(frame.json())
            elif frame.kind == RESULT:
                return frame.json()
            elif frame.kind == ERROR:
                raise _error(*frame.json())

    def close(self) -> None:
        """End the far side, and wait until it has cleared up."""
        self._hang_up()
        self._carrier.end()
        self._break("it was closed")

    def _cancel(self) -> None:
        if not self._told:
            self._told = True
            with contextlib.suppress(Gone):
                self._writer.send(CANCEL)

    def _receive(self) -> None:
        try:
            while True:
                frame = self._reader.frame()
                with self._lock:
                    waiting = self._calls.get(frame.call)
                if waiting is not None:
                    waiting.put(frame)
        except Gone as problem:
            self._break(str(problem))
        except ValueError:  # the pipe was closed under the reader
            self._break("it was closed")

    def _break(self, reason: str) -> None:
        """Nothing comes any more: everyone who waits is told."""
        with self._lock:
            if not self.lost:
                self.lost = self._carrier.last_words() or reason
            waiting = list(self._calls.values())
        for one in waiting:
            one.put(None)
        self._carrier.cut()
        self._hang_up()

    def _hang_up(self) -> None:
        self._writer.shut()
        self._carrier.hang_up()

    def _beat(self) -> None:
        pause = threading.Event()
        while not self.lost and not pause.wait(BEAT):
            try:
                self._writer.send(PULSE)
            except Gone as problem:
                self._break(str(problem))


def pieces(stream: Any) -> Iterable[bytes]:
    """Yield what a binary stream holds, a part at a time."""
    while data := stream.read(_PART):
        yield data


# What is to be done about the far side's own disk: no variable of this machine reaches it.
_FAR = {
    "disk-full": "free some space there, or name another folder in the runner's address (its /DIR)",
    "not-writable": "name a folder in the runner's address (its /DIR) that can be made and written to there",
}


def _error(kind: str, code: str, reason: str, remedy: str) -> Exception:
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, RedbucketError):
        return known(code, f"on the far side: {reason}", _FAR.get(code, remedy))
    return RuntimeError(f"the far side failed: {reason}")
