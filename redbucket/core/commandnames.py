"""The commands that a Python package puts on the path when it is installed, read from its description."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Any

from redbucket.core.locked import ini_items
from redbucket.core.pytree import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

# Programs that tests are run with: a package that installs one of its own in their place is the runner.
RUNNERS = frozenset(
    {
        *(
            "pytest",
            "py.test",
            "python",
            "python3",
            "coverage",
            "coverage3",
            "tox",
            "nox",
            "hatch",
            "pdm",
            "poetry",
        ),
        *("uv", "uvx", "pip", "pip3", "hypothesis", "git", "pre-commit", "redbucket"),
    }
)
DESCRIPTIONS = ("pyproject.toml", "setup.cfg", "setup.py")
_TABLES = (
    ("project", "scripts"),
    ("project", "gui-scripts"),
    ("project", "entry-points", "console_scripts"),
    ("project", "entry-points", "gui_scripts"),
    ("tool", "poetry", "scripts"),
)
_GROUPS = ("console_scripts", "gui_scripts")
_NAME = re.compile(r"\s*([^\s=]+)\s*=")


def command_names(path: str, raw: bytes | None) -> frozenset[str]:
    """Return the names of the commands that a description installs, in small letters; none where it can't be read."""
    name = path.rpartition("/")[2].lower()
    if raw is None:
        return frozenset()
    if name == "pyproject.toml":
        found = _of_toml(raw)
    elif name == "setup.cfg":
        found = _of_ini(raw)
    else:
        found = _of_code(raw) if name == "setup.py" else iter(())
    return frozenset(command.lower() for command in found)


def _of_toml(raw: bytes) -> Iterator[str]:
    try:
        data: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return
    for table in _TABLES:
        value: Any = data
        for key in table:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict):
            yield from value


def _of_ini(raw: bytes) -> Iterator[str]:
    for section, key, value in ini_items(raw):
        if key in _GROUPS:
            yield from _named(value)
        elif key == "scripts" and section == "options":
            yield from (_file_name(line) for line in value.splitlines())


def _of_code(raw: bytes) -> Iterator[str]:
    """The text of what ``setup`` is given as entry points or scripts, in whichever form."""
    tree = parse(raw) if b"scripts" in raw else None
    for node in ast.walk(tree) if tree is not None else ():
        pairs: list[tuple[object, ast.AST]] = []
        if isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        elif isinstance(node, ast.Dict):
            pairs = [
                (getattr(key, "value", None), value)
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        for key, value in pairs:
            texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
            for text in (text for text in texts if isinstance(text, str)):
                if key in _GROUPS:
                    yield from _named(text)
                elif key == "scripts":
                    yield _file_name(text)
                elif key == "entry_points" and any(group in text for group in _GROUPS):
                    yield from _named(text)


def _named(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if match := _NAME.match(line):
            yield match[1]


def _file_name(text: str) -> str:
    return text.strip().rpartition("/")[2]
