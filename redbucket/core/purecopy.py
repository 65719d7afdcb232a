"""A copy of base's implementation of a pure function, to hold the patch's against it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from redbucket.core.filescope import FUNCTIONS, FileScope, Function, full_name, members
from redbucket.core.pytree import dotted
from redbucket.core.references import ImportRef
from redbucket.core.supplies import UNPINNED, random_draw

_MOST = 12
_IMPURE = frozenset(
    {"open", "print", "input", "exec", "eval", "globals", "setattr", "delattr", "__import__", "vars"}
)
_IMPURE_MODULES = (
    "os.",
    "sys.",
    "time.",
    "socket.",
    "subprocess.",
    "logging.",
    "threading.",
    "io.",
    "asyncio.open_",
    "asyncio.create_subprocess",
    "asyncio.start_",
    "asyncio.to_thread",
)
_SAFE = ("os.path.", "sys.maxsize", "sys.maxunicode", "sys.version_info", "time.strftime", "time.gmtime")


def pure_copy(home: FileScope, node: Function | ast.ClassDef, module: str) -> str | None:
    """Return a source that defines ``node`` and what it needs of its file; ``None`` if it is not plainly pure.

    ``module`` is the dotted name of the file's package, for relative imports. A class is pure if its methods change
    nothing but their own object.
    """
    with_classes = isinstance(node, ast.ClassDef)
    needed: dict[str, str] = {}
    todo = [node.name]
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        if len(needed.keys() - home.imports.keys()) > _MOST:
            return None
        source: ast.AST
        if name in home.functions:
            source = home.functions[name]
            if not _is_pure(home, source):
                return None
            plain = ast.parse(ast.unparse(source))
            _strip(plain)
            needed[name] = ast.unparse(plain)
            source = plain
        elif with_classes and name in home.classes:
            source = home.classes[name]
            if not all(_is_pure(home, method, own=True) for method in members(source).values()):
                return None
            plain = ast.parse(ast.unparse(source))
            _strip(plain)
            needed[name] = ast.unparse(plain)
            source = plain
        elif name in home.imports:
            needed[name] = _guarded(home, name) or _statement(name, home.imports[name], module)
            continue
        elif name in home.values:
            source = home.values[name]
            needed[name] = f"{name} = {ast.unparse(source)}"
        elif name in home.classes or (not hasattr(builtins, name) and home.stars):
            return None  # a copied class is another class: results would differ by type
        elif hasattr(builtins, name):
            continue
        else:
            continue  # a name of its own
        todo += _free(source)
    order = {name: number for number, name in enumerate(_order(home, needed))}
    return "\n\n".join(needed[name] for name in sorted(needed, key=lambda n: order.get(n, 0)))


def _strip(tree: ast.AST) -> None:
    """Take the annotations of arguments and results out, in place: they may name what type checkers alone see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None


def _order(home: FileScope, needed: dict[str, str]) -> Iterator[str]:
    """Yield the names as they must come: imports, then values and functions by line."""
    yield from (name for name in needed if name in home.imports)
    rest = [name for name in needed if name not in home.imports]
    places = {**home.values, **home.functions, **home.classes}
    yield from sorted(rest, key=lambda name: getattr(places.get(name), "lineno", 0))


def _free(node: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]


def _statement(name: str, ref: ImportRef, module: str) -> str:
    origin = ref.module
    if ref.level:
        parts = module.split(".")
        kept = parts[: len(parts) - ref.level + 1]
        origin = ".".join([*kept, ref.module] if ref.module else kept)
    if not ref.name:
        return f"import {origin}" if name == origin.split(".")[0] else f"import {origin} as {name}"
    return f"from {origin} import {ref.name}" + (f" as {name}" if name != ref.name else "")


def _guarded(home: FileScope, name: str) -> str:
    """Return the ``try`` that imports a name or has something in its place; "" for a plain import."""
    for node in home.tree.body if home.tree is not None else []:
        if not isinstance(node, ast.Try):
            continue
        imports = [s for s in ast.walk(node) if isinstance(s, (ast.Import, ast.ImportFrom))]
        bound = {alias.asname or alias.name for s in imports for alias in s.names}
        plain = all(isinstance(s, (ast.Import, ast.ImportFrom, ast.Assign, ast.Pass)) for s in _steps(node))
        near = any(isinstance(s, ast.ImportFrom) and s.level for s in imports)
        if name in bound and plain and not near:
            return ast.unparse(node)
    return ""


def _steps(node: ast.Try) -> Iterator[ast.stmt]:
    for body in (node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody):
        yield from body


def _is_pure(home: FileScope, node: ast.AST, *, own: bool = False) -> bool:
    """Return whether a function is plainly pure; ``own``: it is a method, which may change its own object."""
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(node)):
        return False
    if isinstance(node, FUNCTIONS) and node.decorator_list and not own:
        return False
    args = node.args.args if isinstance(node, FUNCTIONS) else []
    parameters = {a.arg for a in args[own:]}
    for part in ast.walk(node):
        stored = isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(
            part.ctx, (ast.Store, ast.Del)
        )
        if stored and getattr(getattr(part, "value", None), "id", "") in parameters | set(home.values):
            return False
        name = dotted(part.func if isinstance(part, ast.Call) else part)
        if name and not _is_steady(home, name, called=isinstance(part, ast.Call)):
            return False
    return True


def _is_steady(home: FileScope, name: str, *, called: bool) -> bool:
    """Return whether what a name stands for depends on nothing but its arguments, as far as its name tells."""
    first, dot, rest = name.partition(".")
    if first in _IMPURE and not dot:
        return not called
    ref = home.imports.get(first)
    if ref is None or not (called or dot):
        return True
    full = f"{full_name(ref)}{dot}{rest}"
    if full.startswith(_SAFE) or full == "os.path":
        return True
    impure = full.startswith((*_IMPURE_MODULES, *UNPINNED)) or random_draw(full)
    return not impure and not full.endswith((".now", ".today", ".utcnow"))
