"""Whether a value that stands where a secret would is one, or a mask, a placeholder, a test's own word."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise
from urllib.parse import unquote

LEAST = 12  # shorter values are hardly tokens, and are in every test
_BITS = 3.0  # a character, by its own frequencies: words have about as much, but no digits among them
_MASKS = re.compile(
    r"redact|filter|scrub|mask|hidden|removed|sanitiz|censor|placeholder|dummy|fake|mock|example|sample|test|demo"
    r"|change.?me|your.?|insert|invalid|secret|p[a@]ss|token|foo|bar|lorem|x{4,}|\*{3,}|\.{3,}|_{4,}|0{6,}|deadbeef"
    r"|12345|abcdef",
    re.IGNORECASE,
)
# <TOKEN>, {{ token }}, ${TOKEN}, %(token)s, [token], --token--
_BRACKETED = re.compile(r"\s*(?:<.*>|\{.*\}|\$\{?\w+\}?|%\(?\w*\)?s|%\w+%|\[.*\]|-+\w+-+|:\w+)\s*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+|[0-9]{1,11}|[A-Za-z]{1,12}[0-9]{1,2}")
_SCHEME = re.compile(r"\s*(bearer|basic|token|digest|apikey|negotiate|bot)\s+", re.IGNORECASE)


def is_random(text: str) -> bool:
    """Return whether ``text`` looks drawn by a machine: long, without a telling word, letters and digits mixed."""
    if len(text) < LEAST or _BRACKETED.fullmatch(text) or _MASKS.search(text):
        return False
    if not re.search(r"[0-9]", text) or not re.search(r"[A-Za-z]", text):
        return False
    return _bits(text) >= _BITS and not _is_worded(text) and not _is_alphabet(text)


def _is_alphabet(text: str) -> bool:
    """Return whether it lists characters in their order, as tests of quoting do: what is drawn does not."""
    plain = unquote(text)
    return all(one < other for one, other in pairwise(plain))


def _is_worded(text: str) -> bool:
    """Return whether it is words and numbers apart ("user-name-2", "build_17"), not one run of both."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", text) if part]
    return all(_WORD.fullmatch(part) for part in parts)


def _bits(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def bare(value: str) -> str:
    """Return a credential without its scheme; for Basic the password alone, "" where it can't be read."""
    scheme = _SCHEME.match(value)
    if scheme is None:
        return value.strip()
    rest = value[scheme.end() :].strip()
    if scheme[1].lower() != "basic":
        return rest
    try:
        return base64.b64decode(rest, validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, ValueError):
        return rest if not _MASKS.search(rest) else ""


def is_password(text: str) -> bool:
    """Return whether a password of a login or a URL is more than a test's: shorter ones count, too."""
    return (
        len(text) >= 8
        and not _BRACKETED.fullmatch(text)
        and not _MASKS.search(text)
        and not text.isalpha()
        and not text.isdigit()
        and not _is_alphabet(text)
        and _bits(text) >= 2.5
    )
