"""Trees that another Python tells of: the same as this one's, and what this one does not know."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.foreigntree import SCRIPT, rebuilt, told
from redbucket.core.pytree import newer_python, parse, shape, syntax_error

TOP = Path(__file__).parents[2]
SOURCES = [
    b"",
    b"x = 1, -2.5, 1e999, 3j, b'\\xff', 'a\\ud800', ..., None, True, 10**400\n",
    b"async def f(a, /, b: int = 1, *c, d=2, **e) -> None:\n    async with a as b: yield [await x async for x in b]\n",
    b"match a:\n    case {'x': [1, *rest], **more} if rest: pass\n    case A(b=1) | None: pass\n",
    b"x = f'{a!r:>{w}} {b=}' if 0 else lambda *a, k=1: (yield)\n",
    b"try:\n    pass\nexcept (A, B) as e:\n    raise X from e\nfinally:\n    del a[1:2, ...]\n",
    b"if 1:\n    pass\n" + b"".join(b"elif x == %d:\n    y = %d\n" % (n, n) for n in range(400)),
]


def ask(sources: list[bytes], script: str = SCRIPT) -> list[bytes]:
    """Return the answers of a Python to ``sources``, its version left out."""
    given = b"".join(len(source).to_bytes(4, "big") + source for source in sources)
    words = [sys.executable, "-I", "-S", "-c", script]
    out = io.BytesIO(subprocess.run(words, input=given, capture_output=True, check=True).stdout)
    answers = []
    while size := out.read(4):
        answers.append(out.read(int.from_bytes(size, "big")))
    return answers[1:]


def spots(tree: ast.AST) -> list[object]:
    return [(type(n), *(getattr(n, name, None) for name in n._attributes)) for n in ast.walk(tree)]


def test_a_tree_comes_back_as_it_was() -> None:
    own = [path.read_bytes() for path in sorted(TOP.glob("redbucket/core/*.py"))[:40]]
    for source, raw in zip(SOURCES + own, ask(SOURCES + own), strict=True):
        rows, _, _ = told(raw)
        assert rows is not None
        assert shape(rebuilt(rows)) == shape(ast.parse(source))
        assert spots(rebuilt(rows)) == spots(ast.parse(source))


def test_what_no_python_reads_is_said() -> None:
    for source, line in ((b"x = 1\ndef (:\n", 2), (b"\0", None), (b"# -*- coding: nonsense -*-\n", None)):
        rows, at, error = told(ask([source])[0])
        assert rows is None and error
        assert line is None or at == line


def row(kinds: list[str], fields: list[Any], places: list[int] | None = None) -> list[Any]:
    return [[*kinds, "AST"], fields, places or [1, 0, 1, 1]]


# type X = t"{f}", as Python 3.14 tells it
NEW: list[Any] = [
    [["Module", "mod", "AST"], [["body", [{"n": 1}]], ["type_ignores", []]], []],
    row(["TypeAlias", "stmt"], [["name", {"n": 2}], ["type_params", []], ["value", {"n": 3}]]),
    row(["Name", "expr"], [["id", "X"], ["ctx", {"n": 4}]]),
    row(["TemplateStr", "expr"], [["values", [{"n": 5}]]]),
    row(["Store", "expr_context"], []),
    row(
        ["Interpolation", "expr"],
        [["value", {"n": 6}], ["str", "f"], ["conversion", -1], ["format_spec", None]],
    ),
    row(["Name", "expr"], [["id", "f"], ["ctx", {"n": 7}]]),
    row(["Load", "expr_context"], []),
]


def test_kinds_of_nodes_that_this_python_lacks() -> None:
    tree = rebuilt(NEW)
    alias = tree.body[0]
    assert type(alias).__name__ == "TypeAlias" and isinstance(alias, ast.stmt)
    assert {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} == {"X", "f"}
    assert type(rebuilt(NEW).body[0]) is type(alias)
    assert shape(rebuilt(NEW)) == shape(tree)


def test_a_field_that_this_python_lacks() -> None:
    rows = [
        [["Module", "mod", "AST"], [["body", [{"n": 1}]], ["type_ignores", []]], []],
        row(["Pass", "stmt"], [["invented", [{"n": 2}]]]),
        row(["Name", "expr"], [["id", "T"], ["ctx", {"n": 3}]]),
        row(["Load", "expr_context"], []),
    ]
    tree = rebuilt(rows)
    assert isinstance(tree.body[0], ast.Pass)
    assert [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)] == ["T"]


def test_what_a_newer_python_reads_is_parsed() -> None:
    source = b"type = = X\n"
    assert parse(source) is None
    with newer_python(lambda _: (NEW, None, "")):
        assert parse(source) is not None
        assert syntax_error(source) is None
    assert parse(source) is None


@pytest.mark.parametrize("said", [None, (None, 7, "not even there")])
def test_what_no_newer_python_reads_either(said: Any) -> None:
    with newer_python(lambda _: said):
        assert parse(b"x = = 1\n") is None
        own = f"invalid syntax (for Python {sys.version_info[0]}.{sys.version_info[1]}, the newest here)"
        assert syntax_error(b"x = = 1\n") == ((7, "not even there") if said else (1, own))


def test_what_python_3_14_said() -> None:
    """Its own answers to ``x = t'{a!r:>9} {b}'`` and to an ``except A, B`` without parentheses."""
    raw = (Path(__file__).parent / "python_3_14.jsonl").read_bytes().splitlines()
    template, bare = (rebuilt(rows) for rows, _, _ in map(told, raw) if rows)
    assert [node.id for node in ast.walk(template) if isinstance(node, ast.Name)] == ["x", "a", "b"]
    assert type(template.body[0].value).__name__ == "TemplateStr"  # type: ignore[attr-defined]
    assert shape(bare) == shape(ast.parse("try:\n    f()\nexcept (A, B):\n    pass\n"))
