"""Answers of base's tests that product code has by heart."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from redbucket.core.assertions import callee
from redbucket.core.pytree import parse, source_text

Pair = tuple[str, str]


def _literal(node: ast.AST | None) -> str:
    """Return a literal as text, "" for anything else and for what says nothing (None, bools)."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return f"-{inner}" if inner else ""
    if isinstance(node, ast.Constant):
        return "" if node.value is None or isinstance(node.value, bool) else source_text(node, 500)
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = [_literal(part) for part in node.elts]
        return f"({', '.join(parts)})" if parts and all(parts) else ""
    return ""


def answers(source: bytes) -> dict[Pair, int]:
    """Return (input, answer) pairs of literals that product code maps, with their line.

    Read from dict literals, from chains of ``if x == INPUT: return ANSWER``,
    from conditional expressions and from ``match``.
    """
    tree = parse(source)
    found: dict[Pair, int] = {}
    for node in ast.walk(tree) if tree else ():
        for key, value in _mapped(node):
            pair = _literal(key), _literal(value)
            if all(pair):
                found.setdefault(pair, getattr(node, "lineno", 1))
    return found


def _mapped(node: ast.AST) -> Iterator[tuple[ast.AST | None, ast.AST | None]]:
    if isinstance(node, ast.Dict):
        yield from zip(node.keys, node.values, strict=True)
    elif isinstance(node, ast.If) and node.body and isinstance(node.body[0], ast.Return):
        for key in _compared(node.test):
            yield key, node.body[0].value
    elif isinstance(node, ast.IfExp):
        for key in _compared(node.test):
            yield key, node.body
    elif isinstance(node, ast.match_case) and isinstance(node.pattern, ast.MatchValue):
        yield from (
            (node.pattern.value, part.value) for part in node.body[:1] if isinstance(part, ast.Return)
        )


def _compared(test: ast.expr) -> Iterator[ast.expr]:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            yield from (node.left, node.comparators[0])


def expectations(source: bytes) -> set[Pair]:
    """Return the (input, expected) pairs of literals that a test file asserts or lists as rows."""
    tree = parse(source)
    found: set[Pair] = set()
    for node in ast.walk(tree) if tree else ():
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            sides = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and callee(node).startswith("assert") and len(node.args) > 1:
            sides = list(node.args[:2])
        elif isinstance(node, (ast.Tuple, ast.List)) and 2 <= len(node.elts) <= 6:
            parts = [_literal(part) for part in node.elts]
            if all(parts):
                found.add((parts[0] if len(parts) == 2 else f"({', '.join(parts[:-1])})", parts[-1]))
        for call, expected in (sides, sides[::-1]) if sides else ():
            if isinstance(call, ast.Call) and call.args and (value := _literal(expected)):
                given = [_literal(part) for part in call.args]
                if all(given):
                    found.add((given[0] if len(given) == 1 else f"({', '.join(given)})", value))
    return found
