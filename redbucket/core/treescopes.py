"""The Python files of one tree as scopes that find each other's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Protocol

from redbucket.core.filescope import FileScope, read_scope
from redbucket.core.imports import ImportIndex, conftest_chain
from redbucket.core.patch import Entry
from redbucket.core.pytree import is_python, parse
from redbucket.core.references import ImportRef


class Tree(Protocol):
    """What is needed of a tree: entries by path, and their bytes."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every file of the tree, by path."""

    def read(self, path: str) -> bytes:
        """Return the bytes at ``path``."""


class TreeScopes:
    """Scopes of a tree's files, read when they are asked for. ``is_judge``: a path is on the tests' side."""

    def __init__(self, tree: Tree, is_judge: Callable[[str], bool]) -> None:
        self._tree = tree
        self._is_judge = is_judge
        self._known: dict[str, FileScope | None] = {}

    @cached_property
    def _index(self) -> ImportIndex:
        return ImportIndex(path for path in self._tree.entries if is_python(path))

    def scope(self, path: str) -> FileScope | None:
        """Return the scope of a file; ``None`` if it is not there, or is no Python that can be parsed."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def loaded(self) -> list[FileScope]:
        """Return the scopes that were read so far."""
        return [scope for scope in self._known.values() if scope is not None]

    def _read(self, path: str) -> FileScope | None:
        entry = self._tree.entries.get(path)
        if entry is None or not entry.is_file or not is_python(path):
            return None
        tree = parse(self._tree.read(path))
        if tree is None:
            return None
        scope = read_scope(tree, path, judge=self._is_judge(path))

        def find(ref: ImportRef) -> list[FileScope]:
            named = [self.scope(name) for name in self._index.targets(ref, path)[0] if name != path]
            return [found for found in named if found is not None]

        scope.find = find
        scope.knows = lambda ref: any(self._index.targets(ref, path))
        scope.outer = lambda: [
            found for name in conftest_chain(path) if (found := self.scope(name)) is not None
        ]
        return scope
