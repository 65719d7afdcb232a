"""How a project's test dependencies are installed, as far as its files say."""

from __future__ import annotations

import configparser
import re
import sys
from typing import Any

from redbucket.core.sighting import Sighting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_NAMES = ("test", "tests", "testing", "dev", "develop")
REQUIREMENTS = (
    "requirements-test.txt",
    "requirements-tests.txt",
    "test-requirements.txt",
    "tests/requirements.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements/dev.txt",
    "requirements.txt",
)
_PLAIN = re.compile(r"[\w.-]+")


def install_lines(seen: Sighting) -> list[str]:
    """Return the shell lines that install what the tests need; a guess that a person completes."""
    if seen.runner == "junit":
        return []  # another language: a person writes them
    project = _toml(seen.files.get("pyproject.toml", b""))
    lines = []
    extra = _first(_table(project, "project", "optional-dependencies")) or _first(
        _extras(seen.files.get("setup.cfg", b""))
    )
    if locked := _by_lock(seen, extra):
        return locked
    is_package = "project" in project or "setup.py" in seen.files or _named(seen.files.get("setup.cfg", b""))
    poetry = _table(project, "tool", "poetry")
    if is_package or poetry:
        lines.append(f"python -m pip install -e '.[{extra}]'" if extra else "python -m pip install -e .")
    group = _first(_table(project, "dependency-groups"))
    if group and not extra:
        lines.append(f"python -m pip install --group {group}   # needs pip 25.1")
    files = [name for name in REQUIREMENTS if name in seen.paths]
    if files and not extra and not group:
        lines.append(f"python -m pip install -r {files[0]}")
    if seen.runner.startswith("pytest") or not lines:
        lines.append("python -m pip install pytest")
    return lines


def _by_lock(seen: Sighting, extra: str) -> list[str]:
    """Return the lines by which the tool of a lock installs what it locks, into ``.venv``; [] without a lock.

    That is where the gate looks for the project's interpreter.
    """
    more = {
        "uv.lock": ("uv", "uv sync --frozen --all-groups", f" --extra {extra}"),
        "poetry.lock": (
            "poetry",
            "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
            f" --extras {extra}",
        ),
        "pdm.lock": ("pdm", "pdm sync -G :all", ""),
    }
    for lock, (tool, line, optional) in more.items():
        if lock in seen.paths:
            return [f"python -m pip install {tool}", line + (optional if extra else "")]
    return []


def _toml(raw: bytes) -> dict[str, Any]:
    try:
        return dict(tomllib.loads(raw.decode("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return {}  # the project's own tools will say so


def _table(data: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        found = data.get(name)
        data = found if isinstance(found, dict) else {}
    return data


def _extras(raw: bytes) -> dict[str, Any]:
    parser = _cfg(raw)
    return dict(parser["options.extras_require"]) if parser.has_section("options.extras_require") else {}


def _named(raw: bytes) -> bool:
    return _cfg(raw).has_section("metadata")


def _cfg(raw: bytes) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(raw.decode("utf-8", "replace"))
    except configparser.Error:
        return configparser.ConfigParser()
    return parser


def _first(table: dict[str, Any]) -> str:
    return next((name for name in _NAMES if name in table and _PLAIN.fullmatch(name)), "")
