"""Objects that compare equal to everything."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from redbucket.core.pytree import dotted, without_docstring

_VALUES = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
)


def always_equal(nodes: list[ast.AST]) -> Iterator[tuple[ast.AST, bool]]:
    """Yield (method, whether such an object can pass for a result) for each constant ``__eq__``.

    A wildcard for matching (``ANY``) has an honest reading. An object that a
    function returns, or that also is a number, a text or a collection, has none.
    """
    for node in (node for node in nodes if isinstance(node, ast.ClassDef)):
        for method in node.body:
            if constant_comparison(method):
                passes = any(dotted(base) in _VALUES for base in node.bases)
                yield method, passes or _is_returned(nodes, node.name)
            elif _aliased(method):
                yield method, True


def own_equality(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the ``__eq__`` of classes that are a number, a text or a collection, other than constant ones."""
    for node in (node for node in nodes if isinstance(node, ast.ClassDef)):
        if any(dotted(base) in _VALUES for base in node.bases):
            for method in node.body:
                named = isinstance(method, ast.FunctionDef) and method.name == "__eq__"
                if named and not constant_comparison(method):
                    yield method


def constant_comparison(node: ast.stmt) -> bool:
    """Return whether ``node`` is an ``__eq__`` that is always true, or a ``__ne__`` that never is."""
    if not isinstance(node, ast.FunctionDef) or node.name not in ("__eq__", "__ne__"):
        return False
    wanted = node.name == "__eq__"
    returns = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
    body = without_docstring(node)
    if not returns or not isinstance(body[-1], ast.Return):
        return False
    return all(isinstance(value, ast.Constant) and value.value is wanted for value in returns)


def _aliased(node: ast.stmt) -> bool:
    """Return whether ``node`` is ``__eq__ = lambda self, other: True``."""
    return (
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "__eq__" for target in node.targets)
        and isinstance(node.value, ast.Lambda)
        and isinstance(node.value.body, ast.Constant)
        and node.value.body.value is True
    )


def _is_returned(nodes: list[ast.AST], name: str) -> bool:
    """Return whether a function gives out an instance, made there or bound to a name before."""
    bound = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _makes(node.value, {name})
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return any(
        isinstance(node, (ast.Return, ast.Yield))
        and node.value is not None
        and _makes(node.value, {name}, bound)
        for node in nodes
    )


def _makes(node: ast.expr, classes: set[str], bound: frozenset[str] | set[str] = frozenset()) -> bool:
    return any(
        (isinstance(part, ast.Call) and dotted(part.func) in classes)
        or (isinstance(part, ast.Name) and part.id in bound)
        for part in ast.walk(node)
    )
