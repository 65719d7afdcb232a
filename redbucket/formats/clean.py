"""Text that a patch controls, made harmless for a terminal; and how wide it is there.

Node ids, paths and messages come from the patch's author: escape sequences would move the cursor or
colour a verdict, bidi controls would reorder it, surrogates (from names that are not UTF-8) can't be written.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable

# Colours in a message are the test runner's own; they are dropped rather than shown as noise.
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
# Beyond this a message is not read but only costs time.
_LONGEST = 20_000


def line(text: str) -> str:
    """Return ``text`` with each character that does not print (a newline too) as a backslash escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def lines(text: str) -> list[str]:
    """Return the lines of a message that hold something, harmless, without colours and common indent."""
    text = _COLOURS.sub("", text[:_LONGEST]).expandtabs(4)
    kept = [line(part.rstrip()) for part in text.replace("\r\n", "\n").split("\n")]
    kept = [part for part in kept if part]
    indent = min((len(part) - len(part.lstrip()) for part in kept), default=0)
    return [part[indent:] for part in kept]


def utf8(text: str) -> str:
    """Return ``text`` with surrogates as backslash escapes, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def shell(text: str) -> str:
    """Return ``text`` as one word for a shell: exact bytes, and harmless where it is printed."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = (
        c if c.isprintable() and c not in "'\\" else "".join(f"\\x{b:02x}" for b in _exact(c)) for c in text
    )
    return f"$'{''.join(escaped)}'"


def _exact(character: str) -> bytes:
    try:
        return character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair: no byte of a name ever gives it
        return character.encode("utf-8", "backslashreplace")


def width(text: str) -> int:
    """Return the number of terminal columns that ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, columns: int) -> str:
    """Return ``text`` in at most ``columns``, with "..." where it was cut."""
    most = 2 * columns  # characters of no width count too, or a heap of accents would never be cut
    if len(text) <= most and width(text) <= columns:
        return text
    room, kept = max(0, columns - 3), []
    for character in text[:most]:
        room -= width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "..."


def wrap(text: str, columns: int, first: str = "", rest: str | None = None) -> list[str]:
    """Return ``text`` in lines of at most ``columns``; a longer word stays whole."""
    rest = " " * width(first) if rest is None else rest
    return flow(text.split(), columns, first, rest)


def flow(words: Iterable[str], columns: int, first: str, rest: str) -> list[str]:
    """Return ``words`` in lines of at most ``columns``, never breaking one of them."""
    out: list[str] = []
    start, current, used = first, "", width(first)
    for word in words:
        size = width(word)
        if current and used + 1 + size > columns:
            out.append(start + current)
            start, current, used = rest, word, width(rest) + size
        elif current:
            current, used = f"{current} {word}", used + 1 + size
        else:
            current, used = word, used + size
    out.append(start + current)
    return out
