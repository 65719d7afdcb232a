"""``.gitattributes``: the rules of a tree, and what they make of one path (gitattributes(5))."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from redbucket.core.paths import fold

if TYPE_CHECKING:
    from pathspec import Pattern

NAME = ".gitattributes"
SET, UNSET, UNSPECIFIED = "set", "unset", ""
# What git's built-in macro stands for.
_MACROS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "binary": (("binary", SET), ("diff", UNSET), ("merge", UNSET), ("text", UNSET))
}
_ATTRIBUTE = re.compile(r"([-!]?)([A-Za-z0-9_.][-A-Za-z0-9_.]*)(?:=(.*))?")
_LONGEST_LINE = 2048  # git drops longer ones since 2.38.2
# pathspec does not know them.
_CLASSES = {
    "[:alnum:]": "A-Za-z0-9",
    "[:alpha:]": "A-Za-z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9A-Fa-f",
    "[:punct:]": "!-.:-@^-`{-~",
    "[:graph:]": "!-.0-~",
    "[:print:]": " -.0-~",
    "[:blank:]": " \t",
    "[:space:]": " \t",
}
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|(["\\abtnvfr]))')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True)
class Rule:
    """One line: the file that has it, its number, and what it sets on which paths."""

    source: str
    line: int
    pattern: str
    sets: tuple[tuple[str, str], ...]

    @property
    def folder(self) -> str:
        """The folder that the pattern is relative to, with a slash; "" for the top."""
        return self.source[: -len(NAME)]

    def matches(self, path: str) -> bool:
        """Return whether the rule is about ``path`` itself, and not only about a folder above it."""
        if not path.startswith(self.folder):
            return False
        compiled = _compiled(self.pattern)
        found = compiled.match_file(path[len(self.folder) :].replace("\n", "\r")) if compiled else None
        # pathspec marks a match of a folder above; to git's attributes that is none
        return found is not None and found.match.groupdict().get("ps_d") is None


@dataclass(frozen=True)
class Value:
    """What an attribute of a path is, and the rule that says so."""

    value: str = UNSPECIFIED
    rule: Rule | None = None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Pattern | None:
    from pathspec import GitIgnoreSpec  # imported late: a third of a hook's start-up time

    for name, members in _CLASSES.items():
        pattern = pattern.replace(name, members)
    try:
        patterns = GitIgnoreSpec.from_lines([pattern]).patterns
    except (ValueError, TypeError, re.error):  # git matches nothing then
        return None
    return patterns[0] if len(patterns) == 1 and patterns[0].include else None


class Attributes:
    """All rules of one tree, the later outranking the earlier, a folder's those above it."""

    def __init__(self, files: Iterable[tuple[str, bytes]], *, folded: bool = False) -> None:
        """Read the tree's ``files``; ``folded`` matches as git does with ``core.ignoreCase``."""
        self._shape: Callable[[str], str] = fold if folded else str
        self._known: dict[str, dict[str, Value]] = {}
        self.rules: list[Rule] = []
        macros = dict(_MACROS)
        for path, raw in sorted(files, key=lambda item: (item[0].count("/"), item[0])):
            self.rules += _parse(path, raw, macros)
        if folded:
            self.rules = [Rule(fold(r.source), r.line, fold(r.pattern), r.sets) for r in self.rules]

    def of(self, path: str) -> dict[str, Value]:
        """Return every attribute that is specified for ``path``."""
        path = self._shape(path)
        if path in self._known:
            return dict(self._known[path])
        found: dict[str, Value] = {}
        for rule in self.rules:
            if rule.matches(path):
                found.update((name, Value(value, rule)) for name, value in rule.sets)
        self._known[path] = {name: value for name, value in found.items() if value.value != UNSPECIFIED}
        return dict(self._known[path])


def _parse(path: str, raw: bytes, macros: dict[str, tuple[tuple[str, str], ...]]) -> Iterable[Rule]:
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        line = line.strip(b" \t\r")
        if not line or line.startswith(b"#") or len(line) > _LONGEST_LINE:
            continue
        split = _split(line)
        if split is None:
            continue
        pattern, words = split
        sets = _sets(words, macros)
        if sets is None:
            continue
        if pattern.startswith("[attr]"):
            if path == NAME:  # macros are read at the top only
                name = pattern.removeprefix("[attr]") or (words[0] if words else "")
                macros[name] = ((name, SET), *sets)
        elif not pattern.startswith("!"):  # git ignores negative patterns here
            yield Rule(path, number, pattern, sets)


def _split(line: bytes) -> tuple[str, list[str]] | None:
    if line.startswith(b'"'):
        # an escape that git does not know makes the quotes a part of the pattern
        end = re.match(rb'"(?:[^"\\]|\\(?:[0-3][0-7]{2}|["\\abtnvfr]))*"', line)
        if end is not None:
            inner = _ESCAPE.sub(_unescape, end[0][1:-1])
            return _text(inner), _text(line[end.end() :]).split()
    pattern, *words = re.split(r"[ \t\r]+", _text(line))
    return pattern, words


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8) & 0xFF]) if match[1] else _ESCAPED.get(match[2], match[2])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _sets(
    words: Iterable[str], macros: Mapping[str, tuple[tuple[str, str], ...]]
) -> tuple[tuple[str, str], ...] | None:
    """Return what the words set, macros expanded; None where git drops the line for a bad name."""
    found: list[tuple[str, str]] = []
    for word in words:
        match = _ATTRIBUTE.fullmatch(word)
        if match is None:
            return None
        sign, name, value = match[1], match[2], match[3]
        state = {"-": UNSET, "!": UNSPECIFIED}.get(sign, SET if value is None else f"={value}")
        if state == SET and name in macros:
            found += macros[name]
        found.append((name, state))
    return tuple(found)
