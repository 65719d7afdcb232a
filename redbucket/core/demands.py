"""Statements of a test that demand more than they did: the test may fail by it, and never pass for it.

Each is put back, where it stands, to what it was, so that what else became of the test can be compared as usual. That
holds wherever a failure ends the test; so nothing is looked at in a block that may expect or swallow one.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from redbucket.core.assertions import RAISES, callee
from redbucket.core.implied import Harmless, implies
from redbucket.core.pytree import dotted, shape, source_text, without_docstring
from redbucket.core.tolerances import narrower

Function = ast.FunctionDef | ast.AsyncFunctionDef
Said = tuple[str, int]
# Blocks that let through whatever is raised in them.
_OPEN = frozenset(
    {
        *("NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "app_context", "assertLogs"),
        *("assertWarns", "catch_warnings", "chdir", "closing", "deprecated_call", "isolated_filesystem"),
        *("nullcontext", "open", "redirect_stderr", "redirect_stdout", "subTest", "test_client"),
        *("test_request_context", "warns"),
    }
)
_MATCHING = frozenset({"raises", "warns"})
_REGEX = {"assertRaises": "assertRaisesRegex", "assertWarns": "assertWarnsRegex"}
# What is there to look at once it is known: no object that was made to be kept.
_LOOKS = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.Constant,
    ast.Name,
    ast.Subscript,
    ast.UnaryOp,
)
# Statements without others in them.
_SIMPLE = (ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Expr)
_BY_NAME = frozenset({"eval", "exec", "locals", "vars", "globals"})


def put_back_demands(
    old: Function, new: Function, *, harmless: Harmless, is_builtin: Callable[[str], bool]
) -> list[Said]:
    """Put what demands more in ``new`` back, in place, to what it was in ``old``; return it as (text, line).

    ``harmless`` says of an expression that looking at it changes nothing; ``is_builtin`` of a name that the file
    does not give another meaning to.
    """
    bound = {n.id for f in (old, new) for n in ast.walk(f) if isinstance(n, ast.Name) and not _reads(n)}
    put = _PutBack(harmless, lambda name: name not in bound and is_builtin(name))
    put.block(without_docstring(old), without_docstring(new), new)
    return put.said


class _PutBack:
    def __init__(self, harmless: Harmless, is_builtin: Callable[[str], bool]) -> None:
        self._harmless = harmless
        self._is_builtin = is_builtin
        self.said: list[Said] = []

    def block(
        self, before: list[ast.stmt], after: list[ast.stmt], owner: ast.AST, field: str = "body"
    ) -> None:
        """Put back the statements of one block; ``owner`` holds those of ``after`` in ``field``."""
        at = 0
        for node in after:
            if at == len(before):
                break
            if shape(node) == shape(before[at]):
                at += 1
            elif (told := self._demands(before[at], node)) is not None:
                held = getattr(owner, field)
                held[next(n for n, one in enumerate(held) if one is node)] = before[at]
                self.said.append((told, node.lineno))
                at += 1
            elif self._inside(before[at], node):
                at += 1

    def _demands(self, was: ast.stmt, now: ast.stmt) -> str | None:
        """Return what ``now`` demands more than ``was`` in words, None if that is not plain to see."""
        if isinstance(now, ast.Assert):
            change = f"`{source_text(was)}` became `{source_text(now)}`"
            if isinstance(was, ast.Expr) and shape(was.value) == shape(now.test):
                return f"asserts what was only worked out: {change}" if _is_plain(now.msg) else None
            if isinstance(was, ast.Assert) and (_is_plain(now.msg) or shape(now.msg) == shape(was.msg)):
                if shape(was.test) == shape(now.test):
                    return f"changes the message of an assertion: {change}"
                if implies(now.test, was.test, self._harmless):
                    return f"demands more: {change}"
        if isinstance(was, ast.Expr) and isinstance(now, ast.Expr) and _is_nearer(was.value, now.value):
            return f"narrows the tolerance: `{source_text(was)}` became `{source_text(now)}`"
        if isinstance(now, _SIMPLE) and type(was) is type(now) and self._lengths(was, now):
            return f"demands that what is gone through together is equally long: `{source_text(now)}`"
        return None

    def _inside(self, was: ast.stmt, now: ast.stmt) -> bool:
        """Put back what stands in one and the same block; return whether it is one."""
        if isinstance(was, (ast.With, ast.AsyncWith)) and type(was) is type(now):
            assert isinstance(now, (ast.With, ast.AsyncWith))
            return self._with(was, now)
        if isinstance(was, (ast.For, ast.AsyncFor)) and type(was) is type(now):
            assert isinstance(now, (ast.For, ast.AsyncFor))
            if shape(was.iter) != shape(now.iter) and self._lengths(was.iter, now.iter):
                self.said.append((f"demands equal lengths: `{source_text(now.iter)}`", now.lineno))
                now.iter = was.iter
            heads = [shape(node.target) + shape(node.iter) for node in (was, now)]
        elif (isinstance(was, ast.While) and isinstance(now, ast.While)) or (
            isinstance(was, ast.If) and isinstance(now, ast.If)
        ):
            heads = [shape(was.test), shape(now.test)]
        elif isinstance(was, ast.Try) and isinstance(now, ast.Try) and not was.handlers and not now.handlers:
            heads = ["", ""]
        else:
            return False
        if heads[0] != heads[1]:
            return False
        for field in ("body", "orelse", "finalbody"):
            self.block(getattr(was, field, []), getattr(now, field, []), now, field)
        return True

    def _with(self, was: ast.With | ast.AsyncWith, now: ast.With | ast.AsyncWith) -> bool:
        if len(was.items) != len(now.items):
            return False
        open_ones = True
        for old, new in zip(was.items, now.items, strict=True):
            if shape(old.context_expr) != shape(new.context_expr) and self._expects(
                old.context_expr, new.context_expr
            ):
                change = f"`{source_text(old.context_expr)}` became `{source_text(new.context_expr)}`"
                self.said.append((f"demands more of what is expected: {change}", new.context_expr.lineno))
                new.context_expr = old.context_expr
            open_ones &= shape(old.context_expr) == shape(new.context_expr) and _is_open(new.context_expr)
            # a name that one block binds may be read by the next one's head
            if shape(old.context_expr) != shape(new.context_expr):
                return False
        if open_ones:
            self.block(was.body, now.body, now)
        return True

    def _expects(self, was: ast.expr, now: ast.expr) -> bool:
        """Return whether ``now`` expects an exception or warning that ``was`` does, and less besides."""
        if not (isinstance(was, ast.Call) and isinstance(now, ast.Call)):
            return False
        name = callee(was)
        if _REGEX.get(name) == callee(now) and isinstance(was.func, ast.Attribute):
            same = isinstance(now.func, ast.Attribute) and shape(was.func.value) == shape(now.func.value)
            fits = len(was.args) == 1 and len(now.args) == 2 and not was.keywords and not now.keywords
            return same and fits and _is_text(now.args[1]) and self._narrows(was.args[0], now.args[0])
        if name not in (*_MATCHING, *_REGEX) or shape(was.func) != shape(now.func):
            return False
        if len(was.args) != 1 or len(now.args) != 1:
            return False
        options = [{k.arg: k.value for k in call.keywords} for call in (was, now)]
        pattern = options[1].get("match") if name in _MATCHING and "match" not in options[0] else None
        if pattern is not None and _is_text(pattern):
            del options[1]["match"]
        texts = [{key: shape(value) for key, value in given.items()} for given in options]
        return texts[0] == texts[1] and self._narrows(was.args[0], now.args[0])

    def _narrows(self, was: ast.expr, now: ast.expr) -> bool:
        """Return whether each class of ``now`` is one of ``was``, or derived from one; those are of Python's own."""
        classes = [list(n.elts) if isinstance(n, ast.Tuple) else [n] for n in (was, now)]
        if not classes[1]:
            return False
        known = {shape(one) for one in classes[0]}
        wide = tuple(kind for one in classes[0] if (kind := self._exception(one)) is not None)
        return all(
            shape(one) in known or ((kind := self._exception(one)) is not None and issubclass(kind, wide))
            for one in classes[1]
        )

    def _exception(self, node: ast.expr) -> type[BaseException] | None:
        if not isinstance(node, ast.Name) or not self._is_builtin(node.id):
            return None
        found = getattr(builtins, node.id, None)
        # OSError has other names, and one class may be another's alias on other versions
        fits = isinstance(found, type) and issubclass(found, BaseException) and found.__name__ == node.id
        return found if fits else None

    def _lengths(self, was: ast.AST, now: ast.AST) -> bool:
        """Return whether the two differ in a ``strict=True`` for ``zip`` alone, or more than one of them."""
        if any(isinstance(node, ast.Lambda) or callee(node) in RAISES for node in ast.walk(now)):
            return False
        found = [
            node
            for node in ast.walk(now)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "zip"
            and self._is_builtin("zip")
        ]
        taken: list[tuple[ast.Call, list[ast.keyword]]] = []
        for call in found:
            rest = [k for k in call.keywords if not (k.arg == "strict" and _is_true(k.value))]
            if len(rest) < len(call.keywords):
                taken.append((call, call.keywords))
                call.keywords = rest
        same = bool(taken) and shape(was) == shape(now)
        for call, keywords in taken:
            call.keywords = keywords
        return same


def without_unread(function: Function) -> None:
    """Write ``_ = x.y`` as ``x.y``, in place, where nothing reads the name, and leave out a name that stands alone.

    What was only looked at is the same by whatever name; an object that a call makes may act as long as it is kept.
    """
    counts: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            counts[node.id] = counts.get(node.id, 0) + 1
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            counts.update(dict.fromkeys(node.names, 2))
    if not _BY_NAME.isdisjoint(counts):
        return
    arguments = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
    for owner in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(owner, field, None)
            if isinstance(block, list):
                block[:] = [_unbound(node, counts, arguments) for node in block]


def _unbound(node: ast.stmt, counts: dict[str, int], arguments: set[str]) -> ast.stmt:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        if counts[name] == 1 and name not in arguments and isinstance(node.value, _LOOKS):
            node = ast.copy_location(ast.Expr(node.value), node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) and node.value.id in arguments:
        return ast.copy_location(ast.Pass(), node)
    return node


def _is_nearer(was: ast.expr, now: ast.expr) -> bool:
    """Return whether an assertion of a class or a library accepts a smaller difference."""
    return "Not" not in callee(now) and callee(now).startswith("assert") and narrower(was, now)


def _reads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_open(node: ast.expr) -> bool:
    name = dotted(getattr(node, "func", None))
    return callee(node) in _OPEN or "patch" in name.split(".") or name == "monkeypatch.context"


def _is_plain(message: ast.expr | None) -> bool:
    """Return whether working out the message of a failed assertion does nothing else."""
    return message is None or not any(
        isinstance(part, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom))
        for part in ast.walk(message)
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
