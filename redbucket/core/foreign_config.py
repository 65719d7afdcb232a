"""Files of other languages that are both source and judge: package.json, composer.json, Cargo.toml, go.mod.

What starts, configures or replaces the runner judges; a dependency of the product does not. Where an agent
changed the judging part, the whole file comes from base for the runs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from redbucket.core.foreign import SHARED

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_NAMES = frozenset(name.lower() for name in SHARED)
_KEYS = {
    # what the runners read, and what puts one package in the place of another
    "package.json": "jest vitest mocha ava tap nyc c8 jasmine karma cypress babel overrides resolutions pnpm"
    " packageManager workspaces config",
    "composer.json": "repositories config autoload-dev replace provide",
    "cargo.toml": "patch replace test bench",
}
_TABLES = (
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "require",
    "require-dev",
)
# No release of the registry: code of the tree, or of anywhere, in the place of a package.
_ELSEWHERE = re.compile(
    r"(?:file|link|portal|npm|git|github|gitlab|https?|ssh|patch|path)\b[+:]|\.{0,2}/|[\w.-]+/[\w.-]+(?:#|$)"
)
# Scripts that a package manager runs without being asked, and those that can be meant by a test command.
_STARTED = re.compile(r"pre.+|post.+|install|prepare|dependencies|.*(?:test|check|verify|spec|\bci\b).*")
_GO = ("replace", "toolchain", "tool", "godebug", "exclude", "ignore")


def is_foreign(path: str) -> bool:
    """Return whether ``path`` is such a file, by its name."""
    return path.rpartition("/")[2].lower() in _NAMES


def judging_part(path: str, raw: bytes) -> dict[str, Any]:
    """Return what in ``raw`` says how tests run, by key; the bytes themselves where it does not parse."""
    kind = path.rpartition("/")[2].lower()
    if kind == "go.mod":
        return dict(_directives(raw))
    try:
        text = raw.decode("utf-8-sig")
        data = tomllib.loads(text) if kind == "cargo.toml" else json.loads(text)
    except (ValueError, RecursionError):
        return {"": raw}
    if not isinstance(data, dict):
        return {"": raw}
    part = {key: data[key] for key in _KEYS[kind].split() if key in data}
    if kind == "cargo.toml":
        part.update(_cargo(data))
        return part
    for table in _TABLES:
        for name, spec in _items(data.get(table)):
            if isinstance(spec, str) and _ELSEWHERE.match(spec):
                part[f"{table}.{name}"] = spec
    for name, script in _items(data.get("scripts")):
        part[f"scripts.{name}"] = script
    return part


def judging_changes(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """Return the keys by which two forms of a file judge differently, sorted.

    A script is judged once it is there, and as a new one only if something may start it.
    """
    before = judging_part(path, old) if old is not None else {}
    after = judging_part(path, new) if new is not None else {}
    changed = [key for key in {*before, *after} if before.get(key) != after.get(key)]
    return sorted(key for key in changed if key in before or not _harmless(key))


def compose(path: str, base: bytes | None, merged: bytes | None) -> bytes | None:
    """Return ``merged`` if it judges as base does, otherwise base's form; ``None`` is no such file."""
    return base if judging_changes(path, base, merged) else merged


def _harmless(key: str) -> bool:
    kind, _, name = key.partition(".")
    return kind == "scripts" and not _STARTED.fullmatch(name)


def _items(table: object) -> Iterator[tuple[str, Any]]:
    if isinstance(table, dict):
        yield from table.items()


def _cargo(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what turns tests off, starts them in another way, or takes a package from elsewhere."""
    for table in ("lib", "bin", "example"):
        rows = data.get(table)
        for number, row in enumerate(rows if isinstance(rows, list) else [rows]):
            for key, value in _items(row):
                if key in ("test", "doctest", "harness"):
                    yield f"{table}[{number}].{key}", value
    for table, keys in (
        ("package", ("autotests", "build")),
        ("workspace", ("members", "exclude", "default-members")),
    ):
        for key, value in _items(data.get(table)):
            if key in keys:
                yield f"{table}.{key}", value
    tests = dict(_items(data.get("profile"))).get("test")
    if tests is not None:
        yield "profile.test", tests
    for where, table in (("", data), *_items(data.get("target"))):
        for name, spec in _items(table.get("dev-dependencies") if isinstance(table, dict) else None):
            if isinstance(spec, dict) and spec.keys() & {"path", "git", "registry", "package"}:
                yield f"{where}dev-dependencies.{name}", spec


def _directives(raw: bytes) -> Iterator[tuple[str, Any]]:
    """Yield go.mod's lines that replace modules or tools, in blocks or alone."""
    block = ""
    for line in raw.decode("utf-8", "replace").splitlines():
        words = line.partition("//")[0].split()
        if not words:
            continue
        if block:
            if words[0] == ")":
                block = ""
            elif block in _GO:
                yield f"{block} {' '.join(words)}", True
        elif words[-1] == "(" and len(words) == 2:
            block = words[0]
        elif words[0] in _GO:
            yield " ".join(words), True
