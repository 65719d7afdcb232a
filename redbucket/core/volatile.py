"""Places of a fixture that a policy declares volatile, and whether a change stays within them.

A rule only shortens a human's review: it never locks anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from redbucket.core.nodediff import ABSENT, Moved, Pointer, leaves
from redbucket.core.nodes import Node, Number
from redbucket.core.paths import Matcher
from redbucket.core.policy import Volatile

_DAYS, _MONTHS = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
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
_SAME_LENGTH = frozenset({"hex", "token"})


def stays_volatile(
    path: str, moved: Sequence[Moved], old: Node, new: Node, rules: Iterable[Volatile]
) -> bool:
    """Return whether every difference is at a place that a rule declares, within its grammar.

    A value that stood at several places must have moved at all of them, to one new value.
    """
    mine = [rule for rule in rules if _matcher(rule.paths).matches(path)]
    if not mine or not moved:
        return False
    became: dict[str, str] = {}
    for each in moved:
        before, after = _text(each.old), _text(each.new)
        if before is None or after is None or type(each.old) is not type(each.new):
            return False
        if not any(_fits(rule, each.pointer, before, after) for rule in mine):
            return False
        if became.setdefault(before, after) != after:
            return False
    now = dict(leaves(new))
    for pointer, value in leaves(old):
        text = _text(value)
        if text in became and _text(now.get(pointer, ABSENT)) != became[text]:
            return False
    return True


def _text(value: Node) -> str | None:
    if isinstance(value, Number):
        return value.number
    return value if isinstance(value, str) else None


def _fits(rule: Volatile, pointer: Pointer, before: str, after: str) -> bool:
    grammar = _COMPILED[rule.grammar]
    if not (grammar.fullmatch(before) and grammar.fullmatch(after)):
        return False
    if rule.grammar in _SAME_LENGTH and len(before) != len(after):
        return False
    return _glob(rule.pointer).fullmatch("\0".join(("", *pointer)).lower()) is not None


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
