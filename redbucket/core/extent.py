"""How many different values an expression of a test stands for: literals, dimensions, supplies."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

MANY = math.inf
# 3!: the smallest complete domain that nobody writes down value by value. Fewer could as well be listed.
LEAST = 6


@dataclass(frozen=True)
class Supply:
    """What a collection, a generator or a strategy gives, one after the other.

    ``listed``: each value stands in the source or in a data file; ``whole``: it is all of its type;
    ``made``: the project's code makes the values; ``drawn``: by Hypothesis. ``turns`` are the keys of the dimensions
    that are gone through to make the values, where those are known.
    """

    size: float
    listed: bool = False
    whole: bool = False
    made: bool = False
    drawn: bool = False
    turns: frozenset[int] = frozenset()


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
    ``closure``: the names around a function that is defined within another.
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
    closure: Mapping[str, Value] | None = field(default=None, compare=False)
    parts: tuple[Value, ...] = ()

    @property
    def everywhere(self) -> frozenset[Dimension]:
        """Return all dimensions that had a part in it."""
        return self.over | self.within


NOTHING = Value()


@dataclass(frozen=True)
class Left:
    """How many values a condition leaves of a dimension; ``named``: each of them stands in the condition."""

    size: float
    named: bool = False


Pins = Mapping[int, Left]


def left_of(one: Dimension, pins: Pins) -> Dimension:
    """Return what conditions leave of a dimension."""
    pin = pins.get(one.key)
    if pin is None or pin.size > one.size:
        return one
    return replace(one, size=pin.size, listed=one.listed or pin.named)


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


def along(value: Value, one: Dimension) -> Value:
    """Return what goes through the elements of ``value``, of which ``one`` is the dimension.

    What was gone through to make the elements is gone through again by that; what varies inside of each is still
    gathered in it.
    """
    turns = value.supply.turns if value.supply is not None else frozenset[int]()
    within = frozenset(d for d in value.within if d.key not in turns)
    found = Value(over=value.over | {one}, within=within, reached=value.reached)
    if (value.supply is not None and value.supply.made) or value.reached & {d.key for d in value.within}:
        return replace(found, subject=True, reached=found.reached | {one.key})
    return found


def both(supplies: Sequence[Supply]) -> Supply:
    """Return what several collections give together: a table, unless enough of it is generated to be a domain."""
    generated = sum(s.size for s in supplies if not s.listed)
    return Supply(
        sum(s.size for s in supplies),
        listed=generated < LEAST,
        made=any(s.made for s in supplies),
        turns=frozenset().union(*(s.turns for s in supplies)),
    )


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
        part = left_of(one, pins).size
        if part == 0:
            return 0
        size *= part
    return size


def is_domain(dimensions: Iterable[Dimension], pins: Pins) -> bool:
    """Return whether the dimensions are a domain, not values that are listed, and not a handful.

    Two lists that are combined, each with each, are generated combinations; one list is a table.
    """
    live = [d for d in (left_of(d, pins) for d in dimensions) if d.size > 1]
    if any(d.whole and d.key not in pins for d in live):
        return True
    if not live or (len(live) == 1 and live[0].listed):
        return False
    return size_of(live, {}) >= LEAST


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
