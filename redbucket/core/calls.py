"""A function of the project that a missed test calls, and the literals with which it does."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from redbucket.core.filescope import FileScope, Function, full_name
from redbucket.core.pytree import source_text

_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: the literals it was seen with, its annotation's text, and a text that is no literal.

    ``left_out`` is its default, where a call does without it.

    ``word`` is its name in a call where that differs; ``own``: it is one of what makes the object that a method is
    called on; ``needed``: it has no default.
    """

    name: str
    values: tuple[object, ...] = ()
    annotation: str = ""
    fixed: str = ""
    keyword: bool = False
    word: str = ""
    own: bool = False
    needed: bool = True
    left_out: tuple[object, ...] = ()


@dataclass(frozen=True)
class Receiver:
    """What a method is called on: the class that a test calls ``text``, or an object of it.

    ``maker`` is None for the class itself, "" where its constructor makes the object, else the class method that does;
    ``defaults`` are those of the maker's parameters.
    """

    owner: ast.ClassDef
    text: str
    maker: str | None
    defaults: Mapping[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A function that a missed test calls.

    ``callee`` is how the test calls it, ``imports`` the statements that make that name known, ``home`` the file that
    defines it. ``on``: it is a method. ``makes``: the class itself is called, and ``node`` is its constructor.
    """

    callee: str
    imports: tuple[str, ...]
    home: FileScope
    node: Function
    parameters: tuple[Parameter, ...]
    seen: tuple[tuple[object, ...], ...] = field(default_factory=tuple)
    on: Receiver | None = None
    makes: bool = False

    @property
    def name(self) -> str:
        """Return the function's own name."""
        return self.node.name

    @property
    def is_async(self) -> bool:
        """Return whether a call gives a coroutine, which an event loop has to run."""
        return isinstance(self.node, ast.AsyncFunctionDef)


def target_of(scope: FileScope, callee: str) -> Target | None:
    """Return the function of the project that a dotted name of a test's file means, None if it means none."""
    statement = import_of(scope, callee)
    place = resolve(scope, callee.split(".")) if statement else None
    if place is None or place[0].judge:
        return None
    home, node, _ = place
    if isinstance(node, ast.ClassDef) or not is_plain(node):
        return None
    return Target(callee, (statement,), home, node, tuple(parameters_of(node.args)))


def is_plain(node: Function) -> bool:
    """Return whether a call of the function gives its result, for arguments that can be told apart.

    That of a coroutine gives it once it is run; a generator of that kind has to be gone through.
    """
    gone_through = isinstance(node, ast.AsyncFunctionDef) and any(
        isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)
    )
    return not (node.args.vararg or node.args.kwarg or gone_through)


def parameters_of(args: ast.arguments) -> list[Parameter]:
    """Return the parameters of a function, with nothing seen of them yet."""
    plain = [*args.posonlyargs, *args.args]
    defaults = defaults_of(args)
    return [
        Parameter(a.arg, annotation=_text(a.annotation), keyword=keyword, needed=a.arg not in defaults)
        for keyword, some in ((False, plain), (True, args.kwonlyargs))
        for a in some
    ]


def import_of(scope: FileScope, callee: str) -> str:
    """Return the statement that makes the first name of ``callee`` known in another file, "" where none does."""
    first = callee.partition(".")[0]
    ref = scope.imports.get(first)
    if ref is None or ref.level:
        return ""
    module = full_name(ref)
    if not ref.name:
        return f"import {module}" if first == module.split(".")[0] else f"import {module} as {first}"
    return f"from {ref.module} import {ref.name}" + (f" as {first}" if first != ref.name else "")


def resolve(
    scope: FileScope, parts: list[str], depth: int = 0
) -> tuple[FileScope, Function | ast.ClassDef, list[str]] | None:
    """Return the file and the function or class that a dotted name of a scope means, and what is asked of the class."""
    name = parts[0]
    if len(parts) == 1 and name in scope.functions:
        return scope, scope.functions[name], []
    if name in scope.classes:
        return scope, scope.classes[name], parts[1:]
    ref = scope.imports.get(name)
    if depth > 8:
        return None
    for other in scope.find(ref) if ref is not None else ():
        if len(parts) > 1 and (found := resolve(other, parts[1:], depth + 1)):
            return found
    for other in scope.find(replace(ref, name="")) if ref is not None and ref.name else ():
        if found := resolve(other, [ref.name, *parts[1:]] if ref is not None else parts, depth + 1):
            return found
    for star in scope.stars:
        for other in scope.find(replace(star, name="")):
            if found := resolve(other, parts, depth + 1):
                return found
    return None


def _text(node: ast.expr | None) -> str:
    return source_text(node, 200) if node is not None else ""


def with_arguments(target: Target, call: ast.Call, scope: FileScope) -> Target:
    """Add the literals of one call to what is known of the parameters."""
    own = [p for p in target.parameters if p.own]
    rest = [p for p in target.parameters if not p.own]
    asked = _filled(rest, defaults_of(target.node.args), call, scope)
    made: _Filled | None = ([], [], True)
    inner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if target.on is not None and target.on.maker is not None and isinstance(inner, ast.Call):
        made = _filled(own, target.on.defaults, inner, scope)
    if asked is None or made is None:
        return target
    parameters = (*made[0], *asked[0])
    row = (*made[1], *asked[1])
    fresh = made[2] and asked[2] and row not in target.seen
    seen = (*target.seen, row) if fresh else target.seen
    return replace(target, parameters=parameters, seen=seen[:10])


_Filled = tuple[list[Parameter], list[object], bool]


def _filled(
    parameters: list[Parameter], defaults: Mapping[str, ast.expr], call: ast.Call, scope: FileScope
) -> _Filled | None:
    """Return the parameters with a call's literals, the value of each (None: no literal), and whether all are known."""
    given: dict[str, ast.expr] = {}
    plain = [p.word or p.name for p in parameters if not p.keyword]
    args = [part for a in call.args for part in _spread(a)]
    if any(isinstance(a, ast.Starred) for a in args) or len(args) > len(plain):
        return None
    given.update(zip(plain, args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg})
    found, row, complete = [], list[object](), True
    for parameter in parameters:
        word = parameter.word or parameter.name
        node = given.get(word)
        values = literals(node, scope) if node is not None else ()
        if node is not None and not values and not parameter.fixed and not parameter.values and _closed(node):
            parameter = replace(parameter, fixed=source_text(node, 200))
        known = [repr(v) for v in parameter.values]
        default = defaults.get(word) if node is None else None
        stands = values or (literals(default, FileScope()) if default is not None else ())
        seen = (*parameter.values, *(v for v in values if repr(v) not in known))[:50]
        left_out = stands if default is not None and stands else parameter.left_out
        found.append(replace(parameter, values=seen, left_out=left_out))
        row.append(stands[0] if len(stands) == 1 else None)
        complete &= node is None or row[-1] is not None
    return found, row, complete


def defaults_of(args: ast.arguments) -> dict[str, ast.expr]:
    """Return {parameter: its default}."""
    plain = [a.arg for a in (*args.posonlyargs, *args.args)]
    found = dict(zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True))
    found.update({a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None})
    return found


def _spread(node: ast.expr) -> list[ast.expr]:
    """Return the arguments that ``*[1, 2]`` stands for; any other expression as it is."""
    if isinstance(node, ast.Starred) and isinstance(node.value, (ast.List, ast.Tuple)):
        return list(node.value.elts)
    return [node]


def _closed(node: ast.expr) -> bool:
    """Return whether an expression needs no name of the test: it can be written down as it is."""
    return not any(isinstance(n, ast.Name) for n in ast.walk(node))


def literals(node: ast.expr, scope: FileScope) -> tuple[object, ...]:
    """Return the values of a literal, or of a name that stands for literals in the file."""
    if isinstance(node, ast.BinOp):
        return _folded(node)
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass
    if isinstance(node, ast.Name) and node.id in scope.values:
        return literals(scope.values[node.id], FileScope())
    return ()


def _folded(node: ast.BinOp) -> tuple[object, ...]:
    """Return the number that an arithmetic expression of literals gives, as ``10**26 * 3``."""
    sides = [literals(side, FileScope()) for side in (node.left, node.right)]
    numbers = [side[0] for side in sides if side]
    operate = _OPERATIONS.get(type(node.op))
    if operate is None or len(numbers) < 2 or not all(isinstance(n, (int, float)) for n in numbers):
        return ()
    left, right = numbers
    if isinstance(node.op, ast.Pow) and (abs(right) > 64 or abs(left) > 1 << 20):  # type: ignore[arg-type]
        return ()
    try:
        return (operate(left, right),)
    except (ArithmeticError, ValueError):
        return ()
