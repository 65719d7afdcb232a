"""Conditions of which one holds only where the other does, as far as that is plain to see from their text.

That ``len(found) == 3`` says more than ``len(found) > 0`` rests on numbers that are compared as numbers are. An object
that equals everything makes both of them worthless.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from redbucket.core.assertions import callee
from redbucket.core.pytree import shape
from redbucket.core.tolerances import narrower

# Said of an expression that is looked at besides: whether it changes nothing that comes after it.
Harmless = Callable[[ast.expr], bool]
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Is: ast.Is,
    ast.IsNot: ast.IsNot,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
_ABOVE = (ast.Gt, ast.GtE)
_BELOW = (ast.Lt, ast.LtE)
_Literal = int | float | str | bytes | None | tuple["_Literal", ...]


def implies(new: ast.expr, old: ast.expr, harmless: Harmless) -> bool:
    """Return whether ``old`` holds wherever ``new`` does, and ``new`` works out what ``old`` did in the same order.

    What ``new`` looks at besides has to be ``harmless``.
    """
    if shape(new) == shape(old):
        return True
    if isinstance(new, ast.BoolOp) and isinstance(new.op, ast.And):
        return _all_of(new.values, _parts(old, ast.And), harmless)
    if isinstance(old, ast.BoolOp) and isinstance(old.op, ast.Or):
        # the first that holds ends it: only the last that is left may say more
        parts = _parts(new, ast.Or)
        return (
            len(parts) <= len(old.values)
            and all(shape(a) == shape(b) for a, b in zip(parts[:-1], old.values, strict=False))
            and implies(parts[-1], old.values[len(parts) - 1], harmless)
        )
    if isinstance(new, ast.Compare):
        return _by_comparing(new, old, harmless)
    if isinstance(old, ast.Compare) and len(old.ops) == 1 and isinstance(old.ops[0], ast.IsNot):
        return _is_none(old.comparators[0]) and shape(old.left) == shape(new)
    if callee(new) == callee(old) == "isinstance":
        return _of_fewer_classes(new, old)
    return narrower(old, new)


def _parts(node: ast.expr, kind: type[ast.boolop]) -> list[ast.expr]:
    return node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, kind) else [node]


def _all_of(new: list[ast.expr], old: list[ast.expr], harmless: Harmless) -> bool:
    at = 0
    for part in new:
        if at < len(old) and implies(part, old[at], harmless):
            at += 1
        elif not harmless(part):
            return False
    return at == len(old)


def _by_comparing(new: ast.Compare, old: ast.expr, harmless: Harmless) -> bool:
    if isinstance(old, ast.Compare) and len(old.ops) < len(new.ops):  # a == b became a == b == c
        count = len(old.ops)
        first = ast.Compare(new.left, new.ops[:count], new.comparators[:count])
        return shape(first) == shape(old) and all(map(harmless, new.comparators[count:]))
    if len(new.ops) != 1:
        return False
    if isinstance(old, ast.Compare):
        return len(old.ops) == 1 and (_tells_more(new, old) or _equals_nearer(new, old))
    told = _sides(new)
    if told is None or not isinstance(told[1], (ast.Eq, ast.Is)):
        return False
    if isinstance(old, ast.UnaryOp) and isinstance(old.op, ast.Not):
        return shape(told[0]) == shape(old.operand) and not told[2]
    return shape(told[0]) == shape(old) and bool(told[2])


def _tells_more(new: ast.Compare, old: ast.Compare) -> bool:
    if isinstance(old.ops[0], ast.In) and _contained(new, old):
        return True
    was, now = _sides(old), _sides(new)
    if was is None or now is None or shape(was[0]) != shape(now[0]):
        return False
    return _excludes_more(was[1], was[2], now[1], now[2])


def _excludes_more(was: ast.cmpop, bound: object, now: ast.cmpop, other: object) -> bool:
    """Return whether what is ``now other`` is always ``was bound``, too."""
    if isinstance(was, ast.IsNot) and bound is None:
        return isinstance(now, (ast.Eq, ast.Is)) and other is not None
    if isinstance(was, ast.Eq):
        return isinstance(now, ast.Is) and bound is other and bound in (None, True, False)
    if isinstance(was, ast.In):
        if not isinstance(bound, tuple):
            return False
        if isinstance(now, ast.In):
            return isinstance(other, tuple) and all(_among(one, bound) for one in other)
        return isinstance(now, (ast.Eq, ast.Is)) and _among(other, bound)
    numbers = all(isinstance(one, (int, float)) for one in (bound, other))
    if isinstance(was, ast.NotEq):
        if isinstance(now, ast.Eq):
            return bound != other and (numbers or type(bound) is type(other))
        return numbers and isinstance(now, (ast.Gt, ast.Lt)) and bound == other
    if not numbers:
        return False
    assert isinstance(bound, (int, float))
    assert isinstance(other, (int, float))
    if isinstance(was, _ABOVE):
        if not isinstance(now, (*_ABOVE, ast.Eq)):
            return False
        touches = isinstance(was, ast.GtE) or isinstance(now, ast.Gt)
        return other >= bound if touches else other > bound
    if isinstance(was, _BELOW):
        if not isinstance(now, (*_BELOW, ast.Eq)):
            return False
        touches = isinstance(was, ast.LtE) or isinstance(now, ast.Lt)
        return other <= bound if touches else other < bound
    return False


def _among(one: object, many: tuple[object, ...]) -> bool:
    return any(type(one) is type(other) and one == other for other in many)


def _contained(new: ast.Compare, old: ast.Compare) -> bool:
    """Return whether ``"a" in text`` became ``"ab" in text`` or ``text == "cab"``."""
    part = _text(old.left)
    if part is None:
        return False
    op, left, right = new.ops[0], new.left, new.comparators[0]
    if isinstance(op, ast.Eq) and shape(right) == shape(old.comparators[0]):
        left, right = right, left
    subject, whole = (right, left) if isinstance(op, ast.In) else (left, right)
    text = _text(whole)
    if text is None or not isinstance(op, (ast.In, ast.Eq)) or shape(subject) != shape(old.comparators[0]):
        return False
    return (isinstance(part, str) and isinstance(text, str) and part in text) or (
        isinstance(part, bytes) and isinstance(text, bytes) and part in text
    )


def _equals_nearer(new: ast.Compare, old: ast.Compare) -> bool:
    """Return whether both say that something equals about the same number, and ``new`` more nearly."""
    if not (isinstance(old.ops[0], ast.Eq) and isinstance(new.ops[0], ast.Eq)):
        return False
    sides = zip([old.left, old.comparators[0]], [new.left, new.comparators[0]], strict=True)
    differ = [(was, now) for was, now in sides if shape(was) != shape(now)]
    return len(differ) == 1 and narrower(*differ[0])


def _of_fewer_classes(new: ast.expr, old: ast.expr) -> bool:
    assert isinstance(new, ast.Call)
    assert isinstance(old, ast.Call)
    if len(new.args) != 2 or len(old.args) != 2 or shape(new.args[0]) != shape(old.args[0]):
        return False
    classes = [set(map(shape, getattr(call.args[1], "elts", [call.args[1]]))) for call in (new, old)]
    return bool(classes[0]) and classes[0] <= classes[1]


def _sides(node: ast.Compare) -> tuple[ast.expr, ast.cmpop, _Literal] | None:
    """Return what is compared with a literal, how, and the literal; None if neither side is one."""
    op = node.ops[0]
    for subject, other, sign in (
        (node.left, node.comparators[0], type(op)),
        (node.comparators[0], node.left, _FLIPPED.get(type(op))),
    ):
        if sign is not None and (found := _literal(other)) is not None:
            return subject, sign(), found[0]
    return None


def _literal(node: ast.expr) -> tuple[_Literal] | None:
    """Return (value,) of a literal, with lists and sets as tuples; None for anything else."""
    try:
        value = ast.literal_eval(node)
        return (_frozen(value),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _frozen(value: object) -> _Literal:
    if isinstance(value, (list, tuple, set)):
        return tuple(_frozen(one) for one in value)
    if value is None or isinstance(value, (int, float, str, bytes)):
        return value
    raise TypeError(f"{type(value).__name__} is not compared here")


def _text(node: ast.expr) -> str | bytes | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
