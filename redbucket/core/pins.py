"""Which dimensions a condition narrows to values that the source names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from redbucket.core.extent import Left, Pins, Value

Evaluate = Callable[[ast.expr], Value]
# They tell different values apart, so that one result means one argument.
_TELLING = frozenset({"str", "repr", "int", "float", "hash", "abs", "tuple", "list", "ascii"})


def pins(condition: ast.expr, evaluate: Evaluate, *, holds: bool = True) -> dict[int, Left]:
    """Return {dimension: what is left of its values} where ``condition`` is known to hold, or not to."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return pins(condition.operand, evaluate, holds=not holds)
    if isinstance(condition, ast.BoolOp):
        every = isinstance(condition.op, ast.And) == holds
        parts = [pins(part, evaluate, holds=holds) for part in condition.values]
        return narrowed(*parts) if every else either(parts)
    if isinstance(condition, ast.Compare):
        return _compared(condition, evaluate, holds)
    return {}


def narrowed(*parts: Pins) -> dict[int, Left]:
    """Return several narrowings together."""
    found: dict[int, Left] = {}
    for part in parts:
        for key, left in part.items():
            known = found.get(key)
            found[key] = left if known is None or left.size < known.size else known
    return found


def either(parts: Sequence[Pins]) -> dict[int, Left]:
    """Return what is left where one of several narrowings holds."""
    shared = set.intersection(*(set(part) for part in parts)) if parts else set()
    return {
        key: Left(sum(part[key].size for part in parts), all(part[key].named for part in parts))
        for key in shared
    }


def _compared(node: ast.Compare, evaluate: Evaluate, holds: bool) -> dict[int, Left]:
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
                    return dict.fromkeys(found, Left(1, named=True))
    if isinstance(operator, member):
        supply = evaluate(right).supply
        if supply is not None and supply.listed:
            return dict.fromkeys(_bare(left, evaluate), Left(supply.size, named=True))
    return {}


def _range(node: ast.Compare, evaluate: Evaluate) -> dict[int, Left]:
    """``7 <= n <= 7``, ``6 < n < 8``: whole numbers in between."""
    if len(node.ops) != 2:
        return {}
    low, high = evaluate(node.left).number, evaluate(node.comparators[1]).number
    if low is None or high is None:
        return {}
    strict = sum(isinstance(op, (ast.Lt, ast.Gt)) for op in node.ops)
    left = Left(max(0.0, abs(high - low) + 1 - strict))
    return dict.fromkeys(_bare(node.comparators[0], evaluate), left)


def matched(subject: ast.expr, case: ast.match_case, evaluate: Evaluate) -> dict[int, Left]:
    """Return what is left of the dimensions of ``match subject`` where a case is taken."""
    guard = pins(case.guard, evaluate) if case.guard is not None else {}
    return narrowed(_pattern(subject, case.pattern, evaluate), guard)


def _pattern(subject: ast.expr, pattern: ast.pattern, evaluate: Evaluate) -> dict[int, Left]:
    match pattern:
        case ast.MatchValue() | ast.MatchSingleton():
            return dict.fromkeys(_bare(subject, evaluate), Left(1, named=True))
        case ast.MatchOr(patterns=some):
            return either([_pattern(subject, one, evaluate) for one in some])
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _pattern(subject, inner, evaluate)
        case ast.MatchSequence(patterns=some) if isinstance(subject, (ast.Tuple, ast.List)):
            if len(some) == len(subject.elts):
                pairs = zip(subject.elts, some, strict=True)
                return narrowed(*(_pattern(part, one, evaluate) for part, one in pairs))
    return {}


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
