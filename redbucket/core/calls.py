"""The calls of a missed test: which function of the project, with which literals."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from redbucket.core.filescope import FileScope, Function, full_name
from redbucket.core.pytree import dotted, source_text

_LONGEST = 20_000
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: the literals it was seen with, its annotation's text, and a text that is no literal."""

    name: str
    values: tuple[object, ...] = ()
    annotation: str = ""
    fixed: str = ""
    keyword: bool = False


@dataclass(frozen=True)
class Target:
    """A function that a missed test calls.

    ``callee`` is how the test calls it, ``imports`` the statements that make that name known, ``home`` the file that
    defines it.
    """

    callee: str
    imports: tuple[str, ...]
    home: FileScope
    node: Function
    parameters: tuple[Parameter, ...]
    seen: tuple[tuple[object, ...], ...] = field(default_factory=tuple)

    @property
    def name(self) -> str:
        """Return the function's own name."""
        return self.node.name


def targets(scope: FileScope, node: ast.AST, message: str) -> list[Target]:
    """Return the functions that a test calls, with the literals in its source and in its failure's message."""
    found: dict[str, Target] = {}
    called = {dotted(call.func) for call in _calls(node)}
    # what failed comes first: of many rows a few become explicit examples
    for call in [*_said(message, called), *_calls(node)]:
        callee = dotted(call.func)
        known = found.get(callee) or _target(scope, callee)
        if known is not None:
            found[callee] = _with_arguments(known, call, scope)
    return list(found.values())


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Call) and dotted(n.func))


def _said(message: str, called: set[str]) -> Iterator[ast.Call]:
    """Yield the calls in a message of pytest's: ``where [4, 4, 2] = split(11, 3)``.

    An attribute is said as ``<function split at 0x7f>(11, 3)``: ``called`` are the names by which the test calls.
    """
    by_name = {name.rpartition(".")[2]: name for name in sorted(called)}
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message[:_LONGEST])  # pytest colours what it compares
    plain = re.sub(r" \([^()\s]+:\w+\)$", "", plain.rstrip())  # where it failed
    plain = re.sub(r"<function (?:\w+\.)*(\w+) at 0x[^>]*>\(", lambda m: f"{by_name.get(m[1], m[1])}(", plain)
    for text in re.findall(r"(?:= |and +)([A-Za-z_][\w.]*\(.*\))$", plain, re.M):
        try:
            node = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(node, ast.Call):
            yield node


def _target(scope: FileScope, callee: str) -> Target | None:
    first = callee.partition(".")[0]
    ref = scope.imports.get(first)
    if ref is None or ref.level:
        return None
    place = resolve(scope, callee.split("."))
    if place is None or place[0].judge:
        return None
    home, node = place
    if node.args.vararg or node.args.kwarg or isinstance(node, ast.AsyncFunctionDef):
        return None
    parts = [
        Parameter(a.arg, annotation=_text(a.annotation)) for a in (*node.args.posonlyargs, *node.args.args)
    ]
    parts += [Parameter(a.arg, annotation=_text(a.annotation), keyword=True) for a in node.args.kwonlyargs]
    module = full_name(ref)
    if not ref.name:
        statement = f"import {module}" if first == module.split(".")[0] else f"import {module} as {first}"
    else:
        statement = f"from {ref.module} import {ref.name}" + (f" as {first}" if first != ref.name else "")
    return Target(callee, (statement,), home, node, tuple(parts))


def resolve(scope: FileScope, parts: list[str], depth: int = 0) -> tuple[FileScope, Function] | None:
    """Return the file and the function that a dotted name of a scope means."""
    name = parts[0]
    if len(parts) == 1 and name in scope.functions:
        return scope, scope.functions[name]
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


def _with_arguments(target: Target, call: ast.Call, scope: FileScope) -> Target:
    """Add the literals of one call to what is known of the parameters."""
    given: dict[str, ast.expr] = {}
    plain = [p.name for p in target.parameters if not p.keyword]
    args = [part for a in call.args for part in _spread(a)]
    if any(isinstance(a, ast.Starred) for a in args) or len(args) > len(plain):
        return target
    given.update(zip(plain, args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg})
    found, row = [], []
    defaults = _defaults(target.node)
    for parameter in target.parameters:
        node = given.get(parameter.name)
        values = _literals(node, scope) if node is not None else ()
        if node is not None and not values and not parameter.fixed and not parameter.values and _closed(node):
            parameter = replace(parameter, fixed=source_text(node, 200))
        known = [repr(v) for v in parameter.values]
        found.append(
            replace(parameter, values=(*parameter.values, *(v for v in values if repr(v) not in known))[:50])
        )
        default = defaults.get(parameter.name) if node is None else None
        stands = values or (_literals(default, FileScope()) if default is not None else ())
        row.append(stands[0] if len(stands) == 1 else None)
    complete = (
        tuple(row)
        if all(p.name not in given or r is not None for p, r in zip(found, row, strict=True))
        else None
    )
    seen = (*target.seen, complete) if complete is not None and complete not in target.seen else target.seen
    return replace(target, parameters=tuple(found), seen=seen[:10])


def _defaults(node: Function) -> dict[str, ast.expr]:
    args = node.args
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


def _literals(node: ast.expr, scope: FileScope) -> tuple[object, ...]:
    """Return the values of a literal, or of a name that stands for literals in the file."""
    if isinstance(node, ast.BinOp):
        return _folded(node)
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass
    if isinstance(node, ast.Name) and node.id in scope.values:
        return _literals(scope.values[node.id], FileScope())
    return ()


def _folded(node: ast.BinOp) -> tuple[object, ...]:
    """Return the number that an arithmetic expression of literals gives, as ``10**26 * 3``."""
    sides = [_literals(side, FileScope()) for side in (node.left, node.right)]
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


def parametrised(node: Function) -> Iterable[dict[str, ast.expr]]:
    """Yield {parameter: expression} of the literal rows of a test's ``parametrize`` marks."""
    for mark in node.decorator_list:
        if not isinstance(mark, ast.Call) or dotted(mark.func).rpartition(".")[2] != "parametrize":
            continue
        if len(mark.args) < 2 or not isinstance(mark.args[1], (ast.List, ast.Tuple)):
            continue
        try:
            given = ast.literal_eval(mark.args[0])
        except (ValueError, SyntaxError):
            continue
        names = [n.strip() for n in given.split(",")] if isinstance(given, str) else list(given)
        for row in mark.args[1].elts:
            inner = row.args if isinstance(row, ast.Call) else [row]
            parts = (
                inner if len(inner) == len(names) else list(getattr(inner[0], "elts", [])) if inner else []
            )
            if len(parts) == len(names):
                yield dict(zip(names, parts, strict=True))


class _Put(ast.NodeTransformer):
    def __init__(self, row: dict[str, ast.expr]) -> None:
        self._row = row

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._row.get(node.id, node)


def _row_ids(number: int, row: dict[str, ast.expr]) -> set[str]:
    """Return the ids that pytest makes of a row by itself, and with ``ids=str`` or ``ids=repr``."""
    values = [_literals(node, FileScope()) for node in row.values()]
    given = {"-".join(how(v[0]) for v in values) for how in (str, repr)} if all(values) else set()
    parts = []
    for name, node in row.items():
        found = _literals(node, FileScope())
        plain = found and isinstance(found[0], (str, int, float, type(None)))
        parts.append(str(found[0]) if plain else f"{name}{number}")
    return {"-".join(parts), *given}


def with_rows(node: Function, failed: Collection[str] = ()) -> list[ast.AST]:
    """Return the test, and for each of its literal rows a copy with the row's values put in.

    ``failed`` are the ids of the rows that failed, which come first.
    """
    source = ast.unparse(ast.Module(body=list(node.body), type_ignores=[]))
    found: list[ast.AST] = [node]
    rows = list(enumerate(parametrised(node)))
    rows.sort(key=lambda item: _row_ids(*item).isdisjoint(failed))
    for _, row in rows[:50]:
        found.append(_Put(row).visit(ast.parse(source)))
    known: dict[str, ast.expr] = {}
    for statement in node.body:
        first = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(first, ast.Name) and isinstance(statement, ast.Assign):
            known[first.id] = statement.value
        if isinstance(statement, ast.For) and isinstance(statement.iter, (ast.List, ast.Tuple)):
            for turn in statement.iter.elts[:20]:  # for n, wanted in [(1, 2), (3, 4)]
                names = getattr(statement.target, "elts", [statement.target])
                parts = getattr(turn, "elts", [turn]) if len(names) > 1 else [turn]
                if len(names) == len(parts):
                    put = {n.id: p for n, p in zip(names, parts, strict=True) if isinstance(n, ast.Name)}
                    found.append(_Put({**known, **put}).visit(ast.parse(source)))
    if known:
        found.append(_Put(known).visit(ast.parse(source)))
    return found
