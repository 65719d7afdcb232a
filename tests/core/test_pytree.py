"""Parsing that never raises, and comparison by syntax tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.pytree import digest, parse, same_tree, shape

SAME = [
    ("x = 1", "x  =  1  # one"),
    ("x = (1)", "x = 1"),
    ("x = 'a'", 'x = "a"'),
    ("x = 0x10", "x = 16"),
    ("def f():\n    '''Doc.'''\n    return 1", "def f():\n    return 1"),
    ("'''Doc.'''\nx = 1", "'''Other.'''\nx = 1"),
    ("x = [1,\n 2]", "x = [1, 2,]"),
    ("def f():\n    from a import b, c as d", "def f():\n    from a import c as d\n    from a import b"),
    ("from a import b\nfrom a import c", "from a import (\n    c,\n    b,\n)"),
    ("with a as b:\n    with c:\n        with d: f()", "with a as b, c:\n    with d:\n        f()"),
    ("# -*- coding: latin-1 -*-\nx = 1", "x = 1"),
]
DIFFERENT = [
    ("x = 1", "x = 2"),
    ("x = 1", "x = True"),
    ("x = 1", "x = 1.0"),
    ("x = '1'", "x = 1"),
    ("x = 'a'", "x = b'a'"),
    ("x = a", "x = 'a'"),
    ("x, y = 1, 2", "x = y = 1, 2"),
    ("assert x, y", "assert (x, y)"),
    ("def f():\n    '''>>> 1\n    1\n    '''\n    return 1", "def f():\n    return 1"),
    ("'''PYTEST_DONT_REWRITE'''\nx = 1", "x = 1"),
    ("global_x = ['a', 'b']", "global_x = ['a b']"),
    ("x = -1", "x = 1"),
    ("with a:\n    with b: f()", "with b, a: f()"),
    ("with a:\n    with b: f()\n    g()", "with a, b:\n    f()\n    g()"),
    ("async def f():\n    async with a:\n        with b: g()", "async def f():\n    async with a, b: g()"),
    ("from a import b, c", "from a import b\nf()\nfrom a import c"),
    ("from a import b, c", "from a import c, d"),
    ("from a import b as x, c as x", "from a import c as x, b as x"),
    ("from a import b, c", "from .a import b, c"),
    ("from a import b\nfrom c import b", "from c import b\nfrom a import b"),
    ("from a import b\nfrom a import *", "from a import *\nfrom a import b"),
    ("if a:\n    pass\nelse:\n    b", "if a:\n    pass\nb"),
]
HOSTILE = [
    b"\0",
    b"x = '\0'",
    b"\xff\xfe",
    b"# coding: nonsense\nx = 1",
    b"x = 1 +",
    b"print 'two'",
    b"(" * 10000,
    b"[" * 500 + b"]" * 500,
    b"x" + b".y" * 50000,
    b"x = " + b"1 + " * 20000 + b"1",
    b"x = " + b"-" * 20000 + b"1",
    b"if a: pass\n" + b"elif b: pass\n" * 3000,
    b"x = 0x" + b"f" * 10000,
    b"x = " + b"9" * 10000,
    b"\xef\xbb\xbfx = 1",
    b"type X[T] = list[T]",
    b"match x:\n    case {'a': 1}: pass",
    b"try:\n    pass\nexcept* E:\n    pass",
    b"x = f'{a!r:>{w}}'",
    b"x = t'{a}'",
    b"x = '\\ud800'",
    b"x = '\\d'",
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_same(old: str, new: str) -> None:
    assert same_tree(old.encode(), new.encode())


@pytest.mark.parametrize(("old", "new"), DIFFERENT)
def test_different(old: str, new: str) -> None:
    assert not same_tree(old.encode(), new.encode())


@pytest.mark.parametrize("source", HOSTILE)
def test_nothing_raises(source: bytes) -> None:
    tree = parse(source)
    if tree is not None:
        assert digest(tree) == digest(tree)
    assert same_tree(source, source)
    assert not same_tree(source, b"y = 7")


def test_huge_numbers_have_a_shape() -> None:
    tree = parse(b"x = 0x" + b"f" * 10000)
    assert tree is not None
    assert "int:ffff" in shape(tree)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    tree = parse(data)
    assert tree is None or shape(tree)


@given(st.text("ab=()[]:\n '\"#,+1>.", max_size=60), st.text("ab=()[]:\n '\"#,+1>.", max_size=60))
def test_any_pair(old: str, new: str) -> None:
    assert same_tree(old.encode(), new.encode()) == same_tree(new.encode(), old.encode())
