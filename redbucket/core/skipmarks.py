"""Tests that a file switches off by itself: skip and xfail markers that hold whatever happens.

A condition (a platform, a version, a missing package) is no quarantine, so only
markers without one count, or with one that is constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from redbucket.core.pytree import dotted, parse, source_text

# What a file must hold for a marker to be in it: most files need no parsing.
WORDS = (b"skip", b"Skip", b"xfail", b"expectedFailure")
_ALWAYS = frozenset({"skip", "xfail", "expectedFailure", "SkipTest", "skipTest"})
_CONDITIONAL = {"skipif": True, "skipIf": True, "skipUnless": False}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What runs before each test of the class or module that it stands in: a skip in a helper is not known to be reached.
_BEFORE = frozenset(
    {
        "setUp",
        "setUpClass",
        "asyncSetUp",
        "setUpModule",
        "setup",
        "setup_method",
        "setup_class",
        "setup_module",
    }
    | {"setup_function"}
)


@dataclass(frozen=True)
class SkipMark:
    """One marker: ``name`` is the class or test that it is on ("" for the whole module), dotted."""

    name: str
    line: int
    text: str

    def nodeid(self, path: str) -> str:
        """Return the id of what is marked, in pytest's form."""
        return "::".join((path, *self.name.split("."))) if self.name else path

    def holds(self, test: str, path: str) -> bool:
        """True if ``test``, an id in pytest's form, is what is marked or in it."""
        marked = self.nodeid(path)
        return test == marked or test.startswith((f"{marked}[", f"{marked}::"))


def skip_marks(source: bytes) -> list[SkipMark]:
    """Return the markers of a file, in order; none where it can't be parsed."""
    if not any(word in source for word in WORDS):
        return []
    tree = parse(source)
    return [] if tree is None else list(_marks(tree.body, "", _Names(tree)))


class _Names:
    """What the names of a module stand for: imported ones, and markers that are kept in a variable."""

    def __init__(self, tree: ast.Module) -> None:
        self._imported: dict[str, str] = {}
        self._kept: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, ast.Import):
                self._imported.update({a.asname: a.name for a in node.names if a.asname})
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._imported.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
            elif isinstance(node, ast.Assign):
                self._kept.update({t.id: node.value for t in node.targets if isinstance(t, ast.Name)})

    def called(self, node: ast.expr) -> str:
        """Return the dotted name of what is called or named, as it was imported."""
        said = dotted(node.func if isinstance(node, ast.Call) else node)
        first, dot, rest = said.partition(".")
        return f"{self._imported.get(first, first)}{dot}{rest}"

    def marker(self, node: ast.expr) -> tuple[str, ast.Call | None]:
        """Return the last part of a marker's name, and the call that gives its arguments."""
        call = node if isinstance(node, ast.Call) else None
        name = call.func if call else node
        kept = self._kept.get(name.id) if isinstance(name, ast.Name) else None
        if kept is not None:
            call = call or (kept if isinstance(kept, ast.Call) else None)
            node = kept
        return self.called(node).rpartition(".")[2], call


def _marks(body: list[ast.stmt], owner: str, names: _Names) -> Iterator[SkipMark]:
    for node in body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{owner}.{node.name}" if owner else node.name
            for decorator in node.decorator_list:
                yield from _found(name, decorator, names)
            if isinstance(node, ast.ClassDef):
                yield from _marks(node.body, name, names)
            elif node.name.startswith("test"):
                yield from _reached(name, node.body, names)
            elif node.name in _BEFORE or any(_autouse(d, names) for d in node.decorator_list):
                yield from _reached(owner, node.body, names)
        elif (value := _pytestmark(node)) is not None:
            for one in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
                yield from _found(owner, one, names)
        elif not owner:
            yield from _reached(owner, [node], names)


def _autouse(decorator: ast.expr, names: _Names) -> bool:
    return isinstance(decorator, ast.Call) and any(
        k.arg == "autouse" and _constant(k.value) is True for k in decorator.keywords
    )


def _pytestmark(node: ast.stmt) -> ast.expr | None:
    """Return what a statement puts into ``pytestmark``."""
    if isinstance(node, ast.Assign):
        return node.value if any(_named(t, "pytestmark") for t in node.targets) else None
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return node.value if _named(node.target, "pytestmark") else None
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
        return call.args[-1] if _named(call.func.value, "pytestmark") else None
    return None


def _named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _reached(name: str, body: list[ast.stmt], names: _Names) -> Iterator[SkipMark]:
    """Yield the calls that skip and are reached whatever happens: no condition, and no ``return`` before them."""
    for node in body:
        value = (
            node.value if isinstance(node, ast.Expr) else node.exc if isinstance(node, ast.Raise) else None
        )
        if value is not None:
            yield from _call(name, node, value, names)
        elif isinstance(node, ast.If) and (holds := _constant(node.test)) is not None:
            yield from _reached(name, node.body if holds else node.orelse, names)
        elif isinstance(node, (ast.With, ast.AsyncWith, ast.Try)):
            # what comes later in it may not be reached: an error before it is caught, or expected
            yield from _reached(name, node.body[:1], names)
            yield from _reached(name, getattr(node, "finalbody", []), names)
        if any(isinstance(inner, ast.Return) for inner in ast.walk(node)):
            return


def _call(name: str, node: ast.stmt, value: ast.expr, names: _Names) -> Iterator[SkipMark]:
    called = names.called(value)
    kind = called.rpartition(".")[2]
    if kind in ("SkipTest", "Skipped") and isinstance(node, ast.Raise):
        yield SkipMark(name, node.lineno, source_text(node))
    elif isinstance(value, ast.Call) and (called in ("pytest.skip", "pytest.xfail") or kind == "skipTest"):
        yield SkipMark(name, node.lineno, source_text(value))


def _found(name: str, decorator: ast.expr, names: _Names) -> Iterator[SkipMark]:
    kind, call = names.marker(decorator)
    if kind == "parametrize" and call is not None:
        for inner in ast.walk(call):
            if isinstance(inner, ast.keyword) and inner.arg == "marks":
                values = inner.value.elts if isinstance(inner.value, (ast.List, ast.Tuple)) else [inner.value]
                for value in values:
                    if names.marker(value)[0] != "parametrize":  # one that refers to itself
                        yield from _found(name, value, names)
        return
    if (kind in _ALWAYS and not (kind == "xfail" and call and _open_condition(call))) or (
        kind in _CONDITIONAL and call is not None and _always(call, _CONDITIONAL[kind])
    ):
        yield SkipMark(name, decorator.lineno, f"@{source_text(decorator)}")


def _condition(call: ast.Call) -> ast.expr | None:
    given = next((k.value for k in call.keywords if k.arg == "condition"), None)
    return given or (call.args[0] if call.args else None)


def _open_condition(call: ast.Call) -> bool:
    """Return whether an ``xfail`` depends on something."""
    condition = _condition(call)
    return condition is not None and _constant(condition) is None


def _always(call: ast.Call, when: bool) -> bool:
    condition = _condition(call)
    return condition is not None and _constant(condition) is when


def _constant(node: ast.expr) -> bool | None:
    """Return what a condition always is, None if it depends on something."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = _constant(node.operand)
        return None if value is None else not value
    if isinstance(node, ast.BoolOp):
        decides = isinstance(node.op, ast.Or)
        values = [_constant(part) for part in node.values]
        return decides if decides in values else None if None in values else not decides
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        sides = [node.left, *node.comparators]
        if len(sides) == 2 and all(isinstance(side, ast.Constant) for side in sides):
            same = ast.literal_eval(sides[0]) == ast.literal_eval(sides[1])
            return same is isinstance(node.ops[0], ast.Eq)
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str):  # pytest evaluates it
        text = node.value.strip()
        return text in ("True", "1") if text in ("True", "1", "False", "0") else None
    return bool(node.value)
