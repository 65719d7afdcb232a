"""Which altered tests are base's still, but for new rows of their table."""

from __future__ import annotations

import pytest

from redbucket.core.grownrows import grown
from tests.core.trees import MemoryTree

PATH = "tests/test_a.py"
BASE = """\
import pytest
from helpers import near

ROWS = [1, 2]


@pytest.mark.parametrize("x", [1, 2])
def test_a(x):
    assert near(x)


@pytest.mark.parametrize("x", ROWS)
def test_b(x):
    assert near(x)


class TestC:
    @pytest.mark.parametrize(("x", "y"), argvalues=[(1, 2)])
    def test_c(self, x, y):
        assert x < y
"""
KEYS = [(PATH, "test_a"), (PATH, "test_b"), (PATH, "TestC.test_c")]


def names(*edits: tuple[str, str], more: dict[str, str] | None = None) -> set[str]:
    text = BASE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    base, head = (
        {PATH: BASE, "tests/helpers.py": "near = bool\n"},
        {PATH: text, "tests/helpers.py": "near = bool\n"},
    )
    head.update(more or {})
    changed = [path for path in head if head[path] != base.get(path)]
    return {name for _, name in grown(KEYS, MemoryTree(base), MemoryTree(head), changed)}


@pytest.mark.parametrize(
    "edits",
    [
        [('"x", [1, 2]', '"x", [1, 2, 3]')],
        [("ROWS = [1, 2]", "ROWS = [0, 1, 2]")],
        [("[(1, 2)]", "[(1, 2), (2, 3)]"), ("ROWS = [1, 2]", "ROWS = [1, 2, 3]")],
    ],
)
def test_a_table_that_grew(edits: list[tuple[str, str]]) -> None:
    assert names(*edits) == {"test_a", "test_b", "TestC.test_c"}


def test_a_test_that_checks_more_is_the_patchs() -> None:
    first = "def test_a(x):\n    assert near(x)\n"
    edits = ('"x", [1, 2]', '"x", [1, 2, 3]'), (first, first + "    assert x\n")
    assert names(*edits) == {"test_b", "TestC.test_c"}


@pytest.mark.parametrize(
    ("edits", "more"),
    [
        ([('"x", [1, 2]', '"x", [1, 3]')], {}),
        ([("ROWS = [1, 2]", "ROWS = [2]")], {}),
        ([('"x", [1, 2]', '"x", [1, 2, 3]')], {"tests/helpers.py": "near = abs\n"}),
        ([('"x", [1, 2]', '"x", [1, 2, 3]'), ("assert x < y", "assert x")], {}),
    ],
)
def test_what_is_more_than_added_to_leaves_no_test_of_base(
    edits: list[tuple[str, str]], more: dict[str, str]
) -> None:
    assert names(*edits, more=more) == set()


def test_a_test_that_is_defined_twice_or_nowhere_is_none() -> None:
    twice = {PATH: BASE + "\n\n" + BASE}
    assert (
        grown([(PATH, "test_a"), (PATH, "gone"), (PATH, "No.test")], MemoryTree(twice), MemoryTree(twice), [])
        == set()
    )
