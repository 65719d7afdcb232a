"""Definitions of a test file that reach into objects that others have, too, and what of them runs at import.

A definition that is only added leaves the tests beside it as they are, unless something that runs while the file is
imported, or before what a test checks, changes what they look at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from redbucket.core.assertions import callee
from redbucket.core.meddling import CHANGES, SETTERS, SPECIAL, evaluated
from redbucket.core.pytree import dotted

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Calls that give an object that others have, too.
_GIVERS = frozenset({"__import__", "import_module", "get", "getattr", "vars", "globals"})
# Methods that run where a class is called, and where another one is derived from it.
_MADE = frozenset({"", "__init__", "__new__", "__post_init__", "__set_name__"})
_DERIVED = frozenset({"__init_subclass__", "__mro_entries__", "__class_getitem__"})
_MAPS = frozenset(
    {"all", "any", "filter", "functools.reduce", "list", "map", "max", "min", "reduce", "sorted"}
)
_Known = dict[str, set[str]]


class Reach:
    """Which functions and classes of a file reach into what is not theirs, and what of it runs at import.

    ``nodes`` are its definitions. ``foreign`` says of a name whether others have the object, too: an import, or what
    base's file has already. With ``patches`` only attributes that are set count, and not what is put into a table.
    With ``arguments`` what a function is given is others', too, but for a method's own object.
    """

    def __init__(
        self,
        nodes: Iterable[ast.AST],
        foreign: Callable[[str], bool],
        *,
        patches: bool = False,
        arguments: bool = False,
    ) -> None:
        self._nodes = nodes
        self._foreign = foreign
        self._patches = patches
        self._arguments = arguments

    def at_import(self, node: ast.AST) -> bool:
        """Return whether defining ``node``, not using it later, calls something of the file that reaches."""
        if not self._defined:
            return False
        made = list(_made(node))
        return (
            any(self._runs(part) for part in _at_import(node))
            or any(map(self._decorated, made))
            or any(self._derived(part) for part in made if isinstance(part, ast.ClassDef))
        )

    def calls(self, node: ast.AST) -> bool:
        """Return whether running ``node`` calls something of the file that reaches."""
        return bool(self._defined) and self._runs(node)

    @cached_property
    def _defined(self) -> dict[str, ast.AST]:
        found: dict[str, ast.AST] = {}
        for node in self._nodes:
            if isinstance(node, _DEFINITIONS):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                found.update((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
        return found

    @cached_property
    def _reaching(self) -> _Known:
        """Names of the file with the methods by which they reach, "" for a function itself."""
        found: _Known = {}
        calling: list[tuple[str, str, list[ast.Call]]] = []
        for name, node in self._defined.items():
            for method, function in _methods(node) if isinstance(node, ast.ClassDef) else [("", node)]:
                nodes = list(_inside(function))
                if self._reaches(function, nodes, method):
                    found.setdefault(name, set()).add(method)
                else:
                    calling.append((name, method, [part for part in nodes if isinstance(part, ast.Call)]))
        grown = True
        while grown:
            more = [one for one in calling if any(self._is_call(call, found) for call in one[2])]
            for name, method, _ in more:
                found.setdefault(name, set()).add(method)
            grown = bool(more)
            calling = [one for one in calling if one not in more]
        return found

    def _reaches(self, function: ast.AST, nodes: list[ast.AST], method: str) -> bool:
        given: set[str] = set()
        if self._arguments:
            names = [n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)]  # type: ignore[attr-defined]
            given = set(names[1:] if method else names)

        def is_others(name: str) -> bool:
            return name in given or self._foreign(name)

        own = _own(function, nodes, is_others, given)

        def foreign(part: ast.AST) -> bool:
            return _is_foreign(part, own, is_others)

        stored = ast.Attribute if self._patches else (ast.Attribute, ast.Subscript)
        special = SPECIAL if self._patches else SPECIAL | CHANGES
        for node in nodes:
            if isinstance(node, stored) and isinstance(node.ctx, (ast.Store, ast.Del)):
                if foreign(node.value):
                    return True
            elif isinstance(node, ast.Global):
                if any(map(self._foreign, node.names)):
                    return True
            elif isinstance(node, ast.Call):
                name = callee(node)
                if name in ("exec", "eval") or (name == "start" and _patches(node)):
                    return True
                if isinstance(node.func, ast.Name):
                    objects = node.args[:1] if name in SETTERS else []
                else:
                    objects = (
                        [node.func, *(node.args[:1] if name in SPECIAL else [])] if name in special else []
                    )
                if any(map(foreign, objects)):
                    return True
        return False

    def _runs(self, node: ast.AST) -> bool:
        return any(self._is_call(part) for part in evaluated([node]) if isinstance(part, ast.Call))

    def _is_call(self, node: ast.Call, known: _Known | None = None) -> bool:
        """Return whether a call calls, or hands to something that calls, a name that reaches."""
        handed = [a for a in node.args if isinstance(a, ast.Name)] if dotted(node.func) in _MAPS else []
        return any(self._by(part, known) for part in (node.func, *handed))

    def _by(self, called: ast.expr, known: _Known | None = None) -> bool:
        root = _root(called)
        if root is None or root.id not in self._defined:
            return False
        methods = (self._reaching if known is None else known).get(root.id, set())
        return not methods.isdisjoint(_MADE) if root is called else bool(methods)

    def _derived(self, node: ast.ClassDef) -> bool:
        """Return whether making a class by its bases or its metaclass reaches."""
        bases = [self._methods_of(base) for base in node.bases]
        return any(not methods.isdisjoint(_DERIVED) for methods in bases) or any(
            self._methods_of(option.value) for option in node.keywords
        )

    def _methods_of(self, node: ast.expr) -> set[str]:
        name = dotted(node)
        return self._reaching.get(name, set()) if name in self._defined else set()

    def _decorated(self, node: ast.AST) -> bool:
        """Return whether a decorator of the file reaches when it is put on ``node``."""
        return any(self._by(mark) for mark in getattr(node, "decorator_list", ()))


def _inside(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body: what an inner one does may be done later, or by a decorator."""
    body = getattr(function, "body", [])
    for node in body if isinstance(body, list) else [body]:
        yield from ast.walk(node)


def _made(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a definition, and those in a class's body."""
    yield node
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            yield from _made(part)


def worked_out(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Return what of a signature runs when the function is made: defaults and annotations."""
    args = node.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    found = [*args.defaults, *args.kw_defaults, *(arg.annotation for arg in every if arg), node.returns]
    return [part for part in found if part is not None]


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what of a definition is worked out when it is made."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.decorator_list
        yield from worked_out(node)
    elif isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *(option.value for option in node.keywords))
        for part in node.body:
            yield from _at_import(part)
    else:
        yield node


def _methods(node: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield part.name, part
        elif isinstance(part, ast.Assign) and isinstance(part.value, ast.Lambda):
            yield from ((t.id, part.value) for t in part.targets if isinstance(t, ast.Name))


def _root(node: ast.AST) -> ast.Name | None:
    """Return the name that a chain of attributes, items and calls begins with."""
    while True:
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return node if isinstance(node, ast.Name) else None


def _own(
    function: ast.AST, nodes: list[ast.AST], foreign: Callable[[str], bool], others: set[str]
) -> set[str]:
    """Return the names that a function binds to objects of its own: not what it imports, nor other names for such.

    ``others`` are arguments that are not its own.
    """
    functions = [function, *(node for node in nodes if isinstance(node, _FUNCTIONS))]
    arguments = [n.arg for one in functions for n in ast.walk(one.args) if isinstance(n, ast.arg)]  # type: ignore[attr-defined]
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, _DEFINITIONS)}
    shared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    own = {*arguments, *bound} - shared - others
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            own -= {(alias.asname or alias.name).split(".", 1)[0] for alias in node.names}
    for _ in range(3):  # an alias of an alias of an alias
        for node in nodes:
            given: list[tuple[ast.AST, ast.AST]] = []
            if isinstance(node, ast.Assign):
                given = [(target, node.value) for target in node.targets]
            elif isinstance(node, ast.NamedExpr):
                given = [(node.target, node.value)]
            elif isinstance(node, (ast.For, ast.comprehension)):
                given = [(node.target, value) for value in getattr(node.iter, "elts", ())]
                if others:
                    given.append((node.target, node.iter))
            for target, value in given:
                if isinstance(target, ast.Name) and _is_foreign(value, own, foreign, fresh_calls=True):
                    own.discard(target.id)
    return own


def _is_foreign(
    node: ast.AST, own: set[str], foreign: Callable[[str], bool], *, fresh_calls: bool = False
) -> bool:
    """Return whether ``node`` is an object that others have, too.

    With ``fresh_calls`` what a call gives is new, but for calls that look something up.
    """
    if isinstance(node, ast.Call):
        if fresh_calls and callee(node) not in _GIVERS:
            return False
        parts = [node.func, *node.args]
        if callee(node) in ("globals", "__import__", "import_module"):
            return True
        return any(_is_foreign(part, own, foreign) for part in parts)
    root = _root(node)
    if root is None:
        return False
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.value, ast.Name):
        return _is_foreign(node.value, own, foreign, fresh_calls=fresh_calls)
    return root.id not in own and foreign(root.id)


def _patches(node: ast.Call) -> bool:
    return any(
        "patch" in dotted(part.func).split(".") for part in ast.walk(node) if isinstance(part, ast.Call)
    )
