"""The judge-side Python files of one tree: which can be affected, and which tests they hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from redbucket.core.imports import ImportIndex, directory
from redbucket.core.patch import Entry
from redbucket.core.testgraph import Key, TestGraph
from redbucket.core.testtree import Module, Node, read_module

# Below this many stems a plain byte search for each beats splitting every file into words.
_FEW_STEMS = 64
_WORD = re.compile(rb"[A-Za-z_]\w*")


class Tree(Protocol):
    """What is needed of a tree: entries by path, and their bytes."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every file of the tree, by path."""

    def read(self, path: str) -> bytes:
        """Return the bytes at ``path``."""


class JudgeFiles:
    """One tree's judge side, limited to the files that can be affected."""

    def __init__(
        self,
        tree: Tree,
        judge: Collection[str],
        affected: Collection[str],
        read: dict[tuple[str, str], Module] | None = None,
    ) -> None:
        self._tree = tree
        self._judge = judge
        # Modules by path and blob, which two trees may share: nothing changes a module once it is read.
        self._read = {} if read is None else read
        self.affected = affected
        self._modules: dict[str, Module | None] = {}
        self._keys: dict[str, set[Key]] = {}
        self.graph = TestGraph(ImportIndex(path for path in judge if path in tree.entries), self._load)

    def _load(self, path: str) -> Module | None:
        if path not in self._modules:
            entry = self._tree.entries.get(path) if path in self._judge else None
            # A link or a submodule has no source of its own.
            module = None
            if entry is not None and entry.is_file:
                key = (path, entry.oid)
                if key not in self._read:
                    self._read[key] = read_module(path, self._tree.read(path))
                module = self._read[key]
            self._modules[path] = module
        return self._modules[path]

    def has(self, key: Key) -> bool:
        """Return whether the tree has a test of that key."""
        module = self._load(key[0])
        return module is not None and (
            not module.parsed or any(name == key for name, _ in self.tests(module))
        )

    def tests(self, module: Module) -> Iterator[tuple[Key, Node]]:
        """Yield what may be a test of a module: its functions, and what its classes inherit or it imports."""
        for name, node in module.nodes.items():
            last = name.rpartition(".")[2]
            if (
                (node.kind == "function" and not last.startswith(("_", "pytest_")))
                or last == "__doc__"
                or (node.kind == "value" and last.startswith("test"))
            ):
                yield (module.path, name), node
        yield from self.inherited(module)

    def inherited(self, module: Module) -> Iterator[tuple[Key, Node]]:
        """Yield the tests that a module has without a definition of its own, as nodes that refer to them."""
        for owner in module.members:
            yield from self._through(module, owner, self.graph.lineage(module, owner)[1:])
        for name, node in module.nodes.items():
            if node.kind != "import":
                continue
            if name.startswith("test"):
                yield (module.path, name), node
            for key in self.graph.classes(module, name):
                place = self._load(key[0])
                if place:
                    yield from self._through(module, name, self.graph.lineage(place, key[1]))

    def _through(self, module: Module, owner: str, holders: Iterable[Key]) -> Iterator[tuple[Key, Node]]:
        seen: set[str] = set()
        for place, holder in holders:
            other = self._load(place)
            for member in sorted(other.members.get(holder, ())) if other else ():
                own = f"{owner}.{member}"
                if not member.startswith("test") or own in module.nodes or member in seen:
                    continue
                seen.add(member)
                line = module.nodes[owner].line if owner in module.nodes else 1
                yield (module.path, own), Node(own, line, "inherited", digest=f"inherited {place} {holder}")


def affected_files(head: Tree, base: Tree, judge: Collection[str], sources: Collection[str]) -> set[str]:
    """Return the judge-side sources from which a changed one may be reached.

    Judged by the bytes alone, because parsing a whole test suite for a patch
    of one file is what a hook can't afford: a file can only depend on a
    changed one if it names it, or lies under its folder if that is a conftest
    or a package.
    """
    affected = set(sources)
    rest = {path: b"" for path in judge if path not in affected}
    words: dict[str, set[bytes]] = {}
    queue = set(sources)
    while queue and rest:
        stems, folders = set(), set()
        for path in queue:
            folder, name = directory(path), path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
            if name in ("conftest", "__init__"):
                folders.add(f"{folder}/" if folder else "")
            if name == "__init__":
                name = folder.rsplit("/", 1)[-1]
            if name and name != "conftest":
                stems.add(name.encode("utf-8", "surrogateescape"))
        queue = set()
        for path in rest:
            if any(path.startswith(folder) for folder in folders) or (
                stems and _mentions(path, stems, rest, words, head, base)
            ):
                queue.add(path)
        affected |= queue
        for path in queue:
            del rest[path]
    return affected


def _mentions(
    path: str,
    stems: set[bytes],
    texts: dict[str, bytes],
    words: dict[str, set[bytes]],
    head: Tree,
    base: Tree,
) -> bool:
    if not texts[path]:
        texts[path] = (head if path in head.entries else base).read(path)
    if len(stems) <= _FEW_STEMS:
        return any(stem in texts[path] for stem in stems)
    if path not in words:
        words[path] = set(_WORD.findall(texts[path]))
    return not stems.isdisjoint(words[path])
