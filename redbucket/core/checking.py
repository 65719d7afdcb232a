"""What the assertions of a test check, and over which dimensions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from redbucket.core.drawing import Drawing
from redbucket.core.extent import NOTHING, Check, Value, forall, join
from redbucket.core.filescope import FileScope
from redbucket.core.naming import Env
from redbucket.core.pytree import dotted, shape

_EQUAL = (
    "Equal",
    "Equals",
    "Is",
    "In",
    "_equal",
    "_allclose",
    "Equivalent",
    "_is",
    "_called_once_with",
    "_called_with",
)


class Checking(Drawing):
    """Keeps the checks that a test makes, in order."""

    def __init__(self, scope: FileScope) -> None:
        super().__init__(scope)
        self.checks: list[Check] = []
        self._raising = 0
        self._swallowed = 0

    def check(self, test: ast.expr, node: ast.AST, env: Env) -> None:
        """Keep what an asserted expression checks."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                self.check(part, part, env)
            return
        if _always(test):
            self.value(test, env)  # it uses what it uses
            return
        found = self._compared(test, env)
        self._keep(node, found, "assert")

    def _compared(self, test: ast.expr, env: Env) -> Value:
        """Return what a condition says; two sides that are held against each other, as such."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._compared(test.operand, env)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            counted = _none_of(test)
            if counted is not None:
                return forall(self.value(counted, env))
            sides = [self.value(side, env) for side in (test.left, test.comparators[0])]
            exact = isinstance(test.ops[0], (ast.Eq, ast.Is))
            return self._against(sides, exact=exact)
        return forall(self.value(test, env))

    def _against(self, sides: Sequence[Value], *, exact: bool) -> Value:
        """Two sides of a comparison. One whole gathered value that equals a literal is a listed table."""
        found = join(sides)
        if any(side.tabled for side in sides) and exact:
            return replace(found, tabled=True)
        if exact and found.within and not all(side.everywhere for side in sides):
            literal = next((side for side in sides if not side.everywhere), NOTHING)
            sizes = {d.size for d in found.within}
            if literal.supply is not None and literal.supply.size == 0:
                return replace(forall(found), tabled=False)  # nothing of it is left: it holds for each
            # list(range(50)) is generated as what it is held against is
            made = literal.supply is not None and not literal.supply.listed and literal.supply.size in sizes
            if not made and (literal.number is None or literal.number not in sizes):
                return replace(found, within=frozenset(), tabled=not found.over)
        return replace(forall(found), tabled=False)

    def _method(self, node: ast.Call, name: str, env: Env) -> None:
        args = [self.value(a, env) for a in (*node.args, *(k.value for k in node.keywords))]
        base = self.value(node.func, env)
        shapes = {shape(a) for a in node.args[:2]}
        if len(node.args) > 1 and len(shapes) == 1:
            return
        if name in ("assertTrue", "assertFalse", "assert_", "assert_that") and node.args:
            self.check(node.args[0], node, env)
        elif name.endswith(_EQUAL) and len(args) > 1:
            self._keep(node, self._against(args[:2], exact=True), "assert")
        elif args or base.subject:
            self._keep(node, forall(join([*args, replace(base, supply=None)])), "assert")

    def _raise(self, node: ast.AST) -> None:
        """``if f(n) != 49: raise AssertionError``: the conditions around it are what is checked."""
        raised = getattr(node, "exc", None)
        name = dotted(raised.func if isinstance(raised, ast.Call) else raised).rpartition(".")[2]
        if self._conditions and (isinstance(node, ast.Call) or name not in ("SkipTest", "StopIteration", "")):
            found = join(self._conditions)
            self._keep(node, found, "assert", narrowed_too=False)

    def _keep(self, node: ast.AST, value: Value, kind: str, *, narrowed_too: bool = True) -> None:
        """Keep a check over those dimensions that went into code under test."""
        if self._swallowed and kind != "runs":
            return
        varied = value.over if kind == "assert" else value.everywhere
        reached = frozenset(d for d in varied if d.key in value.reached)
        pinned = dict(self.pins) if narrowed_too else {}
        self.checks.append(Check(node, reached, value.subject, pinned, kind, value.tabled))


def _none_of(test: ast.Compare) -> ast.expr | None:
    """Return ``wrong`` of ``len(wrong) == 0``, None for any other comparison."""
    left, right = test.left, test.comparators[0]
    if not (isinstance(left, ast.Call) and dotted(left.func) == "len" and len(left.args) == 1):
        return None
    zero = isinstance(right, ast.Constant) and right.value == 0
    return left.args[0] if zero and isinstance(test.ops[0], ast.Eq) else None


def _always(test: ast.expr) -> bool:
    """Return whether an asserted expression is true whatever the code does."""
    if isinstance(test, ast.Constant) or (isinstance(test, (ast.Tuple, ast.List)) and test.elts):
        return True
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_always(part) for part in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return shape(test.left) == shape(test.comparators[0])
    return False
