"""What the readers share: places in a file, given values, bounded text, forgiving JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from redbucket.core.errors import Misused

TEXT_LIMIT = 8_000

_T = TypeVar("_T")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Place:
    """A place in a record: the file, and the line and byte where that is known."""

    source: str
    line: int = 0
    byte: int = -1

    def __str__(self) -> str:
        """Return "file, line 3, byte 120"."""
        parts = [self.source]
        if self.line:
            parts.append(f"line {self.line}")
        if self.byte >= 0:
            parts.append(f"byte {self.byte}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Given:
    """Values from the command line for records that don't have the field."""

    seed: str | None = None
    fixture_hash: str | None = None

    def seed_or(self, own: str | int | None) -> str:
        """Return the record's own seed, or the given one if it has none."""
        return text(own) if own is not None else (self.seed or "").strip()

    def hash_or(self, own: str | None) -> str:
        """Return the record's own fixture hash, or the given one if it has none."""
        return own if own is not None else self.fixture_hash or ""


def text(value: str | int) -> str:
    """Return ``value`` as a seed is compared: a string without outer white space."""
    return str(value).strip()


def refuse(place: Place, reason: str, expected: str) -> Misused:
    """Return the error for bytes that can't be read as a record."""
    return Misused(
        "record-unreadable",
        f"{place}: {reason}; expected {expected}",
        "give run records as the documentation describes them, one file for each run",
    )


def bound(value: str, limit: int = TEXT_LIMIT) -> str:
    """Return ``value`` cut to about ``limit`` characters: head and tail, and the cut said."""
    if len(value) <= limit:
        return value
    half = limit // 2
    return f"{value[:half]}\n[... {len(value) - 2 * half} characters cut ...]\n{value[-half:]}"


def lines(raw: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (line number from 1, byte offset, line) for each line that is not blank."""
    offset = 0
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip():
            yield number, offset, line
        offset += len(line) + 1


def decode_line(line: bytes, decoder: msgspec.json.Decoder[_T], kind: Any) -> _T:
    """Return the decoded line; raises ``msgspec.MsgspecError`` or ``RecursionError``.

    Python's own encoder writes lone surrogates (from undecodable bytes in a
    path or a message) that strict JSON refuses: they become U+FFFD, as a
    message that can't be printed is no reason to lose a run.
    """
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            raise error from None
        converted: _T = msgspec.convert(_scrub(value), kind)
        return converted


def events(raw: bytes, place: Place, decoder: msgspec.json.Decoder[_T], kind: Any) -> tuple[list[_T], str]:
    """Return the lines decoded before the first damage, and where and what that is ("" if nowhere)."""
    try:
        return decoder.decode_lines(raw), ""
    except (msgspec.MsgspecError, RecursionError):
        found: list[_T] = []  # read again line by line, to know where
    for number, offset, line in lines(raw):
        try:
            found.append(decode_line(line, decoder, kind))
        except (msgspec.MsgspecError, RecursionError) as error:
            return found, f"{Place(place.source, number, offset)}: damaged: {error}"
    return found, ""


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("�", value)
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    if isinstance(value, dict):
        return {_scrub(key): _scrub(item) for key, item in value.items()}
    return value
