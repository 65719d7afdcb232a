"""The lines of a file at which its tests assert something."""

from __future__ import annotations

import ast

from redbucket.core.assertions import RAISES, callee


def asserting_lines(tree: ast.AST) -> list[int]:
    """Return the sorted lines of assertions, of expected errors, and of conditions that end in a failure."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Assert):
            parts = [node]
        elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)):
            call = node.value.value if isinstance(node.value, ast.Await) else node.value
            name = callee(call)
            parts = [node] if name.startswith(("assert", "_assert")) or name in RAISES else []
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            raising = any(callee(item.context_expr) in RAISES for item in node.items)
            parts = list(node.body) if raising else []
        elif isinstance(node, ast.If) and any(_fails(part) for part in node.body):
            parts = [node.test]
        for part in parts:
            found.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))  # type: ignore[attr-defined]
    return sorted(found)


def _fails(node: ast.stmt) -> bool:
    return isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and callee(node.value) == "fail")
