"""What a piece of Python refers to: names, attributes, fixtures, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Calls whose string arguments name fixtures.
BY_STRING = frozenset({"usefixtures", "getfixturevalue", "lazy_fixture", "lf"})


@dataclass(frozen=True)
class ImportRef:
    """One imported thing: ``from {level dots}module import name``, or ``import module`` without a name."""

    module: str
    name: str = ""
    level: int = 0


@dataclass(frozen=True)
class References:
    """``names`` are (name, attribute) pairs read from an outer scope, attribute "" if read bare."""

    names: frozenset[tuple[str, str]]
    requests: frozenset[str]
    imports: frozenset[ImportRef]


def references(nodes: Iterable[ast.AST]) -> References:
    """Collect the references of some statements or expressions, taken as one scope.

    A name that the outermost function binds itself is its own; names bound in
    inner scopes are not taken away, so that in doubt there is one more
    reference, not one fewer.
    """
    names: set[tuple[str, str]] = set()
    requests: set[str] = set()
    imports: set[ImportRef] = set()
    own: set[str] = set()
    shared: set[str] = set()
    stack: list[tuple[ast.AST, int]] = [(node, 0) for node in nodes]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add((node.value.id, node.attr))
            continue
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                names.add((node.id, ""))
            elif depth == 1:
                own.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(import_refs(node).values())
            if depth == 1:
                own.update(import_refs(node))
        elif isinstance(node, ast.ExceptHandler):
            if depth == 1 and node.name:
                own.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            shared.update(node.names)
        elif isinstance(node, ast.Call):
            callee = node.func
            called = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
            if called in BY_STRING:
                requests.update(
                    arg.value
                    for arg in node.args
                    if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                )
        if depth == 1 and isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            own.add(node.name)
        if isinstance(node, _FUNCTIONS):
            requests.update(arguments(node))
            if depth == 0:
                own.update(arguments(node))
            # Decorators, defaults and annotations are read outside the function.
            outer: list[ast.AST] = [*node.decorator_list, node.args]
            if node.returns is not None:
                outer.append(node.returns)
            stack.extend((child, depth) for child in outer)
            stack.extend((child, depth + 1) for child in node.body)
            continue
        # Only a function's own level (depth 1) makes names local: not a module's, not a comprehension's.
        inner = depth + 2 if isinstance(node, _SCOPES) else depth
        for field in node._fields:  # ast.iter_child_nodes takes twice as long
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                stack.append((value, inner))
            elif isinstance(value, list):
                stack.extend((child, inner) for child in value if isinstance(child, ast.AST))
    # What self.x means is found in the class.
    own -= shared | {"self", "cls"}
    return References(
        frozenset((name, attr) for name, attr in names if name not in own),
        frozenset(requests),
        frozenset(imports),
    )


def arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names of a function's plain parameters."""
    args = node.args
    return {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}


def import_refs(node: ast.Import | ast.ImportFrom) -> dict[str, ImportRef]:
    """Return what an import statement binds, by bound name; a star import under ``"*"``."""
    found: dict[str, ImportRef] = {}
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            ref = ImportRef(node.module or "", alias.name, node.level)
            found[alias.asname or alias.name] = ref
        elif alias.asname:
            found[alias.asname] = ImportRef(alias.name)
        else:
            # ``import a.b`` binds a, and ``import a.c`` binds it again: keep both apart.
            bound = alias.name.split(".", 1)[0]
            found[bound if bound not in found else alias.name] = ImportRef(alias.name)
    return found
