"""Functions of a test file that skip or end the test which calls them, by themselves or through each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from redbucket.core.assertions import callee
from redbucket.core.pytree import dotted

SKIP_CALLS = frozenset(
    {
        "skip",
        "xfail",
        "skipTest",
        "importorskip",
        "SkipTest",
        "exit",
        "_exit",
        "kill",
        "abort",
        "execv",
        "execve",
    }
)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def outer_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes but those of inner functions and classes."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _INNER):
            stack.extend(ast.iter_child_nodes(node))


def skips(node: ast.AST) -> bool:
    """Return whether a node itself skips a test or ends the process."""
    return callee(node) in SKIP_CALLS or dotted(node).endswith("SkipTest")


class Skipping:
    """Which names of a file's functions and methods skip; looked for when one is asked about."""

    def __init__(self, body: Iterable[ast.AST]) -> None:
        self._body = body

    def calls(self, node: ast.AST) -> bool:
        """Return whether running ``node`` calls a function of the file that skips."""
        return any(_called(part) in self._names for part in outer_nodes([node]) if isinstance(part, ast.Call))

    @cached_property
    def _names(self) -> set[str]:
        found: set[str] = set()
        calling: list[tuple[str, set[str]]] = []
        for top in self._body:
            for node in ast.walk(top):
                if isinstance(node, ast.ImportFrom):  # from pytest import skip as stop
                    found.update(a.asname for a in node.names if a.asname and a.name in SKIP_CALLS)
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                parts = list(outer_nodes(node.body))
                if any(map(skips, parts)):
                    found.add(node.name)
                calling.append((node.name, {_called(part) for part in parts if isinstance(part, ast.Call)}))
        while more := {
            name for name, called in calling if name not in found and not called.isdisjoint(found)
        }:
            found |= more
        return found


def _called(node: ast.Call) -> str:
    """Return the function of the file that a call may mean: by its name, or as a method of the test's own class."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr if dotted(node.func.value) in ("self", "cls") else ""
    return node.func.id if isinstance(node.func, ast.Name) else ""
