"""Tests whose table of parameters only grew: the rows that base has are base's tests still."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from copy import copy

from redbucket.core.alteration import Effect, altered
from redbucket.core.assertions import callee
from redbucket.core.pytree import parse, shape
from redbucket.core.testfiles import Tree

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def grown(
    keys: Iterable[tuple[str, str]], base: Tree, head: Tree, changed: Collection[str]
) -> set[tuple[str, str]]:
    """Return which tests, by (path, qualified name), head has as base has them, but for more rows.

    None where a file of ``changed``, the judge side's Python, is more than added to: what the tests use may be another.
    """
    for path in changed:
        old, new = (tree.read(path) if path in tree.entries else None for tree in (base, head))
        if altered(old, new, path).effect is Effect.CHANGED:
            return set()
    return {
        (path, name)
        for path, name in keys
        if path in base.entries
        and path in head.entries
        and (before := _rowless(base.read(path), name)) is not None
        and before == _rowless(head.read(path), name)
    }


def _rowless(source: bytes, name: str) -> str | None:
    """Return the shape of a test without the values of its parameters; None if it is not defined once."""
    tree = parse(source)
    body = tree.body if tree is not None else []
    *classes, last = name.split(".")
    for part in classes:
        found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == part]
        if len(found) != 1:
            return None
        body = found[0].body
    tests = [node for node in body if isinstance(node, _FUNCTIONS) and node.name == last]
    if len(tests) != 1:
        return None
    plain = copy(tests[0])
    plain.decorator_list = [_without_rows(mark) for mark in plain.decorator_list]
    return shape(plain)


def _without_rows(mark: ast.expr) -> ast.expr:
    if not isinstance(mark, ast.Call) or callee(mark) != "parametrize":
        return mark
    plain = copy(mark)
    plain.args = [*mark.args[:1], *mark.args[2:]]
    plain.keywords = [option for option in mark.keywords if option.arg not in ("argvalues", "ids")]
    return plain
