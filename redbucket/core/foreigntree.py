"""A syntax tree of another Python as JSON, and back: for sources in a syntax that this Python does not know yet."""

from __future__ import annotations

import ast
import json
from functools import lru_cache
from typing import Any

# Runs in the other interpreter. Asks and answers are a length in four bytes and that many bytes. Nothing is run of
# what it reads. By a list and not by recursion: a long chain of ``elif`` or ``+`` is deep.
SCRIPT = r"""
import ast, json, sys, warnings
warnings.simplefilter("ignore")
def plain(value, nodes):
    if isinstance(value, ast.AST):
        nodes.append(value)
        return {"n": len(nodes) - 1}
    if isinstance(value, list):
        return [plain(part, nodes) for part in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"i": "%x" % value}
    if isinstance(value, bytes):
        return {"b": value.hex()}
    return {"e": 0} if value is ... else {"f": repr(value)}
def answer(source):
    try:
        nodes = [ast.parse(source)]
        rows = []
        for node in nodes:
            kinds = [kind.__name__ for kind in type(node).__mro__[:-1]]
            fields = [[name, plain(getattr(node, name, None), nodes)] for name in node._fields]
            rows.append([kinds, fields, [getattr(node, name, None) for name in node._attributes]])
        return {"tree": rows}
    except SyntaxError as error:
        return {"line": error.lineno, "error": str(error.msg)}
    except (ValueError, RecursionError, MemoryError, OverflowError, LookupError) as error:
        return {"line": None, "error": str(error) or type(error).__name__}
def say(value):
    raw = json.dumps(value).encode("ascii")
    sys.stdout.buffer.write(len(raw).to_bytes(4, "big") + raw)
    sys.stdout.buffer.flush()
say(list(sys.version_info[:2]))
while len(size := sys.stdin.buffer.read(4)) == 4:
    say(answer(sys.stdin.buffer.read(int.from_bytes(size, "big"))))
"""
_ATTRIBUTES = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def rebuilt(rows: list[Any]) -> ast.Module:
    """Return the tree that another Python has told in rows. Raises ValueError or KeyError if they are none.

    A kind of node that this Python does not have is a new class of that name, below the nearest kind that it has; a
    field that it does not have (``type_params``) is there where it holds something.
    """
    nodes = [_empty(kinds, fields) for kinds, fields, _ in rows]
    for node, (_, fields, places) in zip(nodes, rows, strict=True):
        for name, value in fields:
            setattr(node, name, _value(value, nodes))
        for name, place in zip(_ATTRIBUTES, places, strict=False):
            if place is not None:
                setattr(node, name, place)
    if not nodes or not isinstance(nodes[0], ast.Module):
        raise ValueError("no module")
    return nodes[0]


def _empty(kinds: list[str], fields: list[Any]) -> ast.AST:
    known: type[ast.AST] = next(getattr(ast, kind) for kind in kinds if hasattr(ast, kind))
    more = tuple(name for name, value in fields if name not in known._fields and value)
    if known.__name__ == kinds[0] and not more:
        return known()
    return _kind(kinds[0], known.__name__, (*known._fields, *more))()


@lru_cache(maxsize=256)
def _kind(name: str, base: str, fields: tuple[str, ...]) -> type[ast.AST]:
    return type(name, (getattr(ast, base),), {"_fields": fields})


def _value(value: Any, nodes: list[ast.AST]) -> Any:
    if isinstance(value, list):
        return [_value(part, nodes) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "n":
        return nodes[inner]
    if kind == "i":
        return int(inner, 16)
    if kind == "b":
        return bytes.fromhex(inner)
    return ... if kind == "e" else _number(inner)


def _number(text: str) -> complex:
    try:
        return float(text)  # "inf", too: a literal that is too large
    except ValueError:
        return complex(text)


def told(raw: bytes) -> tuple[list[Any] | None, int | None, str]:
    """Return (rows, line, error) of an answer: rows, or the line (None: unknown) and the words of what is wrong."""
    answer = json.loads(raw)
    rows = answer.get("tree")
    return (
        (rows, None, "") if rows else (None, answer.get("line"), str(answer.get("error") or "invalid syntax"))
    )
