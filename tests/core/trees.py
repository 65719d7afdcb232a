"""Trees in memory, for the pure parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from redbucket.core.patch import FILE_MODE, Change, Commit, Entry, Patch, Person


def oid(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


class MemoryTree:
    """A tree of a dict; values may be text."""

    def __init__(self, files: Mapping[str, bytes | str]) -> None:
        self._files = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        self._entries = {path: Entry(FILE_MODE, oid(data)) for path, data in self._files.items()}

    @property
    def entries(self) -> Mapping[str, Entry]:
        return self._entries

    def read(self, path: str) -> bytes:
        return self._files[path]

    def size(self, path: str) -> int:
        return len(self._files[path])

    def sha256s(self, paths: Iterable[str]) -> Mapping[str, str]:
        return {path: hashlib.sha256(self._files[path]).hexdigest() for path in paths}

    def prefetch(self, paths: Iterable[str]) -> None:
        """Everything is in memory already."""


def changes(base: MemoryTree, head: MemoryTree) -> tuple[Change, ...]:
    """The net difference of two trees."""
    paths = sorted(base.entries.keys() | head.entries.keys())
    pairs = ((path, base.entries.get(path), head.entries.get(path)) for path in paths)
    return tuple(Change(path, old, new) for path, old, new in pairs if old != new)


def commit(
    name: str,
    *touched: str,
    author: str = "Ada Lovelace <ada@example.org>",
    message: str = "Work",
    parents: tuple[str, ...] = (),
    notes: str = "",
    signed_by: str | None = None,
) -> Commit:
    """A commit of a person, unless said otherwise."""
    who, _, mail = author.partition(" <")
    person = Person(who, mail.rstrip(">"))
    return Commit(
        oid=name,
        parents=parents,
        author=person,
        committer=person,
        message=message,
        touched=touched,
        notes=notes,
        signed_by=signed_by,
    )


def patch(base: MemoryTree, head: MemoryTree, *commits: Commit, branch: str = "") -> Patch:
    """A patch between two trees."""
    return Patch(
        base="b" * 40,
        head="h" * 40,
        merge_base="b" * 40,
        changes=changes(base, head),
        commits=commits,
        branch=branch,
    )
