"""What the expressions of a test stand for: literals, values that are gone through, results of code under test."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from redbucket.core import strategies
from redbucket.core.extent import (
    MANY,
    NOTHING,
    Dimension,
    Supply,
    Value,
    along,
    both,
    columns,
    join,
    left_of,
    tested,
)
from redbucket.core.naming import Env, Naming
from redbucket.core.pins import narrowed, pins
from redbucket.core.pytree import source_text

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_FOLDED: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: lambda a, b: float(a**b) if abs(b) < 100 and abs(a) < 1e3 else MANY,
}
# Python's recursion limit is 1000, and a level of an expression takes a few frames here.
_DEEPEST = 100


class Expressions(Naming):
    """Evaluates expressions of one file's functions."""

    def value(self, node: ast.expr | None, env: Env) -> Value:
        """Return what is known of an expression."""
        if node is None:
            return NOTHING
        self._left -= 1
        if self._depth > _DEEPEST or self._left < 0:
            return Value(subject=True)
        self._depth += 1
        try:
            return self._value(node, env)
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, env: Env) -> Value:
        match node:
            case ast.Constant(value=value):
                number = (
                    float(value) if isinstance(value, (bool, int, float)) and abs(value) < 1e300 else None
                )
                text = Supply(len(set(value)), listed=True) if isinstance(value, (str, bytes)) else None
                dotted = "builtins.None" if value is None else ""
                return Value(number=number, supply=text, plain=True, dotted=dotted)
            case ast.Name(id=name):
                return env[name] if name in env else self.named(name, self.scope)
            case ast.Attribute():
                return self.attribute(node, self.value(node.value, env), env)
            case ast.List() | ast.Tuple() | ast.Set():
                return self._collection(node.elts, env)
            case ast.Dict():
                keys = [key for key in node.keys if key is not None]
                made = self._collection(keys, env)
                return replace(join([made, *(self.value(v, env) for v in node.values)]), supply=made.supply)
            case ast.Call():
                return self.call(node, env)
            case ast.Lambda():
                return Value(code=node, home=self.scope, plain=True, closure=env)
            case ast.BinOp():
                return self._operation(node, env)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.value(operand, env)
                return replace(
                    inner, number=-inner.number if inner.number is not None else None, itself=False
                )
            case ast.Subscript():
                return self._item(node, env)
            case ast.NamedExpr(target=target, value=given):
                env[target.id] = self.value(given, env)
                return env[target.id]
            case ast.Starred(value=given) | ast.Await(value=given):
                return self.value(given, env)
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node, env)
        return _operated([self.value(c, env) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)])

    def _collection(self, elements: Sequence[ast.expr], env: Env) -> Value:
        values = [self.value(element, env) for element in elements]
        starred = [isinstance(element, ast.Starred) for element in elements]
        given = [
            (value.supply or Supply(MANY, listed=True)) if star else Supply(1, listed=True)
            for value, star in zip(values, starred, strict=True)
        ]
        return replace(
            join(values),
            supply=both(given),
            parts=() if any(starred) else tuple(values),
            plain=all(v.plain for v in values),
        )

    def _operation(self, node: ast.BinOp, env: Env) -> Value:
        left, right = self.value(node.left, env), self.value(node.right, env)
        found = _operated([left, right])
        one, other = left.supply, right.supply
        if one is not None and other is not None and isinstance(node.op, (ast.Add, ast.BitOr)):
            if one.drawn and other.drawn:
                return replace(found, supply=strategies.either([one, other]))
            return replace(found, supply=both([one, other]))
        if isinstance(node.op, ast.Mult) and (one or other) and (left.plain or right.plain):
            return replace(found, supply=one or other)  # the same values over again
        if isinstance(node.op, ast.Mult) and 0 in (left.number, right.number):
            return Value(number=0, plain=True)
        fold = _FOLDED.get(type(node.op))
        if fold is None or left.number is None or right.number is None:
            return found
        try:
            return replace(found, number=float(fold(left.number, right.number)))
        except (ArithmeticError, ValueError):
            return found

    def _item(self, node: ast.Subscript, env: Env) -> Value:
        base, index = self.value(node.value, env), self.value(node.slice, env)
        table = base.supply is not None and base.supply.listed and not base.over and base.plain
        whole = isinstance(node.slice, ast.Slice)
        found = _operated([base, index])
        if whole and base.supply is not None:
            return replace(found, supply=base.supply)
        return replace(found, tabled=base.tabled or (table and bool(index.over)))

    def _comprehension(self, node: ast.expr, env: Env) -> Value:
        assert isinstance(node, _COMPREHENSIONS)
        inner, before = dict(env), len(self.loops)
        made: list[Dimension] = []
        asked: list[Value] = []
        outer = self.pins
        for part in node.generators:
            made += self.bind_loop(part.target, self.value(part.iter, inner), inner)
            self.loops += made[len(self.loops) - before :]
            for condition in part.ifs:
                asked.append(self.value(condition, inner))
                self.pins = narrowed(self.pins, pins(condition, lambda n: self.value(n, inner)))
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        # [n for n in range(50) if f(n) != n]: what is left varies with what the condition looks at
        result = join(
            [*(self.value(element, inner) for element in elements), *(c for c in asked if c.subject)]
        )
        known = set().union(*(v.everywhere for v in env.values())) if env else set()
        gathered = {left_of(d, self.pins) for d in result.over - known}
        # [7 for _ in range(50)]: the same value over again
        turned = [left_of(d, self.pins) for d in made if d in result.over or not result.plain]
        self.pins, self.loops = outer, self.loops[:before]
        turns = Supply(
            math.prod(d.size for d in turned),
            listed=all(d.listed for d in turned),
            turns=frozenset(d.key for d in made),
        )
        return Value(
            over=result.over & known,
            within=result.within | gathered,
            subject=result.subject,
            reached=result.reached,
            tabled=result.tabled,
            supply=turns if made else None,
        )

    def bind_loop(self, target: ast.expr, given: Value, env: Env) -> list[Dimension]:
        """Bind what a loop goes through; return the dimension that it adds, if any."""
        supply = given.supply
        if supply is None or supply.drawn:
            self.bind(target, replace(given, supply=None, number=None, parts=(), plain=False), env)
            return []
        one = Dimension(
            id(target),
            source_text(target),
            supply.size,
            supply.listed,
            supply.whole,
            pinned=given.draws != "unpinned",
        )
        value = along(given, one)
        subject = value.subject or (given.subject and bool(given.everywhere))
        value = replace(value, subject=subject, itself=isinstance(target, ast.Name))
        places = columns(given, len(target.elts)) if isinstance(target, (ast.Tuple, ast.List)) else None
        if places is not None:
            parts = tuple(replace(p, over=p.over | {one}, plain=False, supply=None, parts=()) for p in places)
            value = replace(value, parts=parts)
        self.bind(target, value, env)
        return [one]

    def bind(self, target: ast.expr, value: Value, env: Env) -> None:
        """Bind a target to a value, part by part where both have parts."""
        if isinstance(target, ast.Name):
            env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = (
                value.parts
                if len(value.parts) == len(target.elts)
                else (replace(value, itself=False),) * len(target.elts)
            )
            for one, part in zip(target.elts, parts, strict=True):
                self.bind(one.value if isinstance(one, ast.Starred) else one, part, env)
        elif isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
            env[f"self.{target.attr}"] = value
        elif isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
            name = target.value.id
            env[name] = join([env.get(name, NOTHING), value])

    def call(self, node: ast.Call, env: Env) -> Value:
        """Return what a call gives."""
        raise NotImplementedError


def _operated(values: Sequence[Value]) -> Value:
    """Return what an operator makes of values: that of an object under test is code under test."""
    found = join(values)
    return tested(found) if any(value.instance for value in values) else found
