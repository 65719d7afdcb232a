"""Rows that a loop inside a test goes through: more of them only make the test check more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from redbucket.core.assertions import RAISES, assertions, callee
from redbucket.core.pytree import dotted, shape

Function = ast.FunctionDef | ast.AsyncFunctionDef
Rows = ast.List | ast.Tuple
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
# What an extra turn of the loop could undo, end, or carry into the next one.
_CARRIES = (
    ast.AsyncFor,
    ast.AugAssign,
    ast.Break,
    ast.Delete,
    ast.Global,
    ast.Import,
    ast.ImportFrom,
    ast.Nonlocal,
    ast.NamedExpr,
    ast.Raise,
    ast.Return,
    ast.Try,
    ast.Yield,
    ast.YieldFrom,
    *_INNER,
)
_NO_VALUE = (ast.Await, ast.Lambda, ast.NamedExpr, ast.Starred, ast.Yield, ast.YieldFrom)
_MAKERS = frozenset(
    {
        *("bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list"),
        *("object", "range", "repr", "set", "str", "tuple"),
    }
)


@dataclass(frozen=True)
class _Loop:
    """One loop over rows; ``counted`` is True if it numbers them, ``text`` is equal for equal loops."""

    node: ast.For
    rows: Rows
    counted: bool
    text: str


def drop_new_rows(old: Function, new: Function) -> list[ast.expr]:
    """Take out of ``new``, in place, the rows that its loops have and the same loops of ``old`` don't; return them.

    Only of loops that do nothing but assert, turn by turn, so that a row more
    can fail the test and do nothing else to it.
    """
    taken: list[ast.expr] = []
    known = {dotted(node.func) for node in ast.walk(old) if isinstance(node, ast.Call)}
    for before, after in zip(_loops(old), _loops(new), strict=False):
        if before.text != after.text or before.counted != after.counted:
            break
        fresh = _added(before, after)
        if fresh and all(_is_value(row, known) for row in fresh):
            taken += fresh
            after.rows.elts = [row for row in after.rows.elts if row not in fresh]
    return taken


def _added(before: _Loop, after: _Loop) -> list[ast.expr]:
    """Return the rows that ``after`` has besides those of ``before``, in their order; [] if it lacks one of them."""
    wanted = [shape(row) for row in before.rows.elts]
    fresh = []
    at = 0
    for row in after.rows.elts:
        if at < len(wanted) and shape(row) == wanted[at]:
            at += 1
        elif at < len(wanted) and before.counted:
            return []  # the rows after it get another number
        else:
            fresh.append(row)
    return fresh if at == len(wanted) else []


def _is_value(row: ast.expr, known: set[str]) -> bool:
    """Return whether making a row does nothing besides, and calls nothing that the old test did not."""
    for node in ast.walk(row):
        if isinstance(node, _NO_VALUE):
            return False
        if isinstance(node, ast.Call) and dotted(node.func) not in known | _MAKERS:
            return False
    return True


def _loops(function: Function) -> Iterator[_Loop]:
    nodes = list(_ordered(function.body))
    hidden = {id(part) for node in nodes if _swallows(node) for part in ast.walk(node) if part is not node}
    fit = [
        node
        for node in nodes
        if isinstance(node, ast.For)
        and id(node) not in hidden
        and not node.orelse
        and _only_asserts(node)
        and _keeps_to_itself(node, nodes)
    ]
    over = [_iterated(loop) for loop in fit]
    found = []
    for loop, given in zip(fit, over, strict=True):
        rows = _listed(loop, given.id, [function, *nodes], over) if isinstance(given, ast.Name) else given
        if isinstance(rows, (ast.List, ast.Tuple)):
            found.append((loop, rows))
    numbered = {id(rows) for loop, rows in found if _iterated(loop) is not loop.iter}
    for loop, rows in found:
        text = " ".join(shape(part) for part in (loop.target, *loop.body))
        yield _Loop(loop, rows, id(rows) in numbered, text)


def _ordered(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes in the order of the source."""
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(list(ast.iter_child_nodes(node))[::-1])


def _swallows(node: ast.AST) -> bool:
    """Return whether a turn that fails, in what ``node`` encloses, may let the test pass."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return any(callee(item.context_expr) in (*RAISES, "suppress") for item in node.items)
    return isinstance(node, (ast.Try, *_INNER))


def _iterated(loop: ast.For) -> ast.expr:
    """Return what a loop goes through, without the call that numbers it."""
    given = loop.iter
    return (
        given.args[0]
        if isinstance(given, ast.Call) and callee(given) == "enumerate" and given.args
        else given
    )


def _only_asserts(loop: ast.For) -> bool:
    if not assertions(loop.body):
        return False
    return all(_asserts(node, expects=False) for node in loop.body)


def _asserts(node: ast.stmt, *, expects: bool) -> bool:
    """Return whether a statement checks something and leaves nothing behind; ``expects``: it is to raise."""
    for part in ast.walk(node):
        if isinstance(part, _CARRIES):
            return False
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, (ast.Store, ast.Del)):
            return False
        if callee(part) in (
            "skip",
            "skipTest",
            "xfail",
            "importorskip",
            "exit",
            "setattr",
            "delattr",
            "exec",
        ):
            return False
    if isinstance(node, ast.Expr):
        return expects or callee(node.value).startswith("assert") or isinstance(node.value, ast.Constant)
    if isinstance(node, ast.With):
        raising = expects or any(callee(item.context_expr) in RAISES for item in node.items)
        return all(_asserts(inner, expects=raising) for inner in node.body)
    if isinstance(node, (ast.If, ast.For)):
        return all(_asserts(inner, expects=expects) for inner in (*node.body, *node.orelse))
    return isinstance(node, (ast.Assert, ast.Assign, ast.AnnAssign, ast.Pass, ast.Continue))


def _listed(loop: ast.For, name: str, nodes: list[ast.AST], over: list[ast.expr]) -> ast.expr | None:
    """Return what ``name`` stands for in a loop, if nothing but the loops ``over`` it reads the name."""
    given = {
        id(node.targets[0]): node
        for node in nodes
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and _is(node.targets[0], name)
    }
    known = {id(node) for node in over}
    stores: list[ast.Assign] = []
    last: ast.Assign | None = None
    for node in nodes:
        if node is loop:
            last = stores[-1] if stores else None
        if _is(node, name) and id(node) not in known:
            if id(node) not in given:
                return None
            stores.append(given[id(node)])
    if last is None or (len(stores) > 1 and not _directly_before(last, loop, nodes)):
        return None
    return last.value


def _directly_before(one: ast.stmt, other: ast.stmt, nodes: list[ast.AST]) -> bool:
    """Return whether two statements stand in one block, so that the second can't run without the first."""
    for node in nodes:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and one in block and other in block:
                return block.index(one) < block.index(other)
    return False


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _keeps_to_itself(loop: ast.For, nodes: list[ast.AST]) -> bool:
    """Return whether no name that the loop binds is read after it, or carried from turn to turn."""
    inside = {id(node) for node in ast.walk(loop)}
    targets = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    bound = {
        n.id
        for part in loop.body
        for n in ast.walk(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    } - targets
    anew: set[int] = set()  # where another loop binds the same names for itself
    for other in nodes:
        if isinstance(other, (ast.For, ast.comprehension)) and other is not loop:
            mine = {n.id for n in ast.walk(other.target) if isinstance(n, ast.Name)}
            anew |= {
                id(n) for n in ast.walk(other) if isinstance(n, ast.Name) and n.id in mine and n.id in targets
            }
    for node in nodes:
        if not isinstance(node, ast.Name) or id(node) in inside or id(node) in anew:
            continue
        if node.id in bound or node.id in targets:
            return False
    return True
