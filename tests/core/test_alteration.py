"""What an edit of a judge-side file amounts to: each row is one edit of the same small test file."""

# ruff: noqa: E501 (one attack, one line)

from __future__ import annotations

import pytest

from redbucket.core.alteration import Effect, altered, doctest_change
from redbucket.core.pytree import newer_python
from tests.core.test_foreigntree import NEW

BASE = """\
import math
import pytest
from hypothesis import given, settings, strategies as st
from lib import f, g

ROWS = [(1, 2), (2, 3)]
ALLOWED = [1, 2]

@pytest.fixture
def db():
    return {}

def helper(x):
    return x

@pytest.mark.parametrize("a, b", [(1, 2), (2, 3)])
def test_rows(a, b):
    assert f(a) == b

@pytest.mark.parametrize("a, b", ROWS)
def test_named_rows(a, b):
    assert f(a) == b

@settings(max_examples=200)
@given(st.integers())
def test_property(x):
    assert f(x) == x + 1

def test_sum(db):
    value = f(1)
    assert value == 2
    assert value in ALLOWED

def test_close():
    assert f(0.1) == pytest.approx(1.1, rel=1e-6)
    assert math.isclose(f(0.2), 1.2, rel_tol=1e-9)

def test_raises():
    with pytest.raises(ValueError, match="bad"):
        g(-1)

class TestCase(Base):
    size = 3

    def test_one(self):
        self.assertEqual(f(1), 2)
        self.assertAlmostEqual(f(0.5), 1.5, places=7)

    def make(self):
        return 1
"""
SUM = "    assert value == 2\n    assert value in ALLOWED\n"


def edited(*pairs: str) -> str:
    text = BASE
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def judge(new: str, path: str = "tests/test_a.py", old: str = BASE, **more: object):
    return altered(old.encode(), new.encode(), path, **more)  # type: ignore[arg-type]


HONEST_NOTHING = {
    "formatting": ("    value = f(1)\n", "    # one\n    value = f( 1 )\n"),
    "docstring": ("def test_sum(db):\n", 'def test_sum(db):\n    """Adds."""\n'),
    "parentheses": ("assert value == 2", "assert (value == 2)"),
    "pass for a docstring": ("    value = f(1)\n", "    pass\n    value = f(1)\n"),
}
HONEST_ADDITIONS = {
    "new test": ("def helper", "def test_new():\n    assert f(5) == 6\n\ndef helper"),
    "new test at the end": (
        "        return 1\n",
        "        return 1\n\ndef test_new():\n    assert f(5) == 6\n",
    ),
    "new method": ("    def make", "    def test_two(self):\n        assert 1\n\n    def make"),
    "new class": (
        "def helper",
        "class TestNew:\n    def test_a(self):\n        assert f(3) == 4\n\ndef helper",
    ),
    "new helper": ("def helper", "def other():\n    return 1\n\ndef helper"),
    "new fixture": ("def helper", "@pytest.fixture\ndef fresh():\n    return 1\n\ndef helper"),
    "new constant": ("ROWS = ", "MORE = [1]\nROWS = "),
    "new import": ("import math\n", "import math\nimport json\n"),
    "new import used by a new test": (
        "from lib import f, g\n",
        "from lib import f, g, h\n\ndef test_h():\n    h()\n",
    ),
    "sorted imports": ("import math\nimport pytest\n", "import pytest\nimport math\n"),
    "unused import dropped": (
        "from hypothesis import given, settings, strategies as st\n",
        "from hypothesis import given, settings, strategies as st\nimport os\n",
    ),
    "new rows": ("[(1, 2), (2, 3)])", "[(1, 2), (2, 3), (3, 4)])"),
    "new rows in a constant": ("ROWS = [(1, 2), (2, 3)]", "ROWS = [(0, 1), (1, 2), (2, 3)]"),
    "more examples": ("max_examples=200", "max_examples=500"),
    "assertion appended": (SUM, SUM + "    assert f(2) == 3\n"),
    "statements and assertion appended": (SUM, SUM + "    other = f(2)\n    assert other == 3\n"),
    "assertion between": ("    value = f(1)\n", "    value = f(1)\n    assert value\n"),
    "an expected exception between": (
        "    value = f(1)\n",
        "    value = f(1)\n    pytest.raises(ValueError, f, 'x')\n    pytest.raises(ValueError, g('x').run)\n",
    ),
    "what a block gives is kept and looked at": (
        'match="bad"):\n        g(-1)\n',
        'match="bad") as caught:\n        g(-1)\n    assert caught.value.args\n',
    ),
    "skipped new test": ("def helper", "@pytest.mark.skip\ndef test_new():\n    assert 0\n\ndef helper"),
    "main block": ("ROWS = ", 'if __name__ == "__main__":\n    pytest.main()\n\nROWS = '),
    "unused helper dropped": ("def helper(x):\n    return x\n", ""),
    "reordered": (
        "def helper(x):\n    return x\n",
        "",
        "class TestCase",
        "def helper(x):\n    return x\n\nclass TestCase",
    ),
}
WEAKENINGS = {
    "assertion removed": ("    assert value == 2\n", "", "removes the assertion"),
    "all assertions removed": (SUM, "", "removes the assertion"),
    "== to >": ("assert value == 2", "assert value > 0", "turns `==` into `>`"),
    "== to in": ("assert value == 2", "assert value in (2, 3)", "turns `==` into `in`"),
    "== to is not None": ("assert value == 2", "assert value is not None", "turns `==` into `is not`"),
    "== to truth": ("assert value == 2", "assert value", "truth test"),
    "or": ("assert value == 2", "assert value == 2 or True", "alternative"),
    "constant": ("assert value == 2", "assert True", "constant"),
    "expected rewritten": ("assert value == 2", "assert value == 3", "rewrites the expected value"),
    "conditional": ("    assert value == 2\n", "    if value:\n        assert value == 2\n", "condition"),
    "try around": (
        "    assert value == 2\n",
        "    try:\n        assert value == 2\n    except Exception:\n        pass\n",
        "broad",
    ),
    "suppress around": (
        "    assert value == 2\n",
        "    with suppress(Exception):\n        assert value == 2\n",
        "broad",
    ),
    "early return": ("    assert value == 2\n", "    return\n    assert value == 2\n", "returns early"),
    "skip inside": ("    value = f(1)\n", "    pytest.skip()\n    value = f(1)\n", "skips"),
    "skip appended": (SUM, SUM + "    pytest.skip()\n", "skips"),
    "importorskip inside": (
        "    value = f(1)\n",
        "    pytest.importorskip('x')\n    value = f(1)\n",
        "skips",
    ),
    "generator": (SUM, SUM + "    yield\n", "generator"),
    "skip": ("def test_sum", "@pytest.mark.skip\ndef test_sum", "skips or excuses"),
    "skipif": ("def test_sum", "@pytest.mark.skipif(True, reason='')\ndef test_sum", "skips or excuses"),
    "xfail": ("def test_sum", "@pytest.mark.xfail\ndef test_sum", "skips or excuses"),
    "flaky": ("def test_sum", "@pytest.mark.flaky(reruns=5)\ndef test_sum", "reruns"),
    "class skip": ("class TestCase", "@unittest.skip('x')\nclass TestCase", "skips or excuses"),
    "approx wider": ("rel=1e-6", "rel=0.5", "widens the tolerance rel"),
    "approx abs added": ("rel=1e-6", "rel=1e-6, abs=9", "widens the tolerance abs"),
    "approx added": ("assert value == 2", "assert value == pytest.approx(2)", "allows a tolerance"),
    "isclose wider": ("rel_tol=1e-9", "rel_tol=1e-1", "widens the tolerance rel_tol"),
    "fewer places": ("places=7", "places=1", "widens the tolerance places"),
    "delta added": ("places=7", "delta=5", "widens the tolerance delta"),
    "assertEqual of something else": ("assertEqual(f(1), 2)", "assertEqual(2, 2)", "looks at something else"),
    "assertEqual with another value": (
        "assertEqual(f(1), 2)",
        "assertEqual(f(1), 3)",
        "rewrites what is expected",
    ),
    "assertEqual to assertTrue": ("assertEqual(f(1), 2)", "assertTrue(f(1))", "loosens the assertion"),
    "broader raises": (
        "pytest.raises(ValueError, match",
        "pytest.raises(Exception, match",
        "broader exception",
    ),
    "tuple raises": (
        "pytest.raises(ValueError, ",
        "pytest.raises((ValueError, TypeError), ",
        "broader exception",
    ),
    "match rewritten": ('match="bad"', 'match=""', "expects another message"),
    "match dropped": (', match="bad"', "", "message"),
    "row removed": ("[(1, 2), (2, 3)])", "[(1, 2)])", "removes the parameter row `(2, 3)`"),
    "row replaced": ("[(1, 2), (2, 3)])", "[(1, 2), (2, 9)])", "removes the parameter row `(2, 3)`"),
    "row skipped": (
        "[(1, 2), (2, 3)])",
        "[(1, 2), pytest.param(2, 3, marks=pytest.mark.skip)])",
        "removes the parameter row",
    ),
    "row of a constant removed": ("ROWS = [(1, 2), (2, 3)]", "ROWS = [(1, 2)]", "removes 1 row of ROWS"),
    "fewer examples": ("max_examples=200", "max_examples=1", "fewer examples"),
    "examples left to the default": ("@settings(max_examples=200)\n", "@settings()\n", "fewer examples"),
    "health check": (
        "max_examples=200",
        "max_examples=200, suppress_health_check=list(HealthCheck)",
        "health",
    ),
    "phases": ("max_examples=200", "max_examples=200, phases=[]", "phases"),
    "given removed": (
        "@given(st.integers())\ndef test_property(x):",
        "def test_property(x=1):",
        "removes `@given",
    ),
    "patched": ("def test_sum(db):", "@mock.patch('lib.f')\ndef test_sum(db):", "replaces a part"),
    "mock inside": ("    value = f(1)\n", "    f = Mock(return_value=2)\n    value = f(1)\n", "mock"),
    "deleted": ("def test_sum(db):\n    value = f(1)\n" + SUM, "", "deletes test_sum"),
    "renamed away": ("def test_sum(", "def check_sum(", "not collected"),
    "renamed": ("def test_sum(", "def test_total(", "renames test_sum to test_total"),
    "second definition": ("class TestCase", "def test_sum():\n    pass\n\nclass TestCase", "second time"),
    "second method": ("    def make", "    def test_one(self):\n        pass\n\n    def make", "second time"),
    "autouse": (
        "def helper",
        "@pytest.fixture(autouse=True)\ndef quiet():\n    pass\n\ndef helper",
        "autouse",
    ),
    "module mark": ("ROWS = ", "pytestmark = pytest.mark.skip\nROWS = ", "pytestmark"),
    "override of an assertion": (
        "    def make",
        "    def assertEqual(self, a, b):\n        pass\n\n    def make",
        "overrides",
    ),
    "setUp added": (
        "    def make",
        "    def setUp(self):\n        pass\n\n    def make",
        "every test of the class",
    ),
    "patched at import": ("ROWS = ", "import lib\nlib.f = lambda x: x + 1\nROWS = ", "runs at import"),
    "setattr in a constant": ("ROWS = ", "QUIET = setattr(g, 'x', 1)\nROWS = ", "reaches into"),
}
OTHER_CHANGES = {
    "allowed values extended": ("ALLOWED = [1, 2]", "ALLOWED = [1, 2, 3]", "changes the value of ALLOWED"),
    "input rewritten": ("    value = f(1)\n", "    value = f(2 - 1)\n", "changes the body"),
    "helper": ("    return x\n", "    return 2\n", "changes"),
    "fixture": ("    return {}\n", "    return {1: 2}\n", "changes"),
    "fixture request": ("def test_sum(db)", "def test_sum(db, quiet)", "changes the arguments"),
    "base class": ("class TestCase(Base)", "class TestCase(Other)", "changes the bases"),
    "class setting": ("    size = 3\n", "    size = 3\n    client_class = Fake\n", "bases may act on"),
    "import from elsewhere": ("from lib import f, g", "from fake import f, g", "from somewhere else"),
    "star import": ("from lib import f, g", "from lib import f, g\nfrom fake import *", "runs at import"),
    "setup_module": ("def helper", "def setup_module():\n    pass\n\ndef helper", "adds setup_module"),
    "mark": ("def test_sum", "@pytest.mark.slow\ndef test_sum", "adds the decorator"),
}


@pytest.mark.parametrize("pairs", HONEST_NOTHING.values(), ids=HONEST_NOTHING)
def test_nothing(pairs: tuple[str, ...]) -> None:
    assert judge(edited(*pairs)).effect is Effect.NOTHING


@pytest.mark.parametrize("pairs", HONEST_ADDITIONS.values(), ids=HONEST_ADDITIONS)
def test_additions(pairs: tuple[str, ...]) -> None:
    result = judge(edited(*pairs))
    assert result.effect is Effect.ADDITIVE, result.changes


@pytest.mark.parametrize(("old", "new", "says"), WEAKENINGS.values(), ids=WEAKENINGS)
def test_weakenings(old: str, new: str, says: str) -> None:
    result = judge(edited(old, new))
    assert result.effect is Effect.CHANGED
    assert any(says in change.text for change in result.changes), result.changes
    assert result.weakens, result.changes


@pytest.mark.parametrize(("old", "new", "says"), OTHER_CHANGES.values(), ids=OTHER_CHANGES)
def test_other_changes(old: str, new: str, says: str) -> None:
    result = judge(edited(old, new))
    assert result.effect is Effect.CHANGED
    assert any(says in change.text for change in result.changes), result.changes


def test_a_deleted_class_of_unittest_is_a_weakening() -> None:
    for body, weakens in (("def test_a(self): ...", True), ("def make(self): ...", False)):
        old = f"{BASE}\nclass SumTests(unittest.TestCase):\n    {body}\n"
        result = judge(BASE, old=old)
        assert result.effect is Effect.CHANGED
        assert result.weakens is weakens


def test_a_lifted_skip_is_an_addition() -> None:
    old = edited("def test_sum", "@pytest.mark.xfail\ndef test_sum")
    assert judge(BASE, old=old).effect is Effect.ADDITIVE
    assert judge(old).effect is Effect.CHANGED


def test_assertions_in_an_expected_failure_are_no_addition() -> None:
    old = edited("def test_sum", "@pytest.mark.xfail\ndef test_sum")
    assert judge(old.replace(SUM, SUM + "    assert 0\n"), old=old).effect is Effect.CHANGED


PLATFORM = edited("def test_sum", "@pytest.mark.skipif(OLD, reason='too old')\ndef test_sum")


def test_another_reason_to_skip_is_a_note() -> None:
    assert judge(PLATFORM.replace("too old", "needs 3.9"), old=PLATFORM).effect is Effect.ADDITIVE


@pytest.mark.parametrize(
    "marker",
    [
        "skipif(True, reason='x')",
        "skipif(OLD or NEW, reason='too old')",
        "skip(reason='too old')",
        "skipif(OLD, reason=f())",
    ],
)
def test_another_condition_to_skip_is_a_weakening(marker: str) -> None:
    result = judge(PLATFORM.replace("skipif(OLD, reason='too old')", marker), old=PLATFORM)
    assert result.effect is Effect.CHANGED
    assert result.weakens


def test_the_message_of_an_assertion_is_no_expected_value() -> None:
    result = judge(edited("assert value == 2", "assert value == 2, 'off by one'"))
    assert result.effect is Effect.ADDITIVE
    assert result.additions[0].text.startswith("changes the message of an assertion")
    assert judge(edited("assert value == 2", "assert value == 2, pytest.skip()")).weakens
    called = judge(edited("assert value == 2", "assert value == 2, str(value)"))
    assert [change.text.split(":")[0] for change in called.changes] == [
        "changes the message of the assertion"
    ]


def test_what_becomes_of_an_assertion_is_told_as_it_is() -> None:
    old = BASE.replace(', match="bad"', "").replace("assert value in ALLOWED", "assert 2 in rows(value)")
    strict = judge(old.replace("raises(ValueError)", "raises(ValueError, match=bad)"), old=old)
    assert [change.text.split(":")[0] for change in strict.changes] == ["also checks the message"]
    assert not strict.weakens
    other = judge(old.replace("2 in rows(value)", "2 in [2]"), old=old)
    assert [change.text.split(":")[0] for change in other.changes] == ["looks at something else"]


LOOP = """\
from lib import f, g
def test_a(self, tmp):
    cases = [
        (1, 2),
        (int("2"), 3),
    ]
    for given, expected in cases:
        got = f(given)
        with self.subTest(given):
            assert got == expected
    cases = ["a"]
    for number, bad in enumerate(cases):
        with self.assertRaises(ValueError):
            g(bad, number)
        assert not tmp.exists()
    for given in (1, 2):
        assert f(given)
"""


@pytest.mark.parametrize(
    "pairs",
    [
        ("(1, 2),\n", "(1, 2),\n        (5, 6),\n"),
        ('(int("2"), 3),\n', '(int("2"), 3),\n        (int("4"), 5),\n        (f(0), {1: [2]}),\n'),
        ('["a"]', '["a", "b"]'),
        ("in (1, 2):", "in (0, 1, 2, 3):"),
        ("assert f(given)\n", "assert f(given)\n    assert f(3)\n"),
    ],
)
def test_more_rows_for_a_loop_of_assertions(pairs: tuple[str, str]) -> None:
    assert LOOP.count(pairs[0]) == 1
    result = judge(LOOP.replace(*pairs), old=LOOP)
    assert result.effect is Effect.ADDITIVE, result.changes
    assert result.additions[0].text.startswith(("adds the row", "adds the assertion"))


@pytest.mark.parametrize(
    "pairs",
    [
        ("        (1, 2),\n", ""),  # a row less
        ("(1, 2),\n", "(1, 3),\n"),
        ('["a"]', '["b", "a"]'),  # "a" gets another number
        ('["a"]', '["a", *more]'),
        ('["a"]', '["a", patch()]'),  # a call that the test did not make
        ('["a"]', '["a", (f := g)]'),
        ("in (1, 2):", "in (1, 2, 3):\n        break\n    for given in (1, 2):"),
        ("in (1, 2):\n        assert", "in (1, 2, 3):\n        assert 1 or"),
    ],
)
def test_other_changes_of_a_loop(pairs: tuple[str, str]) -> None:
    assert LOOP.count(pairs[0]) == 1
    assert judge(LOOP.replace(*pairs), old=LOOP).effect is Effect.CHANGED


@pytest.mark.parametrize(
    "body",
    [
        "for x in [1]:\n        seen.append(f(x))\n        assert f(x)\n    assert 2 in seen",
        "for x in [1]:\n        total += f(x)\n        assert total\n    assert total > 1",
        "last = 0\n    for x in [1]:\n        assert x > last\n        last = x",
        "for x in [1]:\n        assert x\n    assert f(x) == 2",
        "for x in [1]:\n        got = f(x)\n        assert got\n    assert got == 2",
        "for x in [1]:\n        assert x\n        if f(x): break",
        "for x in [1]:\n        assert x\n    else:\n        assert f(2)",
        "for x in [1]:\n        f(x)",
        "rows = [1]\n    for x in rows:\n        assert f(x)\n    assert f(2) in rows",
        "rows = [1]\n    for x in rows:\n        assert f(x)\n    for y in rows:\n        seen.append(y)",
        "rows = [1]\n    for x in rows:\n        assert f(x)\n    for i, y in enumerate(rows):\n        assert f(i)",
        "rows = [2]\n    if f(1):\n        rows = [1]\n    for x in rows:\n        assert f(x)",
        "with pytest.raises(ValueError):\n        for x in [1]:\n            assert f(x)",
        "try:\n        for x in [1]:\n            assert f(x)\n    except ValueError:\n        pass",
        "for x in [1]:\n        assert x\n        cache[x] = f(x)",
        "while [1]:\n        assert f(x)",
    ],
)
def test_more_rows_where_a_turn_does_more_than_check(body: str) -> None:
    old = f"def test_a(seen, total, cache):\n    {body}\n"
    assert judge(old.replace("[1]", "[0, 1]"), old=old).effect is Effect.CHANGED


@pytest.mark.parametrize(
    ("block", "effect"),
    [
        ("TemporaryDirectory() as folder", Effect.ADDITIVE),
        ("open('a') as a, open('b') as b", Effect.ADDITIVE),
        ("pytest.raises(ValueError)", Effect.CHANGED),
        ("self.assertNumQueries(2)", Effect.CHANGED),
        ("open('a') as a, suppress(Exception)", Effect.CHANGED),
    ],
)
def test_what_comes_at_the_end_of_the_last_block(block: str, effect: Effect) -> None:
    old = f"def test_a(self):\n    x = 1\n    with {block}:\n        assert f(x) == 2\n"
    assert judge(f"{old}        assert f(2) == 3\n", old=old).effect is effect
    more = f"{old}        y = f(2)\n        assert y == 3\n"
    assert judge(more, old=old).effect is effect
    assert judge(more.replace("x = 1", "x = 2"), old=old).effect is Effect.CHANGED
    assert judge(more.replace("assert f(x) == 2", "assert f(x)"), old=old).effect is Effect.CHANGED
    assert judge(f"{more}    assert y\n", old=f"{old}    assert y\n").effect is Effect.CHANGED


def test_more_rows_in_an_expected_failure_or_a_helper_are_no_addition() -> None:
    for head in ("@pytest.mark.xfail\ndef test_a():", "def check():"):
        old = f"{head}\n    for x in [1]:\n        assert f(x)\n"
        assert judge(old.replace("[1]", "[1, 2]"), old=old).effect is Effect.CHANGED


IMPORTS = "from typing import Callable\nfrom lib import f\n\ndef use(x: Callable):\n    return f(x)\n"


@pytest.mark.parametrize(
    ("pairs", "effect"),
    [
        (("from typing", "from collections.abc"), Effect.ADDITIVE),
        (("from typing import Callable", "from fake import Callable"), Effect.CHANGED),
        (("from typing import Callable", "from collections.abc import Sized as Callable"), Effect.CHANGED),
        (("from typing import Callable", "from .typing import Callable"), Effect.CHANGED),
        (("from lib", "from typing"), Effect.CHANGED),
    ],
)
def test_types_that_moved_in_the_standard_library(pairs: tuple[str, str], effect: Effect) -> None:
    assert judge(IMPORTS.replace(*pairs), old=IMPORTS).effect is effect


def test_an_attribute_of_the_same_name_is_no_use_of_an_import() -> None:
    old = "import lib\nfrom lib import f\n\ndef test_a():\n    assert lib.f()\n"
    assert judge(old.replace("from lib import f\n", ""), old=old).effect is not Effect.CHANGED
    used = old + "\ndef test_b():\n    assert f()\n"
    assert judge(used.replace("from lib import f\n", ""), old=used).effect is Effect.CHANGED
    of_class = "class TestA:\n    from lib import f\n\n    def test_a(self):\n        assert self.f()\n"
    assert judge(of_class.replace("    from lib import f\n", ""), old=of_class).effect is Effect.CHANGED


PACKAGE = "import lib.core\n\ndef test_a():\n    assert lib.core.f() == 1\n"


@pytest.mark.parametrize(
    ("imports", "effect"),
    [
        ("import lib\nimport lib.core", Effect.ADDITIVE),
        ("import lib.core\nimport lib.more", Effect.ADDITIVE),
        ("import lib.more\nimport lib.core\nimport lib", Effect.ADDITIVE),
        ("import lib", Effect.CHANGED),
        ("import lib.core\nimport fake as lib", Effect.CHANGED),
        ("import lib.core\nfrom fake import lib", Effect.CHANGED),
        ("import lib.core\nif True:\n    import fake.lib as lib", Effect.CHANGED),
    ],
)
def test_more_of_a_package_imported(imports: str, effect: Effect) -> None:
    """``import lib`` and ``import lib.core`` bind the same name to the same package."""
    assert judge(PACKAGE.replace("import lib.core", imports), old=PACKAGE).effect is effect
    other = PACKAGE + "\ndef test_b():\n    assert lib.f()\n"
    unused = judge(other.replace("lib.core.f", "lib.f"), old=other.replace("lib.core.f", "lib.f"))
    assert unused.effect is Effect.NOTHING


TYPED = """\
import pytest
from hypothesis import given
from typing import List
from lib import f

def run(x: int):
    return f(x)

@pytest.fixture
def db(request):
    rows = []
    return rows

@pytest.mark.parametrize("a", [1])
def test_a(a, db: List):
    got = f(a)
    assert got == 1

@given(...)
def test_b(a: int):
    assert f(a)

class TestC:
    def test_c(self, db):
        assert db
"""


@pytest.mark.parametrize(
    "pairs",
    [
        ("def test_a(a, db: List):", "def test_a(a: int, db: 'list[int] | None') -> None:"),
        ("def db(request):", "def db(request: pytest.FixtureRequest) -> list[int]:"),
        ("    rows = []", "    rows: list[int] = []"),
        ("    got = f(a)", "    got: 'f(2)' = f(a)"),
        ("def test_c(self, db):", "def test_c(self, db: list) -> None:"),
        ("from typing import List", "from collections.abc import Sequence as List"),
    ],
)
def test_annotations_of_tests_are_no_alteration(pairs: tuple[str, str]) -> None:
    result = judge(TYPED.replace(*pairs), old=TYPED)
    assert result.effect is Effect.ADDITIVE, result.changes


@pytest.mark.parametrize(
    "pairs",
    [
        ("a: int):\n    assert f(a)", "a: bool):\n    assert f(a)"),  # Hypothesis draws by it
        ("def run(x: int)", "def run(x: str)"),  # the code under test may read it
        (
            "def test_a(a, db: List)",
            "def test_a(a: patch(), db: List)",
        ),  # worked out when the test is defined
        ("def test_a(a, db: List)", "def test_a(a, db: List = None)"),
        ("    got = f(a)", "    got: int = f(1)"),
        ("    got = f(a)", "    got: int"),
        ("    rows = []", "    rows: list[int] = [1]"),
        ("@given(...)", "@given(...)\n@strict"),
    ],
)
def test_what_comes_with_an_annotation_is_an_alteration(pairs: tuple[str, str]) -> None:
    assert TYPED.count(pairs[0]) == 1
    assert judge(TYPED.replace(*pairs), old=TYPED).effect is Effect.CHANGED


LOCAL = """\
def test_a():
    from lib import f, g as other
    def inner():
        return f()
    class Local:
        pass
    try:
        assert inner() and Local() and other()
    except ValueError as problem:
        assert problem
"""


@pytest.mark.parametrize("name", ["f", "other", "inner", "Local", "problem"])
def test_names_that_a_test_binds_itself_are_free_for_others(name: str) -> None:
    assert judge(f"{LOCAL}\ndef {name}():\n    return 1\n", old=LOCAL).effect is Effect.ADDITIVE
    reads = LOCAL + f"\ndef test_b():\n    assert {name}()\n"
    assert judge(f"{reads}\ndef {name}():\n    return 1\n", old=reads).effect is Effect.CHANGED
    shared = LOCAL.replace("def test_a():\n", f"def test_a():\n    global {name}\n")
    assert judge(f"{shared}\ndef {name}():\n    return 1\n", old=shared).effect is Effect.CHANGED


def test_builtin_shadowed_by_a_helper() -> None:
    old = "from lib import f\ndef test_a():\n    assert sorted(f()) == [1]\n"
    new = old + "def sorted(x):\n    return [1]\n"
    assert judge(new, old=old).effect is Effect.CHANGED
    assert judge(old + "def ordered(x):\n    return [1]\n", old=old).effect is Effect.ADDITIVE


def test_local_variables_do_not_block_a_new_constant() -> None:
    assert judge(edited("ROWS = ", "value = 3\nROWS = ")).effect is Effect.ADDITIVE


CONFTEST = "import pytest\n\n@pytest.fixture\ndef db():\n    return 1\n"


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ("@pytest.fixture\ndef other():\n    return 1\n", Effect.ADDITIVE),
        ("def make():\n    return 1\n", Effect.ADDITIVE),
        ("@pytest.fixture(autouse=True)\ndef other():\n    return 1\n", Effect.CHANGED),
        ("@pytest.fixture\ndef tmp_path():\n    return 1\n", Effect.CHANGED),
        ("@pytest.fixture(name='tmp_path')\ndef mine():\n    return 1\n", Effect.CHANGED),
        ("@pytest.fixture\ndef above():\n    return 1\n", Effect.CHANGED),
        ("def pytest_runtest_makereport(item, call): ...\n", Effect.CHANGED),
        ("collect_ignore = ['test_a.py']\n", Effect.CHANGED),
        ("pytest_plugins = ['x']\n", Effect.CHANGED),
        ("import lib\nlib.f = None\n", Effect.CHANGED),
        ("from other import *\n", Effect.CHANGED),
    ],
)
def test_conftest(more: str, effect: Effect) -> None:
    outer = {"above"}
    assert judge(CONFTEST + more, "tests/conftest.py", CONFTEST, outer_fixtures=outer).effect is effect
    new = altered(None, f"import pytest\n{more}".encode(), "tests/sub/conftest.py", outer_fixtures=outer)
    assert new.effect is effect


def test_new_files() -> None:
    honest = "import os, pytest, lib\nos.environ['X'] = '1'\npytestmark = pytest.mark.slow\nnp = pytest.importorskip('np')\n"
    honest += "app = lib.App()\napp.testing = True\n@pytest.fixture(autouse=True)\ndef q(): ...\ndef test_a(): assert 1\n"
    assert altered(None, honest.encode(), "tests/test_new.py").effect is Effect.ADDITIVE
    patching = "import lib\nlib.f = lambda x: x + 1\ndef test_a(): assert 1\n"
    assert altered(None, patching.encode(), "tests/test_new.py").effect is Effect.CHANGED
    assert altered(None, b"x = (", "tests/test_new.py").effect is Effect.CHANGED
    assert altered(b"x = 1\n", None, "tests/test_new.py").weakens
    assert altered(b"Old words", b"New words", "tests/README.md").effect is Effect.NOTHING
    assert altered(None, b"{}", "tests/a.json").effect is Effect.ADDITIVE
    assert altered(b"[]", b"{}", "tests/a.test.js").effect is Effect.CHANGED


def test_inherited_names_can_be_told() -> None:
    new = edited("    def make", "    def test_two(self):\n        pass\n\n    def make")
    assert judge(new).effect is Effect.ADDITIVE
    assert judge(new, inherited={"TestCase": {"test_two"}}).effect is Effect.CHANGED


DOC = '''\
"""Module.

>>> add(1, 2)
3
"""

def add(a, b):
    """Add.

    >>> x = 1
    >>> add(x, 1)
    2
    """
    return a + b
'''


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("return a + b", "return b + a", Effect.NOTHING),
        ("Add.", "Add two.", Effect.NOTHING),
        ("    2\n", "    2\n    >>> add(2, 2)\n    4\n", Effect.ADDITIVE),
        ("    >>> add(x, 1)", "    >>> add(0, 0)\n    0\n    >>> add(x, 1)", Effect.ADDITIVE),
        ("    >>> add(x, 1)", "    >>> add = lambda *a: 2\n    >>> add(x, 1)", Effect.CHANGED),
        ("    >>> x = 1\n", "    >>> x = 2\n    >>> add(x, 2)\n    4\n    >>> x = 1\n", Effect.ADDITIVE),
        ("    >>> add(x, 1)", "    >>> y = 2\n    >>> add(y, 2)\n    4\n    >>> add(x, 1)", Effect.ADDITIVE),
        ("    >>> add(x, 1)", "    >>> x = 1\n    >>> add(x, 1)", Effect.CHANGED),
        ("    >>> add(x, 1)", "    >>> x += 0\n    >>> add(x, 1)", Effect.CHANGED),
        ("    >>> add(x, 1)", "    >>> add.cache = 1\n    >>> add(x, 1)", Effect.CHANGED),
        ("    2\n", "    3\n", Effect.CHANGED),
        (">>> add(x, 1)", ">>> add(x, 1)  # doctest: +SKIP", Effect.CHANGED),
        (">>> add(x, 1)", ">>> add(x, 1)  # doctest: +ELLIPSIS", Effect.CHANGED),
        ("    >>> x = 1\n    >>> add(x, 1)\n    2\n", "", Effect.CHANGED),
        ("def add(a, b):", "def plus(a, b):", Effect.NOTHING),
        ("return a + b", "return (", Effect.CHANGED),
    ],
)
def test_doctests(old: str, new: str, effect: Effect) -> None:
    assert old in DOC
    assert doctest_change(DOC.encode(), DOC.replace(old, new).encode()).effect is effect


def test_doctest_with_broken_indentation_is_compared_as_text() -> None:
    broken = DOC.replace("    >>> add(x, 1)", "    >>>add(x, 1)")
    assert doctest_change(DOC.encode(), broken.encode()).effect is Effect.CHANGED
    assert doctest_change(broken.encode(), broken.encode()).effect is Effect.NOTHING


def test_text_files_with_doctests() -> None:
    old = b"Title\n\n>>> 1 + 1\n2\n"
    assert altered(old, b"Heading\n\n>>> 1 + 1\n2\n", "tests/a.rst").effect is Effect.NOTHING
    assert altered(old, old + b"\n>>> 2\n2\n", "tests/a.rst").effect is Effect.ADDITIVE
    assert altered(old, b"Title\n", "tests/a.rst").weakens


EXPORTS = '__all__ = ["f"]\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n'


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ('["f"]', '["f", "h"]', Effect.ADDITIVE),
        ('["f"]', '["h", "f"]', Effect.ADDITIVE),
        ('["f"]', '["f", "g"]', Effect.CHANGED),  # was there, and now hides another g where all is imported
        ('["f"]', '["f", "len"]', Effect.CHANGED),
        ('["f"]', '["h"]', Effect.CHANGED),
        ('["f"]', '["f"] + more()', Effect.CHANGED),
    ],
)
def test_a_module_that_exports_more(old: str, new: str, effect: Effect) -> None:
    after = EXPORTS.replace(old, new) + "\ndef h():\n    return 3\n"
    assert judge(after, "tests/helpers.py", EXPORTS).effect is effect


@pytest.mark.parametrize("name", ["g", "f"])
def test_a_block_that_binds_a_name_that_the_test_uses(name: str) -> None:
    bound = edited('match="bad"):', f'match="bad") as {name}:')
    assert judge(bound).effect is (Effect.CHANGED if name == "g" else Effect.ADDITIVE)


def test_ten_thousand_lines() -> None:
    body = "".join(
        f"def test_{i}(db):\n    x = f({i})\n    assert x == {i}\n    assert x\n\n" for i in range(2000)
    )
    result = judge(body.replace("assert x == 77\n", "assert x >= 77\n"), old=body)
    assert [change.unit for change in result.changes] == ["test_77"]


def test_type_aliases_of_a_newer_python_are_values() -> None:
    """``type X = t"{f}"``, told by another Python."""
    with newer_python(lambda _: (NEW, None, "")):
        told = altered(b"", b"type = = X\n", "tests/test_a.py")
    assert [detail.text for detail in told.additions] == ["adds value X"]


@pytest.mark.parametrize(
    "call",
    [
        "pytest.raises(ValueError, setattr, lib, 'f', g)",
        "pytest.raises(ValueError, lib.__dict__.update, f=g)",
        "self.assertRaises(ValueError, setattr, lib, 'f', g)",
        "self.assertRaises(ValueError, _bend)",
        "pytest.raises(ValueError, _bend)",
        "pytest.raises(ValueError)",
        "pytest.warns(UserWarning, exec, 'x')",
        "pytest.raises(ValueError, monkeypatch.setattr, lib, 'f', g)",
    ],
)
def test_what_an_expected_exception_calls_is_looked_at(call: str) -> None:
    old = "import lib\nfrom lib import f, g\n\ndef test_a(self, monkeypatch):\n    x = 1\n    assert f(x)\n"
    more = "\ndef _bend():\n    lib.f = g\n    raise ValueError\n"
    new = old.replace("    x = 1\n", f"    x = 1\n    {call}\n") + more
    assert judge(new, old=old + more).effect is Effect.CHANGED
    assert judge(new, old=old).effect is Effect.CHANGED
