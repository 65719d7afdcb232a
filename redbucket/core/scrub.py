"""Takes the values of variables out of a text: as they are, escaped, encoded, and in parts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote

_SHORTEST = 4  # shorter values are words and numbers that stand in any text
# pytest shortens long values from the middle: what is left are pieces of this length and more.
_PIECE = 8
_LONG = 12


def values_of(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (value, name) of what counts as secret, the longest first."""
    found = {(form, name) for name, value in env.items() if len(value) >= _SHORTEST for form in _forms(value)}
    return sorted(found, key=lambda pair: (-len(pair[0]), pair))


def scrubbed(text: str, env: Mapping[str, str]) -> str:
    """Return the text with "<NAME>" for each value of ``env``, and for pieces of the long ones."""
    values = values_of(env)
    for value, name in values:
        text = text.replace(value, f"<{name}>")
    for value, name in values:
        if len(value) >= _LONG:
            text = _without_pieces(text, value, name)
    return text


def _forms(value: str) -> Iterator[str]:
    """A value as code may show it: escaped by ``repr`` or JSON, in base64, in an address."""
    yield value
    yield repr(value)[1:-1]
    yield json.dumps(value)[1:-1]
    yield quote(value, safe="")
    raw = value.encode("utf-8", "surrogateescape")
    yield repr(raw)[2:-1]
    encoded = base64.b64encode(raw).decode().rstrip("=")
    if len(encoded) >= _PIECE:
        yield encoded


def _without_pieces(text: str, value: str, name: str) -> str:
    pieces = {value[n : n + _PIECE] for n in range(len(value) - _PIECE + 1)}
    out: list[str] = []
    at = 0
    while at < len(text):
        if text[at : at + _PIECE] not in pieces:
            out.append(text[at])
            at += 1
            continue
        at += _PIECE
        while text[at - _PIECE + 1 : at + 1] in pieces and at < len(text):
            at += 1
        out.append(f"<part of {name}>")
    return "".join(out)
