"""Which dimensions a condition narrows to values that the source names."""

from __future__ import annotations

import ast
from collections.abc import Callable

from redbucket.core.extent import MANY, Pins, Value

Evaluate = Callable[[ast.expr], Value]
# They tell different values apart, so that one result means one argument.
_TELLING = frozenset({"str", "repr", "int", "float", "hash", "abs", "tuple", "list", "ascii"})


def pins(condition: ast.expr, evaluate: Evaluate, *, holds: bool = True) -> dict[int, float]:
    """Return {dimension: how many values are left} where ``condition`` is known to hold, or not to."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return pins(condition.operand, evaluate, holds=not holds)
    if isinstance(condition, ast.BoolOp):
        every = isinstance(condition.op, ast.And) == holds
        parts = [pins(part, evaluate, holds=holds) for part in condition.values]
        return _all(parts) if every else _any(parts)
    if isinstance(condition, ast.Compare):
        return _compared(condition, evaluate, holds)
    return {}


def narrowed(one: Pins, other: Pins) -> dict[int, float]:
    """Return both narrowings together."""
    return _all([one, other])


def _all(parts: list[dict[int, float]] | list[Pins]) -> dict[int, float]:
    found: dict[int, float] = {}
    for part in parts:
        for key, size in part.items():
            found[key] = min(size, found.get(key, MANY))
    return found


def _any(parts: list[dict[int, float]]) -> dict[int, float]:
    shared = set.intersection(*(set(part) for part in parts)) if parts else set()
    return {key: sum(part[key] for part in parts) for key in shared}


def _compared(node: ast.Compare, evaluate: Evaluate, holds: bool) -> dict[int, float]:
    if len(node.ops) > 1:
        return _range(node, evaluate) if holds else {}
    operator, left, right = node.ops[0], node.left, node.comparators[0]
    equal = ast.Eq if holds else ast.NotEq
    same = ast.Is if holds else ast.IsNot
    member = ast.In if holds else ast.NotIn
    if isinstance(operator, (equal, same)):
        for side, other in ((left, right), (right, left)):
            if not evaluate(other).everywhere:
                found = _bare(side, evaluate)
                if found:
                    return dict.fromkeys(found, 1.0)
    if isinstance(operator, member):
        supply = evaluate(right).supply
        if supply is not None and supply.listed:
            return dict.fromkeys(_bare(left, evaluate), supply.size)
    return {}


def _range(node: ast.Compare, evaluate: Evaluate) -> dict[int, float]:
    """``7 <= n <= 7``, ``6 < n < 8``: whole numbers in between."""
    if len(node.ops) != 2:
        return {}
    low, high = evaluate(node.left).number, evaluate(node.comparators[1]).number
    if low is None or high is None:
        return {}
    strict = sum(isinstance(op, (ast.Lt, ast.Gt)) for op in node.ops)
    return dict.fromkeys(_bare(node.comparators[0], evaluate), max(0.0, abs(high - low) + 1 - strict))


def _bare(node: ast.expr, evaluate: Evaluate) -> set[int]:
    """Return the dimensions of which ``node`` is the value itself, or tells which value it is."""
    while True:
        if isinstance(node, ast.Call) and len(node.args) == 1 and getattr(node.func, "id", "") in _TELLING:
            node = node.args[0]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.BitXor)):
            sides = [side for side in (node.left, node.right) if evaluate(side).everywhere]
            if len(sides) != 1:
                return set()
            node = sides[0]
        else:
            break
    if isinstance(node, (ast.Tuple, ast.List)):
        return set().union(*(_bare(part, evaluate) for part in node.elts)) if node.elts else set()
    if isinstance(node, ast.Name):
        value = evaluate(node)
        return {one.key for one in value.over} if value.itself else set()
    return set()
