"""Hypothesis's explicit examples in a source: the inputs of a property that are written in it."""

from __future__ import annotations

import ast

from redbucket.core.pytree import dotted, parse_anew


def without_examples(source: bytes) -> bytes:
    """Return the source with its ``@example`` decorators blanked out, line for line; the same bytes if it has none."""
    tree = parse_anew(source)
    lines = source.splitlines(keepends=True)
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for mark in node.decorator_list:
            if _is_example(mark):
                for number in range(mark.lineno - 1, mark.end_lineno or mark.lineno):
                    lines[number] = b"\n"
    return b"".join(lines)


def _is_example(mark: ast.expr) -> bool:
    """``@example(7)``, ``@hypothesis.example(7)``, ``@example(7).via("a report")``."""
    while isinstance(mark, ast.Call):
        if dotted(mark.func).rpartition(".")[2] == "example":
            return True
        mark = mark.func.value if isinstance(mark.func, ast.Attribute) else mark.func
    return False
