"""One Python file of the tests, as the names that its tests can use."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from redbucket.core.pytree import dotted
from redbucket.core.references import ImportRef, import_refs
from redbucket.core.testtree import fixture_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(eq=False)
class FileScope:
    """Functions, classes, values, fixtures and imports of a file; ``judge``: it is a file of the tests.

    ``find`` gives the files that an import of this file means as modules, ``knows`` whether the tree has what it
    imports, and ``outer`` gives the conftest files above it.
    """

    path: str = ""
    judge: bool = True
    tree: ast.Module | None = None
    imports: dict[str, ImportRef] = field(default_factory=dict)
    stars: list[ImportRef] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    fixtures: dict[str, Function] = field(default_factory=dict)
    find: Callable[[ImportRef], list[FileScope]] = lambda ref: []
    knows: Callable[[ImportRef], bool] = lambda ref: True
    outer: Callable[[], list[FileScope]] = list


def read_scope(tree: ast.Module, path: str = "", *, judge: bool = True) -> FileScope:
    """Return the names that a file binds at its top level, in conditions and ``try`` blocks as well."""
    scope = FileScope(path, judge, tree)
    for node in statements(tree.body):
        if isinstance(node, FUNCTIONS):
            fixture = fixture_of(node)
            if fixture:
                scope.fixtures[fixture[0]] = node
            scope.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            scope.classes[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            take_imports(scope, node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    scope.values[target.id] = node.value
    return scope


def take_imports(scope: FileScope, node: ast.Import | ast.ImportFrom) -> None:
    """Add what an import statement binds."""
    for name, ref in import_refs(node).items():
        if name == "*":
            scope.stars.append(ref)
        else:
            scope.imports[name] = ref


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those in conditions, ``with`` and ``try`` blocks, in order."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)


def full_name(ref: ImportRef) -> str:
    """Return the dotted name that an import means; relative ones begin with a dot."""
    module = "." * ref.level + ref.module
    if not ref.name:
        return module
    return f"{module}.{ref.name}" if ref.module else f"{module}{ref.name}"


def members(owner: ast.ClassDef) -> dict[str, Function]:
    """Return the methods of a class."""
    return {node.name: node for node in statements(owner.body) if isinstance(node, FUNCTIONS)}


def bases(owner: ast.ClassDef) -> list[str]:
    """Return the names of a class's bases, without the modules before them."""
    return [dotted(base).rpartition(".")[2] for base in owner.bases]
