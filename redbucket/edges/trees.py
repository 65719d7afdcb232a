"""Trees laid out as files, from objects alone: exact bytes, modes and links, and no ``.git``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redbucket.core.attributes import NAME as ATTRIBUTES
from redbucket.core.attributes import Attributes
from redbucket.core.errors import Undecided, WorldFailed
from redbucket.core.patch import Entry
from redbucket.core.paths import fold
from redbucket.edges.digests import digest
from redbucket.edges.scratch import Scratch
from redbucket.edges.workshop import cannot_write

_LFS_SIGN = b"version https://git-lfs.github.com/spec/"
_LFS_LARGEST = 1024  # the LFS specification: a pointer file is smaller than this


__all__ = ["Layout", "digest", "layout", "lfs_pointers"]


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
    if folds:
        refuse_folded(entries)


def refuse_folded(entries: dict[str, Entry]) -> None:
    """Raise Undecided if two names of a tree are one name on a disk that does not tell upper from lower case."""
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
