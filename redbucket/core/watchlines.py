"""Which lines, when executed, count as executing a change.

A changed ``def`` line or a changed constant runs once, on import, and says nothing
of the test that follows. It counts through the lines that depend on it: the body of
the function, or the functions of the class or module that it belongs to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from redbucket.core.patch import Hunk


def changed_lines(hunks: Sequence[Hunk], length: int) -> set[int]:
    """Return the lines of the new file that the hunks changed; a deletion counts on both sides."""
    lines: set[int] = set()
    for hunk in hunks:
        if hunk.added:
            lines.update(range(hunk.new_start, hunk.new_start + len(hunk.added)))
        else:
            lines.update((hunk.new_start, hunk.new_start + 1))
    return {line for line in lines if 1 <= line <= max(length, 1)}


def watch_lines(source: bytes, hunks: Sequence[Hunk]) -> tuple[int, ...]:
    """Return the sorted lines to watch in a changed Python file, () if it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    changed = changed_lines(hunks, source.count(b"\n") + 1)
    watched: set[int] = set()
    _visit(tree, changed, watched)
    return tuple(sorted(watched))


def _visit(scope: ast.Module | ast.ClassDef, changed: set[int], watched: set[int]) -> None:
    outside = False
    inner: list[ast.AST] = []
    for statement in _statements(scope.body):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner.append(statement)
            body = _body_lines(statement)
            head = set(range(_first(statement), statement.body[0].lineno)) if statement.body else set()
            hit = changed & body
            if hit:
                watched.update(_executable(statement, hit))
            elif changed & head:
                watched.update(body)
        elif isinstance(statement, ast.ClassDef):
            inner.append(statement)
            _visit(statement, changed, watched)
            head = set(range(_first(statement), statement.body[0].lineno))
            if changed & head:
                watched.update(_function_lines([statement]))
        elif changed & set(range(_first(statement), (statement.end_lineno or statement.lineno) + 1)):
            outside = outside or not _is_text(statement)
    if outside:
        watched.update(_function_lines(inner))


def _statements(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements of a module or class, through ``if``, ``try`` and ``with``, as deep as a file has them."""
    waiting = list(reversed(list(body)))
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            blocks = [statement.body, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])]
            blocks += [handler.body for handler in getattr(statement, "handlers", [])]
            waiting += reversed([each for block in blocks for each in block])
        else:
            yield statement


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    return set(range(function.body[0].lineno, (function.end_lineno or function.lineno) + 1))


def _executable(function: ast.AST, hit: set[int]) -> set[int]:
    """Return ``hit`` plus the first lines of the statements that hold a hit.

    A change inside a statement of several lines runs when the statement runs; a
    comment that changed runs never.
    """
    lines: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            span = range(node.lineno, max(node.lineno, last) + 1)
            if hit & set(span) and not _is_text(node):
                lines.update(span)
    return lines


def _function_lines(scopes: Iterable[ast.AST]) -> set[int]:
    lines: set[int] = set()
    for scope in scopes:
        for node in ast.walk(scope):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines |= _body_lines(node)
    return lines


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
