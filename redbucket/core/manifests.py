"""The locks of one tree: which files are locks, what they list, which paths they cover."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from redbucket.core.checksums import Checksums, Flaw, contradicted, read
from redbucket.core.patch import GITLINK_MODE, SYMLINK_MODE
from redbucket.core.paths import JudgeSide, Matcher, fold

SIDECAR = ".sha256"
# git's own files in a folder of fixtures are no fixtures.
_GITS = frozenset({".gitattributes", ".gitignore", ".gitkeep"})
_WILD = frozenset("*?[]\\!")


class Listed(NamedTuple):
    """One locked path: its checksum, and the lock and line that say so."""

    sha256: str
    lock: str
    line: int


@dataclass(frozen=True)
class Lock:
    """One lock; its paths count from the top of the repository."""

    path: str
    sidecar: bool
    checksums: Checksums

    @property
    def folder(self) -> str:
        """The folder that it covers, with a slash; "" for the top."""
        return self.path[: self.path.rfind("/") + 1]


@dataclass(frozen=True)
class Locks:
    """All locks of a tree, the nearest to their files first. ``shas`` maps each locked path to its checksum."""

    locks: tuple[Lock, ...]
    shas: Mapping[str, str] = field(default_factory=dict)
    disputed: Mapping[str, tuple[Listed, Listed]] = field(default_factory=dict)

    @cached_property
    def listed(self) -> Mapping[str, Listed]:
        """What is said of each locked path, and where; made when something is wrong."""
        found: dict[str, Listed] = {}
        for path, said in _said(self.locks):
            found.setdefault(path, said)
        return found

    @cached_property
    def unsure(self) -> frozenset[str]:
        """The paths of which one lock says two things: that is its flaw, and nothing follows for the file."""
        found: set[str] = set()
        for lock in self.locks:
            if lock.checksums.flaws:
                found |= contradicted(lock.checksums)
        return frozenset(found)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders in which every fixture must be listed; a flawed lock is refused, and asks for nothing more."""
        return tuple(lock.folder for lock in self.locks if not lock.sidecar and not lock.checksums.flaws)

    def lock_for(self, path: str) -> str | None:
        """Return the nearest manifest whose folder holds ``path``."""
        return max(
            (lock.path for lock in self.locks if not lock.sidecar and path.startswith(lock.folder)),
            key=len,
            default=None,
        )


class Scope:
    """What the policies that count say of a path: lock, sidecar, fixture. What one of them names is one."""

    def __init__(self, *judges: JudgeSide) -> None:
        self._judges = judges
        self._manifests = [Matcher(judge.policy.fixtures.manifests) for judge in judges]
        self._paths = [(Matcher(judge.policy.fixtures.paths), judge) for judge in judges]
        manifests = [pattern for judge in judges for pattern in judge.policy.fixtures.manifests]
        ends = {fold(pattern.rpartition("/")[2]) for pattern in manifests}
        # Names alone need no pattern library, whose import takes longer than hashing 2,000 files.
        plain = not any(_WILD & set(pattern) or "/" in pattern for pattern in manifests)
        self._names = frozenset(map(fold, manifests)) if plain else None
        # Two names end most of the search: asking the patterns about 20,000 paths costs more than hashing them.
        self._ends = None if any(_WILD & set(end) or not end for end in ends) else (*ends, SIDECAR)

    def candidates(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that may be locks, by the ends of their names."""
        if self._ends is None:
            return list(paths)
        paths, ends = list(paths), self._ends
        lowered = "\0".join(paths).lower().split("\0")
        return [p for p, low in zip(paths, lowered, strict=False) if low.endswith(ends) or not low.isascii()]

    def is_manifest(self, path: str) -> bool:
        """Return whether a policy names ``path`` as a lock manifest."""
        if self._names is not None:
            return fold(path.rpartition("/")[2]) in self._names
        return any(patterns.matches(path) for patterns in self._manifests)

    def locked_by(self, path: str) -> str | None:
        """Return the fixture that ``path`` is a sidecar of, None if it is no sidecar."""
        if not fold(path).endswith(SIDECAR) or self.is_manifest(path):
            return None
        name = path[: -len(SIDECAR)]
        fixture = name.rpartition("/")[2] and any(judge.is_fixture(name) for judge in self._judges)
        return name if fixture else None

    def holds_fixtures(self, submodule: str) -> bool:
        """Return whether a lock must list the files of a submodule: it lies itself under the policy's fixture paths."""
        return self.is_recorded(submodule) or self.is_recorded(f"{submodule}/file")

    def is_recorded(self, path: str) -> bool:
        """Return whether a lock must list ``path``: it is under a policy's fixture paths."""
        return (
            any(patterns.matches(path) and judge.is_fixture(path) for patterns, judge in self._paths)
            and path.rpartition("/")[2] not in _GITS
            and self.locked_by(path) is None
        )


def locks_of(scope: Scope, modes: Mapping[str, str], content: Callable[[str], bytes]) -> Locks:
    """Return the locks among the paths of a tree, given the mode of each path."""
    locks = []
    for path in scope.candidates(modes):
        manifest = scope.is_manifest(path)
        of = None if manifest else scope.locked_by(path)
        if not manifest and of is None:
            continue
        if modes[path] in (SYMLINK_MODE, GITLINK_MODE):
            if manifest or of in modes:
                flaw = Flaw(0, "the lock is a link or a submodule", "make it a regular file")
                locks.append(Lock(path, of is not None, Checksums((), (), (), (flaw,))))
            continue
        lock = (
            _manifest(path, content(path)) if of is None else _sidecar(path, of, of in modes, content(path))
        )
        if lock is not None:
            locks.append(lock)
    return _gathered(tuple(sorted(locks, key=lambda lock: (-lock.path.count("/"), lock.path))))


def _manifest(path: str, raw: bytes) -> Lock:
    found = read(raw)
    folder = path[: path.rfind("/") + 1]
    if folder:
        found = replace(found, paths=[folder + name for name in found.paths])
    return Lock(path, False, found)


def _sidecar(path: str, of: str, beside: bool, raw: bytes) -> Lock | None:
    """Return a sidecar's lock; without its file it counts only if it names that file."""
    found = read(raw)
    name = of.rpartition("/")[2]
    own = [line for line in found.lines if line.path == name]
    if not own and not beside:
        return None
    flaws = found.flaws
    if not flaws and (len(found.paths) != 1 or not own):
        flaws = (Flaw(found.numbers[0], f"a sidecar has one line, and it names {name}", _anew(name)),)
    numbers, shas = [line.number for line in own], [line.sha256 for line in own]
    return Lock(path, True, Checksums(numbers, shas, [of for _ in own], flaws))


def _anew(name: str) -> str:
    file = shlex.quote(f"./{name}" if name.startswith("-") else name)
    return f"write it anew, in its folder: sha256sum {file} > {shlex.quote(f'./{name}{SIDECAR}')}"


def _gathered(locks: tuple[Lock, ...]) -> Locks:
    if len(locks) == 1:
        found = locks[0].checksums
        return Locks(locks, dict(zip(found.paths, found.shas, strict=True)))
    listed: dict[str, Listed] = {}
    disputed: dict[str, tuple[Listed, Listed]] = {}
    for path, said in _said(locks):
        first = listed.setdefault(path, said)
        if first.sha256 != said.sha256:
            disputed[path] = (first, said)
    return Locks(locks, {path: said.sha256 for path, said in listed.items()}, disputed)


def _said(locks: Iterable[Lock]) -> Iterator[tuple[str, Listed]]:
    for lock in locks:
        for number, sha, path in lock.checksums.lines:
            yield path, Listed(sha, lock.path, number)
