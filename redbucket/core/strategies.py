"""What a Hypothesis strategy can draw, as far as its source tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from redbucket.core.extent import MANY, Supply, Value

MODULES = ("hypothesis.strategies", "hypothesis.extra", "hypothesis_jsonschema", "hypothesis.stateful")
_COLLECTIONS = frozenset({"lists", "sets", "frozensets", "iterables", "dictionaries", "text", "binary"})
_MADE = frozenset({"builds", "from_type", "recursive", "deferred", "runner", "from_model", "from_form"})


def is_strategy(name: str) -> bool:
    """Return whether a dotted name is of a module of strategies."""
    return name.startswith(tuple(f"{module}." for module in MODULES))


def strategy(
    name: str, args: Sequence[Value], options: Mapping[str, Value], same: bool, fixed: str | None
) -> Supply:
    """Return what a strategy can draw.

    ``same``: it has a lower and an upper bound, and both are one expression; ``fixed`` is the text of its first
    argument where that is a string.
    """
    short = name.rpartition(".")[2]
    parts = [value.supply for value in (*args, *options.values()) if value.supply is not None]
    if same:
        return Supply(1, drawn=True)
    if short in ("just", "none"):
        return Supply(1, listed=True, drawn=True)
    if short == "nothing":
        return Supply(0, drawn=True)
    if short == "booleans":
        return Supply(2, whole=True, drawn=True)
    if short in ("integers", "decimals", "floats", "fractions"):
        return Supply(_between(short, args, options), drawn=True)
    if short in ("sampled_from", "permutations") and args:
        return _of_collection(short, args[0])
    if short == "one_of":
        nested = [v.supply for a in args for v in a.parts if v.supply]
        return either([s for s in (*parts, *nested) if s.drawn])
    if short in ("tuples", "fixed_dictionaries", "builds"):
        return _product(short, args, options)
    if short in _COLLECTIONS:
        return _collection(short, args, options, parts, fixed)
    if short == "from_regex" and fixed is not None:
        literal = fixed.strip("^$").replace("\\A", "").replace("\\Z", "")
        return Supply(1 if literal.replace(" ", "").replace("_", "").isalnum() else MANY, drawn=True)
    if short == "shared" and parts:
        return parts[0]
    return Supply(MANY, made=short in _MADE, drawn=True)


def either(parts: Sequence[Supply]) -> Supply:
    """Return what one of several strategies gives."""
    if not parts:
        return Supply(MANY, drawn=True)
    return Supply(
        sum(p.size for p in parts),
        listed=all(p.listed for p in parts),
        whole=any(p.whole for p in parts),
        made=any(p.made for p in parts),
        drawn=True,
    )


def _between(short: str, args: Sequence[Value], options: Mapping[str, Value]) -> float:
    low = args[0] if args else options.get("min_value")
    high = args[1] if len(args) > 1 else options.get("max_value")
    if low is None or high is None or low.number is None or high.number is None:
        return MANY
    if short != "integers":
        return 1 if low.number == high.number else MANY
    return max(0.0, high.number - low.number + 1)


def _of_collection(short: str, given: Value) -> Supply:
    supply = given.supply
    if supply is None:
        return Supply(MANY, made=given.subject, drawn=True)
    if short == "permutations":
        size = math.factorial(int(supply.size)) if supply.size < 20 else MANY
        return Supply(size, drawn=True)
    return Supply(supply.size, supply.listed, supply.whole, supply.made or given.subject, drawn=True)


def _product(short: str, args: Sequence[Value], options: Mapping[str, Value]) -> Supply:
    given = [*args, *options.values()]
    if short == "builds":
        given = [value for value in given[1:] if value.supply] if args else given
        if not any(value.supply for value in given):
            # without arguments a constructor's annotations say what is drawn; a lambda has none
            return Supply(1 if args and args[0].code is not None else MANY, made=True, drawn=True)
    inner = [v.supply for value in given for v in (value.parts or (value,)) if v.supply and v.supply.drawn]
    if not inner:
        return Supply(1, drawn=True)
    live = sum(s.size > 1 for s in inner)
    return Supply(
        math.prod(s.size for s in inner),
        listed=live < 2 and all(s.listed for s in inner),
        whole=live == 1 and any(s.whole for s in inner),
        made=short == "builds" or any(s.made for s in inner),
        drawn=True,
    )


def _collection(
    short: str,
    args: Sequence[Value],
    options: Mapping[str, Value],
    parts: Sequence[Supply],
    fixed: str | None,
) -> Supply:
    shortest, longest = (_bound(options, key) for key in ("min_size", "max_size"))
    if longest == 0:
        return Supply(1, drawn=True)
    element = parts[0].size if parts else MANY
    if short == "text" and fixed is not None:
        element = len(set(fixed))
    if element <= 1:
        if short in ("sets", "frozensets"):
            return Supply(1 if (shortest or 0) >= 1 else 2, drawn=True)
        lengths = MANY if longest is None else longest - (shortest or 0) + 1
        return Supply(lengths, drawn=True)
    if longest is not None:
        return Supply(element ** min(longest, 64), made=any(p.made for p in parts), drawn=True)
    return Supply(MANY, made=any(p.made for p in parts), drawn=True)


def _bound(options: Mapping[str, Value], key: str) -> float | None:
    value = options.get(key)
    return value.number if value is not None else None
