"""What an expression or a statement does besides: sets attributes, patches, runs text, ends the process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from redbucket.core.assertions import callee

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
SETTERS = frozenset({"setattr", "delattr"})
SPECIAL = frozenset(
    {"__setattr__", "__delattr__", "__setitem__", "__delitem__", "__ior__", "__iadd__", "__builtins__"}
)
# Not to be named at all, called or handed on.
_BUILTINS = SETTERS | {"exec", "eval", "__import__", "__builtins__"}
_CALLS = frozenset({"patch", "setitem", "delitem", "start", "update"})
CHANGES = frozenset(
    {
        *(
            "append",
            "clear",
            "discard",
            "extend",
            "insert",
            "pop",
            "popitem",
            "remove",
            "reverse",
            "setdefault",
        ),
        *(
            "sort",
            "update",
            "add_marker",
            "setenv",
            "delenv",
            "setitem",
            "delitem",
            "chdir",
            "syspath_prepend",
        ),
    }
)
# What ends the process, or waits for somebody.
_ENDS = frozenset({"breakpoint", "exit", "input", "quit"})


def evaluated(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes but those of inner functions and classes; one that is called where it stands is entered."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Lambda):
            stack.append(node.func.body)
        if isinstance(node, _INNER):
            continue
        for name in node._fields:  # ast.iter_child_nodes takes twice as long
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(child for child in value if isinstance(child, ast.AST))


def meddles(nodes: Iterable[ast.AST]) -> bool:
    """Return whether running ``nodes`` reaches into other objects: sets attributes, patches, runs text."""
    for node in evaluated(nodes):
        if callee(node) in SETTERS | SPECIAL | _CALLS | {"exec", "eval", "__import__"}:
            return True
        if isinstance(node, ast.Name) and node.id in _BUILTINS:
            return True
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            return True
    return False


def changes_something(node: ast.AST) -> bool:
    """Return whether an assertion does more than look: what comes after it may then look at something else."""
    return meddles([node]) or any(
        callee(part) in CHANGES or (isinstance(part, ast.Name) and part.id in _ENDS)
        for part in evaluated([node])
    )
