"""Part of runner-tamper: new modules that are imported in place of something that judges."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property

from redbucket.core.findings import Finding, Severity
from redbucket.core.importnames import IMPORTED_AS, STANDARD, TEST_TOOLS, is_binary_module, top_name
from redbucket.core.importroots import package_root
from redbucket.core.locked import project_name, reader
from redbucket.core.paths import JudgeSide
from redbucket.core.pytree import is_python
from redbucket.guards.context import Context, TreeView
from redbucket.guards.remedies import ENDORSE

# What pytest can't run without: refused at whatever root.
_CORE = frozenset({"_pytest", "iniconfig", "pluggy", "pytest", "redbucket"})
_ALWAYS_ROOTS = (".", "src")
_IMPORT = re.compile(rb"(?m)^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)")


def shadows(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """Yield each new top-level name of an agent that hides an older module."""
    base = _Base(context.base, judge)
    seen: set[tuple[str, str]] = set()
    for change in context.patch.changes:
        path = change.path
        entry = context.head.entries.get(path)
        if path not in context.agent_paths or entry is None or path in context.base.entries:
            continue
        if (hidden := _outranked(path, context, judge)) is not None:
            yield _finding(path, Severity.REFUSE, f"is imported in place of {hidden}, which judges")
            continue
        if "." in path.rpartition("/")[2] and not entry.is_file and not is_python(path):
            continue
        place = top_name(path, context.head.entries.keys(), base.test_folders)
        if place is None or place in seen or base.has(*place):
            continue
        seen.add(place)
        reason, severity = _hides(place, base)
        if reason:
            yield _finding(path, severity, f"makes a top-level module {place[1]!r}, which hides {reason}")


def _finding(path: str, severity: Severity, what: str) -> Finding:
    return Finding(
        rule="runner-tamper",
        severity=severity,
        path=path,
        reason=f"an agent's new file {what}",
        remedy=f"give it another name, or move it into a package; or {ENDORSE.format(path=path)}",
    )


def _outranked(path: str, context: Context, judge: JudgeSide) -> str | None:
    """Return the judge-side module that a new package of the same name is imported instead of."""
    folder, _, name = path.rpartition("/")
    if name != "__init__.py" or not folder:
        return None
    module = f"{folder}.py"
    return module if module in context.base.entries and judge.is_judge(module) else None


def _hides(place: tuple[str, str], base: _Base) -> tuple[str, Severity]:
    root, name = place
    if name in _CORE:
        return f"{name}, which runs the tests", Severity.REFUSE
    firm = Severity.REFUSE if base.is_root(root) else Severity.WARN
    if name in STANDARD:
        return "the standard library's", firm
    if name in TEST_TOOLS:
        return "a package that tests are run with", firm
    if name in base.dependencies:
        return "a dependency that base declares", firm
    if root in _ALWAYS_ROOTS and any(base.judges(other, name) for other in _ALWAYS_ROOTS if other != root):
        return f"base's own {name}, which judges", Severity.REFUSE
    if base.is_root(root) and base.tests_import(name) and base.judges_elsewhere(root, name):
        return f"base's own {name}, which its tests import", Severity.REFUSE
    if root in base.test_folders and any(base.has(other, name) for other in _ALWAYS_ROOTS):
        return f"base's own {name}, which is under test", Severity.REFUSE
    if root in _ALWAYS_ROOTS and any(base.has(other, name) for other in _ALWAYS_ROOTS):
        return f"base's own {name}, so that another one is tested than is shipped", Severity.WARN
    if base.imported(name, product=True):
        return "a package that base imports and does not have itself", firm
    return "", Severity.NOTE


class _Base:
    """What base has at its import roots; each part is worked out when it is asked for."""

    def __init__(self, tree: TreeView, judge: JudgeSide) -> None:
        self._tree = tree
        self._judge = judge
        self._known: dict[str, bool] = {}

    @cached_property
    def _children(self) -> dict[str, set[str]]:
        """The module names directly in each folder, "." for the top."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, entry in self._tree.entries.items():
            if is_python(path) or is_binary_module(path) or not entry.is_file:
                *folders, name = path.split("/")
                for depth, folder in enumerate(folders):
                    found["/".join(folders[:depth]) or "."].add(folder)
                found["/".join(folders) or "."].add(name.split(".", 1)[0])
        return found

    @cached_property
    def test_folders(self) -> frozenset[str]:
        """Folders of tests without a package: pytest puts each in front of the path."""
        paths = self._tree.entries.keys()
        found = set()
        for path in paths:
            folder, _, name = path.rpartition("/")
            if name.endswith(".py") and (
                name.startswith("test_") or name.endswith(("_test.py", "conftest.py"))
            ):
                found.add(folder)
        return frozenset(folder for folder in found if f"{folder}/__init__.py" not in paths)

    def _under(self, root: str, name: str) -> Iterator[str]:
        stem = name if root == "." else f"{root}/{name}"
        for path in self._tree.entries:
            if path.startswith(stem) and (path[len(stem) :].startswith(("/", ".")) or path == stem):
                yield path

    def has(self, root: str, name: str) -> bool:
        """Return whether base has a module of that name there already."""
        return name in self._children.get(root, ())

    def judges(self, root: str, name: str) -> bool:
        """Return whether base has a judge-side module of that name at ``root``."""
        return any(is_python(path) and self._judge.is_judge(path) for path in self._under(root, name))

    def judges_elsewhere(self, root: str, name: str) -> bool:
        """Return whether base has a judge-side module of that name in another folder that may be on the import path."""
        paths = self._tree.entries.keys()
        homes = (folder for folder, names in self._children.items() if name in names and folder != root)
        return any(f"{home}/__init__.py" not in paths and self.judges(home, name) for home in homes)

    def tests_import(self, name: str) -> bool:
        """Return whether a judge-side file of base imports the top-level ``name``."""
        return name in self._imports[1]

    def is_root(self, root: str) -> bool:
        """Return whether base imports from ``root``: always so, by pytest, or seen in its own imports."""
        if root in _ALWAYS_ROOTS or root in self.test_folders:
            return True
        if root not in self._known:
            paths = self._tree.entries.keys()
            children = {
                path[len(root) + 1 :].split("/", 1)[0].removesuffix(".py")
                for path in paths
                if path.startswith(f"{root}/") and is_python(path) and package_root(path, paths) == root
            }
            self._known[root] = any(self.imported(child) for child in children)
        return self._known[root]

    @cached_property
    def _imports(self) -> tuple[frozenset[str], frozenset[str]]:
        """Top-level names that base's product code imports, and that its tests do: one pass over all files."""
        found: tuple[set[str], set[str]] = (set(), set())
        for path, entry in self._tree.entries.items():
            if entry.is_file and is_python(path):
                names = _IMPORT.findall(self._tree.read(path))
                found[self._judge.is_judge(path)].update(name.decode() for name in names)
        return frozenset(found[0]), frozenset(found[1])

    def imported(self, name: str, *, product: bool = False) -> bool:
        """Return whether a Python file of base imports the top-level ``name``; ``product``: one that is no test."""
        return any(name in names for names in self._imports[: 1 if product else 2])

    @cached_property
    def dependencies(self) -> frozenset[str]:
        """Import names of what base's manifests and lock files name, the project itself left out."""
        names: set[str] = set()
        own: Collection[str] = ()
        for path, entry in self._tree.entries.items():
            read = reader(path) if path.count("/") < 2 else None
            if read is None or not entry.is_file:
                continue
            raw = self._tree.read(path)
            names.update(read(raw).named)
            if path == "pyproject.toml":
                own = (project_name(raw),)
        return frozenset(
            spelled
            for name in names.difference(own)
            for spelled in (*IMPORTED_AS.get(name, ()), name.replace("-", "_").replace(".", "_"))
        )
