"""The few lines of a failure's message that a report has room for: those that tell what differs.

A test runner writes two sides of a comparison into one line, or into two that stand under each other. Cut at
their right ends such lines look alike, so both are cut around the first place where they differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from redbucket.formats.clean import cut, lines, width, wrap

_ROOM_BEFORE = 3  # a part of the room that is left for what stands before the difference: one third
_HEAD_ROWS = 3  # a sentence is wrapped, it has no other side
_LONGEST_LINE = 4_000  # of a longer one only the beginning is compared
_EQUAL = re.compile(r" (?:==|!=) ")
# Words that a sentence has as well: they count behind "assert" alone.
_OPERATOR = re.compile(r" (?:==|!=|<=|>=|<|>|is not|is|not in|in) ")
_PAIR = re.compile(r"^(?P<lead>\s*(?:At index \d+ diff: )?)(?P<rest>.* (?:==|!=) .*)$")
_HEAD = re.compile(
    r"^(?P<lead>(?:[\w.]*(?:Error|Exception|Failure): )?(?:assert |\w+ differ: )?)(?P<rest>.*)$"
)
_KIND = re.compile(r"^[\w.]*Error: (?=assert )")
# What a property failed with, by Hypothesis.
_INPUT = re.compile(r"^\s*(?:Failing test case|Falsifying example): ")
# Hints of pytest, difflib and Hypothesis about themselves.
_CHATTER = re.compile(
    r"^\s*(?:You can reproduce this |Use -v+ to get|Omitting \d+ identical|"
    r"\.\.\.Full output truncated|Full diff:|Differing items:|\?[ ^+-]*$)"
)
_SIDE = re.compile(r"^(?P<lead>\s*(?:[-+] |expected: |got: ))(?P<rest>.*)$")
_WHERE = re.compile(r"^\s*\+\s+where ")
_DOCTEST = re.compile(r"^doctest\.(DocTestFailure|UnexpectedException): <DocTest .* \(\d+ examples?\)>$")
_PLACE = re.compile(r" ?\([^()\s]+:[^()\s]+\)$")


class Excerpt(NamedTuple):
    """Lines that fit, and how many of the message's lines are not among them."""

    lines: list[str]
    left: int


def excerpt(message: str, columns: int, limit: int) -> Excerpt:
    """Return at most ``limit`` lines of ``message`` (a first sentence may take more), each in ``columns``."""
    parts = lines(message)
    if not parts:
        return Excerpt([], 0)
    chosen = _chosen(_doctest(parts) or parts, limit)
    out = _head(chosen[0], columns)
    rest = chosen[1:]
    skip = False
    for number, text in enumerate(rest):
        if skip:
            skip = False
            continue
        below = rest[number + 1] if number + 1 < len(rest) else ""
        if (both := _sides(text, below)) is not None:
            out += _two_lines(*both, columns)
            skip = True
        elif pair := _PAIR.match(text):
            out.append(_one_line(pair["lead"], pair["rest"], columns))
        else:
            out.append(cut(text, columns))
    return Excerpt(out, max(0, len(parts) - len(chosen)))


def _chosen(parts: Sequence[str], limit: int) -> list[str]:
    """Return the first line and the most telling others, in their order."""
    if len(parts) <= limit:
        return list(parts)
    ranked = sorted(range(1, len(parts)), key=lambda n: (_rank(parts[n]), n))
    return [parts[0], *(parts[n] for n in sorted(ranked[: max(0, limit - 1)]))]


def _rank(text: str) -> int:
    if _CHATTER.match(text):
        return 3
    if _INPUT.match(text) or (_SIDE.match(text) and not _WHERE.match(text)):
        return 0
    return 1 if _PAIR.match(text) else 2


def _doctest(parts: Sequence[str]) -> list[str]:
    """Return the lines of a failed doctest: the example instead of the docstring's name, then where it differs."""
    named = _DOCTEST.match(parts[0])
    if named is None:
        return []
    body = list(parts[1:])
    source = body.pop(0).removeprefix(">>> ") if body and body[0].startswith(">>> ") else ""
    while source and body and body[0].startswith("..."):
        body.pop(0)  # the example goes on
    head = f"{named[1]}: {source}" if source else named[1]
    middle = next((n for n, text in enumerate(body) if text.startswith("got: ")), None)
    if not middle or not body[0].startswith("expected: "):
        return [head, *body]
    want, got = body[:middle], body[middle:]
    want[0], got[0] = want[0].removeprefix("expected: "), got[0].removeprefix("got: ")
    got[-1] = _PLACE.sub("", got[-1])  # always doctest's own code
    size = max(len(want), len(got))
    want += [""] * (size - len(want))
    got += [""] * (size - len(got))
    at = next((n for n in range(size) if want[n] != got[n]), 0)
    return [head, f"expected: {want[at]}".rstrip(), f"got: {got[at]}".rstrip()]


def _head(text: str, columns: int) -> list[str]:
    if width(text) <= columns:
        return [text]
    text = _KIND.sub("", text)  # "assert" says it
    found = _HEAD.match(text)
    if found is not None:
        operator = _OPERATOR if found["lead"].endswith("assert ") else _EQUAL
        if _split(found["rest"], operator) is not None:
            return [_one_line(found["lead"], found["rest"], columns, operator)]
    rows = wrap(text, columns, "", "  ")
    kept = rows if len(rows) <= _HEAD_ROWS else [*rows[: _HEAD_ROWS - 1], f"{rows[_HEAD_ROWS - 1]}..."]
    return [cut(row, columns) for row in kept]


def _split(text: str, operator: re.Pattern[str]) -> tuple[str, str, str] | None:
    """Return the two sides of a comparison and its operator: that which leaves the sides most alike in length."""
    found = list(operator.finditer(text[:_LONGEST_LINE]))
    if not found:
        return None
    end = min(len(text), _LONGEST_LINE)
    best = min(found, key=lambda m: abs(m.start() - (end - m.end())))
    return text[: best.start()], best[0], text[best.end() :]


def _one_line(lead: str, text: str, columns: int, operator: re.Pattern[str] = _EQUAL) -> str:
    """Return a comparison in ``columns``, each side cut around the place where they differ."""
    parts = _split(text, operator)
    if parts is None or width(lead + text) <= columns:
        return cut(lead + text, columns)
    left, middle, right = parts
    room = columns - width(lead) - len(middle)
    if room < 20:
        return cut(lead + text, columns)
    half = room // 2
    for_left = max(half, room - width(right))
    for_right = room - min(for_left, width(left))
    at = _differ_at(left, right)
    return f"{lead}{_window(left, at, for_left)}{middle}{_window(right, at, for_right)}"


def _sides(text: str, below: str) -> tuple[str, str, str, str] | None:
    """Return the leads and texts of two lines that are the sides of one comparison."""
    first, second = _SIDE.match(text), _SIDE.match(below)
    if first is None or second is None or first["lead"].strip() == second["lead"].strip():
        return None
    return first["lead"], first["rest"], second["lead"], second["rest"]


def _two_lines(lead: str, text: str, under: str, below: str, columns: int) -> list[str]:
    at = _differ_at(text, below)
    room = columns - max(width(lead), width(under))
    return [f"{lead}{_window(text, at, room)}", f"{under}{_window(below, at, room)}"]


def _differ_at(one: str, other: str) -> int:
    pairs = zip(one[:_LONGEST_LINE], other[:_LONGEST_LINE], strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _window(text: str, at: int, columns: int) -> str:
    """Return ``text`` in ``columns``, around the character ``at``."""
    if width(text) <= columns:
        return text
    start = max(0, at - columns // _ROOM_BEFORE)
    if start <= 3 or width(text[: at + 1]) <= columns - 3:
        return cut(text, columns)
    # all of the end, where that fits
    start = min(start, max(0, len(text) - (columns - 3)))
    return f"...{cut(text[start:], columns - 3)}"
