"""Trees laid out as files, from objects alone: exact bytes, modes and links, and no ``.git``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redbucket.core.errors import Undecided, WorldFailed
from redbucket.core.lfs import LARGEST, Filter, is_pointer_like
from redbucket.core.patch import Entry
from redbucket.core.paths import fold
from redbucket.edges.digests import digest
from redbucket.edges.scratch import Scratch
from redbucket.edges.workshop import cannot_write

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
    files = {path: entry.oid for path, entry in entries.items() if entry.is_file}
    modes = {path: entry.mode for path, entry in entries.items()}
    filtered = Filter(modes, lambda path: scratch.read(files[path]))
    if not filtered.any:
        return ()
    small = {oid for oid, size in scratch.objects.sizes(files.values()).items() if 100 < size < LARGEST}
    pointers = {oid for oid, text in scratch.read_blobs(small).items() if is_pointer_like(text)}
    # by path: one that git has no filter for is never replaced by its content
    return tuple(sorted(path for path, oid in files.items() if oid in pointers and filtered(path)))
