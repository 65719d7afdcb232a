"""Small faults of a Python source, on given lines: one token or one statement is another one.

Kept low: mutants that no test can tell from the code. Left out are docstrings, annotations, messages of
exceptions, logging and printing, ``__all__`` and the main guard; and what compiles to the same bytecode.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import CodeType

from redbucket.core.pytree import dotted, parse_anew

_SWAPPED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
_SILENT = re.compile(
    r"(^|\.)(log|logger|logging|LOG|LOGGER|warnings|print|debug|info|warn|warning|note)(\.|$)"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One fault: the line, what was done, the bytes that were replaced and the whole new source."""

    path: str
    line: int
    operator: str
    source: bytes
    key: str

    def diff(self, old: bytes) -> str:
        """Return the fault as a diff of one hunk without context."""
        before, after = (text.decode("utf-8", "replace").splitlines() for text in (old, self.source))
        names = f"a/{self.path}", f"b/{self.path}"
        return "\n".join(difflib.unified_diff(before, after, *names, n=0, lineterm=""))


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    text: bytes
    operator: str
    line: int


def mutants(source: bytes, path: str, lines: Collection[int]) -> list[Mutant]:
    """Return the mutants of ``source`` on ``lines``, in the order of the source; [] if it does not parse."""
    tree = parse_anew(source)
    if tree is None:
        return []
    wanted = frozenset(lines)
    plain = _code(source)
    found: dict[bytes, Mutant] = {}
    for edit in _Edits(source, wanted).of(tree):
        changed = source[: edit.start] + edit.text + source[edit.end :]
        code = _code(changed)
        if code is None or code == plain or changed in found:
            continue
        text = f"{path}\0{edit.line}\0{edit.operator}\0{edit.start}".encode("utf-8", "backslashreplace")
        key = hashlib.sha256(text + b"\0" + source).hexdigest()[:16]
        found[changed] = Mutant(path, edit.line, edit.operator, changed, key)
    return sorted(found.values(), key=lambda m: (m.line, m.operator, m.key))


def sample(found: Collection[Mutant], most: int, seed: str) -> list[Mutant]:
    """Return at most ``most`` mutants, the same for the same ``seed``: one of each line before a second of any."""
    ranked = sorted(found, key=lambda m: hashlib.sha256(f"{seed}\0{m.key}".encode()).digest())
    seen: dict[tuple[str, int], int] = {}
    turns: list[tuple[int, int, Mutant]] = []
    for mutant in ranked:
        turn = seen[mutant.path, mutant.line] = seen.get((mutant.path, mutant.line), 0) + 1
        turns.append((turn, len(turns), mutant))
    chosen = [mutant for _, _, mutant in sorted(turns, key=lambda t: t[:2])[:most]]
    return sorted(chosen, key=lambda m: (m.path, m.line, m.key))


def _code(source: bytes) -> tuple[object, ...] | None:
    """Return what a source runs, without line numbers; ``None`` if it does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _what_runs(compile(source, "m", "exec", dont_inherit=True, optimize=0))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _what_runs(code: CodeType) -> tuple[object, ...]:
    constants = tuple(
        _what_runs(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c)) for c in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


class _Edits:
    """Walks a tree and yields the edits on the wanted lines."""

    def __init__(self, source: bytes, wanted: frozenset[int]) -> None:
        self._source = source
        self._wanted = wanted
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def of(self, tree: ast.AST) -> Iterator[_Edit]:
        """Yield the edits of a tree."""
        stack: list[ast.AST] = [tree]
        while stack:
            node = stack.pop()
            yield from self._node(node)
            stack.extend(reversed([c for c in ast.iter_child_nodes(node) if not _is_inert(node, c)]))

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _begin(self, node: ast.AST) -> int:
        return self._at(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _end(self, node: ast.AST) -> int:
        return self._at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _in(self, node: ast.AST) -> bool:
        return getattr(node, "lineno", 0) in self._wanted

    def _node(self, node: ast.AST) -> Iterator[_Edit]:
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = [left, *others]
                for number, operator in enumerate(operators):
                    yield from self._token(sides[number], sides[number + 1], operator)
            case ast.BinOp(left=left, right=right, op=operator):
                yield from self._token(left, right, operator)
            case ast.BoolOp(values=values, op=operator):
                for one, other in pairwise(values):
                    yield from self._token(one, other, operator)
            case ast.AugAssign(target=target, value=value, op=operator):
                yield from self._token(target, value, operator)
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand) if self._in(node):
                yield self._edit(node, self._begin(node), self._begin(operand), b"", "drop the sign")
            case ast.Constant():
                yield from self._constant(node)
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if self._in(test):
                text = self._source[self._begin(test) : self._end(test)]
                yield self._edit(test, self._begin(test), self._end(test), b"not (" + text + b")", "negate")
            case ast.Return(value=value) if value is not None and self._in(node):
                if not (isinstance(value, ast.Constant) and value.value is None):
                    yield self._edit(value, self._begin(value), self._end(value), b"None", "return None")
            case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Break() | ast.Continue() if self._in(node):
                kind = type(node.value if isinstance(node, ast.Expr) else node).__name__.lower()
                yield self._edit(node, self._begin(node), self._end(node), b"pass", f"drop the {kind}")

    def _edit(self, node: ast.AST, start: int, end: int, text: bytes, operator: str) -> _Edit:
        return _Edit(start, end, text, operator, getattr(node, "lineno", 1))

    def _token(self, left: ast.AST, right: ast.AST, operator: ast.AST) -> Iterator[_Edit]:
        swap = _SWAPPED.get(type(operator))
        if swap is None:
            return
        begin, end = self._end(left), self._begin(right)
        pattern = rb"\s+".join(re.escape(word.encode()) for word in swap[0].split())
        between = re.sub(rb"#[^\n]*", lambda m: b" " * len(m.group()), self._source[begin:end])
        found = re.search(pattern, between)
        if found is None:
            return
        start = begin + found.start()
        line = self._source.count(b"\n", 0, start) + 1
        if line in self._wanted:
            yield _Edit(start, begin + found.end(), swap[1].encode(), f"{swap[0]} to {swap[1]}", line)

    def _constant(self, node: ast.Constant) -> Iterator[_Edit]:
        if not self._in(node):
            return
        value = node.value
        if isinstance(value, bool):
            yield self._edit(node, self._begin(node), self._end(node), str(not value).encode(), "other truth")
        elif isinstance(value, (int, float)):
            yield self._edit(
                node, self._begin(node), self._end(node), repr(value + 1).encode(), "number plus 1"
            )
        elif isinstance(value, (str, bytes)) and self._source[self._end(node) - 1 :][:1] in (b'"', b"'"):
            other = repr(type(value)() if value else ("x" if isinstance(value, str) else b"x"))
            yield self._edit(node, self._begin(node), self._end(node), other.encode(), "other text")


def _is_inert(parent: ast.AST, child: ast.AST) -> bool:
    """Return whether nothing in ``child`` can be told by a test, or is meant for people alone."""
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        return True  # a docstring
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Call):
        return bool(_SILENT.search(dotted(child.value.func)))
    if isinstance(parent, ast.Raise) or isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(parent, ast.Assert) and child is parent.msg:
        return True
    if isinstance(parent, (ast.arg, ast.AnnAssign)) and child is parent.annotation:
        return True
    if isinstance(parent, _FUNCTIONS) and (child is parent.returns or child in parent.decorator_list):
        return True
    if isinstance(child, ast.Assign):
        return any(getattr(t, "id", "").startswith("__") for t in child.targets)
    return isinstance(child, ast.If) and any(
        getattr(part, "id", "") in ("__name__", "TYPE_CHECKING") for part in ast.walk(child.test)
    )
