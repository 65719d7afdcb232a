"""Python sources as trees: parsing that never raises, and comparison that ignores formatting."""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from sys import version_info
from typing import Any

from redbucket.core.foreigntree import rebuilt

# What makes a docstring more than documentation: doctest prompts, and pytest's
# switch that turns assertion rewriting off.
_LIVE_DOCSTRING = (">>>", "PYTEST_DONT_REWRITE")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Contexts follow from the place of a node; kind is the u of u"": neither changes what runs.
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})

# What is said of a source that no Python here can parse.
UNREADABLE = "can't be read as Python"

_KEPT_BYTES = 256 * 1024
_BACKWARDS: dict[type[ast.AST], tuple[str, ...]] = {}


def is_python(path: str) -> bool:
    """Return whether ``path`` names a Python source by its suffix."""
    return path.endswith((".py", ".pyw")) or is_conftest(path)


def is_conftest(path: str) -> bool:
    """Return whether pytest finds ``path`` as ``conftest.py``, as a disk that folds case gives it CONFTEST.PY, too."""
    return path.rpartition("/")[2].casefold() == "conftest.py"


# What a newer Python says of a source: the rows of its tree, or a line and what is wrong there.
Told = tuple[list[Any] | None, int | None, str]
_newer: ContextVar[Callable[[bytes], Told | None] | None] = ContextVar("newer", default=None)


@contextmanager
def newer_python(ask: Callable[[bytes], Told | None]) -> Iterator[None]:
    """Have ``ask`` read what this Python can't, meanwhile; it returns None where there is no newer Python."""
    before = _newer.set(ask)
    try:
        yield
    finally:
        _newer.reset(before)


def parse(source: bytes) -> ast.Module | None:
    """Return the tree of ``source``, or ``None`` if neither this Python nor a newer one can parse it.

    A wrong encoding, NUL bytes and nesting that the parser gives up on are
    all the same to the caller: not understood. The tree is shared with whoever
    asks next, and must not be changed.
    """
    return _kept(source, _newer.get()) if len(source) <= _KEPT_BYTES else parse_anew(source)


# Several guards ask for the same files; a tree takes up to 100 times its source.
@lru_cache(maxsize=8)
def _kept(source: bytes, newer: object) -> ast.Module | None:
    return parse_anew(source)


def parse_anew(source: bytes) -> ast.Module | None:
    """Return a tree as ``parse`` does, one that the caller may change."""
    tree, _, _ = _read(source)
    return tree


def syntax_error(source: bytes) -> tuple[int | None, str] | None:
    """Return the line (None: unknown) and the words of what keeps Python from reading ``source``; None if it can."""
    tree, line, error = _read(source)
    return None if tree is not None else (line, error)


def _read(source: bytes) -> tuple[ast.Module | None, int | None, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source), None, ""
    except SyntaxError as error:
        line, words = error.lineno, str(error.msg)
    except (ValueError, RecursionError, MemoryError, OverflowError, LookupError) as error:
        return None, None, str(error) or type(error).__name__
    newer = _newer.get()
    told = newer(source) if newer is not None else None
    if told is None:
        # the words are of one Python, to which the syntax of the next one is an error like any other
        return None, line, f"{words} (for Python {version_info[0]}.{version_info[1]}, the newest here)"
    rows, line, words = told
    return (rebuilt(rows) if rows else None), line, words


def shape(node: ast.AST | list[ast.stmt] | list[ast.expr] | None) -> str:
    """Return a text that is equal for two nodes exactly if they run the same.

    Iterative, because a long chain of ``elif`` or ``+`` nests deeper than
    Python's recursion limit.
    """
    out: list[str] = []
    stack: list[object] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.AST):
            kind = type(item)
            if kind is ast.With or kind is ast.AsyncWith:
                item = _joined(item)
            out.append(kind.__name__)
            for name in _BACKWARDS.get(kind) or _backwards(kind):
                value = getattr(item, name, None)
                if name == "body" and isinstance(item, _DOCUMENTED):
                    value = without_docstring(item)
                stack.append(value)
        elif isinstance(item, list):
            # ``pass`` does nothing: a body of it alone is a body of a docstring alone
            parts = [part for part in item if type(part) is not ast.Pass]
            if any(type(part) is ast.ImportFrom for part in parts):
                parts = _one_by_one(parts)
            out.append(f"[{len(parts)}")
            stack.extend(reversed(parts))
        elif item is None:
            out.append("NoneType:None")
        elif isinstance(item, str):
            out.append(repr(item))
        else:
            out.append(_constant(item))
    return " ".join(out)


def _joined(block: ast.AST) -> ast.With | ast.AsyncWith:
    """Return a ``with`` that holds nothing but another one as one of both: ``with a: with b:`` is ``with a, b:``."""
    assert isinstance(block, (ast.With, ast.AsyncWith))
    items, body = list(block.items), block.body
    while (
        len(body) == 1
        and isinstance(inner := body[0], (ast.With, ast.AsyncWith))
        and type(inner) is type(block)
    ):
        items += inner.items
        body = inner.body
    return type(block)(items, body)


def _one_by_one(body: list[Any]) -> list[Any]:
    """Return statements with each name that is imported from a module by itself, in the order of the names.

    ``from a import c, b`` does the same as ``from a import b`` before ``from a import c``.
    """
    parts: list[Any] = []
    run: list[ast.ImportFrom] = []
    for part in [*body, None]:
        if run and not (
            type(part) is ast.ImportFrom and (part.module, part.level) == (run[0].module, run[0].level)
        ):
            parts += _sorted(run)
            run = []
        if type(part) is ast.ImportFrom:
            run += [ast.ImportFrom(part.module, [alias], part.level) for alias in part.names]
        elif part is not None:
            parts.append(part)
    return parts


def _sorted(run: list[ast.ImportFrom]) -> list[ast.ImportFrom]:
    bound = [node.names[0].asname or node.names[0].name for node in run]
    if "*" in bound or len({*bound}) < len(bound):
        return run
    return [node for _, node in sorted(zip(bound, run, strict=True), key=lambda pair: pair[0])]


def kept_shape(node: ast.AST) -> str:
    """Return ``shape(node)``, worked out once: for a statement that nobody changes any more."""
    known: dict[str, str] = vars(node)
    text = known.get("_shape")
    if text is None:
        text = known["_shape"] = shape(node)
    return text


def set_shape(node: ast.AST, text: str) -> None:
    """Have ``kept_shape`` return ``text`` for a node of which it is known without looking."""
    vars(node)["_shape"] = text


def _backwards(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a kind of node that change what runs, the last one first."""
    names = tuple(name for name in reversed(kind._fields) if name not in _IGNORED)
    return _BACKWARDS.setdefault(kind, names)


def _constant(value: object) -> str:
    # The digits of a huge integer may not be printed (sys.set_int_max_str_digits); hex may.
    if isinstance(value, int) and not isinstance(value, bool):
        return f"int:{value:x}"
    return f"{type(value).__name__}:{value!r}"


def without_docstring(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> list[ast.stmt]:
    """Return a body without its docstring, unless that holds doctests."""
    text = docstring(node)
    if text is None or any(mark in text for mark in _LIVE_DOCSTRING):
        return node.body
    return node.body[1:]


def docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return the docstring as it stands in the source, or ``None``."""
    if node.body and isinstance(node.body[0], ast.Expr):
        value = node.body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return None


def digest(node: ast.AST) -> str:
    """Return a short hash of a node's shape."""
    return hash_text(shape(node))


def hash_text(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def same_tree(old: bytes, new: bytes) -> bool:
    """Return whether two sources differ in formatting, comments and docstrings at most.

    False if either can't be parsed, unless the bytes are equal.
    """
    if old == new:
        return True
    before, after = parse(old), parse(new)
    return before is not None and after is not None and shape(before) == shape(after)


def dotted(node: ast.AST | None) -> str:
    """Return ``a.b.c`` for a chain of attributes on a name, else an empty string."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def source_text(node: ast.AST, limit: int = 70) -> str:
    """Return a node as one short line of source, for messages."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        text = ""
    # of a kind that this Python does not know, what it knows of its parts says little
    if not text or not hasattr(ast, type(node).__name__):
        return f"<{type(node).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
