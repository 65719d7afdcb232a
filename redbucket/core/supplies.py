"""What well-known generators of values supply: Python's own, itertools, NumPy, sources of random values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from redbucket.core.extent import MANY, Supply, Value

# They hand on what they are given, in whatever order.
_THROUGH = frozenset(
    {
        *("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "enumerate", "map", "filter"),
        *("itertools.cycle", "itertools.accumulate", "itertools.starmap", "itertools.pairwise"),
        *("itertools.chain.from_iterable", "dict", "itertools.takewhile", "itertools.dropwhile"),
    }
)
_GRIDS = {"linspace": 2, "logspace": 2, "geomspace": 2}
_RANDOM_MODULES = ("random.", "numpy.random.", "np.random.")
_SOURCES = frozenset(
    {"random.Random", "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator"}
)
UNPINNED = ("secrets.", "os.urandom", "uuid.uuid1", "uuid.uuid4")


def supply_of(name: str, args: Sequence[Value], options: Mapping[str, Value]) -> Supply | None:
    """Return what a call of the function ``name`` gives when it is gone through, None if that is not known."""
    short = name.removeprefix("builtins.")
    if short == "range":
        return Supply(_range(args))
    if short in ("range.index", "itertools.count"):
        return Supply(MANY)
    known = [value.supply for value in args]
    given = [supply for supply in known if supply is not None]
    if short == "enumerate" and given:
        return given[0]
    if short in ("map", "filter") and given:
        return _same(given[-1])
    if short in _THROUGH:
        return given[0] if given else None
    if short == "zip" and given:
        return Supply(min(s.size for s in given), listed=any(s.listed for s in given))
    if short == "itertools.islice" and given and len(args) > 1:
        return Supply(min(given[0].size, _number(args[-1], MANY)), listed=given[0].listed)
    if short == "itertools.repeat":
        return Supply(1, listed=True)
    if short in ("itertools.chain", "itertools.zip_longest") and given:
        return Supply(sum(s.size for s in given), listed=all(s.listed for s in given))
    return _combined(short, given, args, options)


def _combined(
    short: str, given: Sequence[Supply], args: Sequence[Value], options: Mapping[str, Value]
) -> Supply | None:
    if short == "itertools.product" and given:
        times = _number(options.get("repeat"), 1)
        size = math.prod(s.size for s in given) ** times
        live = sum(s.size > 1 for s in given) * times
        return Supply(size, listed=all(s.listed for s in given) and live < 2)
    if short.startswith("itertools.") and given:
        count = given[0].size
        if count == MANY:
            return Supply(MANY)
        length = int(_number(args[1] if len(args) > 1 else options.get("r"), count))
        whole = int(count)
        if short == "itertools.permutations":
            return Supply(math.perm(whole, length))
        if short == "itertools.combinations":
            return Supply(math.comb(whole, length))
        if short == "itertools.combinations_with_replacement":
            return Supply(math.comb(whole + length - 1, length))
    return None


def _same(supply: Supply) -> Supply:
    return Supply(supply.size, supply.listed, supply.whole)


def _range(args: Sequence[Value]) -> float:
    numbers = [value.number for value in args]
    if not numbers or any(number is None for number in numbers):
        return MANY
    try:
        return len(range(*(int(number) for number in numbers if number is not None)))
    except (ValueError, OverflowError, TypeError):
        return MANY


def _number(value: Value | None, otherwise: float) -> float:
    return otherwise if value is None or value.number is None else value.number


def grid_size(name: str, args: Sequence[Value], options: Mapping[str, Value]) -> float | None:
    """Return how many values an array-making function of NumPy gives, None for any other function."""
    module, _, short = name.rpartition(".")
    if module not in ("numpy", "np", "torch", "jax.numpy"):
        return None
    if short in _GRIDS:
        given = args[_GRIDS[short]] if len(args) > _GRIDS[short] else options.get("num")
        return _number(given, 50)
    if short == "arange":
        return _range(args)
    return MANY if short in ("meshgrid", "indices", "mgrid") else None


def random_source(name: str, args: Sequence[Value], options: Mapping[str, Value]) -> str:
    """Return "pinned" or "unpinned" for what makes a source of random values, "" for anything else.

    The global generators count as pinned: TEST_SEED seeds them before each test.
    """
    if name in _SOURCES:
        seeds = [*args, *options.values()]
        return "pinned" if seeds and not any(value.dotted.endswith("None") for value in seeds) else "unpinned"
    if name == "random.SystemRandom":
        return "unpinned"
    return "pinned" if name in ("faker.Faker", "faker.Factory.create", "mimesis.Generic") else ""


def random_draw(name: str) -> str:
    """Return "pinned" or "unpinned" for a function that draws a random value, "" for any other."""
    if name in _SOURCES or name == "random.SystemRandom":
        return ""
    if name.startswith(UNPINNED):
        return "unpinned"
    if name.startswith(_RANDOM_MODULES) and not name.endswith((".seed", ".Random", ".shuffle")):
        return "pinned"
    return ""


def drawn_values(method: str, args: Sequence[Value], options: Mapping[str, Value], loops: float) -> Supply:
    """Return what one call of a random source's method gives, over all turns of the loops around it."""
    size = options.get("size")
    if size is not None:
        return Supply(max(loops, _number(size, MANY)))
    if method in ("choice", "choices", "sample") and args and args[0].supply is not None:
        few = args[0].supply
        return Supply(min(loops, few.size), listed=few.listed)
    numbers = [value.number for value in args]
    if method in ("randint", "uniform", "integers", "randrange") and len(numbers) > 1 and None not in numbers:
        low, high = (float(number or 0) for number in numbers[:2])
        span = high - low + 1 if method != "uniform" else (1 if high == low else MANY)
        return Supply(max(1.0, min(loops, span - (method in ("integers", "randrange")))))
    return Supply(loops)
