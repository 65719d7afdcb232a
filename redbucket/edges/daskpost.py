"""What runs inside a dask worker: tasks that hold a thread as long as a run lasts, and the far sides beside it.

A far side is a process of its own, as it is behind ssh: the code under test is never in the worker's process, and what
was made goes with it, also when the worker is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from dataclasses import dataclass, field

from redbucket import __version__
from redbucket.edges.bundle import STARTER
from redbucket.edges.frames import SILENCE

TOPIC = "redbucket"
UNHEARD = "nobody took the place"
_LOOK = 1.0  # seconds between two looks whether a far side lives
_LEAVING = 30.0  # seconds for a far side to clear up, and for its last words to be fetched
_PART = 1 << 18
_CLOSING = frozenset({"closing", "closed", "failed"})  # it waits for its tasks
_TALK = 2000  # bytes of what a far side says beside its frames that are kept


@dataclass
class _Held:
    """A place that a task holds; ``post`` is the far side that it is for."""

    post: str = ""
    greeted: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


@dataclass
class _Post:
    """A far side."""

    process: subprocess.Popen[bytes]
    out: asyncio.StreamReader
    talk: bytearray = field(default_factory=bytearray)


# of this worker's process: its tasks and what is asked of it meet here
_held: dict[str, _Held] = {}
_posts: dict[str, _Post] = {}


def version() -> str:
    """Return the version of redbucket here."""
    return __version__


def hold(key: str) -> str:
    """Hold a place for one run until it is left. This is the task.

    Returns "" once it is, and otherwise why it was given up.
    """
    from distributed import get_worker

    held = _held[key] = _Held()
    try:
        worker = get_worker()
        worker.log_event(TOPIC, {"key": key, "worker": worker.contact_address, "version": __version__})
        if not held.greeted.wait(SILENCE):
            return UNHEARD
        while not held.over.wait(_LOOK):
            post = _posts.get(held.post)
            if post is None or post.process.poll() is not None:
                return "the far side has ended"
            if worker.status.name in _CLOSING:
                return "the worker is closing"
        return ""
    finally:
        del _held[key]


def greet(key: str, post: str) -> bool:
    """Say that a place is taken, for runs at ``post``; return False if nobody holds it any more."""
    held = _held.get(key)
    if held is None:
        return False
    held.post = post
    held.greeted.set()
    return True


def leave(key: str) -> None:
    """Give a place back."""
    held = _held.get(key)
    if held is not None:
        held.over.set()
        held.greeted.set()


async def begin(post: str) -> None:
    """Start a far side, which waits for what it is."""
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        bufsize=0,
    )
    made = _posts[post] = _Post(process, asyncio.StreamReader(limit=_PART))
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(made.out), process.stdout)
    threading.Thread(target=_listen, args=(post,), daemon=True).start()


async def send(post: str, data: bytes) -> bool:
    """Give bytes to a far side, none to end it; return False if it is gone."""
    found = _posts.get(post)
    if found is None or found.process.stdin is None:
        return False
    try:
        if data:
            # a far side that is stopped must not stop the worker
            await asyncio.get_running_loop().run_in_executor(None, _write, found.process, data)
        else:
            found.process.stdin.close()
    except (OSError, ValueError):
        return False
    return True


async def receive(post: str, seconds: float) -> bytes | None:
    """Return what a far side says within so many seconds, perhaps nothing, and None if it says no more."""
    found = _posts.get(post)
    if found is None:
        return None
    with contextlib.suppress(asyncio.TimeoutError):
        return await asyncio.wait_for(found.out.read(_PART), seconds) or None
    return b""


async def end(post: str) -> str:
    """Wait until a far side has cleared up, and kill it if it does not; return what it said beside its frames."""
    found = _posts.pop(post, None)
    if found is None:
        return ""
    with contextlib.suppress(OSError, ValueError):
        if found.process.stdin is not None:
            found.process.stdin.close()
    until = asyncio.get_running_loop().time() + _LEAVING
    while found.process.poll() is None and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(0.02)
    if found.process.poll() is None:
        found.process.kill()
        found.process.wait()
    return bytes(found.talk).decode("utf-8", "replace")


def _write(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    left = memoryview(data)
    while left:
        left = left[process.stdin.write(left) or 0 :]


def _listen(name: str) -> None:
    """Keep the end of what a far side says beside its frames, and see it out."""
    post = _posts[name]
    assert post.process.stderr is not None
    with contextlib.suppress(OSError, ValueError):
        while data := post.process.stderr.read(1024):
            post.talk += data
            del post.talk[:-_TALK]
    post.process.wait()
    threading.Event().wait(_LEAVING)
    _posts.pop(name, None)
