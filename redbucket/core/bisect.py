"""The smallest part of a list that still does it.

By a search for prefixes where more items never undo it, else by delta debugging (Zeller and
Hildebrandt 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

Holds = Callable[[Sequence[Sequence[str]]], Sequence[bool]]
_MOST_NEEDED = 6  # beyond that delta debugging, which halves many at once, asks less


def fewest(items: Sequence[str], holds: Holds, over: Callable[[], bool] = lambda: False) -> list[str]:
    """Return the same as ``smallest``; one item among n takes log3 n rounds of two questions.

    The shortest prefix that holds ends with an item that is needed; the next is looked for before it.
    An item that undoes the effect of another makes prefixes misleading: then ``smallest`` is asked.
    """
    needed: list[str] = []
    pool = list(items)
    while pool and len(needed) < _MOST_NEEDED and not over():
        low, high = 0, len(pool)
        while high - low > 1 and not over():
            cuts = sorted({low + (high - low) * third // 3 for third in (1, 2)} - {low})
            for cut, yes in zip(cuts, holds([[*pool[:cut], *needed] for cut in cuts]), strict=True):
                if yes:
                    high = cut
                    break
                low = cut
        needed.insert(0, pool[high - 1])
        pool = pool[: high - 1]
        if holds([needed])[0]:
            return needed
    return smallest(items, holds, over)


def smallest(items: Sequence[str], holds: Holds, over: Callable[[], bool] = lambda: False) -> list[str]:
    """Return a part of ``items``, in their order, of which no single item can be left out.

    ``items`` must hold. ``holds`` answers for several parts at once, so that they can be tried
    side by side. Once ``over`` is True, the smallest part found so far is returned.
    """
    current = list(items)
    pieces = 2
    while len(current) >= 2 and not over():
        parts = _split(current, pieces)
        answers = holds(parts)
        found = next((part for part, yes in zip(parts, answers, strict=True) if yes), None)
        if found is not None:
            current, pieces = found, 2
            continue
        if pieces > 2 and not over():
            rests = [[i for other in parts if other is not part for i in other] for part in parts]
            answers = holds(rests)
            found = next((rest for rest, yes in zip(rests, answers, strict=True) if yes), None)
            if found is not None:
                current, pieces = found, max(pieces - 1, 2)
                continue
        if pieces >= len(current):
            break
        pieces = min(len(current), pieces * 2)
    return current


def _split(items: list[str], pieces: int) -> list[list[str]]:
    edges = [len(items) * n // pieces for n in range(pieces + 1)]
    return [items[a:b] for a, b in pairwise(edges)]
