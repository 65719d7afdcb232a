"""Where tests are kept, and which files are properties."""

from __future__ import annotations

import pytest

from redbucket.core.paths import JudgeSide, Matcher
from redbucket.core.policy import Judge, Policy
from redbucket.core.testpatterns import is_doctest_of_code, judged_tests, kind_of_tests

USUAL = Judge().tests


@pytest.mark.parametrize(
    ("files", "more"),
    [
        (["tests/test_a.py", "test_b.py", "deep/test_c.py"], ()),
        (["pkg/tests/test_a.py"], ("pkg/tests/**",)),
        (["pkg/testing/unit/check.py", "pkg/testing/x.py"], ("pkg/testing/**",)),
        (["checks/a_check.py"], ("checks/a_check.py",)),
        (["check[1].py"], ("check[1].py",)),
        ([], ()),
    ],
)
def test_patterns(files: list[str], more: tuple[str, ...]) -> None:
    assert judged_tests(files, USUAL) == (*USUAL, *more)


def test_every_file_of_tests_is_judge_side_afterwards() -> None:
    files = ["pkg/tests/test_a.py", "odd/check.py", "tests/x.py"]
    judge = JudgeSide(Policy(judge=Judge(tests=judged_tests(files, USUAL))))
    assert all(judge.is_test(path) for path in files)
    assert Matcher(judged_tests(files, USUAL)).matches("pkg/tests/data/x.bin")


LAW = b"from hypothesis import given, strategies as st\n@given(st.integers())\ndef test_law(x): pass\n"


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        (LAW, (1, 1)),
        (LAW + b"def test_one(): pass\n", (2, 1)),
        (b"import hypothesis as h\nclass T:\n    @h.given(x=1)\n    def test_a(self, x): pass\n", (1, 1)),
        (
            b"from hypothesis.stateful import RuleBasedStateMachine\nclass M(RuleBasedStateMachine): pass\n",
            (1, 1),
        ),
        (b"def test_one(): pass\n", (0, 0)),
        (b"from hypothesis import given\n\0", (0, 0)),
    ],
)
def test_properties(source: bytes, numbers: tuple[int, int]) -> None:
    assert kind_of_tests(source) == numbers


@pytest.mark.parametrize(
    ("nodeid", "path", "is_one"),
    [
        ("checks/test_b.py::test_b", "checks/test_b.py", False),
        ("checks/test_b.py::TestB::test_b", "checks/test_b.py", False),
        ("checks/TestB.py::TestB", "checks/TestB.py", False),
        ("parse/__init__.py::parse.Result", "parse/__init__.py", True),
        ("parse/__init__.py::parse", "parse/__init__.py", True),
        ("src/a/b.py::a.b.f", "src/a/b.py", True),
        ("src/a/b.py::b.f", "src/a/b.py", True),
        ("README.rst::README.rst", "README.rst", False),
        ("checks/b.py::test_b", "checks/b.py", False),
        ("checks/b.py::TestB::test_b[1.5-b.x]", "checks/b.py", False),
        ("checks/b.py", "checks/b.py", False),
        ("checks.b.BTests.test_b", "checks/b.py", False),
    ],
)
def test_a_docstring_of_the_product_is_no_test_file(nodeid: str, path: str, is_one: bool) -> None:
    source = b"class TestB:\n    def test_b(self): pass\n\ndef test_b(): pass\n\ndef f(): pass\n"
    assert is_doctest_of_code(nodeid, path, source) is is_one
