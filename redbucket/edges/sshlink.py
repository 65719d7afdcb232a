"""One connection to a machine, made by the user's own OpenSSH client, and the calls over it."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from redbucket.core import errors
from redbucket.core.errors import RedbucketError, WorldFailed
from redbucket.core.sshaddress import SshAddress
from redbucket.edges.bundle import STARTER, payload
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

COMMAND = "REDBUCKET_SSH"
_STARTING = 120.0  # seconds for a name, a connection, a login and an interpreter
_ENDING = 30.0  # seconds for the far side to clear up
_TALK = 8000  # bytes of what ssh says that are kept
_PART = 1 << 18
# The code under test runs there: it gets no way back, whatever the user's configuration gives to other commands.
_OPTIONS = (
    *("-T", "-a", "-x"),
    *("-o", "ClearAllForwardings=yes"),
    *("-o", "PermitLocalCommand=no"),
    *("-o", "RemoteCommand=none"),
)


class Link:
    """A connection that is open, or ``lost``. Several threads may call at once."""

    def __init__(self, address: SshAddress, cancelled: threading.Event) -> None:
        """Connect and start the far side. Raises WorldFailed "runner-unreachable"."""
        self._cancelled, self._told = cancelled, False
        self._lock = threading.Lock()
        self._calls: dict[int, queue.Queue[Frame | None]] = {}
        self._numbers = itertools.count(1)
        self._talk = bytearray()
        self.lost = ""
        words = _words(address)
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            raise WorldFailed(
                "runner-unreachable",
                f"{words[0]} could not be started: {error.strerror}",
                f"install the OpenSSH client, or name it in {COMMAND}",
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._reader, self._writer = (
            Reader(self._process.stdout.fileno()),
            Writer(self._process.stdin.fileno()),
        )
        listener = threading.Thread(target=self._listen, daemon=True)
        listener.start()
        try:
            self._writer.write(payload())
            self._reader.skip_to(MAGIC, 1 << 20, _STARTING)
        except BaseException as problem:
            self._process.kill()
            self._process.wait()
            listener.join(2)
            if not isinstance(problem, Gone):
                raise
            raise WorldFailed(
                "runner-unreachable",
                f"{address.name}: {self._last_words() or problem}",
                f"try: {shlex.join([*words[:-1], 'python3 --version'])}",
            ) from problem
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
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
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
                self.lost = self._last_words() or reason
            waiting = list(self._calls.values())
        for one in waiting:
            one.put(None)
        with contextlib.suppress(OSError):
            self._process.terminate()
        self._hang_up()

    def _hang_up(self) -> None:
        self._writer.shut()
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _beat(self) -> None:
        pause = threading.Event()
        while not self.lost and not pause.wait(BEAT):
            try:
                self._writer.send(PULSE)
            except Gone as problem:
                self._break(str(problem))

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while data := self._process.stderr.read(1024):
                self._talk += data
                del self._talk[:-_TALK]

    def _last_words(self) -> str:
        lines = bytes(self._talk).decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:300] if lines else ""


def pieces(stream: Any) -> Iterable[bytes]:
    """Yield what a binary stream holds, a part at a time."""
    while data := stream.read(_PART):
        yield data


def _words(address: SshAddress) -> list[str]:
    """Return the command; the user's own configuration says the rest."""
    words = [*shlex.split(os.environ.get(COMMAND) or "ssh"), *_OPTIONS]
    if not (sys.stdin is not None and sys.stdin.isatty()):
        words += ["-o", "BatchMode=yes"]  # nobody is there to answer a question
    if address.port:
        words += ["-p", str(address.port)]
    if address.user:
        words += ["-l", address.user]
    python = address.python if address.python.startswith("/") else "python3"
    return [*words, "--", address.host, f"{shlex.quote(python)} -c '{STARTER}'"]


def _error(kind: str, code: str, reason: str, remedy: str) -> Exception:
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, RedbucketError):
        return known(code, f"on the far side: {reason}", remedy)
    return RuntimeError(f"the far side failed: {reason}")
