"""Many files hashed at the speed of the disk's cache: one open and one read each, on all CPUs.

Every file gets its SHA-256 and, from the same read, its git blob id: a file whose id
is the one in the index vouches for the blob, which then need not be inflated.
``stat`` data vouches for nothing (an edit with restored times looks clean to git).
"""

from __future__ import annotations

import errno
import hashlib
import marshal
import os
import stat
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_SMALL = 64 * 1024  # read in one go
_HEAD = 32
_PART = 256 * 1024
_WORTH_A_PROCESS = 256  # files; below, forking costs more than it gains
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

MISSING, LINK, BEHIND_LINK, NOT_A_FILE, UNREADABLE, CHANGED = (
    "missing",
    "link",
    "behind a link",
    "not a file",
    "unreadable",
    "changed while it was read",
)


# A file to look at: its path, the SHA-256 and the blob id that are expected; "" for what is not known.
Wanted = tuple[str, str, str]


class Seen(NamedTuple):
    """What stands there: both ids and the size, or in ``state`` why there is nothing to hash."""

    state: str
    sha256: str = ""
    oid: str = ""
    size: int = 0


def compare(
    top: str, wanted: Sequence[Wanted], object_format: str = "sha1", cpus: int = 1
) -> dict[str, Seen]:
    """Return what was seen of each file below ``top`` that is not as wanted in both ids."""
    if cpus < 2 or len(wanted) < _WORTH_A_PROCESS or threading.active_count() > 1 or not hasattr(os, "fork"):
        return _compare(top, wanted, object_format)
    halves = [wanted[n::cpus] for n in range(cpus)]
    children = [_start(top, half, object_format) for half in halves[1:]]
    found = _compare(top, halves[0], object_format)
    for half, (pid, pipe) in zip(halves[1:], children, strict=True):
        answer = _finish(pid, pipe)
        # a child that was killed has said nothing: its files are looked at here
        found.update(answer if answer is not None else _compare(top, half, object_format))
    return found


def _start(top: str, wanted: Sequence[Wanted], object_format: str) -> tuple[int, int]:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    try:  # the child: no cleanup of the parent's objects may run here
        os.close(reader)
        answer = {path: tuple(seen) for path, seen in _compare(top, wanted, object_format).items()}
        data = memoryview(marshal.dumps((True, answer)))
        while data:
            data = data[os.write(writer, data) :]
    finally:
        os._exit(0)


def _finish(pid: int, pipe: int) -> dict[str, Seen] | None:
    parts = []
    try:
        while part := os.read(pipe, _PART):
            parts.append(part)
    finally:
        os.close(pipe)
        os.waitpid(pid, 0)
    try:
        # only our own child writes into this pipe
        answer: dict[str, Any] = marshal.loads(b"".join(parts))[1]  # noqa: S302
    except (EOFError, ValueError, TypeError):
        return None
    return {path: Seen(*fields) for path, fields in answer.items()}


def _compare(top: str, wanted: Sequence[Wanted], object_format: str) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    known: dict[str, bool] = {"": False}
    behind = {
        f"{parent}/"
        for parent in {path.rpartition("/")[0] for path, _, _ in wanted}
        if _linked(top, parent, known)
    }
    if behind:
        found = {path: Seen(BEHIND_LINK) for path, _, _ in wanted if path[: path.rfind("/") + 1] in behind}
        wanted = [each for each in wanted if each[0] not in found]
    sha256, blob = hashlib.sha256, getattr(hashlib, object_format)
    opened, read, close = os.open, os.readv, os.close
    # The blob's header goes right before the content, so that neither is copied.
    buffer = bytearray(_HEAD + _SMALL)
    view = memoryview(buffer)
    room = [view[_HEAD:]]
    large = bytearray(_PART)
    for path, sha, oid in wanted:
        try:
            handle = opened(f"{top}/{path}", _OPEN)
        except OSError as problem:
            found[path] = Seen(_state(problem))
            continue
        try:
            size = read(handle, room)
            if size < _SMALL:
                head = b"blob %d\0" % size
                start = _HEAD - len(head)
                view[start:_HEAD] = head
                end = _HEAD + size
                # one read that gives the expected bytes is proof enough, whatever the file is meanwhile
                if sha256(view[_HEAD:end]).hexdigest() == sha and (
                    not oid or blob(view[start:end]).hexdigest() == oid
                ):
                    continue
            seen = _slowly(handle, oid, blob, large)
            if seen.sha256 != sha or seen.oid != oid:
                found[path] = seen
        except OSError as problem:
            found[path] = Seen(NOT_A_FILE if problem.errno == errno.EISDIR else UNREADABLE)
        finally:
            close(handle)
    return found


def _slowly(handle: int, oid: str, blob: Callable[..., Any], buffer: bytearray) -> Seen:
    """Hash a file in pieces, whatever its size; what changes under the reading is said, not guessed."""
    before = os.fstat(handle)
    if not stat.S_ISREG(before.st_mode):
        return Seen(NOT_A_FILE)
    os.lseek(handle, 0, os.SEEK_SET)
    plain, named = hashlib.sha256(), blob(b"blob %d\0" % before.st_size)
    view = memoryview(buffer)
    total = 0
    while count := os.readv(handle, [buffer]):
        part = view[:count]
        plain.update(part)
        if oid:
            named.update(part)
        total += count
    after = os.fstat(handle)
    if total != before.st_size or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        return Seen(CHANGED)
    return Seen("", plain.hexdigest(), named.hexdigest() if oid else "", total)


def _state(problem: OSError) -> str:
    if problem.errno in (errno.ENOENT, errno.ENOTDIR):
        return MISSING
    if problem.errno == errno.ELOOP:
        return LINK
    if problem.errno == errno.ENXIO:  # a socket
        return NOT_A_FILE
    return UNREADABLE


def _linked(top: str, parent: str, known: dict[str, bool]) -> bool:
    if parent not in known:
        above = _linked(top, parent.rpartition("/")[0], known)
        known[parent] = above or os.path.islink(f"{top}/{parent}")  # noqa: PTH114 (a plain string: half the time)
    return known[parent]
