"""Test files whose tests must fail: in each test one assertion is turned into its contrary.

A test that passes as it stands and passes with the contrary, too, asserts nothing any
more: something swallows its failures, replaces it, or is equal to everything. A test
like that is known to nobody inside the process, other than a must-fail test of the
recorder's own: it has the name, the place and nearly all the bytes of a real one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from redbucket.core.pytree import parse
from redbucket.core.seeds import derive

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor)
_EXPECTING = frozenset(
    {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "suppress"}
)
_PAIRS = (
    ("assertEqual", "assertNotEqual"),
    ("assertTrue", "assertFalse"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
    ("assertRegex", "assertNotRegex"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
)
_OPPOSITE = {a: b for one, other in _PAIRS for a, b in ((one, other), (other, one))}
_EQUALITIES = frozenset(
    {
        "assertAlmostEqual",
        "assertCountEqual",
        "assertDictEqual",
        "assertEqual",
        "assertListEqual",
        "assertMultiLineEqual",
        "assertSequenceEqual",
        "assertSetEqual",
        "assertTupleEqual",
    }
)
# An order is contrary where the number that stands there is out of reach. By the side of the number: (left, right).
_REACH = 10**18
_ORDERS: dict[type[ast.cmpop], tuple[int, int]] = {
    ast.Lt: (_REACH, -_REACH),
    ast.LtE: (_REACH, -_REACH),
    ast.Gt: (-_REACH, _REACH),
    ast.GtE: (-_REACH, _REACH),
}
_ORDERINGS: dict[str, type[ast.cmpop]] = {
    "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE,
    "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE,
}
# What holds an expected value as its first argument, and compares by it. Not where a text is read as a number.
_HOLDERS = frozenset(
    {"Path", "PurePath", "PurePosixPath", "approx", "date", "datetime", "dict", "frozenset", "list", "set"}
    | {"timedelta", "tuple"}
)
# What expects an exception or a warning, and what it is to expect instead.
_INSTEAD = {
    "raises": "Exception",
    "assertRaises": "Exception",
    "assertRaisesRegex": "Exception",
    "warns": "Warning",
    "assertWarns": "Warning",
    "assertWarnsRegex": "Warning",
}


@dataclass(frozen=True)
class Contrary:
    """The changed source, and the bare names of the functions that must fail now."""

    source: bytes
    functions: frozenset[str]


@dataclass(frozen=True)
class _Edit:
    start: tuple[int, int]
    end: tuple[int, int]
    text: str = ""
    exact: bool = False  # another expected value; tells more than a negation
    around: bool = False  # what stands there is negated


def contrary(source: bytes, seed: str) -> Contrary | None:
    """Return ``source`` with one assertion of each test turned round; None if there is nothing to turn.

    Which one is chosen by ``seed``, so that a patch can't prepare for it.
    """
    tree = parse(source)
    if tree is None or not _is_utf8(source):
        return None
    lines = source.splitlines(keepends=True)
    edits: list[_Edit] = []
    names = set()
    for function in _tests(tree):
        found = sorted(_turned(function.body, seed), key=lambda e: e.start)
        found = found or sorted(_turned(_branches(function.body), seed), key=lambda e: e.start)
        found = [e for e in found if e.exact] or found or list(_failing(function, lines))
        if found:
            edits.append(found[derive_index(seed, f"{function.name}:{function.lineno}", len(found))])
            names.add(function.name)
    if not edits:
        return None
    changed = _apply(lines, edits)
    return Contrary(changed, frozenset(names)) if parse(changed) is not None else None


def derive_index(seed: str, name: str, size: int) -> int:
    """Return a number below ``size``."""
    return int(derive(seed, name)) % size


def _is_utf8(source: bytes) -> bool:
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not source.startswith(b"\xef\xbb\xbf")


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            waiting.extend(node.body)
        elif isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            yield node


def _turned(body: list[ast.stmt], seed: str) -> Iterator[_Edit]:
    """Yield what can be changed in the statements that a test is sure to execute."""
    for statement in body:
        if isinstance(statement, ast.Assert):
            yield from _assert(statement, seed)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield from _call(statement.value, seed)
        elif isinstance(statement, _BLOCKS) and not _expects(statement):
            yield from _turned(statement.body, seed)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            for item in statement.items:
                yield from _instead(item.context_expr)


def _branches(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return what a test may execute: base tells whether it does."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.If, ast.While, ast.Try)):
            inner = [*statement.body, *statement.orelse]
            found += [*inner, *_branches(inner)]
        elif isinstance(statement, _BLOCKS) and not _expects(statement):
            found += _branches(statement.body)
    return found


def _instead(node: ast.expr) -> Iterator[_Edit]:
    """Another exception than the expected one, which nothing raises."""
    if isinstance(node, ast.Call) and node.args and _last_name(node.func) in _INSTEAD:
        expected = node.args[0]
        text = f'type("Other", ({_INSTEAD[_last_name(node.func)]},), {{}})'
        yield _Edit(_start(expected), _end(expected), text, exact=True)


def _expects(statement: ast.With | ast.AsyncWith | ast.For | ast.AsyncFor) -> bool:
    """True if the block is left by an exception on purpose."""
    return any(
        isinstance(part, ast.Call) and _last_name(part.func) in _EXPECTING
        for item in getattr(statement, "items", ())
        for part in ast.walk(item.context_expr)
    )


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _assert(statement: ast.Assert, seed: str) -> Iterator[_Edit]:
    test = statement.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        yield from _expected(test.left, test.comparators[0], seed)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _ORDERS:
        yield from _beyond(test.left, test.comparators[0], type(test.ops[0]))
    yield _Edit(_start(test), _end(test), around=True)


def _call(call: ast.Call, seed: str) -> Iterator[_Edit]:
    name = _last_name(call.func)
    if not isinstance(call.func, ast.Attribute):
        return
    if name in _EQUALITIES and len(call.args) >= 2:
        yield from _expected(call.args[0], call.args[1], seed)
    if name in _ORDERINGS and len(call.args) >= 2:
        yield from _beyond(call.args[0], call.args[1], _ORDERINGS[name])
    yield from _instead(call)
    if name in _OPPOSITE:
        line, end = _end(call.func)
        yield _Edit((line, end - len(name)), (line, end), _OPPOSITE[name])


def _expected(one: ast.expr, other: ast.expr, seed: str) -> Iterator[_Edit]:
    """Another value where exactly one side of an equality is a literal."""
    literal = [held for node in (one, other) if (held := _held(node)) is not None]
    if len(literal) == 1:
        node = literal[0]
        text = repr(_another(ast.literal_eval(node), f"{seed} {node.lineno}"))
        yield _Edit(_start(node), _end(node), text, exact=True)


def _held(node: ast.expr) -> ast.expr | None:
    """Return the literal that an expression is or holds; None: it is computed."""
    if isinstance(node, ast.Call) and node.args and _last_name(node.func) in _HOLDERS:
        node = node.args[0]
    return node if _is_literal(node) else None


def _beyond(left: ast.expr, right: ast.expr, order: type[ast.cmpop]) -> Iterator[_Edit]:
    """A number out of reach where exactly one side of a comparison is one."""
    numbers = [
        (node, bound) for node, bound in zip((left, right), _ORDERS[order], strict=True) if _is_number(node)
    ]
    if len(numbers) == 1:
        node, bound = numbers[0]
        yield _Edit(_start(node), _end(node), repr(bound), exact=True)


def _is_number(node: ast.expr) -> bool:
    return _is_literal(node) and type(ast.literal_eval(node)) in (int, float)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _another(value: object, seed: str) -> object:
    """Return a value of the same kind that differs a little: what is equal to both is equal to much."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + (1, -1)[derive_index(seed, "step", 2)]
    if isinstance(value, (float, complex)):
        return value + 1.0 + abs(value)
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, list):
        return [*value[:-1], _another(value[-1], seed)] if value else [1]
    if isinstance(value, tuple):
        return (*value[:-1], _another(value[-1], seed)) if value else (1,)
    if isinstance(value, Mapping):
        *_, last = value or ("x",)
        return {**value, last: _another(value.get(last, 0), seed)}
    if isinstance(value, set):
        return {*value, "x"}
    return 1


def _failing(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[bytes]) -> Iterator[_Edit]:
    """A test without an assertion of its own gets one that fails, before its first statement."""
    for statement in function.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        before = lines[statement.lineno - 1][: statement.col_offset]
        if not before.strip() and not getattr(statement, "decorator_list", None):
            yield _Edit(_start(statement), _start(statement), f"assert [] == [0]\n{before.decode()}")
        return


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _apply(lines: list[bytes], edits: list[_Edit]) -> bytes:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = b"".join(lines)
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        first, last = (starts[line - 1] + column for line, column in (edit.start, edit.end))
        if edit.around:
            new = b"not (" + text[first:last] + b")"
        else:
            new = edit.text.encode()
        text = text[:first] + new + text[last:]
    return text
