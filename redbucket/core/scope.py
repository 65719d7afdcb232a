"""The names and statements of a module's or a class's body, for comparison."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from redbucket.core.assertions import callee
from redbucket.core.meddling import meddles
from redbucket.core.pytree import dotted, hash_text, kept_shape, shape, source_text
from redbucket.core.references import BY_STRING, import_refs, references
from redbucket.core.testtree import AMBIENT_NAMES, branches, fixture_of, is_main_guard

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPOUND = (ast.If, ast.Try)


@dataclass(frozen=True)
class Entry:
    """One definition of a name; ``imported`` says what an import binds it to, "" for anything else."""

    name: str
    kind: str
    node: ast.AST
    guard: str
    line: int
    fixture: tuple[str, bool] | None = None
    imported: str = ""

    @property
    def text(self) -> str:
        """A text that is equal for two that run the same; worked out when it is asked for, which takes time."""
        return self.guard + (self.imported or kept_shape(self.node))

    @property
    def ambient(self) -> bool:
        """True if pytest or unittest act on the name by itself."""
        return self.name in AMBIENT_NAMES

    @property
    def body(self) -> str:
        """The shape without the name."""
        return hash_text(" ".join(shape(part) for part in getattr(self.node, "body", ())))


@dataclass
class Scope:
    """A body: its names in order, each with all its definitions, and its other statements."""

    nodes: list[ast.stmt]
    plain: bool
    names: dict[str, list[Entry]] = field(default_factory=dict)
    statements: Counter[str] = field(default_factory=Counter)
    said: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    parts: dict[str, ast.stmt] = field(default_factory=dict)
    meddling: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    _used: Counter[str] | None = None
    _read: Counter[str] | None = None
    _in_rows: Counter[str] | None = None
    _bodies: dict[str, str] | None = None

    def by_body(self) -> dict[str, str]:
        """Return names by the shape of their definition's body, the last one for each."""
        if self._bodies is None:
            self._bodies = {entries[0].body: name for name, entries in self.names.items()}
        return self._bodies

    def everything(self) -> set[str]:
        """Return every name, attribute and fixture that any part reads and no function binds itself."""
        asked: set[str] = set()
        for node in _units(self.nodes):
            refs = references([node])
            asked |= refs.requests
            for name, attr in refs.names:
                asked.add(name)
                if name in ("self", "cls"):
                    asked.add(f"self.{attr}")
        return asked

    def uses(self, name: str) -> bool:
        """Return whether anything reads ``name``, as a name, an attribute of self, or a fixture."""
        return self._counts()[0][name] > 0

    def reads(self, name: str) -> bool:
        """Return whether anything reads ``name`` as ``uses`` does, other than as an attribute of something."""
        self._counts()
        return self._read is not None and self._read[name] > 0

    def only_rows(self, name: str) -> bool:
        """Return whether every use of ``name`` is as the values of a ``parametrize``."""
        used, in_rows = self._counts()
        return used[name] > 0 and used[name] == in_rows[name]

    def skips(self, text: str) -> bool:
        """Return whether a statement skips tests."""
        return any(word in self.said[text] for word in ("skip", "xfail", "pytestmark"))

    def _counts(self) -> tuple[Counter[str], Counter[str]]:
        if self._used is None or self._in_rows is None:
            self._used, self._in_rows, attributes = Counter(), Counter(), Counter[str]()
            for top in self.nodes:
                for node in ast.walk(top):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        self._used[node.id] += 1
                    elif isinstance(node, ast.Attribute):
                        self._used[node.attr] += 1
                        attributes[node.attr] += 1
                    elif isinstance(node, ast.arg):
                        self._used[node.arg] += 1
                    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                        self._used[node.value] += 1
                    elif isinstance(node, ast.Call) and callee(node) == "parametrize":
                        values = node.args[1] if len(node.args) > 1 else None
                        values = next((k.value for k in node.keywords if k.arg == "argvalues"), values)
                        if isinstance(values, ast.Name):
                            self._in_rows[values.id] += 1
            self._read = self._used - attributes
        return self._used, self._in_rows


class Asked:
    """The names that a file asks for from outside, by any of its parts; looked for when one is asked about."""

    def __init__(self, scope: Scope, source: bytes) -> None:
        self._scope = scope
        self._source = source
        # A name stands in the text as it is, but for the ways to write one otherwise.
        self._plain = source.isascii() and not any(word.encode() in source for word in BY_STRING)

    def __contains__(self, name: object) -> bool:
        """Return whether ``name`` is asked for; ``self.x`` is an attribute of the instance."""
        if not isinstance(name, str):
            return False
        if self._plain and name.removeprefix("self.").encode("utf-8", "surrogatepass") not in self._source:
            return False
        return name in self._everything

    @cached_property
    def _everything(self) -> set[str]:
        return self._scope.everything()


def _units(nodes: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield statements one scope each: functions by themselves, whatever they stand in."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (*node.decorator_list, *node.bases)
            yield from _units(node.body)
        elif isinstance(node, _COMPOUND):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.ExceptHandler):
                    yield from _units(child.body)
                elif isinstance(child, ast.stmt):
                    yield from _units([child])
                else:
                    yield child
        else:
            yield node


def read_scope(body: list[ast.stmt], *, plain: bool = True) -> Scope:
    """Return the scope of a body; ``plain`` is False for a class that inherits from something."""
    scope = Scope(body, plain)
    _read(scope, body, "")
    return scope


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _read(scope: Scope, body: Iterable[ast.stmt], guard: str) -> None:
    for node in body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            _enter(scope, node.name, kind, node, guard, fixture_of(node))
        elif (
            isinstance(node, ast.Pass)
            or is_main_guard(node)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ):
            continue
        elif isinstance(node, ast.If):
            for part, inner in branches(node, guard):
                _read(scope, part, inner)
        elif isinstance(node, ast.Try):
            inner = hash_text(guard + "try" + " ".join(shape(handler.type) for handler in node.handlers))
            for part in (node.body, node.orelse, node.finalbody):
                _read(scope, part, inner)
            for handler in node.handlers:
                _read(scope, handler.body, inner + shape(handler.type))
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and "*" not in import_refs(node):
            for bound, ref in import_refs(node).items():
                imported = f"{ref.level}:{ref.module}:{ref.name}"
                entry = Entry(bound, "import", node, guard, node.lineno, imported=imported)
                scope.names.setdefault(bound, []).append(entry)
        elif names := _assigned(node):
            for name in names:
                _enter(scope, name, "value", node, guard)
        else:
            text = guard + kept_shape(node)
            scope.statements[text] += 1
            scope.said.setdefault(text, f"`{source_text(node)}`")
            scope.lines.setdefault(text, node.lineno)
            scope.parts.setdefault(text, node)
            if meddles([node]):
                scope.meddling.add(text)
            if _sets_imported(node, scope):
                scope.foreign.add(text)


def _sets_imported(node: ast.AST, scope: Scope) -> bool:
    """Return whether a statement sets an attribute of something imported: it patches it for all."""
    for part in ast.walk(node):
        root: ast.AST | None = None
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, (ast.Store, ast.Del)):
            root = part.value
        elif isinstance(part, ast.Call) and callee(part) in ("setattr", "delattr") and part.args:
            root = part.args[0]
        first = dotted(root).split(".", 1)[0]
        if first and any(entry.kind == "import" for entry in scope.names.get(first, ())):
            return True
    return False


def _enter(
    scope: Scope, name: str, kind: str, node: ast.stmt, guard: str, fixture: tuple[str, bool] | None = None
) -> None:
    entry = Entry(name, kind, node, guard, node.lineno, fixture)
    scope.names.setdefault(name, []).append(entry)


def _assigned(node: ast.stmt) -> list[str]:
    """Return the names that a plain assignment binds, [] if it does anything else."""
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":
        targets = [getattr(node, "name")]  # noqa: B009 (3.12 and newer)
    else:
        return []
    names = []
    while targets:
        target = targets.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            targets.extend(target.elts)
        elif isinstance(target, ast.Starred):
            targets.append(target.value)
        elif dotted(target) and isinstance(target, ast.Name):
            names.append(target.id)
        else:
            return []
    return names
