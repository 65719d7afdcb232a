"""Imports between the judge-side files of one tree."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from redbucket.core.pytree import is_python
from redbucket.core.references import ImportRef


def directory(path: str) -> str:
    """Return the folder of ``path``, "" for the root."""
    return posixpath.dirname(path)


def conftest_chain(path: str) -> list[str]:
    """Return the conftest paths that can reach ``path``, nearest first, itself left out."""
    found = []
    folder = directory(path)
    while True:
        name = posixpath.join(folder, "conftest.py")
        if name != path:
            found.append(name)
        if not folder:
            return found
        folder = directory(folder)


class ImportIndex:
    """Finds the judge-side files that a module name can mean.

    ``sys.path`` of the run is not known, so every file whose path ends in the
    module's name is meant: in doubt one dependency more.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_suffix: dict[str, list[str]] = {}
        for path in paths:
            if not is_python(path):
                continue
            parts = path.rsplit(".", 1)[0].split("/")
            if parts[-1] == "__init__":
                parts.pop()
            self._by_path["/".join(parts)] = path
            for start in range(len(parts)):
                self._by_suffix.setdefault(".".join(parts[start:]), []).append(path)

    def modules(self, name: str, level: int, path: str) -> list[str]:
        """Return the files that ``name`` means when imported from ``path`` with ``level`` dots."""
        if not level:
            return self._by_suffix.get(name, []) if name else []
        folder = directory(path)
        for _ in range(level - 1):
            folder = directory(folder)
        place = posixpath.join(folder, *name.split(".")) if name else folder
        found = self._by_path.get(place)
        return [found] if found else []

    def targets(self, ref: ImportRef, path: str) -> tuple[list[str], list[str]]:
        """Return (files meant as modules, files in which ``ref.name`` must be looked up)."""
        if not ref.name or ref.name == "*":
            return self.modules(ref.module, ref.level, path), []
        inner = f"{ref.module}.{ref.name}" if ref.module else ref.name
        return self.modules(inner, ref.level, path), self.modules(ref.module, ref.level, path)
