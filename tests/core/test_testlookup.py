"""Is the test still there? Only what the source rules out counts as gone."""

from __future__ import annotations

import pytest

from redbucket.core.testlookup import find_test

FILES = {
    "tests/test_a.py": """
import unittest
from other import test_imported
import pytest

def test_x(): pass
async def test_async(): pass

@pytest.mark.parametrize("n", [1])
def test_rows(n): pass

class T(unittest.TestCase):
    def test_m(self): pass
    class Inner:
        def test_deep(self): pass

class Derived(Base):
    def test_own(self): pass

if True:
    def test_below_if(): pass
try:
    pass
except ImportError:
    def test_in_except(): pass
test_assigned = test_x
""",
    "tests/test_made.py": "for n in range(3):\n    globals()[f'test_{n}'] = lambda: None\n",
    "tests/test_star.py": "from shared import *\n",
    "tests/test_broken.py": "def (:\n",
    "tests/cases.yaml": "",
    "backend/tests/test_b.py": "def test_x(): pass\n",
    "tests/pkg/__init__.py": "class T:\n    def test_i(self): pass\n",
}


def absent(nodeid: str) -> str:
    return find_test(nodeid, FILES, lambda path: FILES[path].encode()).absent


@pytest.mark.parametrize(
    "nodeid",
    [
        "tests/test_a.py::test_x",
        "tests/test_a.py::test_rows[1]",
        "tests/test_a.py::test_async",
        "tests/test_a.py::T::test_m",
        "tests/test_a.py::T::Inner::test_deep",
        "tests.test_a.T.test_m",
        "test_a.T.test_m",
        "tests/test_a.py::Derived::test_own",
        "tests/test_a.py::Derived::test_inherited",
        "tests/test_a.py::test_below_if",
        "tests/test_a.py::test_in_except",
        "tests/test_a.py::test_assigned",
        "tests/test_a.py::test_imported",
        "tests/test_made.py::test_1",
        "tests/test_star.py::test_anything",
        "tests/test_broken.py::test_unknown",
        "tests/cases.yaml::case one",
        "tests/test_b.py::test_x",
        "tests.pkg.T.test_i",
    ],
)
def test_there_or_may_be_there(nodeid: str) -> None:
    assert absent(nodeid) == ""


@pytest.mark.parametrize(
    ("nodeid", "says"),
    [
        ("tests/test_gone.py::test_x", "its file does not exist"),
        ("gone.T.test_x", "its file does not exist"),
        ("tests/test_a.py::test_gone", "has no test_gone"),
        ("tests/test_a.py::T::test_gone", "has no T.test_gone"),
        ("tests/test_a.py::Gone::test_x", "has no Gone"),
        ("tests.test_a.T.test_gone", "has no T.test_gone"),
        ("tests/test_a.py::T", "names a class"),
    ],
)
def test_gone(nodeid: str, says: str) -> None:
    assert says in absent(nodeid)


def test_a_test_with_parameters_says_so() -> None:
    assert find_test("tests/test_a.py::test_rows", FILES, lambda p: FILES[p].encode()).parametrised
    assert not find_test("tests/test_a.py::test_x", FILES, lambda p: FILES[p].encode()).parametrised


def test_a_long_chain_of_conditions() -> None:
    source = "if a: pass\n" + "elif a: pass\n" * 900 + "else:\n    def test_x(): pass\n"
    assert find_test("t.py::test_x", {"t.py"}, lambda path: source.encode()).absent == ""
