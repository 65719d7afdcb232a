"""How many different values an expression of a test stands for: literals, dimensions, supplies."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

MANY = math.inf
# 3!: the smallest complete domain that nobody writes down value by value. Fewer could as well be listed.
LEAST = 6


@dataclass(frozen=True)
class Supply:
    """What a collection, a generator or a strategy gives, one after the other.

    ``listed``: each value stands in the source or in a data file; ``whole``: it is all of its type;
    ``made``: the project's code makes the values; ``drawn``: by Hypothesis.
    """

    size: float
    listed: bool = False
    whole: bool = False
    made: bool = False
    drawn: bool = False


@dataclass(frozen=True)
class Dimension:
    """Something that a test goes through: a loop, a parameter, a drawn value."""

    key: int
    name: str
    size: float
    listed: bool = False
    whole: bool = False
    drawn: bool = False
    pinned: bool = True


@dataclass(frozen=True)
class Value:
    """What is known of an expression.

    ``over`` are the dimensions that it varies along; ``within`` those that were gone through and gathered in one
    value (a comprehension). ``subject``: code under test had a part in it, and ``reached`` are the keys of the
    dimensions that went into that code. ``draws`` is "pinned" or "unpinned"
    for a source of random values. ``tabled``: looked up in a table. ``data``: Hypothesis's object to draw from.
    ``instance``: an object of a class under test. ``itself``: it is what a loop or a strategy gives, as it is.
    """

    over: frozenset[Dimension] = frozenset()
    within: frozenset[Dimension] = frozenset()
    subject: bool = False
    reached: frozenset[int] = frozenset()
    supply: Supply | None = None
    number: float | None = None
    plain: bool = False
    tabled: bool = False
    draws: str = ""
    data: bool = False
    itself: bool = False
    instance: bool = False
    dotted: str = ""
    code: ast.AST | None = None
    home: object = None
    parts: tuple[Value, ...] = ()

    @property
    def everywhere(self) -> frozenset[Dimension]:
        """Return all dimensions that had a part in it."""
        return self.over | self.within


NOTHING = Value()
Pins = Mapping[int, float]


def join(values: Iterable[Value]) -> Value:
    """Return what is known of something made of ``values``."""
    known = list(values)
    return Value(
        over=frozenset().union(*(v.over for v in known)),
        within=frozenset().union(*(v.within for v in known)),
        subject=any(v.subject for v in known),
        reached=frozenset().union(*(v.reached for v in known)),
        plain=bool(known) and all(v.plain for v in known),
        tabled=any(v.tabled for v in known),
    )


def columns(rows: Value, count: int) -> list[Value] | None:
    """Return what each of ``count`` places of listed rows stands for, ``None`` if the rows are not spelled out so."""
    if not rows.parts or any(len(row.parts) != count for row in rows.parts):
        return None
    return [join(row.parts[place] for row in rows.parts) for place in range(count)]


def tested(value: Value) -> Value:
    """Return what code under test makes of ``value``: all that varies in it has reached that code."""
    return replace(value, subject=True, reached=value.reached | {one.key for one in value.everywhere})


def forall(value: Value) -> Value:
    """Return ``all(value)``: what it gathered is gone through after all."""
    return replace(value, over=value.everywhere, within=frozenset(), supply=None, parts=())


def size_of(dimensions: Iterable[Dimension], pins: Pins) -> float:
    """Return how many combinations there are once conditions have narrowed the dimensions."""
    size = 1.0
    for one in dimensions:
        part = min(one.size, pins.get(one.key, MANY))
        if part == 0:
            return 0
        size *= part
    return size


def is_domain(dimensions: Iterable[Dimension], pins: Pins) -> bool:
    """Return whether the dimensions are a domain, not values that are listed, and not a handful.

    Two lists that are combined, each with each, are generated combinations; one list is a table.
    """
    live = [d for d in dimensions if min(d.size, pins.get(d.key, MANY)) > 1]
    if any(d.whole and d.key not in pins for d in live):
        return True
    if not live or (len(live) == 1 and live[0].listed):
        return False
    return size_of(live, pins) >= LEAST


@dataclass(frozen=True)
class Check:
    """One thing that a test asks: an assertion, an expected error, or only that nothing is raised."""

    node: ast.AST
    dimensions: frozenset[Dimension]
    subject: bool
    pins: Pins = field(default_factory=dict)
    kind: str = "assert"
    tabled: bool = False

    @property
    def line(self) -> int:
        """Return the line it stands in."""
        return getattr(self.node, "lineno", 1)
