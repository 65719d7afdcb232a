"""What configuration says to the tests, as values to compare: never names or bytes."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from redbucket.core.locked import ini_items
from redbucket.core.patch import Entry
from redbucket.core.pytree import parse
from redbucket.core.shared_config import judging_part

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_SHARED = ("pyproject.toml", "setup.cfg", "tox.ini")
_VARIABLE = re.compile(
    r"\b(PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTEST_DISABLE_PLUGIN_AUTOLOAD|PYTHONSTARTUP|COVERAGE_PROCESS_START)\b"
)
# What the readers of plugins and variables look for.
SAYS = re.compile(rb"pytest11|pytest_plugins|PYTEST_|PYTHONSTARTUP|COVERAGE_PROCESS")
_PROSE = (".md", ".rst", ".txt", ".adoc", ".html", ".json", ".csv", ".svg", ".png", ".jpg", ".gif", ".pdf")


class Tree(Protocol):
    """What is needed of a tree."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every file, by path."""

    def read(self, path: str) -> bytes:
        """Return the bytes at ``path``."""


def effective(path: str, raw: bytes | None) -> object:
    """Return what the tests read of a file: equal for two files that configure the same."""
    name = path.rpartition("/")[2].lower()
    if raw is None:
        return {}
    if name in _SHARED:
        return judging_part(name, raw) or {}
    if name.endswith(".toml"):
        return _toml(raw) or raw
    if name.endswith(".py"):
        tree = parse(raw)
        return ast.dump(tree) if tree is not None else raw
    if name.endswith((".ini", ".coveragerc")):
        found: dict[str, dict[str, str]] = {}
        for section, key, value in ini_items(raw):
            found.setdefault(section, {})[key] = value
        return found or raw
    return raw


def changed_keys(old: object, new: object) -> list[str]:
    """Return the names of the settings that differ, the innermost tables opened; [] if unknown."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return []
    found: list[str] = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before != after:
            inner = changed_keys(before or {}, after or {}) if isinstance(before or after, dict) else []
            found += inner or [str(key)]
    return found


def only_adds_markers(old: object, new: object) -> bool:
    """Return whether the only difference is that more markers are registered."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    for key in {*old, *new}:
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if key == "markers" and before:
            if not set(_lines(before)) <= set(_lines(after)):
                return False
        elif not only_adds_markers(before, after):
            return False
    return True


def only_adds_coverage(old: object, new: object) -> bool:
    """Return whether the only difference is that coverage is configured, without code of its own."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    ours = [key for key in new if key == "coverage" or key.startswith("coverage:")]
    rest = {key: value for key, value in new.items() if key not in ours}
    return bool(ours) and rest == old and "plugins" not in repr([new[key] for key in ours])


def covered(tree: Tree) -> bool:
    """Return whether the tree configures coverage anywhere at its top."""
    for name in (".coveragerc", ".coveragerc.toml", *_SHARED):
        entry = tree.entries.get(name)
        if entry is not None and entry.is_file:
            raw = tree.read(name)
            if name.startswith(".") or "coverage" in str(effective(name, raw)) or b"--cov" in raw:
                return True
    return False


def _lines(value: object) -> list[str]:
    lines = value if isinstance(value, list) else str(value or "").splitlines()
    return [str(line).strip() for line in lines if str(line).strip()]


def entry_points(path: str, raw: bytes | None) -> object:
    """Return the pytest plugins that a package's description registers, in any of its forms."""
    name = path.rpartition("/")[2].lower()
    if raw is None or b"pytest11" not in raw:
        return None
    if name == "pyproject.toml":
        return list(_under(_toml(raw), "pytest11")) or None
    if name == "setup.cfg":
        pairs = [(s, k, v) for s, k, v in ini_items(raw) if k == "pytest11" or "pytest11" in s]
        return sorted(pairs) or None
    if name == "setup.py":
        tree = parse(raw)
        if tree is None:
            return raw
        inner = [node for node in ast.walk(tree) if isinstance(node, (ast.Dict, ast.keyword, ast.Call))]
        return sorted({ast.dump(value) for node in inner for value in _registered(node)}) or ["pytest11"]
    return None


def _registered(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "pytest11":
                yield value
    elif isinstance(node, ast.keyword) and node.arg == "pytest11":
        yield node.value


def _under(value: object, key: str) -> Iterator[object]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            else:
                yield from _under(inner, key)


def plugin_names(path: str, raw: bytes | None) -> set[str]:
    """Return the plugins that a module's ``pytest_plugins`` or an entry_points.txt names."""
    if raw is None:
        return set()
    if path.endswith("entry_points.txt"):
        return {f"{k} = {v}" for section, k, v in ini_items(raw) if section == "pytest11"}
    if b"pytest_plugins" not in raw or not path.endswith(".py"):
        return set()
    found: set[str] = set()
    tree = parse(raw)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any("pytest_plugins" in (alias.name, alias.asname) for alias in node.names):
                found.add(ast.unparse(node))
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "pytest_plugins" for target in targets):
                texts = {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
                found |= {text for text in texts if isinstance(text, str)} or {ast.unparse(node.value)}
    return found


@dataclass(frozen=True)
class Variable:
    """A variable that a file sets for the tests; ``read_by_tools`` if that needs no person to run it."""

    name: str
    text: str
    line: int
    read_by_tools: bool


def may_set(path: str) -> bool:
    """Return whether a file of that name may hold more than words and data."""
    return not path.lower().endswith(_PROSE)


def variables(path: str, raw: bytes | None) -> list[Variable]:
    """Return the lines of a file that set what pytest obeys; documentation and mentions don't."""
    name = path.rpartition("/")[2].lower()
    if raw is None or not may_set(path) or not SAYS.search(raw):
        return []
    read = name.startswith((".env", ".flaskenv")) or name.endswith(".env") or name in _SHARED
    found = []
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), start=1):
        text = line.strip()
        match = _VARIABLE.search(text)
        if match is None or text.startswith(("#", ";", "//")) or not _sets(text, match):
            continue
        found.append(Variable(match[1], text, number, read))
    return found


def _sets(text: str, match: re.Match[str]) -> bool:
    """Return whether the variable is given a value here, and is not passed on, read or unset."""
    before = text[: match.start()].rstrip("\"'")
    if before.endswith(("$", "${", "getenv(", "environ.get(", "environ[")) and "] =" not in text:
        return False
    if before.endswith(("setdefault(", "setenv(", "putenv(")) or before.rstrip() == "ENV":
        return True
    after = text[match.end() :].lstrip("\"'] \t,)")
    return after.startswith(("=", ":")) and not after.startswith("==")


@dataclass(frozen=True)
class Backend:
    """Who builds the package: the back end, the folders of the tree it is loaded from, its direct downloads."""

    name: str = ""
    local: tuple[str, ...] = ()
    direct: tuple[str, ...] = ()


def build_backend(raw: bytes | None) -> Backend:
    """Return the build back end of a pyproject.toml."""
    system = _toml(raw or b"").get("build-system")
    if not isinstance(system, dict):
        return Backend()
    folders = system.get("backend-path")
    local = tuple(str(folder) for folder in folders) if isinstance(folders, list) else ()
    requires = system.get("requires")
    direct = tuple(str(text) for text in requires if "://" in str(text)) if isinstance(requires, list) else ()
    return Backend(str(system.get("build-backend", "")), local, direct)


def backend_files(tree: Tree) -> frozenset[str]:
    """Return the files of the tree that its own pyproject.toml builds with."""
    entry = tree.entries.get("pyproject.toml")
    if entry is None or not entry.is_file:
        return frozenset()
    backend = build_backend(tree.read("pyproject.toml"))
    module = backend.name.partition(":")[0].replace(".", "/")
    found: set[str] = set()
    for folder in backend.local if module else ():
        inner = folder.strip("./")
        stem = f"{inner}/{module}" if inner else module
        found.update(path for path in tree.entries if path == f"{stem}.py" or path.startswith(f"{stem}/"))
    return frozenset(found)


def _toml(raw: bytes) -> dict[str, Any]:
    try:
        data: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return data
