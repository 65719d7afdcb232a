"""``fixtures verify``: the blobs against their locks, and the work tree's files against the blobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Protocol

from redbucket.core.checksums import Flaw, read, said_otherwise, unlockable
from redbucket.core.chosen import Chosen, nothing_at
from redbucket.core.discrepancies import (
    FILES,
    LOCK,
    RENAME,
    Discrepancy,
    Kind,
    Tree,
    discrepancies,
    refresh,
    regular,
    unlisted,
    word,
)
from redbucket.core.lfs import LARGEST as LARGEST_POINTER
from redbucket.core.lfs import Filter, pointed_at
from redbucket.core.lineends import idented, same_but_for_line_ends
from redbucket.core.manifests import SIDECAR, Locks, Scope, locks_of
from redbucket.core.patch import FILE_MODE
from redbucket.core.plural import plural

LARGEST_READ = 64 * 1024 * 1024
NOT_MATERIALISED = frozenset({Kind.ABSENT, Kind.POINTER})


class Seen(Protocol):
    """What stands in the work tree at one path: its ids, or in ``state`` why it has none."""

    @property
    def state(self) -> str:
        """ "" for a file."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""

    @property
    def oid(self) -> str:
        """The id of the blob that the bytes would be."""

    @property
    def size(self) -> int:
        """The number of bytes."""


class Source(Protocol):
    """The index or a commit, and the work tree beside it."""

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the contents of few blobs."""

    def sha256s(self, oids: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of many blobs."""

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the sizes of blobs."""

    def others(self) -> Callable[[], list[str]]:
        """Start to look for the files that git neither tracks nor ignores; the answer is there when called."""

    def left_out(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of ``paths`` that a sparse checkout leaves out."""

    def file(self, path: str) -> bytes:
        """Return the bytes of a file of the work tree."""

    def is_link(self, path: str) -> bool:
        """Return whether a symbolic link stands in the work tree."""

    def hidden(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of ``paths`` at which git is told not to look."""

    def rewriters(self, paths: Collection[str]) -> Mapping[str, str]:
        """Return the attribute that has git write other bytes into the work tree, for the paths that have one."""

    @property
    def closed(self) -> Sequence[str]:
        """The folders of the work tree into which ``others`` could not look."""


@dataclass(frozen=True)
class Before:
    """An earlier commit, and the mode and id in it of each file that has been changed or deleted since."""

    commit: str
    files: Mapping[str, tuple[str, str]]


Compare = Callable[[list[tuple[str, str, str]]], Mapping[str, Seen]]


@dataclass
class Verified:
    """How many fixtures were verified against which locks, what is wrong; where ids are kept, the SHA-256 of blobs.

    ``idle`` are the paths that were asked for and hold no fixture. ``unstaged`` are locks of the work tree that git
    does not have yet. ``both`` says that two policies counted, as the branch changed what a fixture is.
    """

    count: int
    locks: tuple[str, ...]
    found: list[Discrepancy] = field(default_factory=list)
    blobs: Mapping[str, str] = field(default_factory=dict)
    idle: Sequence[str] = ()
    unstaged: Sequence[str] = ()
    both: bool = False

    @property
    def absent(self) -> list[Discrepancy]:
        """What could not be verified, because its content is not here."""
        return [each for each in self.found if each.kind in NOT_MATERIALISED]

    @property
    def wrong(self) -> list[Discrepancy]:
        """What disagrees."""
        return [each for each in self.found if each.kind not in NOT_MATERIALISED]


def verify(
    source: Source,
    listing: tuple[Mapping[str, str], Mapping[str, str]],
    scope: Scope,
    compare: Compare | None,
    *,
    files: bool,
    only: Chosen | None = None,
    known: Mapping[str, str] | None = None,
    before: Before | None = None,
) -> Verified:
    """Verify the blobs of ``listing``; with ``files`` the work tree's files, too.

    ``compare`` (absent in a bare repository) looks at the work tree in any case: a file whose blob id is
    the listed one vouches for the blob. What is ``known``, the SHA-256 of blobs by their ids, is believed.
    A lock must not have lost what it listed ``before`` and is still here.
    """
    modes, oids = listing
    locks = locks_of(scope, modes, lambda path: source.blobs([oids[path]])[0] or b"")
    if only is not None and (lost := only.empty([*modes, *locks.shas])):
        there = source.others()() if files else []
        if lost := [typed for typed in only.empty(there) if typed in lost]:
            raise nothing_at(lost)
    extra = unlisted(modes, locks, scope)
    shrunk = list(_shrunk(source, scope, before, modes, {*locks.shas, *extra}, only))
    if not locks.locks:
        unstaged = _unstaged(source, scope, source.others()(), only, modes) if files else ()
        return Verified(0, (), [] if unstaged else shrunk, unstaged=unstaged)
    look = _Look(source, modes, oids, locks, scope, only)
    wanted = every = look.wanted(extra)
    if known:
        look.known = known
        wanted = [each for each in every if each[2] not in known]
    new = source.others() if files else list
    seen = compare(wanted) if compare is not None else {path: _NOTHING for path, _, _ in wanted}
    look.take(every, seen)
    found = discrepancies(Tree(modes, look.hashes, look.content, look.filtered), locks, scope, only)
    others = new()
    if not files:
        # no file is asked for, and a pointer's own checksum says which bytes it stands for
        found = [each for each in found if each.kind is not Kind.POINTER]
    else:
        found = look.materialised(found, seen)
        found += look.work_tree(seen)
        found += look.untracked(others)
        found += look.closed_folders()
        found += look.locks_here(compare)
    found += shrunk
    count = sum(map(only, locks.shas)) if only else len(locks.shas)
    shas = look.blob_shas if known is not None else {}
    blobs = {oid: shas[path] for path, _, oid in every if oid and path in shas}
    idle = only.empty([*locks.shas, *extra, *(each.path for each in found)]) if only else ()
    unstaged = _unstaged(source, scope, others, only, modes)
    return Verified(count, tuple(lock.path for lock in locks.locks), found, blobs, idle, unstaged)


def _shrunk(
    source: Source,
    scope: Scope,
    before: Before | None,
    modes: Mapping[str, str],
    told: Collection[str],
    only: Chosen | None,
) -> Iterator[Discrepancy]:
    """Say which locks lost lines of files that are still here; ``told`` are listed, or called unlisted."""
    if before is None:
        return
    there = {*modes, *before.files}
    candidates = {path: before.files[path][0] for path in scope.candidates(before.files)}
    beside = {path[: -len(SIDECAR)]: FILE_MODE for path in candidates if path[: -len(SIDECAR)] in there}
    old = locks_of(
        scope, {**beside, **candidates}, lambda path: source.blobs([before.files[path][1]])[0] or b""
    )
    for lock in old.locks:
        paths = [path for path in lock.checksums.paths if path in modes and path not in told]
        paths = [path for path in paths if only is None or only(path)]
        if paths:
            few = f"{', '.join(paths[:3])}{', ...' if len(paths) > 3 else ''}"
            back = f"{before.commit[:12]}:{lock.path}" if lock.path in modes else ""
            yield Discrepancy(
                Kind.SHRUNK,
                lock.path,
                f"it listed {plural(len(paths), 'file')} of those that are here, and no lock does any more ({few})",
                f"put the lines back, which are in: git show {quote(back)}"
                if back
                else f"put it back: git checkout {before.commit[:12]} -- {word(lock.path)}",
                lock.path,
            )


@dataclass(frozen=True)
class _Nothing:
    state: str = "missing"
    sha256: str = ""
    oid: str = ""
    size: int = 0


_NOTHING = _Nothing()


def _unstaged(
    source: Source, scope: Scope, others: Iterable[str], only: Chosen | None, modes: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the locks among the files that git neither tracks nor ignores: just made, say."""
    new = {path for path in scope.candidates(others) if not source.is_link(path)}
    beside = {path[: -len(SIDECAR)] for path in new} & {*others, *modes}
    found = locks_of(scope, dict.fromkeys([*new, *beside], FILE_MODE), lambda path: _readable(source, path))
    return tuple(
        sorted(lock.path for lock in found.locks if lock.path in new and (only is None or only(lock.path)))
    )


def _readable(source: Source, path: str) -> bytes:
    try:
        return source.file(path)
    except OSError:  # a lock in any case, whatever is in it
        return b""


@dataclass
class _Look:
    """One verification: what the work tree says of the blobs, and of itself."""

    source: Source
    modes: Mapping[str, str]
    oids: Mapping[str, str]
    locks: Locks
    scope: Scope
    only: Chosen | None
    known: Mapping[str, str] = field(default_factory=dict)
    blob_shas: Mapping[str, str] = field(default_factory=dict)
    small: Mapping[str, bytes | None] = field(default_factory=dict)
    filtered: Filter = field(init=False)

    def __post_init__(self) -> None:
        self.filtered = Filter(self.modes, lambda path: self.source.blobs([self.oids[path]])[0] or b"")

    def wanted(self, extra: Iterable[str]) -> list[tuple[str, str, str]]:
        """Return (path, SHA-256, blob id) of the files to look at; the id is "" where git has no blob."""
        modes, oids, shas = self.modes, self.oids, self.locks.shas
        paths = list(filter(self.only, shas)) if self.only else list(shas)
        files = regular(modes, paths)
        found = list(zip(files, map(shas.__getitem__, files), map(oids.__getitem__, files), strict=True))
        if len(files) != len(paths):
            found += [(path, shas[path], "") for path in paths if path not in modes]
        new = list(filter(self.only, extra)) if self.only else list(extra)
        return found + [(path, "", oids[path]) for path in regular(modes, new)]

    def take(self, wanted: list[tuple[str, str, str]], seen: Mapping[str, Seen]) -> None:
        """Settle the SHA-256 of each blob: known, or by a file of the same blob id, else by reading the blob."""
        if not seen and not self.known:
            self.blob_shas = self.locks.shas
            return
        shas = {path: self.known.get(oid, sha) for path, sha, oid in wanted}
        unknown = []
        for path, there in seen.items():
            if path not in self.modes:
                continue
            if there.oid == self.oids[path]:
                shas[path] = there.sha256
            else:
                unknown.append(path)
        if unknown:
            known = self.source.sha256s(self.oids[path] for path in unknown)
            shas.update((path, known[self.oids[path]]) for path in unknown)
        self.blob_shas = shas
        self._keep_small([p for p, sha in shas.items() if p in self.modes and sha != self.locks.shas.get(p)])

    def _keep_small(self, paths: Collection[str]) -> None:
        """Read in one go what may be pointers: in a project with Git LFS that is every fixture."""
        sizes = self.source.sizes(self.oids[path] for path in paths) if paths else {}
        oids = [oid for oid, size in sizes.items() if size < LARGEST_POINTER]
        self.small = dict(zip(oids, self.source.blobs(oids) if oids else (), strict=True))

    def hashes(self, paths: Collection[str]) -> Mapping[str, str]:
        """The SHA-256 of each blob, by path."""
        return self.blob_shas

    def content(self, path: str) -> bytes | None:
        """The bytes of a blob, None if it is too large to be read whole."""
        oid = self.oids[path]
        if oid in self.small:
            return self.small[oid]
        if self.source.sizes([oid]).get(oid, 0) > LARGEST_READ:
            return None
        return self.source.blobs([oid])[0]

    def materialised(self, found: list[Discrepancy], seen: Mapping[str, Seen]) -> list[Discrepancy]:
        """Leave out what only the objects lack: the file itself is here, with the locked bytes."""
        kept = []
        for each in found:
            listed = self.locks.listed.get(each.path)
            there = seen.get(each.path)
            if each.kind in NOT_MATERIALISED and listed is not None and each.lock is not None:
                # of a path that git has no blob of, an agreeing file is not in `seen`
                if there is None or there.sha256 == listed.sha256:
                    continue
                if each.kind is Kind.POINTER and there.oid != self.oids[each.path]:
                    continue  # the blob is right, and what is there instead of its content is told besides
                if not there.state and each.path not in self.modes:
                    each = replace(
                        each,
                        kind=Kind.MISMATCH,
                        reason=_other(there, listed.sha256),
                        remedy=refresh(each.path),
                    )
            kept.append(each)
        return kept

    def work_tree(self, seen: Mapping[str, Seen]) -> list[Discrepancy]:
        """Say where the file that tests would read is not the blob."""
        found = []
        gone = [path for path, there in seen.items() if there.state == "missing" and path in self.modes]
        sparse = self.source.left_out(gone) if gone else frozenset()
        for path, there in seen.items():
            if path not in self.modes or (not there.state and there.oid == self.oids[path]):
                continue
            listed = self.locks.listed.get(path)
            at = (listed.lock, listed.line) if listed else (None, None)
            each = self._differs(path, there, path in sparse, listed.sha256 if listed else "")
            if each is not None:
                found.append(replace(each, lock=at[0], line=at[1]))
        changed = [each.path for each in found if each.remedy == _stage(each.path)]
        if not changed:
            return found
        anew = "; or, if git sees no change, take {} off it in .gitattributes, and check it out anew"
        remedies = {
            path: _stage(path) + anew.format(name) for path, name in self.source.rewriters(changed).items()
        }
        remedies.update(
            (path, f"{_unhide(path)}, and then, {_stage(path)}") for path in self.source.hidden(changed)
        )
        return [replace(each, remedy=remedies.get(each.path, each.remedy)) for each in found]

    def _differs(self, path: str, there: Seen, sparse: bool, locked: str) -> Discrepancy | None:
        if sparse:
            return Discrepancy(
                Kind.ABSENT, path, "the sparse checkout leaves it out", "run: git sparse-checkout disable"
            )
        if there.state:
            return _no_file(path, there.state)
        if locked and there.sha256 == locked:
            return (
                None  # smudged content with the locked bytes; or the blob is wrong, and that is said already
            )
        content = self.content(path) if there.size <= LARGEST_READ else self.small.get(self.oids[path])
        if content is not None and pointed_at(content) == there.sha256 and self.filtered(path):
            return None  # what git has staged, in the form that Git LFS gives it
        here = self.source.file(path) if content is not None else b""
        if content is not None and same_but_for_line_ends(here, content):
            return Discrepancy(
                Kind.LINE_ENDS,
                path,
                "the blob is right; the file in the work tree has other line ends",
                "give it -text in .gitattributes, and check it out anew",
            )
        if content is not None and idented(here) == idented(content):
            return Discrepancy(
                Kind.MISMATCH,
                path,
                "the file in the work tree has other words in $Id$ than what git has staged",
                "give it -ident in .gitattributes, and check it out anew",
                seen="work tree",
            )
        return Discrepancy(
            Kind.MISMATCH,
            path,
            "the file in the work tree is not what git has staged",
            _stage(path),
            seen="work tree",
        )

    def locks_here(self, compare: Compare | None) -> Iterator[Discrepancy]:
        """Say where the locks of the work tree, which ``sha256sum`` would go by, are not those that git has."""
        staged = [lock for lock in self.locks.locks if self.modes[lock.path] in FILES]
        seen = compare([(lock.path, "", self.oids[lock.path]) for lock in staged]) if compare else {}
        for lock in staged:
            there = seen[lock.path]
            if there.state:
                # no test reads a lock, so that a sparse checkout may well leave it out
                if there.state != "missing" or not self.source.left_out([lock.path]):
                    yield replace(_no_file(lock.path, there.state), lock=lock.path)
            elif there.oid != self.oids[lock.path]:
                here, was = read(self.source.file(lock.path)), read(self.content(lock.path) or b"")
                paths = [lock.folder + name for name in said_otherwise(was, here)]
                if self.only is not None and not self.only(lock.path):
                    paths = list(filter(self.only, paths))
                new = [flaw for flaw in here.flaws if flaw not in was.flaws]
                if paths or new:
                    yield _other_lock(lock.path, paths, new)

    def untracked(self, others: Iterable[str]) -> list[Discrepancy]:
        """Say which new files no lock lists; git's word, so what it ignores is not seen."""
        folders = self.locks.folders
        return [
            self._new(path)
            for path in others
            if path not in self.locks.shas
            and path.startswith(folders)
            and (self.only is None or self.only(path))
            and self.scope.is_recorded(path)
        ]

    def closed_folders(self) -> list[Discrepancy]:
        """Say which folders nobody could look into, though a lock must list what is in them."""
        return [
            Discrepancy(
                Kind.UNREADABLE,
                folder,
                "this folder can't be read, and new files in it can't be seen",
                "make it readable for the user that runs redbucket, or delete it",
            )
            for folder in self.source.closed
            if folder.startswith(self.locks.folders)
            and (self.only is None or self.only(folder))
            and self.scope.is_recorded(f"{folder}file")
        ]

    def _new(self, path: str) -> Discrepancy:
        if path.endswith("/"):
            return Discrepancy(
                Kind.UNLISTED,
                path,
                "a repository of its own, into which git does not look",
                "make it a submodule, or move it out of the fixture paths",
            )
        if self.source.is_link(path):
            return Discrepancy(
                Kind.LINKED,
                path,
                "a new symbolic link that git does not track",
                "put the file itself there and lock it, or delete it",
            )
        return Discrepancy(
            Kind.UNLISTED,
            path,
            "a new file that git does not track, and no lock lists it",
            RENAME if unlockable(path) else f"git add {word(path)}; {LOCK}",
        )


def _unhide(path: str) -> str:
    return f"let git see it: git update-index --no-assume-unchanged --no-skip-worktree {word(path)}"


def _stage(path: str) -> str:
    return f"if it is meant: git add {word(path)}; if not: git checkout -- {word(path)}"


def _no_file(path: str, state: str) -> Discrepancy:
    if state == "missing":
        return Discrepancy(
            Kind.MISSING, path, "it is not in the work tree", f"put it back: git checkout -- {word(path)}"
        )
    if state in ("link", "behind a link"):
        return Discrepancy(
            Kind.LINKED,
            path,
            "in the work tree it is a symbolic link, or behind one",
            "put the file itself there",
        )
    return Discrepancy(Kind.UNREADABLE, path, f"in the work tree: {state}", "look at the file")


def _other_lock(path: str, paths: Sequence[str], flaws: Sequence[Flaw]) -> Discrepancy:
    if flaws:
        line = f"line {flaws[0].number}: " if flaws[0].number else ""
        reason = f"in the work tree it can't be trusted ({line}{flaws[0].reason})"
    else:
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
        reason = f"in the work tree it says otherwise of {paths[0]}{more}"
    return Discrepancy(
        Kind.MISMATCH,
        path,
        f"{reason}; what git has staged was verified",
        _stage(path),
        path,
        seen="work tree",
    )


def _other(there: Seen, locked: str) -> str:
    return f"in the work tree its bytes are {there.sha256[:16]}, the lock says {locked[:16]}"
