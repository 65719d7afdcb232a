"""What demands more of the code and nothing less is an addition; what only looks like it is not."""

# ruff: noqa: E501 (one edit, one line)

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.alteration import altered
from redbucket.core.details import Effect
from redbucket.core.implied import implies

BASE = """\
import math
import numpy as np
import pytest
from contextlib import suppress
from lib import f, g, Bad

def helper(x):
    return x

def stop(x):
    pytest.skip("not here")

def bend(x):
    import lib
    lib.f = g

def tidy(given):
    kept = given
    kept.clear()
    return True

def tidy_each(given):
    for part in given:
        part["id"] = 1
    return True

def tally(given):
    found = {{}}
    for part in given:
        found[part] = 1
    return found

class Point:
    def __init__(self, x):
        self.x = x

def test_a(self, x, y):
    got = f(x)
    {}
    assert got
"""

MORE = {
    "a comparison": ("x == y", "assert x == y"),
    "a comparison with a message": ("x == y", "assert x == y, f'{x} is not {y}'"),
    "what a call gives": ("f(2)", "assert f(2)"),
    "a part": ("assert x > y", "assert x > y and got.name == 'a'"),
    "a part before": ("assert x > y", "assert got is not None and x > y"),
    "a part more": ("assert x and y", "assert x and f(3) and y"),
    "a longer chain": ("assert x < y", "assert x < y < 10"),
    "one alternative less": ("assert x == 1 or x == 2", "assert x == 1"),
    "the last of two says more": ("assert x == 1 or y", "assert x == 1 or y == 'a'"),
    "a number for more than none": ("assert len(x) > 0", "assert len(x) == 3"),
    "a number from the left": ("assert 0 < len(x)", "assert len(x) == 3"),
    "a nearer bound": ("assert x < 10", "assert x < 5"),
    "no longer the bound itself": ("assert x <= 10", "assert x < 10"),
    "a value for truth": ("assert got", "assert got == [1, 2]"),
    "a value for no truth": ("assert not got", "assert got == []"),
    "a value for something": ("assert got is not None", "assert got == 'a'"),
    "truth for something": ("assert got is not None", "assert got"),
    "a value for another than": ("assert got != 0", "assert got == 4"),
    "one of several": ("assert x in (1, 2)", "assert x == 2"),
    "fewer of several": ("assert x in [1, 2, 3]", "assert x in [2, 1]"),
    "more of a text": ("assert 'bad' in str(x)", "assert 'bad value' in str(x)"),
    "a whole text": ("assert 'bad' in x", "assert x == 'a bad value'"),
    "None itself": ("assert x == None", "assert x is None"),
    "True itself": ("assert x == True", "assert x is True"),
    "one class of two": ("assert isinstance(x, (int, str))", "assert isinstance(x, int)"),
    "a match": ("with pytest.raises(Bad): g(1)", "with pytest.raises(Bad, match='no .* here'): g(1)"),
    "a match and a name": ("with pytest.raises(Bad): g(1)", "with pytest.raises(Bad, match='no') as info: g(1)\n    assert info.value.code == 3"),
    "a match for a warning": ("with pytest.warns(Bad): g(1)", "with pytest.warns(Bad, match='old'): g(1)"),
    "a pattern in unittest": ("with self.assertRaises(Bad): g(1)", "with self.assertRaisesRegex(Bad, 'no'): g(1)"),
    "an exception of that kind": ("with pytest.raises(Exception): g(1)", "with pytest.raises(ValueError): g(1)"),
    "one exception of two": ("with pytest.raises((Bad, KeyError)): g(1)", "with pytest.raises(Bad): g(1)"),
    "two kinds of one": ("with pytest.raises(LookupError): g(1)", "with pytest.raises((KeyError, IndexError), match='a'): g(1)"),
    "a smaller tolerance": ("assert got == pytest.approx(x, rel=1e-3)", "assert got == pytest.approx(x, rel=1e-6)"),
    "nearer": ("assert math.isclose(got, x, rel_tol=1e-3)", "assert math.isclose(got, x, rel_tol=1e-6)"),
    "more places": ("self.assertAlmostEqual(got, x, places=3)", "self.assertAlmostEqual(got, x, places=5)"),
    "nearer arrays": ("np.testing.assert_allclose(got, x, 1e-3)", "np.testing.assert_allclose(got, x, 1e-5)"),
    "equal lengths": ("for a, b in zip(x, y): assert f(a) == b", "for a, b in zip(x, y, strict=True): assert f(a) == b"),
    "equal lengths in an expression": ("assert all(a < b for a, b in zip(x, y))", "assert all(a < b for a, b in zip(x, y, strict=True))"),
    "in a loop": ("for a in x: assert f(a)", "for a in x: assert f(a) == 2"),
    "in a branch": ("if x:\n        assert y\n    else:\n        assert x is not None", "if x:\n        assert y == 1\n    else:\n        assert x == 0"),
    "in a harmless block": ("with open(x) as file: file.read() == y", "with open(x) as file: assert file.read() == y"),
    "in an open try": ("try: assert x\n    finally: x.close()", "try: assert x == 1\n    finally: x.close()"),
    "several at once": ("assert x\n    assert y", "assert x == 1\n    assert f(2) == 3\n    assert y == 2"),
    "an unread name": ("x.first", "_ = x.first"),
    "an unread name less": ("last = x[0] == y", "x[0] == y"),
    "an unread argument": ("f(1)", "f(1)\n    _ = x"),
    "an unread name in a block": ("with pytest.raises(Bad): x.first", "with pytest.raises(Bad): _ = x.first"),
}  # fmt: skip
MORE |= {
    "an expected exception between": ("f(1)", "with pytest.raises(Bad, match='no'): f(None)\n    f(1)"),
    "an expected exception that is looked at": ("f(1)", "with pytest.raises(Bad) as e: f(None)\n    assert e.value.code == 3\n    f(1)"),
    "a name of its own between": ("f(1)", "other = f(2)\n    assert other == 3\n    f(1)"),
    "a loop of assertions between": ("f(1)", "for n in range(3): assert f(n) >= n\n    f(1)"),
    "a branch of assertions between": ("f(1)", "if x: assert f(x)\n    f(1)"),
    "a helper that changes its own between": ("f(1)", "assert tally(x) == {1: 1}\n    f(1)"),
    "an object of the file between": ("f(1)", "assert Point(1) == x\n    f(1)"),
}  # fmt: skip
NOT_MORE = {
    "a comparison less": ("assert x == y", "x == y"),
    "another comparison": ("x == y", "assert x == x"),
    "a message that skips": ("x == y", "assert x == y, pytest.skip('no')"),
    "a message that acts": ("assert x", "assert x == 1, bend(x)"),
    "an alternative": ("assert x == 1", "assert x == 1 or y"),
    "another first alternative": ("assert x == 1 or y", "assert y"),
    "a part that skips": ("assert x", "assert x and pytest.skip('no')"),
    "a part that skips by a helper": ("assert x", "assert stop(x) and x"),
    "a part that acts": ("assert x", "assert bend(x) is None and x"),
    "a part that changes": ("assert x", "assert y.append(1) is None and x"),
    "a part that binds": ("assert x", "assert (got := 1) and x"),
    "a part less": ("assert x and y", "assert x and got"),
    "a wider bound": ("assert x < 5", "assert x < 10"),
    "the bound itself": ("assert x < 10", "assert x <= 10"),
    "a number out of bounds": ("assert len(x) > 3", "assert len(x) == 3"),
    "a number that was not allowed": ("assert x != 4", "assert x == 4"),
    "truth for no truth": ("assert not x", "assert x == 1"),
    "no value for truth": ("assert x", "assert x == 0"),
    "nothing for something": ("assert x is not None", "assert x == None"),
    "another of several": ("assert x in (1, 2)", "assert x == 3"),
    "more of several": ("assert x in (1, 2)", "assert x in (1, 2, 3)"),
    "less of a text": ("assert 'bad value' in x", "assert 'bad' in x"),
    "equal for itself": ("assert x is None", "assert x == None"),
    "more classes": ("assert isinstance(x, int)", "assert isinstance(x, (int, str))"),
    "another subject": ("assert len(x) > 0", "assert len(y) == 3"),
    "a match that is worked out": ("with pytest.raises(Bad): g(1)", "with pytest.raises(Bad, match=helper('no')): g(1)"),
    "a match that is a name": ("with pytest.raises(Bad): g(1)", "with pytest.raises(Bad, match=y): g(1)"),
    "another match": ("with pytest.raises(Bad, match='no'): g(1)", "with pytest.raises(Bad, match='n'): g(1)"),
    "a match less": ("with pytest.raises(Bad, match='no'): g(1)", "with pytest.raises(Bad): g(1)"),
    "a match for what is called": ("pytest.raises(Bad, g, 1)", "pytest.raises(Bad, g, 1, match='no')"),
    "a check": ("with pytest.raises(Bad): g(1)", "with pytest.raises(Bad, check=bend): g(1)"),
    "another pattern's object": ("with self.assertRaises(Bad): g(1)", "with y.assertRaisesRegex(Bad, 'no'): g(1)"),
    "a broader exception": ("with pytest.raises(ValueError): g(1)", "with pytest.raises(Exception, match='a'): g(1)"),
    "an exception of another kind": ("with pytest.raises(ValueError): g(1)", "with pytest.raises(KeyError): g(1)"),
    "an exception of the project": ("with pytest.raises(Exception): g(1)", "with pytest.raises(Bad): g(1)"),
    "one more exception": ("with pytest.raises(Bad): g(1)", "with pytest.raises((Bad, KeyError)): g(1)"),
    "no exception": ("with pytest.raises(Bad): g(1)", "with pytest.raises(()): g(1)"),
    "another body too": ("with pytest.raises(Bad): g(1)", "with pytest.raises(Bad, match='no'): g(2)"),
    "a wider tolerance": ("assert got == pytest.approx(x, rel=1e-6)", "assert got == pytest.approx(x, rel=1e-3)"),
    "another tolerance": ("assert got == pytest.approx(x, rel=1e-3)", "assert got == pytest.approx(x, abs=1e-6)"),
    "unequal by less": ("assert got != pytest.approx(x, rel=1e-3)", "assert got != pytest.approx(x, rel=1e-6)"),
    "not near by less": ("assert not math.isclose(got, x, rel_tol=1e-3)", "assert not math.isclose(got, x, rel_tol=1e-6)"),
    "not almost equal by less": ("self.assertNotAlmostEqual(got, x, places=3)", "self.assertNotAlmostEqual(got, x, places=5)"),
    "fewer places": ("self.assertAlmostEqual(got, x, places=5)", "self.assertAlmostEqual(got, x, places=3)"),
    "equal lengths where that is expected": ("with pytest.raises(ValueError): list(zip(x, y))", "with pytest.raises(ValueError): list(zip(x, y, strict=True))"),
    "equal lengths where a call is expected to fail": ("pytest.raises(ValueError, lambda: list(zip(x, y)))", "pytest.raises(ValueError, lambda: list(zip(x, y, strict=True)))"),
    "lengths less": ("for a, b in zip(x, y, strict=True): assert f(a) == b", "for a, b in zip(x, y): assert f(a) == b"),
    "where a failure is expected": ("with pytest.raises(AssertionError): assert x", "with pytest.raises(AssertionError): assert x == 5"),
    "where a failure is swallowed": ("with suppress(AssertionError): assert x", "with suppress(AssertionError): assert x == 5"),
    "where a failure is caught": ("try: assert x\n    except AssertionError: return", "try: assert x == 5\n    except AssertionError: return"),
    "in an unknown block": ("with f(x): assert x", "with f(x): assert x == 5"),
    "in an inner function": ("def inner(): assert x", "def inner(): assert x == 5"),
    "a helper that changes what it is given": ("f(1)", "assert tidy(got)\n    f(1)"),
    "a helper that changes a part of it": ("f(1)", "assert tidy_each(got)\n    f(1)"),
    "an old name between": ("f(1)", "got = 1\n    assert got\n    f(1)"),
    "an old name for a loop": ("f(1)", "for got in (1, 2): assert got\n    f(1)"),
    "a call between": ("f(1)", "f(2)\n    f(1)"),
    "a loop that ends the test": ("f(1)", "for n in range(3): return\n    f(1)"),
    "a branch that ends the test": ("f(1)", "if x: return\n    f(1)"),
    "a branch that skips": ("f(1)", "if x: assert stop(x)\n    f(1)"),
    "a swallowing block between": ("f(1)", "with suppress(Bad): bend(x)\n    f(1)"),
    "an expected exception that acts": ("f(1)", "with pytest.raises(Bad): bend(x)\n    f(1)"),
    "an expected exception that patches": ("f(1)", "with pytest.raises(Bad): setattr(math, 'e', 3)\n    f(1)"),
    "a name that is read": ("x.first", "got = x.first"),
    "an object that was kept": ("_ = f(x)", "f(x)"),
    "an object that is kept": ("f(x)", "_ = f(x)"),
    "a look less": ("_ = x.first", "pass"),
    "a name for what is read by name": ("x.first\n    locals()", "got2 = x.first\n    locals()"),
}  # fmt: skip


def judged(old: str, new: str, head: str = ""):
    texts = [BASE.replace("def test_a", f"{head}def test_a").format(part).encode() for part in (old, new)]
    return altered(*texts, "tests/test_a.py")


@pytest.mark.parametrize("pair", MORE.values(), ids=MORE)
def test_more_is_an_addition(pair: tuple[str, str]) -> None:
    found = judged(*pair)
    assert found.effect is Effect.ADDITIVE, found.changes
    assert found.additions


@pytest.mark.parametrize("pair", NOT_MORE.values(), ids=NOT_MORE)
def test_what_is_not_more_is_a_change(pair: tuple[str, str]) -> None:
    assert judged(*pair).effect is Effect.CHANGED


@pytest.mark.parametrize(
    ("mark", "effect"),
    [
        ("@pytest.mark.skipif(OLD, reason='x')\n", Effect.ADDITIVE),
        ("@pytest.mark.xfail\n", Effect.CHANGED),
        ("@unittest.expectedFailure\n", Effect.CHANGED),
    ],
)
def test_more_of_a_test_that_is_not_always_run(mark: str, effect: Effect) -> None:
    assert judged("assert x", "assert x == 1", mark).effect is effect
    assert judged("f(2)", "f(2)\n    assert f(3) == 1", mark).effect is effect


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("xfail", "xfail(strict=True)", Effect.ADDITIVE),
        ("xfail(reason='a')", "xfail(reason='a', strict=True)", Effect.ADDITIVE),
        ("xfail(strict=False)", "xfail(strict=True)", Effect.ADDITIVE),
        ("xfail(strict=LATER)", "xfail(strict=True)", Effect.CHANGED),
        ("xfail(strict=True)", "xfail", Effect.CHANGED),
        ("xfail(OLD)", "xfail(strict=True)", Effect.CHANGED),
        ("xfail", "xfail(strict=bend(1))", Effect.CHANGED),
        ("xfail(OLD)", "xfail(OLD, strict=True, run=False)", Effect.CHANGED),
    ],
)
def test_an_expected_failure_that_became_strict(old: str, new: str, effect: Effect) -> None:
    texts = [BASE.replace("def test_a", f"@pytest.mark.{m}\ndef test_a").encode() for m in (old, new)]
    assert altered(*texts, "tests/test_a.py").effect is effect


RAISES = ("with pytest.raises(Exception): g(1)", "with pytest.raises(ValueError): g(1)")
ZIP = ("for a in zip(x, y): assert a", "for a in zip(x, y, strict=True): assert a")


@pytest.mark.parametrize(
    ("more", "pair"),
    [
        ("ValueError = Exception\n", RAISES),
        ("from lib import *\n", RAISES),
        ("from lib import Wide as ValueError\n", RAISES),
        ("def zip(*a, **k): return ()\n", ZIP),
        ("from lib import *\n", ZIP),
    ],
)
def test_names_of_pythons_own_that_mean_something_else(more: str, pair: tuple[str, str]) -> None:
    texts = [(more + BASE.format(part)).encode() for part in pair]
    assert altered(*texts, "tests/test_a.py").effect is Effect.CHANGED


@pytest.mark.parametrize(
    ("imported", "effect"),
    [
        ("from tests.tools import end", Effect.CHANGED),
        ("from .tools import end", Effect.CHANGED),
        ("from tests import tools as end", Effect.CHANGED),
        ("import tests.tools as end", Effect.CHANGED),
        ("from pytest import skip as end", Effect.CHANGED),
        ("from lib import end", Effect.ADDITIVE),
    ],
)
def test_an_assertion_before_the_others_that_asks_a_helper_from_elsewhere(
    imported: str, effect: Effect
) -> None:
    old, new = BASE.format("f(1)"), f"{imported}\n{BASE.format('f(1)')}"
    new = new.replace("    assert got\n", "    assert end(x)\n    assert got\n")
    strange = {"tests.tools", "tools"}.__contains__
    assert altered(old.encode(), new.encode(), "tests/test_a.py", is_strange=strange).effect is effect


@pytest.mark.parametrize(
    "helper",
    [
        "def end(x):\n    pytest.skip('x')\n",
        "def end(x):\n    inner(x)\n\ndef inner(x):\n    raise unittest.SkipTest\n",
        "def end(x):\n    if x:\n        import os\n        os._exit(0)\n",
    ],
)
@pytest.mark.parametrize("place", ["    assert end(x)\n    assert got\n", "    assert got\n    end(x)\n"])
def test_a_helper_that_skips(helper: str, place: str) -> None:
    """A test that ends before it has looked at anything is no judge any more."""
    old = BASE.format("f(1)")
    new = old.replace("    assert got\n", place) + "\n" + helper
    found = altered(old.encode(), new.encode(), "tests/test_a.py")
    assert [change.text for change in found.changes] == ["calls what skips or ends the test"]
    assert found.weakens
    honest = altered(
        old.encode(),
        new.replace("    end(x)\n", "    helper(x)\n").replace("assert end(x)", "assert helper(x)").encode(),
        "tests/test_a.py",
    )
    assert honest.effect is Effect.ADDITIVE, honest.changes


VALUES = [0, 1, 2, 3, -1, 0.5, True, False, None, "", "a", "ab", (), (1,), (1, 2)]
TEXTS = [
    *(f"x {op} {n}" for op in ("==", "!=", "<", ">", "<=", ">=") for n in (0, 1, 2)),
    *("x", "not x", "x is None", "x is not None", "x is True", "x == True", "x == None", "x == ''"),
    *("x == 'ab'", "x != 'a'", "'a' in x", "'ab' in x", "'' in x", "x in (1, 2)", "x in (1,)", "x in [True]"),
    *("x in ('a', 'ab')", "x == (1,)", "x == ()", "x != []", "0 < x", "1 <= x", "0 < x < 2", "2 > x"),
    *("isinstance(x, (int, str))", "isinstance(x, int)", "isinstance(x, (str, int, tuple))"),
]


@st.composite
def _conditions(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))
    word = draw(st.sampled_from([" and ", " or "]))
    return word.join(f"({part})" for part in parts)


def _holds(text: str, value: object) -> bool:
    try:
        return bool(eval(text, {"x": value}))
    except TypeError:
        return False


@given(_conditions(), _conditions())
def test_what_is_implied_holds(old: str, new: str) -> None:
    trees = [ast.parse(text, mode="eval").body for text in (new, old)]
    if implies(trees[0], trees[1], lambda part: True):
        assert not [value for value in VALUES if _holds(new, value) and not _holds(old, value)]


def test_each_pair_of_conditions() -> None:
    trees = {text: ast.parse(text, mode="eval").body for text in TEXTS}
    said = [
        (new, old) for new in TEXTS for old in TEXTS if implies(trees[new], trees[old], lambda part: True)
    ]
    assert len(said) > 150
    wrong = [
        (new, old, value)
        for new, old in said
        for value in VALUES
        if _holds(new, value) and not _holds(old, value)
    ]
    assert not wrong
