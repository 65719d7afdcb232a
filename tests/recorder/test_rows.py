"""Rows of parametrised tests that code under test changes in memory, and what honest tests do with rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.runkit import EVERYTHING, record

TESTS = """
    import pytest
    import prod

    @pytest.mark.parametrize("value, want", [(1, 1), (2, 4), (3, 9)], ids=list("abc"))
    def test_square(value, want):
        assert prod.square(value) == want

    @pytest.mark.parametrize("n", [1, 2])
    @pytest.mark.parametrize(["text", "kept"], [("a", ["a"]), pytest.param("b", ["b"], id="bee")])
    def test_kept(n, text, kept):
        assert prod.keep(text) == kept
"""
PROD = """
import gc, sys, threading, time

def square(value): return {0: 0, 1: 1, 2: 5, 3: 10}[value]

def keep(text): return [text, text]

def specs():
    return [o for o in gc.get_objects() if type(o).__name__ in ("CallSpec", "CallSpec2")]

def rows(name):
    marks = getattr(sys.modules["tests.test_a"], name).pytestmark
    return [mark.args[1] for mark in marks]

def later():
    while not all(hasattr(sys.modules.get("tests.test_a"), n) for n in ("test_square", "test_kept")):
        time.sleep(0.0005)
    while not {act}:
        time.sleep(0.0005)

threading.Thread(target=later, daemon=True).start()
"""
# Each is done again and again until it says that it is done.
SETS = "[s.params.__setitem__('want', square(s.params['value'])) for s in specs() if 'want' in s.params][2:]"
SAME = (
    "[(s.params.update(value=1, want=1), s.indices.update(value=0, want=0))"
    " for s in specs() if 'want' in s.params][2:]"
)
IN_PLACE = "[s.params['kept'].__setitem__(slice(None), keep(s.params['text'])) for s in specs() if 'kept' in s.params]"
MARK = "[rows('test_square')[0].__setitem__(slice(None), [(1, 1), (2, 5), (3, 10)])]"


@pytest.mark.parametrize(
    ("part", "act"),
    [("value, want", SETS), ("value, want", SAME), ("text, kept", IN_PLACE), ("value, want", MARK)],
)
def test_rows_that_are_not_those_of_the_file(tmp_path: Path, part: str, act: str) -> None:
    files = {
        "prod.py": PROD.replace("{act}", act),
        "tests/__init__.py": "",
        "tests/conftest.py": "import time\n\ndef pytest_collection_modifyitems(): time.sleep(0.3)\n"
        "def pytest_collection(): import prod\n"
        "def pytest_pycollect_makeitem(): time.sleep(0.01)\n",
        "tests/test_a.py": TESTS,
    }
    r = record(tmp_path, files, watched=("tests/conftest.py", "tests/test_a.py"), python=EVERYTHING)
    patched = [each for each in r.footer["patched"] if each.startswith("parameter ")]
    assert patched == [f"parameter {part} of tests/test_a.py"]


HONEST = '''
import copy
import functools
import pytest

ROWS = [(1, 2), (3, 4)]
ONE = 1
NAN = float("nan")
cases = pytest.mark.parametrize("case", [{"a": [1]}, {"b": [2]}])


@pytest.fixture
def doubled(request):
    return request.param * 2


@pytest.fixture
def want():
    return "overridden by the row"


@pytest.fixture(autouse=True)
def around(request):
    yield


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@pytest.mark.parametrize("doubled", [1, 2], indirect=True)
def test_indirect(doubled):
    assert doubled in (2, 4)


@pytest.mark.parametrize("doubled, x", [(1, 2), (2, 3)], indirect=["doubled"])
def test_in_part_indirect(doubled, x):
    assert doubled in (2, 4)


@pytest.mark.parametrize(
    "value, want", [pytest.param(1, 2, id="one"), (2, 3), pytest.param(9, 9, marks=pytest.mark.skip)]
)
@decorated
def test_marks(value, want):
    assert value < want


@pytest.mark.parametrize("items", [[], [1]])
@pytest.mark.parametrize("more", [{"k": []}, {1, 2}, (1, [2])])
@pytest.mark.parametrize("n", range(2))
def test_changes_its_rows(items, more, n):
    items.append(n)
    if type(more) is dict:
        more["k"].append(n)
    elif type(more) is set:
        more.add(9)
    else:
        more[1].append(3)


@pytest.mark.parametrize(
    "value",
    [
        NAN,
        float("nan"),
        -0.0,
        0.0,
        1e999,
        -1,
        +2,
        3 + 4j,
        f"{ONE}x",
        "a" "b",
        """a
@pytest.mark.parametrize("value", [5])
def test_inside(value): pass
""",
        b"x",
        None,
        True,
        1,
        ...,
        ROWS,
        ONE + 1,
        {1, 2},
        frozenset({1}),
        lambda: 3,
        [*ROWS],
        {**{1: 2}},
    ],  # "]"
)
def test_kinds(value):
    pass


@pytest.mark.parametrize("a, b", ROWS)
def test_named(a, b):
    pass


@pytest.mark.parametrize("a, b", [*ROWS, (5, 6)])
def test_starred(a, b):
    pass


@pytest.mark.parametrize("a", [n for n in range(3)])
def test_comprehension(a):
    pass


@pytest.mark.parametrize("a, b", [*zip("ab", "cd")], ids=str)
def test_zip(a, b):
    pass


@pytest.mark.parametrize(argnames=("a",), argvalues=[(1,), (2,)], ids=["x", "y"], scope="module")
def test_words(a):
    pass


@pytest.mark.parametrize("a,", [(1,), (2,)])
def test_comma(a):
    pass


@cases
def test_shared_one(case):
    case.clear()


@cases
def test_shared_two(case):
    pass


class Base:
    @pytest.mark.parametrize("rows", [[1], [2]])
    @pytest.mark.parametrize("x", [1, 2])
    def test_inherited(self, rows, x):
        rows.append(3)


class TestOne(Base):
    pass


class TestTwo(Base):
    pytestmark = pytest.mark.parametrize("z", [1, 2])

    def test_own(self, z):
        pass

    @pytest.mark.usefixtures("z")
    def test_inherited(self):
        pass


@pytest.mark.parametrize("k", [1, 2])
class TestThree:
    @pytest.mark.parametrize("m", [[1], [2]])
    async def test_coroutine(self, k, m):
        pass

    @staticmethod
    @pytest.mark.parametrize("m", [[1], [2]])
    def test_static(k, m):
        m.append(k)


@pytest.mark.parametrize("twice", [1, 1, 1])
def test_twice(twice):
    pass


@pytest.mark.parametrize("empty", [])
def test_empty(empty):
    pass


def pytest_generate_tests(metafunc):
    if "made" in metafunc.fixturenames:
        metafunc.parametrize("made", [5, 6])


@pytest.mark.parametrize("x", [1, 2])
def test_made(made, x):
    pass


@pytest.mark.parametrize("x", [1, 2])
def test_defined_twice(x):
    pass


@pytest.mark.parametrize("x", [3, 4])
def test_defined_twice(x):  # noqa: F811
    pass


@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.usefixtures("x")
def test_used_only():
    pass
'''


@pytest.mark.parametrize("order", ["collected", "reversed"])
def test_honest_rows_are_let_be(tmp_path: Path, order: str) -> None:
    r = record(tmp_path, {"test_a.py": HONEST}, watched=("test_a.py",), order=order, python=EVERYTHING)
    assert set(r.outcomes.values()) >= {"passed", "skipped"}
    assert len([each for each in r.outcomes.values() if each == "passed"]) > 60
    assert [each for each in r.footer["patched"] if each.startswith("parameter ")] == []
