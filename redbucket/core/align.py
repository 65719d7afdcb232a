"""Puts the same test of several runs under one name.

A parameter's id may hold something that differs by process (a random value, a
time). Such a test is not new in one run and missing in the next: its rows are
aligned by function and position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def function_of(nodeid: str) -> str:
    """Return the node id without the parameters' part."""
    head, bracket, _ = nodeid.partition("[")
    return head if bracket else nodeid


def unstable_functions(orders: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the functions whose ids differ between runs of one tree, but not in number."""
    if len(orders) < 2:
        return frozenset()
    common = set(orders[0]).intersection(*orders[1:])
    counts = [_count(function_of(i) for i in order) for order in orders]
    suspects = {function_of(i) for order in orders for i in order if i not in common and "[" in i}
    return frozenset(f for f in suspects if len({c.get(f, 0) for c in counts}) == 1)


def _count(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def names(order: Iterable[str], unstable: frozenset[str]) -> dict[str, str]:
    """Return {id in this run: common name}."""
    if not unstable:
        return {i: i for i in order}
    seen: dict[str, int] = {}
    result: dict[str, str] = {}
    for nodeid in order:
        function = function_of(nodeid)
        if function in unstable and "[" in nodeid:
            seen[function] = seen.get(function, 0) + 1
            result[nodeid] = f"{function}[#{seen[function]}]"
        else:
            result[nodeid] = nodeid
    return result
