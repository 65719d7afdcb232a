"""Objects by id, through ``git cat-file --batch``: a short process a question at first, then one that stays."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import IO, Any, TypeVar

from redbucket.core.errors import Undecided
from redbucket.edges.git import Caller, missing

# Requests are written before answers are read, so a chunk must fit into a pipe
# (65,536 bytes on Linux, 16,384 on older macOS): 200 ids of 64 hex digits do.
_CHUNK = 200
_CACHE_BYTES = 64 * 1024 * 1024
_CACHED_BLOB = 1024 * 1024
# Room is left for what is read besides, so that nothing goes before it was asked for.
_PREFETCH_BYTES = _CACHE_BYTES * 3 // 4
_PART = 1024 * 1024
# The long-lived process is GitPython's, whose import costs what thirty short processes do: a hook that asks
# a few times, for however many blobs, is over before it pays.
_ALONE = 12
_T = TypeVar("_T")
_Take = Callable[[str, int, IO[bytes]], _T]


class Objects:
    """Reads blobs; small ones are kept for the next asker. Safe to share between threads."""

    def __init__(self, git: Caller) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: Any = None
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._held = 0
        self._sizes: dict[str, int] = {}
        self._alone = 0

    def read(self, oid: str) -> bytes:
        """Return the blob's exact bytes. Raises Undecided "missing-object" or "not-a-blob"."""
        return self.read_blobs((oid,))[oid]

    def read_blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return the exact bytes of each blob, by id. Raises Undecided as ``read`` does."""
        with self._lock:
            found: dict[str, bytes] = {}
            wanted: list[str] = []
            for oid in dict.fromkeys(oids):
                if oid in self._cache:
                    self._cache.move_to_end(oid)
                    found[oid] = self._cache[oid]
                else:
                    wanted.append(oid)
            for oid, content in self._ask(wanted):
                found[oid] = content
                self._keep(oid, content)
            return found

    def prefetch(self, oids: Iterable[str]) -> None:
        """Read blobs in one go for those who ask later, as many as can be kept."""
        with self._lock:
            wanted = [oid for oid in dict.fromkeys(oids) if oid not in self._cache]
            with contextlib.closing(self._ask(wanted)) as answers:
                for oid, content in answers:
                    self._keep(oid, content)
                    if self._held >= _PREFETCH_BYTES:
                        return

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the size in bytes of each object. Raises Undecided "missing-object"."""
        asked = list(dict.fromkeys(oids))
        wanted = [oid for oid in asked if oid not in self._sizes]
        if not wanted:
            return {oid: self._sizes[oid] for oid in asked}
        request = "".join(f"{oid}\n" for oid in wanted).encode("ascii")
        done = self._git.run("cat-file", "--batch-check", "--buffer", stdin=request)
        for oid, line in zip(wanted, done.out.decode("ascii").splitlines(), strict=True):
            words = line.split(" ")
            if len(words) != 3:
                raise missing(f"object {oid}")
            self._sizes[oid] = int(words[2])
        return {oid: self._sizes[oid] for oid in asked}

    def sha256s(self, oids: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of each blob's bytes, by id; streamed, so that a huge blob costs no memory.

        Raises Undecided as ``read`` does.
        """
        found: dict[str, str] = {}
        wanted = list(dict.fromkeys(oids))
        with self._lock:
            for at in range(0, len(wanted), _CHUNK):
                for oid, answer in self._chunk(wanted[at : at + _CHUNK], _digest):
                    found[oid] = answer
        return found

    def close(self) -> None:
        """End the process; a later read starts another."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.stdin.close()
            process.stdout.close()
            process.wait()

    def _ask(self, wanted: list[str]) -> Generator[tuple[str, bytes], None, None]:
        if wanted and self._process is None and self._alone < _ALONE:
            self._alone += 1
            return self._at_once(wanted)
        return self._in_turn(wanted)

    def _at_once(self, wanted: list[str]) -> Generator[tuple[str, bytes], None, None]:
        """Ask a process that ends after this one question."""
        request = "".join(f"{oid}\n" for oid in wanted).encode("ascii")
        with self._git.reading("cat-file", "--batch", "--buffer", stdin=request) as stream:
            for oid in wanted:
                answer = self._answer(oid, _content, stream)
                if isinstance(answer, Undecided):
                    raise answer
                yield oid, answer

    def _in_turn(self, wanted: list[str]) -> Generator[tuple[str, bytes], None, None]:
        for at in range(0, len(wanted), _CHUNK):
            yield from self._chunk(wanted[at : at + _CHUNK], _content)

    def _chunk(self, chunk: list[str], take: _Take[_T]) -> Iterator[tuple[str, _T]]:
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch")
        try:
            self._process.stdin.write("".join(f"{oid}\n" for oid in chunk).encode("ascii"))
            self._process.stdin.flush()
            answers = [self._answer(oid, take, self._process.stdout) for oid in chunk]
        except BaseException as problem:
            # Broken off in the middle (Ctrl-C too): what the pipe still holds would answer the next question.
            self._process = None
            if isinstance(problem, BrokenPipeError):
                raise _broken(chunk[0]) from problem
            raise
        for oid, answer in zip(chunk, answers, strict=True):
            if isinstance(answer, Undecided):
                raise answer
            yield oid, answer

    def _answer(self, oid: str, take: _Take[_T], stream: IO[bytes]) -> _T | Undecided:
        """Return one answer; every answer of a chunk is read, so that the next request finds a clean pipe."""
        header = stream.readline()
        words = header.split()
        if words == [oid.encode("ascii"), b"missing"]:
            return missing(f"object {oid}")
        if len(words) != 3 or words[0] != oid.encode("ascii"):
            raise _broken(oid)  # git dies at a corrupt object instead of answering
        size = int(words[2])
        answer = take(oid, size, stream)
        if words[1] != b"blob":
            return Undecided(
                "not-a-blob", f"object {oid} is a {words[1].decode()}, not a file", "run `git fsck`"
            )
        return answer

    def _keep(self, oid: str, content: bytes) -> None:
        if len(content) > _CACHED_BLOB:
            return
        self._cache[oid] = content
        self._held += len(content)
        while self._held > _CACHE_BYTES:
            _, dropped = self._cache.popitem(last=False)
            self._held -= len(dropped)


def _content(oid: str, size: int, stream: IO[bytes]) -> bytes:
    content = stream.read(size + 1)
    if len(content) != size + 1:
        raise _broken(oid)
    return content[:-1]


def _digest(oid: str, size: int, stream: IO[bytes]) -> str:
    seen = hashlib.sha256()
    left = size
    while left:
        part = stream.read(min(left, _PART))
        if not part:
            raise _broken(oid)
        seen.update(part)
        left -= len(part)
    if stream.read(1) != b"\n":
        raise _broken(oid)
    return seen.hexdigest()


def _broken(oid: str) -> Undecided:
    return Undecided(
        "corrupt-object",
        f"git can't read object {oid}",
        "run `git fsck`, and fetch it anew from a sound clone",
    )
