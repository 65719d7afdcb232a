"""Places of a fixture that a policy declares volatile, and whether a change stays within them.

A rule only shortens a human's review: it never locks anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache

from redbucket.core.nodediff import ABSENT, Moved, Pointer, leaves
from redbucket.core.nodes import Node, Number
from redbucket.core.paths import Matcher
from redbucket.core.policy import Volatile

_DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS, _MONTHS = f"(?:{'|'.join(_DAY_NAMES)})", f"(?:{'|'.join(_MONTH_NAMES)})"
_TIME = r"\d\d:\d\d:\d\d"
GRAMMARS = {
    "http-date": rf"{_DAYS}, \d\d {_MONTHS} \d{{4}} {_TIME} GMT",
    "rfc-3339": rf"\d{{4}}-\d\d-\d\d[Tt ]{_TIME}(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)",
    "uuid": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "hex": r"(?:[0-9a-fA-F]{2}){4,}",
    "jwt": r"[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    "epoch": r"[1-9]\d{8,12}",
    "seconds": r"\d{1,9}",
    "etag": r'(?:W/)?"[^"\s]*"',
    "token": r"[\w.:-]{8,}",
}
_COMPILED = {name: re.compile(text) for name, text in GRAMMARS.items()}
_DATED = frozenset({"http-date", "rfc-3339"})
_NAMES = frozenset({"uuid", "hex", "jwt", "etag", "token"})  # what tells things apart
_SAME_LENGTH = frozenset({"hex", "token"})


def stays_volatile(
    path: str, moved: Sequence[Moved], old: Node, new: Node, rules: Iterable[Volatile]
) -> bool:
    """Return whether every difference is at a place that a rule declares, within its grammar.

    A value that stood at several places must have moved at all of them, to one new value; of ids, two must stay two.
    """
    mine = [rule for rule in rules if _matcher(rule.paths).matches(path)]
    if not mine or not moved:
        return False
    became: dict[str, str] = {}
    names: dict[str, str] = {}  # the new ids, and what each was
    for each in moved:
        before, after = _text(each.old), _text(each.new)
        if before is None or after is None or type(each.old) is not type(each.new):
            return False
        fitting = [rule for rule in mine if _fits(rule, each.pointer, before, after)]
        if not fitting:
            return False
        if became.setdefault(before, after) != after:
            return False
        if all(rule.grammar in _NAMES for rule in fitting) and names.setdefault(after, before) != before:
            return False
    now, was = dict(leaves(new)), dict(leaves(old))
    together = all(_text(now.get(at, ABSENT)) == became.get(text, text) for at, text in _texts(was))
    # two of a moment may be one moment later; two that were told apart may not become one
    apart = all(
        _text(was.get(at, ABSENT)) == names.get(text, _text(was.get(at, ABSENT))) for at, text in _texts(now)
    )
    return together and apart


def _texts(found: Mapping[Pointer, Node]) -> Iterator[tuple[Pointer, str]]:
    return ((at, text) for at, value in found.items() if (text := _text(value)) is not None)


def _text(value: Node) -> str | None:
    if isinstance(value, Number):
        return value.number
    return value if isinstance(value, str) else None


def _fits(rule: Volatile, pointer: Pointer, before: str, after: str) -> bool:
    grammar = _COMPILED[rule.grammar]
    if not (grammar.fullmatch(before) and grammar.fullmatch(after)):
        return False
    if rule.grammar in _DATED and not (_is_time(rule.grammar, before) and _is_time(rule.grammar, after)):
        return False
    if rule.grammar in _SAME_LENGTH and len(before) != len(after):
        return False
    return _glob(rule.pointer).fullmatch("\0".join(("", *pointer)).lower()) is not None


def _is_time(grammar: str, text: str) -> bool:
    """Return whether the calendar and the clock have it: 31 Feb and 25:00 are mistakes, and no times."""
    if grammar == "http-date":
        day, month, year = int(text[5:7]), _MONTH_NAMES.index(text[8:11]) + 1, int(text[12:16])
        clock = text[17:25]
    else:
        year, month, day, clock = int(text[:4]), int(text[5:7]), int(text[8:10]), text[11:19]
    try:
        said = date(year, month, day)
    except ValueError:
        return False
    hour, minute, second = map(int, clock.split(":"))
    weekday = grammar != "http-date" or _DAY_NAMES[said.weekday()] == text[:3]
    return weekday and hour < 24 and minute < 60 and second <= 60  # a leap second


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Matcher:
    return Matcher(patterns)


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A pointer glob: ``*`` is one step or a part of one, ``**`` any number of steps; case does not count."""
    out = []
    for part in pattern.lower().removeprefix("/").split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        if part == "**":
            out.append("(?:\0[^\0]*)*")
        else:
            out.append("\0" + "[^\0]*".join(map(re.escape, part.split("*"))))
    return re.compile("".join(out), re.DOTALL)
