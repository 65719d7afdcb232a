"""Parsed documents in which nothing that a test could tell apart is equal.

Numbers keep their text, as ``1``, ``1.0`` and ``true`` are equal to Python, and
``1e2`` and ``100.0`` to every JSON library. A key that stands twice is refused.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

LARGEST = 32 * 1024 * 1024


class Unparsable(ValueError):
    """The bytes are not what their name says; they count as opaque."""


class Number(NamedTuple):
    """A number as it was written."""

    number: str


class Tagged(NamedTuple):
    """Another scalar: its kind, and its text or bytes."""

    tag: str
    value: str | bytes


Node = Any  # dict[str, Node] | list[Node] | str | bool | None | Number | Tagged


def from_json(raw: bytes) -> Node:
    """Parse JSON. Raises Unparsable."""
    return _json(_text(raw))


def _json(text: str) -> Node:
    try:
        return json.loads(
            text, object_pairs_hook=_pairs, parse_int=Number, parse_float=Number, parse_constant=Number
        )
    except (ValueError, RecursionError) as problem:
        raise Unparsable(str(problem)) from problem


def _pairs(pairs: list[tuple[str, Node]]) -> dict[str, Node]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Unparsable(f"the key {twice!r} stands twice in one object")
    return found


def from_json_lines(raw: bytes) -> Node:
    """Parse one JSON document a line. Raises Unparsable."""
    return [_json(line) for line in _text(raw).split("\n") if line.strip()]


def from_toml(raw: bytes) -> Node:
    """Parse TOML. Raises Unparsable."""
    try:
        return _toml(tomllib.loads(_text(raw), parse_float=Number))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        raise Unparsable(str(problem)) from problem


def _toml(value: Any) -> Node:
    if isinstance(value, dict):
        return {key: _toml(item) for key, item in value.items()}
    if isinstance(value, (Number, str, bool)):
        return value
    if isinstance(value, list):
        return [_toml(item) for item in value]
    if isinstance(value, int):
        return Number(str(value))
    return Tagged(type(value).__name__, str(value))


def from_csv(raw: bytes) -> Node:
    """Parse comma-separated values: rows of cells. Raises Unparsable."""
    return _table(raw, ",")


def from_tsv(raw: bytes) -> Node:
    """Parse tab-separated values. Raises Unparsable."""
    return _table(raw, "\t")


def _table(raw: bytes, delimiter: str) -> Node:
    try:
        return list(csv.reader(io.StringIO(_text(raw), newline=""), delimiter=delimiter, strict=True))
    except csv.Error as problem:
        raise Unparsable(str(problem)) from problem


def from_yaml(raw: bytes) -> Node:
    """Parse YAML into its documents, one or a list of them. Raises Unparsable."""
    from redbucket.core.yamlnodes import documents

    found = documents(_text(raw))
    return found[0] if len(found) == 1 else found


def _text(raw: bytes) -> str:
    if len(raw) > LARGEST:
        raise Unparsable(f"more than {LARGEST >> 20} MiB")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Unparsable(f"byte {problem.start} is not UTF-8") from problem


_BY_ENDING: dict[str, tuple[str, Callable[[bytes], Node]]] = {
    "json": ("JSON", from_json),
    "har": ("JSON", from_json),
    "ipynb": ("JSON", from_json),
    "geojson": ("JSON", from_json),
    "jsonl": ("JSON lines", from_json_lines),
    "ndjson": ("JSON lines", from_json_lines),
    "yaml": ("YAML", from_yaml),
    "yml": ("YAML", from_yaml),
    "toml": ("TOML", from_toml),
    "csv": ("CSV", from_csv),
    "tsv": ("TSV", from_tsv),
}


def parser_of(path: str) -> tuple[str, Callable[[bytes], Node]] | None:
    """Return the name and the parser of the format that a path's ending names."""
    return _BY_ENDING.get(path.rpartition("/")[2].rpartition(".")[2].lower())
