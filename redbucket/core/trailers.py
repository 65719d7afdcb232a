"""Trailers of a commit message, read as git reads them, and endorsements."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from redbucket.core.patch import Commit

ENDORSE = "Redbucket-Endorse"

_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)")
# Lines that git writes itself: one of them lets prose stand between trailers (git's trailer.c).
_GENERATED = ("signed-off-by:", "(cherry picked from commit ")
_OID = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})[ \t]+(.+)")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_PLAIN = re.compile(r"[!#-\[\]-~](?:[ !#-\[\]-~]*[!#-\[\]-~])?")


def trailers(message: str) -> list[tuple[str, str]]:
    """Return the (key, value) trailers of the last paragraph, folded lines joined.

    The first paragraph is the subject and never holds trailers. A paragraph
    with other lines counts only if git wrote one of its lines and at least a
    quarter of them are trailers.
    """
    lines = message.replace("\r\n", "\n").rstrip().split("\n")
    start = len(lines)
    while start and lines[start - 1].strip():
        start -= 1
    if not start:
        return []
    found: list[tuple[str, str]] = []
    generated = False
    others = 0
    for line in lines[start:]:
        match = _TRAILER.fullmatch(line)
        if line.lower().startswith(_GENERATED):
            generated = True
        if match:
            found.append((match[1], match[2].strip()))
        elif line[:1] in " \t" and found:
            key, value = found[-1]
            found[-1] = (key, f"{value} {line.strip()}".strip())
        elif not line.lower().startswith(_GENERATED):
            others += 1
    if others and not (generated and len(found) * 3 >= others):
        return []
    return found


def quote_path(path: str) -> str:
    """Return ``path`` for a trailer: as it is if plain ASCII, else quoted as git quotes (C style)."""
    if _PLAIN.fullmatch(path):
        return path
    names = {code: letter for letter, code in _ESCAPES.items()}
    out = []
    for byte in os.fsencode(path):
        if byte in names:
            out.append("\\" + names[byte])
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def unquote_path(text: str) -> str | None:
    """Return the path that ``text`` stands for, or ``None`` if the quoting is broken."""
    if not text.startswith('"'):
        return text
    if len(text) < 2 or not text.endswith('"'):
        return None
    out = bytearray()
    inner = text[1:-1]
    at = 0
    while at < len(inner):
        char = inner[at]
        if char == '"':
            return None
        if char != "\\":
            out += os.fsencode(char)
            at += 1
        elif at + 1 < len(inner) and inner[at + 1] in _ESCAPES:
            out.append(_ESCAPES[inner[at + 1]])
            at += 2
        elif re.fullmatch(r"[0-3][0-7]{2}", inner[at + 1 : at + 4]):
            out.append(int(inner[at + 1 : at + 4], 8))
            at += 4
        else:
            return None
    return os.fsdecode(bytes(out))


def endorsement_trailer(oid: str, path: str) -> str:
    """Return the trailer line that endorses the bytes ``oid`` at ``path`` (zeros: the deletion)."""
    return f"{ENDORSE}: {oid} {quote_path(path)}"


def endorsements_of(commit: Commit) -> frozenset[tuple[str, str]]:
    """Return the (oid, path) pairs that a commit's trailers name, whoever signed it."""
    found = set()
    for key, value in trailers(commit.message):
        match = _OID.fullmatch(value) if key.lower() == ENDORSE.lower() else None
        path = unquote_path(match[2]) if match else None
        if match and path:
            found.add((match[1], path))
    return frozenset(found)


def endorsed(pairs: Iterable[tuple[str, str]], path: str, oid: str | None) -> bool:
    """Return whether ``pairs`` endorse ``oid`` at ``path``; ``None`` is the deletion."""
    return any(name == path and (set(blob) == {"0"} if oid is None else blob == oid) for blob, name in pairs)
