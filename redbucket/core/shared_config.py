"""Files that are both source and judge: pyproject.toml, setup.cfg, tox.ini.

The judging part is what pytest, its plugins and coverage read there. For the
runs it comes from base, while the rest (a dependency bump) comes from the
patch. ``[testenv]`` of tox.ini is not read by pytest, so it is left alone;
where the policy's command is tox itself, the whole file is judge side.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from redbucket.core import foreign_config
from redbucket.core.foreign_config import is_foreign

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_TOML_TABLE = re.compile(r"pytest([-_.].*)?|coverage")
_TOML_ANY_HEADER = re.compile(r"\s*\[")
_TOML_HEADER = re.compile(r"\s*\[\[?\s*tool\s*\.\s*[\"']?(?P<name>[^\s.\"'\]]+)")
_INI_SECTION = re.compile(r"\s*(tool:pytest|pytest|coverage:.*)\s*", re.IGNORECASE)
_HEADER = re.compile(r"\s*\[(?P<name>[^\]]*)\]?")


class Unreadable(ValueError):
    """The file does not parse, so pytest could not read it either."""


def judging_part(name: str, raw: bytes) -> object:
    """Return the test configuration in ``raw``, to be compared with ``==``.

    ``name`` is the file's path; falsy means none. A file that does not parse
    compares by its bytes.
    """
    if is_foreign(name):
        return foreign_config.judging_part(name, raw)
    try:
        return _toml_part(_toml(raw)) if _is_toml(name) else _ini_part(raw)
    except Unreadable:
        return raw


def compose(name: str, base: bytes | None, merged: bytes | None) -> bytes | None:
    """Return ``merged`` with base's judging part in place of its own.

    ``None`` means no such file. Where ``merged`` does not parse, or is gone
    while base's has a judging part, the answer is ``base``.
    """
    if is_foreign(name):
        return foreign_config.compose(name, base, merged)
    if merged is None:
        return base if base is not None and judging_part(name, base) else None
    try:
        return _compose_toml(base, merged) if _is_toml(name) else _compose_ini(base, merged)
    except (Unreadable, RecursionError):  # a key of thousands of dots nests that deep
        return base


def _is_toml(name: str) -> bool:
    return name.lower().endswith(".toml")


def _toml(raw: bytes) -> dict[str, Any]:
    try:
        data: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise Unreadable(str(problem)) from problem
    return data


def _toml_part(data: dict[str, Any]) -> dict[str, Any]:
    tool = data.get("tool")
    if not isinstance(tool, dict):
        return {}
    return {key: value for key, value in tool.items() if _TOML_TABLE.fullmatch(key)}


def _compose_toml(base: bytes | None, merged: bytes) -> bytes:
    wanted = {} if base is None else _toml_part(_toml(base))
    data = _toml(merged)
    if _toml_part(data) == wanted:
        return merged
    tool = data.get("tool", {})
    if not isinstance(tool, dict):
        raise Unreadable("tool is not a table")
    rest = {key: value for key, value in tool.items() if not _TOML_TABLE.fullmatch(key)}
    goal = {**data, "tool": {**rest, **wanted}}
    if not goal["tool"]:
        del goal["tool"]

    import tomlkit  # imported late: only a patch that touches the judging part pays for it
    from tomlkit.exceptions import TOMLKitError

    added = tomlkit.dumps({"tool": wanted}) if wanted else ""
    for cut in (_cut_tables, _cut_keys):
        try:
            kept = cut(merged.decode("utf-8"))
            edited = (kept + ("\n" if kept and not kept.endswith("\n") else "") + added).encode("utf-8")
            # an empty [tool] may stay behind; anything else that moved means that the cut went wrong
            if _toml(edited) in (goal, {**goal, "tool": goal.get("tool", {})}):
                return edited
        except (TOMLKitError, ValueError, LookupError, TypeError, AttributeError):
            continue  # the next way to cut, and at last the values alone, which are what counts
    return tomlkit.dumps(goal).encode("utf-8")


def _cut_tables(text: str) -> str:
    """Return the text without its judging tables, found by their headers."""
    kept, judging = [], False
    for line in text.splitlines(keepends=True):
        if _TOML_ANY_HEADER.match(line):
            header = _TOML_HEADER.match(line)
            judging = header is not None and _TOML_TABLE.fullmatch(header["name"]) is not None
        if not judging:
            kept.append(line)
    return "".join(kept)


def _cut_keys(text: str) -> str:
    """Return the text without its judging keys: dotted keys and inline tables have no header."""
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document.get("tool")
    for key in [key for key in table if _TOML_TABLE.fullmatch(key)]:
        del table[key]
    return tomlkit.dumps(document)


def _ini_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Unreadable(str(problem)) from problem


def _ini_part(raw: bytes) -> dict[str, dict[str, str]]:
    """Return the sections as iniconfig, pytest's own reader, gives them."""
    import iniconfig

    text = _ini_text(raw)
    if not any(_is_judging(line) for line in text.splitlines()):
        return {}
    try:
        parsed = iniconfig.IniConfig("file", data=text)
    except (iniconfig.ParseError, ValueError) as problem:
        raise Unreadable(str(problem)) from problem
    return {section.name: dict(section.items()) for section in parsed if _INI_SECTION.fullmatch(section.name)}


def _is_judging(line: str) -> bool:
    header = _HEADER.match(line)
    return header is not None and _INI_SECTION.fullmatch(header["name"]) is not None


def _compose_ini(base: bytes | None, merged: bytes) -> bytes:
    wanted = {} if base is None else _ini_part(base)
    if _ini_part(merged) == wanted:
        return merged
    kept, _ = _split_ini(_ini_text(merged))
    moved = "" if base is None else _split_ini(_ini_text(base))[1]
    if kept and moved and not kept.endswith(("\n", "\r")):
        kept += "\n"
    result = (kept + moved).encode("utf-8")
    if _ini_part(result) != wanted:
        raise Unreadable("the sections can't be told apart")
    return result


def _split_ini(text: str) -> tuple[str, str]:
    """Return the text outside the judging sections, and that inside."""
    parts: tuple[list[str], list[str]] = ([], [])
    judging = False
    # splitlines, like iniconfig: a form feed ends a line there, and could hide a header here
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line) and not (line[0].isspace() and not _is_judging(line)):
            judging = _is_judging(line)
        parts[judging].append(line)
    return "".join(parts[0]), "".join(parts[1])
