"""Runs one process of the test command, listens to its recorder, and watches the clock.

The watchdog is here, outside the process: a test that hangs is killed with its whole
session, a process that dies is noticed by its exit, and both cost one test only.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redbucket.core.errors import WorldFailed
from redbucket.edges import memory

_POLL = 0.05
_DRAIN = 0.5
# A reader that wakes at each line takes the CPU from the tests (a third of the time of
# 5,000 trivial ones, on two busy cores), and to wake it costs the writer 0.1 ms on a virtual
# machine: while tests run, look now and then, and let the lines gather in a large pipe.
_GATHER = 0.02
_PIPE = 1 << 20
_HEAD = 16_000
_TAIL = 16_000
_LINE_LIMIT = 32_000_000
_MEMORY = 0.5  # between two looks at the memory, while one test goes on and on
_GRACE = 5.0  # for what runs after the last event: atexit, threads that are joined


@dataclass
class Spoken:
    """What one process said and how it ended."""

    events: int = 0
    open_test: str = ""
    open_index: int = 0
    open_file: str = ""
    last_test: str = ""
    ended: int = 0
    finished: bool = False
    collected: bool = False
    refused: str = ""
    forged: str = ""
    timed_out: str = ""
    hog: str = ""
    status: int = 0
    said_status: int | None = None
    output: str = ""


@dataclass
class Process:
    """How to start one process: arguments, environment, folder, settings for the recorder."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    settings: dict[str, Any]
    test_timeout: float
    start_timeout: float
    deadline: float  # on time.monotonic's clock


class Bounded:
    """Keeps the head and the tail of an output, and counts what is between."""

    def __init__(self, head: int = _HEAD, tail: int = _TAIL) -> None:
        self._head_limit, self._tail_limit = head, tail
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0

    def add(self, data: bytes) -> None:
        """Take more output."""
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:
            extra = len(self._tail) - self._tail_limit
            self._cut += extra
            del self._tail[:extra]

    def text(self) -> str:
        """Return what was kept, with the cut said."""
        head = self._head.decode("utf-8", "replace")
        tail = self._tail.decode("utf-8", "replace")
        return f"{head}\n[... {self._cut} bytes cut ...]\n{tail}" if self._cut else head + tail


@dataclass
class Listener:
    """Checks the keyed chain of the record lines and follows the tests."""

    key: bytes
    on_event: Callable[[dict[str, Any]], None]
    said: Spoken = field(default_factory=Spoken)
    test_started: float = 0.0
    _buffer: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes of the pipe; call ``on_event`` for each whole, genuine line."""
        self._buffer += data
        if len(self._buffer) > _LINE_LIMIT and b"\n" not in self._buffer:
            self.said.forged = "a record line without end"
            self._buffer.clear()
        if b"\n" not in data:
            return
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            if not self.said.forged:
                self._line(line, now)

    def _line(self, line: bytes, now: float) -> None:
        mac, _, body = line.partition(b" ")
        expected = hashlib.blake2b(body, key=self.key, digest_size=16).hexdigest().encode()
        if not secrets.compare_digest(mac, expected):
            self.said.forged = "a record line that the recorder did not write"
            return
        self.key = hashlib.blake2b(self.key, digest_size=32).digest()
        try:
            self._event(json.loads(body), now)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.said.forged = "a record line that makes no sense"

    def _event(self, event: dict[str, Any], now: float) -> None:
        kind = event["event"]
        said = self.said
        said.events += 1
        self.test_started = now
        if kind == "start":
            said.open_test, said.open_index = event["nodeid"], event["index"]
        elif kind == "end":
            said.last_test, said.open_test = event["nodeid"], ""
            said.ended += 1
        elif kind == "collecting":
            said.open_file = event["nodeid"]
        elif kind == "ready":
            said.collected = True
        elif kind == "finished":
            said.finished = True
        elif kind == "exit":
            said.said_status = int(event["status"])
        elif kind == "refused":
            said.refused = f"{event['reason']}: {event['detail']}"
        self.on_event(event)


def run_process(
    process: Process, on_event: Callable[[dict[str, Any]], None], cancelled: threading.Event
) -> Spoken:
    """Run one process to its end, timeout or cancellation and return what it said.

    Raises WorldFailed if it can't be started.
    """
    key = secrets.token_bytes(32)
    config_read, config_write = os.pipe()
    record_read, record_write = os.pipe()
    life_read, life_write = os.pipe()
    settings = {"parent": os.getpid(), **process.settings, "key": key.hex()}
    try:
        child = subprocess.Popen(
            [*process.argv, str(config_read), str(record_write), str(life_read)],
            env=dict(process.env),
            cwd=process.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(config_read, record_write, life_read),
            start_new_session=True,
        )
    except OSError as error:
        for fd in (config_read, config_write, record_read, record_write, life_read, life_write):
            os.close(fd)
        raise WorldFailed(
            "interpreter-does-not-start",
            f"{process.argv[0]} could not be started: {error.strerror or error}",
            "check [run] command",
        ) from error
    os.close(config_read)
    os.close(record_write)
    os.close(life_read)
    listener = Listener(key, on_event)
    output = Bounded()
    writer = threading.Thread(target=_give, args=(config_write, settings), daemon=True)
    writer.start()
    try:
        _watch(child, record_read, listener, output, process, cancelled)
    finally:
        kill_group(child)
        os.close(record_read)
        os.close(life_write)
        if child.stdout is not None:
            child.stdout.close()
        writer.join(1)
    said = listener.said
    said.status = child.returncode
    said.output = output.text()
    return said


def _give(fd: int, settings: Mapping[str, Any]) -> None:
    """Write the settings, which may be larger than a pipe, and close."""
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(json.dumps(settings).encode("utf-8", "surrogateescape"))
    except OSError:
        return  # the child died first; its exit says so


def _watch(
    child: subprocess.Popen[bytes],
    record_read: int,
    listener: Listener,
    output: Bounded,
    process: Process,
    cancelled: threading.Event,
) -> None:
    assert child.stdout is not None
    started = listener.test_started = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for fd in (record_read, child.stdout.fileno()):
            os.set_blocking(fd, False)
            _widen(fd)
            selector.register(fd, selectors.EVENT_READ)
        drain_until = looked = 0.0
        while selector.get_map():
            got = 0
            running = bool(listener.said.open_test)
            for key, _ in selector.select(0 if running else _POLL):
                data = _read(key.fd)
                if data == b"":
                    selector.unregister(key.fd)
                elif data is not None:
                    got += len(data)
                    if key.fd == record_read:
                        listener.feed(data, time.monotonic())
                    else:
                        output.add(data)
            now = time.monotonic()
            if child.poll() is not None:
                # what it left behind may hold the pipes open: read what is there, then stop
                drain_until = drain_until or now + _DRAIN
                kill_group(child)
                if now > drain_until:
                    return
                continue
            said = listener.said
            if cancelled.is_set() or said.forged:
                kill_group(child)
            elif now > process.deadline:
                said.timed_out = "budget"
                kill_group(child)
            elif not got and now - max(started, listener.test_started) > _limit(said, process):
                if said.said_status is None:
                    said.timed_out = "test" if said.open_test else "outside"
                kill_group(child)
            elif now - max(looked, listener.test_started) > _MEMORY and (said.open_test or said.open_file):
                looked = now
                said.hog = memory.hog(child.pid)
                if said.hog:
                    kill_group(child)
            if (got or running) and got < _PIPE // 4:
                time.sleep(_GATHER)
        if child.returncode is None:
            _wait(child, process, cancelled)


def _widen(fd: int) -> None:
    """Enlarge a pipe, where the system can and lets us."""
    command = getattr(fcntl, "F_SETPIPE_SZ", 1031 if sys.platform == "linux" else None)
    if command is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, command, _PIPE)


def _limit(said: Spoken, process: Process) -> float:
    if said.said_status is not None:
        return _GRACE
    return process.test_timeout if said.open_test else process.start_timeout


def _wait(child: subprocess.Popen[bytes], process: Process, cancelled: threading.Event) -> None:
    """Wait for a process that closed its pipes: it reports nothing any more, but may run on."""
    until = min(time.monotonic() + _GRACE, process.deadline)
    naps = _naps()
    while child.poll() is None and time.monotonic() < until and not cancelled.is_set():
        time.sleep(next(naps))
    kill_group(child)


def _naps() -> Iterator[float]:
    """Yield the seconds between looks: what ends soon is noticed at once, and what goes on is not disturbed."""
    nap = 0.001
    while True:
        yield nap
        nap = min(2 * nap, _POLL)


def _read(fd: int) -> bytes | None:
    try:
        return os.read(fd, _PIPE)
    except BlockingIOError:
        return None


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """End the process and everything in its session that did not leave it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        child.poll()
    if child.returncode is None:
        child.wait()


def run_plain(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    deadline: float | Callable[[], float],
    cancelled: threading.Event,
) -> tuple[int, str]:
    """Run a command that has no recorder and return its status and bounded output.

    The deadline may move while it runs. What the command leaves has a moment to end by itself, and is ended then.
    Raises OSError if it can't be started, TimeoutError at the deadline.
    """
    with tempfile.TemporaryFile() as sink:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        naps = _naps()
        try:
            while child.poll() is None:
                if cancelled.is_set():
                    return -signal.SIGKILL, "cancelled"
                if time.monotonic() > (deadline() if callable(deadline) else deadline):
                    raise TimeoutError("the time budget ran out")
                time.sleep(next(naps))
            _linger(child, cancelled)
        finally:
            kill_group(child)
        size = sink.seek(0, os.SEEK_END)
        sink.seek(max(0, size - _TAIL))
        return child.returncode, sink.read().decode("utf-8", "replace")


def _linger(child: subprocess.Popen[bytes], cancelled: threading.Event) -> None:
    """Wait for the rest of the session of a command that has ended, but not for ever.

    A report may be written by a process that outlives the command a little (bats 1.8, any ``>(...)`` of a shell).
    """
    until = time.monotonic() + _GRACE
    naps = _naps()
    while time.monotonic() < until and not cancelled.is_set():
        with contextlib.suppress(ChildProcessError):  # what has ended counts as there until its parent asks
            while os.waitpid(-child.pid, os.WNOHANG)[0]:
                pass
        try:
            os.killpg(child.pid, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(next(naps))


def reap(place: str) -> int:
    """Kill processes that left their session but still live in the run's folder ``place``.

    Known by their environment or their working directory. Returns how many were
    found. Linux only: elsewhere there is no way to ask.
    """
    if not sys.platform.startswith("linux"):
        return 0
    found = 0
    needle = os.fsencode(place.rstrip("/")) + b"/"
    own = {os.getpid(), os.getppid()}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) in own:
            continue
        try:
            if _lives_in(needle, Path(entry.path)):
                os.kill(int(entry.name), signal.SIGKILL)
                found += 1
        except OSError:
            continue  # gone meanwhile, or somebody else's
    return found


def _lives_in(needle: bytes, process: Path) -> bool:
    if needle in (process / "environ").read_bytes():
        return True
    return (os.fsencode(os.readlink(process / "cwd")) + b"/").startswith(needle)  # noqa: PTH115 (Python 3.8)
