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
    if tree is None:
        return []
    aliases = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return list(_marks(tree.body, "", aliases))


def _marks(body: list[ast.stmt], owner: str, aliases: dict[str, ast.expr]) -> Iterator[SkipMark]:
    for node in body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{owner}.{node.name}" if owner else node.name
            for decorator in node.decorator_list:
                yield from _found(name, decorator, aliases)
            if isinstance(node, ast.ClassDef):
                yield from _marks(node.body, name, aliases)
            elif _first(node.name):
                for statement in node.body:
                    yield from _statement(name, statement)
        elif isinstance(node, ast.Assign) and any(_named(t, "pytestmark") for t in node.targets):
            values = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]
            for value in values:
                yield from _found(owner, value, aliases)
        elif not owner:
            yield from _statement("", node)


def _first(name: str) -> bool:
    """Tests, and what runs before each: a skip in a helper is not known to be reached."""
    return name.startswith("test") or name in ("setUp", "setUpClass", "setup_method", "setup_class")


def _named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _statement(name: str, node: ast.stmt) -> Iterator[SkipMark]:
    """A call that skips stands at the top of a body only; below an ``if`` it has a condition."""
    value = node.value if isinstance(node, ast.Expr) else node.exc if isinstance(node, ast.Raise) else None
    if value is None:
        return
    called = dotted(value.func if isinstance(value, ast.Call) else value)
    kind = called.rpartition(".")[2]
    if kind in ("SkipTest", "Skipped") and isinstance(node, ast.Raise):
        yield SkipMark(name, node.lineno, source_text(node))
    elif isinstance(value, ast.Call) and (called in ("pytest.skip", "pytest.xfail") or kind == "skipTest"):
        yield SkipMark(name, node.lineno, source_text(value))


def _found(name: str, decorator: ast.expr, aliases: dict[str, ast.expr]) -> Iterator[SkipMark]:
    marker = aliases.get(decorator.id, decorator) if isinstance(decorator, ast.Name) else decorator
    call = marker if isinstance(marker, ast.Call) else None
    kind = dotted(call.func if call else marker).rpartition(".")[2]
    if kind == "parametrize" and call is not None:
        for inner in ast.walk(call):
            if isinstance(inner, ast.keyword) and inner.arg == "marks":
                values = inner.value.elts if isinstance(inner.value, (ast.List, ast.Tuple)) else [inner.value]
                for value in values:
                    yield from _found(name, value, {})
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
    turned = False
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node, turned = node.operand, not turned
    if not isinstance(node, ast.Constant):
        return None
    value = bool(node.value)
    if isinstance(node.value, str):  # pytest evaluates it
        text = node.value.strip()
        if text not in ("True", "1", "False", "0"):
            return None
        value = text in ("True", "1")
    return value is not turned
