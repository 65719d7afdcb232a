"""The literal rows of a missed test: which of them failed, and the test with a row's values put in."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from redbucket.core.calls import literals
from redbucket.core.filescope import FileScope, Function
from redbucket.core.pytree import dotted

_MOST = 50


def _parametrised(node: Function, scope: FileScope) -> Iterator[dict[str, ast.expr]]:
    """Yield {parameter: expression} of the literal rows of a test's ``parametrize`` marks."""
    for mark in node.decorator_list:
        if not isinstance(mark, ast.Call) or dotted(mark.func).rpartition(".")[2] != "parametrize":
            continue
        words = {k.arg: k.value for k in mark.keywords}
        first = mark.args[0] if mark.args else words.get("argnames")
        table = mark.args[1] if len(mark.args) > 1 else words.get("argvalues")
        if first is None or table is None:
            continue
        try:
            given = ast.literal_eval(first)
        except (ValueError, SyntaxError):
            continue
        names = [n.strip() for n in given.split(",")] if isinstance(given, str) else list(given)
        for row in _elements(table, scope):
            inner = row.args if isinstance(row, ast.Call) else [row]
            parts = (
                inner if len(inner) == len(names) else list(getattr(inner[0], "elts", [])) if inner else []
            )
            if len(parts) == len(names):
                yield dict(zip(names, parts, strict=True))


def _elements(node: ast.expr, scope: FileScope, depth: int = 0) -> Iterator[ast.expr]:
    """Yield the elements that a collection spells out; what a part of it generates is left out."""
    if depth > 8:
        return
    if isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            if isinstance(part, ast.Starred):
                yield from _elements(part.value, scope, depth + 1)
            else:
                yield part
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _elements(node.left, scope, depth + 1)
        yield from _elements(node.right, scope, depth + 1)
    elif isinstance(node, ast.Name) and node.id in scope.values:
        yield from _elements(scope.values[node.id], scope, depth + 1)


def failed_rows(node: Function, scope: FileScope, failed: Collection[str]) -> list[dict[str, ast.expr]]:
    """Return the literal rows of a test's marks whose ids are among ``failed``."""
    rows = enumerate(_parametrised(node, scope))
    return [row for number, row in rows if not _row_ids(number, row).isdisjoint(failed)]


def _row_ids(number: int, row: dict[str, ast.expr]) -> set[str]:
    """Return the ids that pytest makes of a row by itself, and with ``ids=str`` or ``ids=repr``."""
    values = [literals(node, FileScope()) for node in row.values()]
    given = {"-".join(how(v[0]) for v in values) for how in (str, repr)} if all(values) else set()
    parts = []
    for (name, node), found in zip(row.items(), values, strict=True):
        if found and isinstance(found[0], (str, bytes)):
            text = found[0].decode("latin-1") if isinstance(found[0], bytes) else found[0]
            parts.append(text.encode("unicode_escape").decode())
        elif found and isinstance(found[0], (int, float, complex, type(None))):
            parts.append(str(found[0]))
        else:  # a class or a function goes by its name
            parts.append(dotted(node).rpartition(".")[2] or f"{name}{number}")
    return {"-".join(parts), *given}


class _Put(ast.NodeTransformer):
    """Puts expressions in the place of names, of ``self.x`` as well."""

    def __init__(self, row: Mapping[str, ast.expr]) -> None:
        self._row = row

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._row.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        found = self._row.get(dotted(node))
        if found is not None:
            return found
        node.value = self.visit(node.value)
        return node


def _assigned(body: Sequence[ast.stmt], known: dict[str, ast.expr]) -> dict[str, ast.expr]:
    """Return what names stand for at the end of ``body``, each in terms of what its names stood for."""
    found = dict(known)
    for statement in body:
        first = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(first, ast.Name) and isinstance(statement, ast.Assign):
            found[first.id] = _Put(found).visit(copy.deepcopy(statement.value))
    return found


def with_rows(
    node: Function,
    scope: FileScope,
    failed: Collection[str] = (),
    before: Mapping[str, ast.expr] | None = None,
) -> list[ast.AST]:
    """Return the test, and for each of its literal rows a copy with the row's values put in.

    ``failed`` are the ids of the rows that failed, which come first; ``before`` is what stands for names, and for
    ``self.x``, when the test begins.
    """
    source = ast.unparse(ast.Module(body=list(node.body), type_ignores=[]))
    found: list[ast.AST] = [node]
    rows = list(enumerate(_parametrised(node, scope)))
    rows.sort(key=lambda item: _row_ids(*item).isdisjoint(failed))
    known: dict[str, ast.expr] = dict(before or {})
    for _, row in rows[:_MOST]:
        local = _assigned(node.body, {**known, **row})
        found.append(_Put(local).visit(ast.parse(source)))
    known = _assigned(node.body, known)
    for statement in node.body:
        if isinstance(statement, ast.For):
            for turn in islice(_elements(statement.iter, scope), 20):  # for n, wanted in [(1, 2), (3, 4)]
                names = getattr(statement.target, "elts", [statement.target])
                parts = getattr(turn, "elts", [turn]) if len(names) > 1 else [turn]
                if len(names) == len(parts):
                    put = {n.id: p for n, p in zip(names, parts, strict=True) if isinstance(n, ast.Name)}
                    found.append(_Put({**known, **put}).visit(ast.parse(source)))
    if known:
        found.append(_Put(known).visit(ast.parse(source)))
    return found
