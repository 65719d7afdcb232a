"""Whether a test that an id names is still there, as far as its file says without being run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from redbucket.core.pytree import dotted, is_python, parse
from redbucket.core.testpath import file_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What may bring tests into a module or class that its source does not spell out.
_MAKERS = frozenset(
    {"setattr", "exec", "eval", "globals", "vars", "locals", "type", "__getattr__", "load_tests"}
)
_PLAIN_BASES = frozenset({"object", "TestCase", "IsolatedAsyncioTestCase", "ABC", "Generic", "Protocol"})


@dataclass(frozen=True)
class Found:
    """Where a test is. ``absent`` says why there is no such test, "" if there is or may be one."""

    path: str | None = None
    absent: str = ""
    line: int | None = None
    parametrised: bool = False


def find_test(nodeid: str, paths: Collection[str], read: Callable[[str], bytes]) -> Found:
    """Look for one test among ``paths``; what source alone can't tell counts as there."""
    path = _path(nodeid, paths)
    if path is None:
        return Found(absent="its file does not exist")
    if not is_python(path):
        return Found(path)  # a plugin's own kind of test
    names = _names(nodeid, path)
    tree = parse(read(path))
    if tree is None or not names:
        return Found(path)
    return _in_body(tree.body, names, path)


def _path(nodeid: str, paths: Collection[str]) -> str | None:
    """Ids may be relative to a folder below the top, where the tests are run from."""
    path = file_of(nodeid, paths)
    if path is not None:
        return path
    file, colons, _ = nodeid.partition("[")[0].partition("::")
    if colons:
        endings = ["/" + file]
    else:
        parts = file.split(".")
        endings = [
            f"/{'/'.join(parts[:length])}{suffix}"
            for length in range(len(parts), 0, -1)
            for suffix in (".py", "/__init__.py")
        ]
    for ending in endings:
        near = [p for p in paths if ("/" + p).endswith(ending)]
        if near:
            return min(near, key=len)
    return None


def _names(nodeid: str, path: str) -> list[str]:
    """Return the class and function names that the id asks for, outermost first."""
    head = nodeid.partition("[")[0]
    if "::" in head:
        return head.split("::")[1:]
    parts = head.split(".")
    module = path.removesuffix(".py").removesuffix("/__init__").split("/")
    for length in range(len(parts), 0, -1):
        if module[-length:] == parts[:length]:
            return parts[length:]
    return []


def _in_body(body: list[ast.stmt], names: list[str], path: str) -> Found:
    for depth, name in enumerate(names):
        nodes = [n for n in _definitions(body) if n.name == name]
        if not nodes:
            if _may_make(body, name):
                return Found(path)
            return Found(path, absent=f"{path} has no {'.'.join(names[: depth + 1])}")
        node = nodes[-1]
        last = depth == len(names) - 1
        if isinstance(node, ast.ClassDef):
            if last:
                return Found(path, absent="it names a class, not a test")
            if not _has(node.body, names[depth + 1]) and _inherits(node):
                return Found(path, line=node.lineno)
            body = node.body
        elif not last:
            return Found(path)  # a function that is no container: some plugin's own ids
        else:
            rows = any(_last(mark) == "parametrize" for mark in node.decorator_list)
            return Found(path, line=node.lineno, parametrised=rows)
    return Found(path)


def _definitions(
    body: Iterable[ast.stmt],
) -> Iterable[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield what a body defines, in order, in its conditions and ``try`` blocks as well."""
    stack = [*body][::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node
            continue
        inner = list(getattr(node, "body", []))
        for handler in getattr(node, "handlers", []):
            inner += handler.body
        inner += [*getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
        stack += inner[::-1]


def _has(body: Iterable[ast.stmt], name: str) -> bool:
    return any(node.name == name for node in _definitions(body))


def _inherits(node: ast.ClassDef) -> bool:
    return bool(node.keywords or node.decorator_list) or any(
        dotted(base).rpartition(".")[2] not in _PLAIN_BASES for base in node.bases
    )


def _last(mark: ast.expr) -> str:
    return dotted(mark.func if isinstance(mark, ast.Call) else mark).rpartition(".")[2]


def _may_make(body: Iterable[ast.stmt], name: str) -> bool:
    """Return whether something else in a body than a definition may bring ``name`` into being."""
    for statement in body:
        inner = isinstance(statement, (*_FUNCTIONS, ast.ClassDef))
        if inner and getattr(statement, "name", "") in _MAKERS:
            return True
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and (node.id in _MAKERS or (node.id == name and not inner)):
                return True
            if isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*"):
                return True
    return False
