"""Trees laid out as files, from objects alone: exact bytes, modes and links, and no ``.git``."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from redbucket.core.attributes import NAME as ATTRIBUTES
from redbucket.core.attributes import Attributes
from redbucket.core.errors import Undecided, WorldFailed
from redbucket.core.patch import Entry
from redbucket.core.paths import fold
from redbucket.edges.scratch import Scratch
from redbucket.edges.workshop import cannot_write

_LFS_SIGN = b"version https://git-lfs.github.com/spec/"
_LFS_LARGEST = 1024  # the LFS specification: a pointer file is smaller than this
_READ = 1024 * 1024


@dataclass(frozen=True)
class Layout:
    """A tree on disk. ``submodules`` are empty folders there, ``lfs_pointers`` pointers without content."""

    folder: Path
    tree: str
    submodules: tuple[str, ...] = ()
    lfs_pointers: tuple[str, ...] = ()

    @property
    def not_materialised(self) -> tuple[str, ...]:
        """Paths whose content is not in the tree's objects."""
        return tuple(sorted((*self.submodules, *self.lfs_pointers)))


def layout(scratch: Scratch, tree: str, folder: Path) -> Layout:
    """Lay ``tree`` out in ``folder``, which is made or must be empty.

    Raises Undecided "unusable-path", "case-collision" or "missing-object",
    WorldFailed "disk-full" or "not-writable".
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise WorldFailed("not-empty", f"{folder} is not empty", "give an empty folder")
        entries = scratch.entries(tree)
        _refuse_collisions(entries, folder)
    except OSError as problem:
        raise cannot_write(folder, problem) from problem
    scratch.git.run(
        *("checkout-index", "--all", "--force"),
        folder=folder,
        extra={"GIT_INDEX_FILE": str(scratch.index(tree)), "GIT_WORK_TREE": str(folder.absolute())},
    )
    return Layout(
        folder=folder,
        tree=tree,
        submodules=tuple(sorted(path for path, entry in entries.items() if entry.is_gitlink)),
        lfs_pointers=lfs_pointers(scratch, entries),
    )


def _refuse_collisions(entries: dict[str, Entry], folder: Path) -> None:
    """Raise if two names of the tree are one name on this disk."""
    probe = folder / "CaseProbe"
    probe.touch()
    folds = (folder / "caseprobe").exists()
    probe.unlink()
    if not folds:
        return
    seen: dict[str, str] = {}
    for path in entries:
        other = seen.setdefault(fold(path), path)
        if other != path:
            raise Undecided(
                "case-collision",
                f"{other} and {path} are one name on this disk",
                "rename one, or run on a disk that tells upper from lower case",
            )


def lfs_pointers(scratch: Scratch, entries: dict[str, Entry]) -> tuple[str, ...]:
    """Return the paths whose blob is a Git LFS pointer; looked for only if an attribute speaks of LFS."""
    attributes = {path: entry.oid for path, entry in entries.items() if _is_attributes(path, entry)}
    texts = scratch.read_blobs(set(attributes.values()))
    if not any(b"lfs" in text for text in texts.values()):
        return ()
    known = Attributes((path, texts[oid]) for path, oid in attributes.items())
    files = {path: entry.oid for path, entry in entries.items() if entry.is_file}
    small = {oid for oid, size in scratch.objects.sizes(files.values()).items() if 100 < size < _LFS_LARGEST}
    pointers = {oid for oid, text in scratch.read_blobs(small).items() if text.startswith(_LFS_SIGN)}
    # by path: one that git has no filter for is never replaced by its content
    return tuple(sorted(p for p, oid in files.items() if oid in pointers and _is_filtered(known, p)))


def _is_attributes(path: str, entry: Entry) -> bool:
    return path.rpartition("/")[2] == ATTRIBUTES and entry.is_file


def _is_filtered(attributes: Attributes, path: str) -> bool:
    found = attributes.of(path).get("filter")
    return found is not None and found.value == "=lfs"


def digest(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return what stands at each path of ``folder`` now: a SHA-256, or "" if there is nothing.

    A link gives "link:" and its target, anything else that is no file "not a
    file:" and its kind, a file that can't be read "unreadable". A path whose
    parent has become a link is never followed: it gives "behind a link:".
    """
    parents: dict[str, str] = {"": ""}
    return {path: _digest_one(str(folder), path, parents) for path in paths}


def _digest_one(top: str, path: str, parents: dict[str, str]) -> str:
    link = _linked_parent(top, path.rpartition("/")[0], parents)
    if link:
        return f"behind a link:{link}"
    place = f"{top}/{path}"
    try:
        mode = os.lstat(place).st_mode
        if stat.S_ISLNK(mode):
            return f"link:{os.readlink(place)}"  # noqa: PTH115 (plain strings: half the time, for 20,000 files)
        if not stat.S_ISREG(mode):
            return f"not a file:{stat.S_IFMT(mode):o}"
        # NOFOLLOW and NONBLOCK: the file may be swapped for a link or a pipe since lstat
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            seen = hashlib.sha256()
            while chunk := os.read(handle, _READ):
                seen.update(chunk)
        finally:
            os.close(handle)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "unreadable"
    return seen.hexdigest()


def _linked_parent(top: str, parent: str, known: dict[str, str]) -> str:
    if parent not in known:
        above = _linked_parent(top, parent.rpartition("/")[0], known)
        known[parent] = above or (parent if os.path.islink(f"{top}/{parent}") else "")  # noqa: PTH114
    return known[parent]
