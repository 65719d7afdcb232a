"""Definitions that stand letter for letter in two sources, so that nothing of them need be compared."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from redbucket.core.pytree import set_shape

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def share_shapes(
    old: Iterable[ast.stmt], old_source: bytes, new: Iterable[ast.stmt], new_source: bytes
) -> None:
    """Give each function and class that stands in both module bodies, unchanged, one short shape.

    A shape is only ever compared with those of the same name at the same level: it may be any text that no
    other definition of that name has. So names that a body defines twice are left out, and so is a source
    that says how its bytes are to be read.
    """
    lines = [source.splitlines() for source in (old_source, new_source)]
    if any(b"coding" in line for source in lines for line in source[:2]):
        return
    before, after = _once(old), _once(new)
    for name in before.keys() & after.keys():
        text = _text(before[name], lines[0])
        if text == _text(after[name], lines[1]) and all(line.isascii() for line in text):
            set_shape(before[name], f"verbatim {name}")
            set_shape(after[name], f"verbatim {name}")


def _once(body: Iterable[ast.stmt]) -> dict[str, ast.stmt]:
    """Return the definitions of a body by name, those names that it defines once."""
    found = [node for node in body if isinstance(node, _DEFINITIONS)]
    number = Counter(node.name for node in found)
    return {node.name: node for node in found if number[node.name] == 1}


def _text(node: ast.stmt, lines: list[bytes]) -> list[bytes]:
    """Return the lines of a definition, its decorators among them."""
    first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
    return lines[first - 1 : node.end_lineno]
