"""Characters that make text read otherwise than it runs."""

from __future__ import annotations

import re
import unicodedata

from redbucket.core.paths import fold

_OPEN_EMBEDDING, _CLOSE_EMBEDDING = "\u202a\u202b\u202d\u202e", "\u202c"
_OPEN_ISOLATE, _CLOSE_ISOLATE = "\u2066\u2067\u2068", "\u2069"
_OVERRIDES = re.compile("[\u202d\u202e]")
CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
# The UTF-8 bytes that all of them begin with: most files need no decoding.
CONTROL_BYTES = re.compile(rb"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
# Letters of other scripts that look like Latin ones; enough to imitate the names that judge.
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0442\u043a\u043c\u043d\u0432"
    "\u03bf\u03b1\u03b9\u03bd\u03c1\u03c5\u03ba\u03c4\u0578\u057d\u0131\u0261",
    "aeopcyxijsdhtkmnboaivpuktnuig",
)


def unbalanced(text: str) -> bool:
    """Return whether an embedding or isolate in ``text`` is left open, or closed without being open."""
    stack: list[str] = []
    for character in text:
        if character in _OPEN_EMBEDDING:
            stack.append(_CLOSE_EMBEDDING)
        elif character in _OPEN_ISOLATE:
            stack.append(_CLOSE_ISOLATE)
        elif character in (_CLOSE_EMBEDDING, _CLOSE_ISOLATE) and (not stack or stack.pop() != character):
            return True
    return bool(stack)


def reorders(line: str) -> bool:
    """Return whether code in the line reads otherwise than it runs.

    As in gcc's ``-Wbidi-chars=unpaired``: what is opened inside a literal must
    be closed there. Otherwise it draws the code behind it along.
    """
    if unbalanced(line):
        return True
    return any(unbalanced(found[0]) for found in _STRING.finditer(line))


def overrides(line: str) -> bool:
    """Return whether the line turns a direction by force, which written language never needs."""
    return _OVERRIDES.search(line) is not None


def odd_characters(path: str) -> str:
    """Return what is wrong with a path's characters, "" if nothing is."""
    if path.isascii() and path.isprintable():
        return ""
    kinds = []
    for character in path:
        category = unicodedata.category(character)
        if CONTROLS.match(character) or character in "\u200e\u200f\u061c":
            kinds.append("a character that turns the reading direction")
        elif category == "Cf":
            kinds.append("an invisible character")
        elif category in ("Cc", "Zl", "Zp"):
            kinds.append("a control character")
        elif category == "Cs":
            kinds.append("bytes that are not UTF-8")
    if not kinds and unicodedata.normalize("NFC", path) != path:
        kinds.append("letters that are not in composed form (NFC)")
    return " and ".join(dict.fromkeys(kinds))


def skeleton(path: str) -> str:
    """Return the plain path that ``path`` looks like or that other systems take it for.

    Look-alike letters and compatibility forms become Latin ones, invisible and
    control characters go, and the dots and spaces at the end of a name, which
    Windows drops.
    """
    plain = fold(unicodedata.normalize("NFKC", path)).translate(_LOOKALIKES)
    seen = "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Cc", "Cs"))
    return "/".join(part.rstrip(" .") or part for part in seen.split("/"))
