"""A bare repository of our own that sees the user's objects and takes every object we write."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType

from redbucket.core.errors import Undecided
from redbucket.core.patch import ABSENT_MODE, Change, Entry
from redbucket.edges import barestore
from redbucket.edges.git import Caller, failure
from redbucket.edges.hunks import Hunks, read_hunks
from redbucket.edges.objects import Objects
from redbucket.edges.repository import Repository, quoted_path
from redbucket.edges.workshop import cannot_write

# A tree names its blobs; one that is missing is said when it is read, by its path.
_WRITE_TREE = ("write-tree", "--missing-ok")


@dataclass(frozen=True)
class MergeResult:
    """The tree that a merge gives, and the paths that conflict (the tree then holds markers)."""

    tree: str
    conflicts: tuple[str, ...]
    clean: bool


class Scratch:
    """Reads any object of ``repository``, and writes only into its own ``folder``.

    No config, attributes, hooks, replace refs or grafts of the user apply.
    """

    def __init__(self, folder: Path, repository: Repository) -> None:
        self.folder = folder
        self.object_format = repository.object_format
        self._lay_down(repository)
        self.git = Caller(folder, {**barestore.SEALED, "GIT_DIR": str(folder.absolute())})
        self.objects = Objects(self.git)
        self._repository = repository
        self._lock = threading.Lock()
        self._entries: dict[str, dict[str, Entry]] = {}
        self._trees: dict[str, str] = {}
        self._diffs: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._indexes: dict[str, Path] = {}

    def _lay_down(self, repository: Repository) -> None:
        try:
            alternates = [quoted_path(str(path)) for path in repository.objects_dirs]
            barestore.lay_down(self.folder, repository.object_format, alternates)
        except OSError as problem:
            raise cannot_write(self.folder, problem) from problem

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; the folder stays."""
        self.objects.close()

    def tree_of(self, commit: str) -> str:
        """Return the tree id of a commit (or of a tree)."""
        known = self._trees.get(commit)
        if known is None:
            words = ("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")
            known = self._trees[commit] = self.git.run(*words).line
        return known

    def merge_tree(self, base: str, head: str) -> MergeResult:
        """Return what merging commit ``head`` into commit ``base`` gives.

        Raises Undecided "unrelated-histories" or "missing-object", WorldFailed "git-too-old".
        """
        done = self.git.run(
            *("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, head),
            ok=(0, 1, 128),
        )
        tree, *names = done.out.split(b"\0")
        # git ends with 1 for a conflict, and for a commit that it can't read: only the first prints a tree
        if done.code == 128 or not tree:
            if "unrelated histories" in done.err:
                raise Undecided(
                    "unrelated-histories",
                    f"{base[:12]} and {head[:12]} have no common ancestor",
                    "rebase the patch on the protected branch, or fetch the rest of the history",
                )
            raise failure(("merge-tree",), done.code, done.err)
        conflicts = dict.fromkeys(os.fsdecode(name) for name in names if name)
        return MergeResult(tree.decode("ascii"), tuple(conflicts), done.code == 0)

    def entries(self, tree: str) -> dict[str, Entry]:
        """Return every file, link and submodule of ``tree`` (an id of a tree or commit), by path."""
        known = self._entries.get(tree)
        if known is None:
            known = self._entries[tree] = self._derived(tree) or self._listed(tree)
        return known

    def entry(self, tree: str, path: str) -> Entry | None:
        """Return what stands at one path of a tree, None for nothing: a big tree is not listed for one file."""
        if tree in self._entries:
            return self._entries[tree].get(path)
        found = self._rows("ls-tree", "-z", "--full-tree", tree, "--", path).get(path)
        return None if found is None or found.is_folder else found

    def _listed(self, tree: str) -> dict[str, Entry]:
        return self._rows("ls-tree", "-r", "-z", "--full-tree", tree)

    def _rows(self, *words: str) -> dict[str, Entry]:
        out = self.git.run(*words).out
        # decoded and cut as a whole: one call for each of 20,000 paths costs more than git does
        rows = [row.partition("\t") for row in os.fsdecode(out).split("\0")[:-1]]
        return {path: Entry(meta[:6], meta[meta.rindex(" ") + 1 :]) for meta, _, path in rows}

    def _derived(self, tree: str) -> dict[str, Entry] | None:
        """Return the entries of a tree that was compared with one whose entries are known."""
        for (one, other), changes in list(self._diffs.items()):
            if other != tree or one not in self._entries:
                continue
            found = dict(self._entries[one])
            for change in changes:
                if change.new is None:
                    found.pop(change.path, None)
                else:
                    found[change.path] = change.new
            return {path: found[path] for path in sorted(found)}
        return None

    def diff(self, one: str, other: str) -> tuple[Change, ...]:
        """Return the paths that differ between two trees, sorted; a rename is two changes."""
        known = self._diffs.get((one, other))
        if known is not None:
            return known
        done = self.git.run(
            *("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-relative"),
            *("--ignore-submodules=none", "-O/dev/null", one, other),
        )
        tokens = os.fsdecode(done.out).split("\0")
        changes = []
        for meta, path in zip(tokens[:-1:2], tokens[1::2], strict=True):
            old_mode, new_mode, old, new, _ = meta.split(" ")
            changes.append(
                Change(
                    path,
                    None if old_mode == f":{ABSENT_MODE}" else Entry(old_mode[1:], old),
                    None if new_mode == ABSENT_MODE else Entry(new_mode, new),
                )
            )
        found = self._diffs[one, other] = tuple(sorted(changes, key=lambda change: change.path))
        return found

    def read(self, oid: str) -> bytes:
        """Return a blob's exact bytes. Raises Undecided "missing-object"."""
        return self.objects.read(oid)

    def read_blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return the exact bytes of many blobs, by id. Raises Undecided "missing-object"."""
        return self.objects.read_blobs(oids)

    def hunks(self, one: str, other: str, paths: Iterable[str] | None = None) -> Hunks:
        """Return the hunks of the paths that differ (all, or those of ``paths``).

        Files over the size limit are named in ``skipped`` and have no entry.
        """
        chosen = None if paths is None else set(paths)
        return read_hunks(self, (c for c in self.diff(one, other) if chosen is None or c.path in chosen))

    def write_blob(self, content: bytes) -> str:
        """Write a blob and return its id."""
        return self.git.run("hash-object", "-w", "--stdin", stdin=content).line

    def write_tree(self, base_tree: str | None, updates: Mapping[str, Entry | None]) -> str:
        """Return the tree that ``base_tree`` becomes with ``updates``; ``None`` deletes a path.

        A file that takes a folder's place, or the other way round, replaces it.
        Raises Undecided "unusable-path" for a path that no checkout can hold.
        """
        clash = _clash({path for path, entry in updates.items() if entry is not None})
        if clash:
            raise Undecided(
                "unusable-path", f"{clash} is to be a file and a folder at once", "rename one of them"
            )
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="write-") as place:
            extra = {"GIT_INDEX_FILE": f"{place}/index"}
            if base_tree is not None:
                self.git.run("read-tree", base_tree, extra=extra)
            gone = "0" * len(base_tree or "0" * 40)
            lines = [f"0 {gone}\t{path}\0" for path, entry in updates.items() if entry is None]
            lines += [f"{entry.mode} {entry.oid}\t{path}\0" for path, entry in updates.items() if entry]
            if lines:
                stdin = os.fsencode("".join(lines))
                done = self.git.run("update-index", "-z", "--index-info", stdin=stdin, extra=extra)
                if done.err:  # git leaves out a path that it refuses, and ends with 0
                    raise failure(("update-index",), 0, done.err)
            return self.git.run(*_WRITE_TREE, extra=extra).line

    def write_index_tree(self) -> str:
        """Return the tree of the user's index, written here; the user's index is copied, not opened.

        Raises Undecided "unmerged-index".
        """
        user = self._repository
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="staged-") as place:
            copy = Path(place) / "index"
            if user.index_file.exists():
                shutil.copyfile(user.index_file, copy)
            # A split index names its other half by its place in the git folder.
            for part in user.git_dir.glob("sharedindex.*"):
                shutil.copyfile(part, self.folder / part.name)
            extra = {"GIT_INDEX_FILE": str(copy)}
            done = self.git.run(*_WRITE_TREE, extra=extra, ok=(0, 128))
            if done.code and self.git.run("ls-files", "-z", "--unmerged", extra=extra).out:
                raise Undecided(
                    "unmerged-index",
                    "the index has unmerged paths",
                    "resolve the conflicts and add the files",
                )
            if done.code:
                raise failure(("write-tree",), done.code, done.err)
            return done.line

    def index(self, tree: str) -> Path:
        """Return an index file that holds ``tree``; made once for each tree.

        Raises Undecided "unusable-path" where git refuses a name, such as ``.git``.
        """
        with self._lock:
            if tree not in self._indexes:
                path = self.folder / "indexes" / tree
                self.git.run("read-tree", tree, extra={"GIT_INDEX_FILE": str(path.absolute())})
                self._indexes[tree] = path.absolute()
            return self._indexes[tree]

    def tree_view(self, tree: str) -> TreeView:
        """Return ``tree`` by path, read as it is asked for."""
        return TreeView(self, tree)


class TreeView:
    """One tree by path: the port of ``guards.context``, on git objects."""

    def __init__(self, scratch: Scratch, tree: str) -> None:
        self._scratch = scratch
        self.tree = tree

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """Every file, link and submodule of the tree, by path."""
        return self._scratch.entries(self.tree)

    def read(self, path: str) -> bytes:
        """Return the exact bytes at ``path``; for a submodule what ``git diff`` says of it.

        Raises KeyError if the tree has no such path.
        """
        entry = self.entries[path]
        if entry.is_gitlink:
            return f"Subproject commit {entry.oid}\n".encode("ascii")
        return self._scratch.read(entry.oid)

    def size(self, path: str) -> int:
        """Return the size in bytes of the blob at ``path``. Raises KeyError as ``read`` does."""
        oid = self.entries[path].oid
        return self._scratch.objects.sizes((oid,))[oid]

    def sha256s(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return the SHA-256 of each file or link at ``paths``, streamed. Raises KeyError as ``read`` does."""
        oids = {path: self.entries[path].oid for path in paths}
        known = self._scratch.objects.sha256s(oids.values())
        return {path: known[oid] for path, oid in oids.items()}

    def prefetch(self, paths: Iterable[str]) -> None:
        """Read many files in one go, so that reading them later costs nothing; paths that aren't here are left out.

        Raises Undecided as ``read`` does.
        """
        entries = self.entries
        self._scratch.objects.prefetch(
            entry.oid for path in paths if (entry := entries.get(path)) and not entry.is_gitlink
        )


def _clash(paths: set[str]) -> str:
    """Return a path that another needs as a folder, or ""."""
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent:
            if parent in paths:
                return parent
            parent = parent.rpartition("/")[0]
    return ""
