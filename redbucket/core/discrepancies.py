"""Where a tree and its locks disagree: one kind for each way in which they can."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from shlex import quote

from redbucket.core.checksums import unlockable
from redbucket.core.lfs import is_annexed, is_pointer_like, pointed_at
from redbucket.core.lineends import locked_but_for_line_ends
from redbucket.core.manifests import Listed, Locks, Scope
from redbucket.core.patch import EXECUTABLE_MODE, FILE_MODE, GITLINK_MODE, SYMLINK_MODE
from redbucket.core.paths import fold


class Kind(str, Enum):
    """How a path and its lock disagree."""

    FLAWED = "flawed lock"
    MISMATCH = "mismatch"
    LINE_ENDS = "line ends only"
    MISSING = "missing"
    MOVED = "moved"
    UNLISTED = "unlisted"
    DUPLICATED = "duplicated"
    LINKED = "linked"
    ABSENT = "not materialised"
    POINTER = "pointer"
    TWIN = "twin"
    DISPUTED = "disputed"
    UNREADABLE = "unreadable"
    SHRUNK = "shrunk"


@dataclass(frozen=True)
class Discrepancy:
    """One disagreement: the place, a reason in words, and what to do.

    ``lock`` and ``line`` are where the path is listed; ``seen`` identifies the
    bytes that were found, so that an old disagreement can be told from a new one; ``above`` is the
    submodule in which the file would be.
    """

    kind: Kind
    path: str
    reason: str
    remedy: str = ""
    lock: str | None = None
    line: int | None = None
    seen: str = ""
    above: str | None = None


@dataclass(frozen=True)
class Tree:
    """One tree as the comparison needs it.

    ``hashes`` gives the SHA-256 of many blobs by path; ``content`` reads one, None if it is too large;
    ``filtered`` says whether Git LFS replaces a pointer at a path.
    """

    modes: Mapping[str, str]
    hashes: Callable[[Collection[str]], Mapping[str, str]]
    content: Callable[[str], bytes | None]
    filtered: Callable[[str], bool]


LOCK = "a human locks it: redbucket fixtures lock; or delete it"
RENAME = "rename it, as no lock can hold this name; or delete it"
_BARE_POINTER = "an LFS pointer is there that nothing replaces: no .gitattributes says filter=lfs for it"
_UNPOINT = "put the file itself there, or give it filter=lfs in .gitattributes (git lfs track)"
_FETCH = "fetch it: git lfs pull, git submodule update --init, git sparse-checkout disable, or git annex get"


def word(path: str) -> str:
    """Return a path as one word of a command; what begins with a dash is no option."""
    return quote(f"./{path}" if path.startswith("-") else path)


def refresh(path: str) -> str:
    """Return what is to be done about bytes that are not the locked ones."""
    return f"if the new bytes are meant, a human refreshes the lock: redbucket fixtures refresh {word(path)}"


def discrepancies(
    tree: Tree, locks: Locks, scope: Scope, only: Callable[[str], bool] | None = None
) -> list[Discrepancy]:
    """Return every disagreement about the paths that ``only`` admits, flaws of the locks first."""
    found = list(flaws(locks))
    everything = unlisted(tree.modes, locks, scope)
    paths = list(locks.shas) if only is None else list(filter(only, locks.shas))
    extra = everything if only is None else list(filter(only, everything))
    files = regular(tree.modes, paths)
    if len(files) != len(paths):
        there = frozenset(files)
        others = [path for path in paths if path not in there]
        found += [_no_file(p, tree.modes[p], locks.listed[p]) for p in others if p in tree.modes]
        gone = [path for path in others if path not in tree.modes]
    else:
        gone = []
    hashes = tree.hashes([*files, *regular(tree.modes, extra)])
    shas = locks.shas
    # the common case costs one comparison
    for path in files if hashes is not shas else ():
        if hashes[path] != shas[path] and path not in locks.unsure:
            found.append(mismatch(path, locks.listed[path], hashes[path], tree.content(path), tree.filtered))
    found += _gone_or_new(tree, locks, gone, extra, hashes)
    if everything or len(locks.locks) > 1:  # of one lock alone, its reader has said so
        found += twins([*shas, *everything])
    return found


# the modes of regular files
FILES = frozenset((FILE_MODE, EXECUTABLE_MODE))


def regular(modes: Mapping[str, str], paths: Collection[str]) -> list[str]:
    """Return those of ``paths`` that are regular files."""
    if FILES.issuperset(modes.values()) and modes.keys() >= frozenset(paths):
        return list(paths)
    return [path for path in paths if modes.get(path) in FILES]


def flaws(locks: Locks) -> Iterator[Discrepancy]:
    """Yield what is wrong with the locks themselves."""
    for lock in locks.locks:
        for flaw in lock.checksums.flaws:
            yield Discrepancy(
                Kind.FLAWED, lock.path, flaw.reason, flaw.remedy, lock.path, flaw.number or None
            )
    for path, (one, other) in locks.disputed.items():
        yield Discrepancy(
            Kind.DISPUTED,
            path,
            f"{one.lock}:{one.line} and {other.lock}:{other.line} lock different bytes",
            "delete one of the lines",
            other.lock,
            other.line,
        )


def unlisted(modes: Mapping[str, str], locks: Locks, scope: Scope) -> list[str]:
    """Return the recorded fixtures under a manifest's folder that no lock lists."""
    folders = locks.folders
    if not folders:
        return []
    new = sorted(modes.keys() - locks.shas.keys() - {lock.path for lock in locks.locks})
    found = [path for path in new if path.startswith(folders) and scope.is_recorded(path)]
    links = [path for path in found if modes[path] == GITLINK_MODE]
    # of a submodule whose files are listed, those files are what is said
    listed = {link for link in links if any(path.startswith(f"{link}/") for path in locks.shas)}
    return [path for path in found if path not in listed] if listed else found


def mismatch(
    path: str, listed: Listed, found: str, content: bytes | None, filtered: Callable[[str], bool]
) -> Discrepancy:
    """Return what to say of a file whose bytes are not the locked ones."""
    at = (listed.lock, listed.line, found)
    if content is not None and is_annexed(content):
        return Discrepancy(Kind.ABSENT, path, "its content is elsewhere (git-annex)", _FETCH, *at)
    if content is not None and is_pointer_like(content):
        if not filtered(path):
            return Discrepancy(Kind.MISMATCH, path, _BARE_POINTER, _UNPOINT, *at)
        pointed = pointed_at(content)
        if pointed is None:
            return Discrepancy(Kind.ABSENT, path, "a pointer of an unknown kind is there", _FETCH, *at)
        if pointed == listed.sha256:
            return Discrepancy(Kind.POINTER, path, "an LFS pointer to the locked bytes is there", _FETCH, *at)
        reason = f"its LFS pointer names {pointed[:16]}, the lock says {listed.sha256[:16]}"
        return Discrepancy(Kind.MISMATCH, path, reason, refresh(path), *at)
    if content is not None and locked_but_for_line_ends(content, listed.sha256):
        return Discrepancy(
            Kind.LINE_ENDS,
            path,
            "it differs from the locked bytes in line ends only",
            "store it with the locked line ends, and give it -text in .gitattributes",
            *at,
        )
    reason = f"its bytes are {found[:16]}, the lock says {listed.sha256[:16]}"
    return Discrepancy(Kind.MISMATCH, path, reason, refresh(path), *at)


def _no_file(path: str, mode: str, listed: Listed) -> Discrepancy:
    at = (listed.lock, listed.line, mode)
    if mode == SYMLINK_MODE:
        return Discrepancy(Kind.LINKED, path, "it is a symbolic link", "put the file itself there", *at)
    return Discrepancy(Kind.ABSENT, path, "a submodule stands in its place", _FETCH, *at)


def _gone_or_new(
    tree: Tree, locks: Locks, gone: Iterable[str], extra: Collection[str], hashes: Mapping[str, str]
) -> Iterator[Discrepancy]:
    new: dict[str, list[str]] = defaultdict(list)
    for path in extra:
        if path in hashes:
            new[hashes[path]].append(path)
    moved: set[str] = set()
    for path in gone:
        listed = locks.listed[path]
        now = next((p for p in new.get(listed.sha256, ()) if p not in moved), None)
        if now is None:
            yield missing(tree.modes, path, listed)
            continue
        moved.add(now)
        yield Discrepancy(
            Kind.MOVED,
            path,
            f"its bytes are now at {now}",
            "move it back, or a human moves the line in the lock",
            listed.lock,
            listed.line,
            now,
        )
    known = {sha: path for path, sha in locks.shas.items()} if extra else {}
    for path in extra:
        if path not in moved:
            yield _unlisted(path, tree.modes[path], hashes.get(path, ""), known)


def missing(modes: Mapping[str, str], path: str, listed: Listed) -> Discrepancy:
    """Return what to say of a listed path that the tree does not have."""
    at = (listed.lock, listed.line)
    above = path.rpartition("/")[0]
    while above:
        if modes.get(above) == SYMLINK_MODE:
            return Discrepancy(
                Kind.LINKED, path, f"it is behind the link {above}", "put the folder back", *at
            )
        if modes.get(above) == GITLINK_MODE:
            reason = f"submodule not in these objects: {above}"
            return Discrepancy(Kind.ABSENT, path, reason, _FETCH, *at, above=above)
        above = above.rpartition("/")[0]
    if any(other.startswith(f"{path}/") for other in modes):
        return Discrepancy(Kind.MISSING, path, "a folder stands in its place", "put the file back", *at)
    return Discrepancy(
        Kind.MISSING,
        path,
        "the lock lists it and it is not there",
        "put it back, or a human takes it out of the lock",
        *at,
    )


def _unlisted(path: str, mode: str, sha: str, known: Mapping[str, str]) -> Discrepancy:
    if mode == SYMLINK_MODE:
        return Discrepancy(
            Kind.LINKED,
            path,
            "it is a symbolic link that no lock lists",
            "put the file itself there, and lock it",
            seen=mode,
        )
    if mode == GITLINK_MODE:
        return Discrepancy(
            Kind.ABSENT,
            path,
            "it is a submodule, and no lock lists its files",
            f"git submodule update --init, and then {LOCK.replace('it:', 'them:')}",
            seen=mode,
        )
    remedy = RENAME if unlockable(path) else LOCK
    if sha in known:
        return Discrepancy(
            Kind.DUPLICATED, path, f"it has the bytes of {known[sha]}, and no lock lists it", remedy, seen=sha
        )
    return Discrepancy(Kind.UNLISTED, path, "no lock lists it", remedy, seen=sha)


def twins(paths: Collection[str]) -> Iterator[Discrepancy]:
    """Yield the paths that are one file with another where a disk folds case or normalises names."""
    joined = "\n".join(paths)
    if joined.isascii() and len(set(joined.lower().split("\n"))) == len(paths):
        return
    seen: dict[str, str] = {}
    for path in paths:
        other = seen.setdefault(fold(path), path)
        if other != path:
            yield Discrepancy(
                Kind.TWIN,
                path,
                f"{other} is the same name where a disk folds case or normalises names",
                "rename one of the two",
            )
