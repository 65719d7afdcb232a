from __future__ import annotations

import difflib
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.patch import Hunk
from redbucket.core.watchlines import watch_lines


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """The hunks between two texts, as git prints them with no context."""
    before, after = old.splitlines(), new.splitlines()
    found = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            # git: a side without lines names the line before it
            start_old = i1 + 1 if i2 > i1 else i1
            start_new = j1 + 1 if j2 > j1 else j1
            found.append(Hunk(start_old, start_new, tuple(before[i1:i2]), tuple(after[j1:j2])))
    return tuple(found)


def watched(old: str, new: str) -> list[str]:
    old, new = dedent(old), dedent(new)
    lines = new.splitlines()
    return [lines[n - 1].strip() for n in watch_lines(new.encode(), hunks(old, new))]


def test_a_changed_statement_is_watched_and_its_neighbours_are_not() -> None:
    assert watched(
        """
        def f(x):
            y = 1
            return y
        """,
        """
        def f(x):
            y = 2
            return y
        """,
    ) == ["y = 2"]


def test_a_changed_signature_counts_through_the_body() -> None:
    assert watched("def f(x):\n    return x\n", "def f(x, y=1):\n    return x\n") == ["return x"]


def test_a_changed_decorator_counts_through_the_body() -> None:
    assert watched("@a\ndef f(x):\n    return x\n", "@b\ndef f(x):\n    return x\n") == ["return x"]


def test_a_changed_constant_counts_through_the_functions_of_its_module() -> None:
    assert watched(
        "LIMIT = 1\n\ndef f():\n    return LIMIT\n", "LIMIT = 2\n\ndef f():\n    return LIMIT\n"
    ) == ["return LIMIT"]


def test_a_changed_attribute_counts_through_the_methods_of_its_class() -> None:
    old = "class A:\n    x = 1\n    def f(self):\n        return self.x\n\ndef other():\n    return 3\n"
    assert watched(old, old.replace("x = 1", "x = 2")) == ["return self.x"]


def test_a_deleted_statement_counts_through_its_neighbours() -> None:
    assert watched(
        "def f(x):\n    x = 1\n    x = 2\n    return x\n",
        "def f(x):\n    x = 1\n    return x\n",
    ) == ["x = 1", "return x"]


def test_a_line_inside_a_long_statement_counts_as_the_statement() -> None:
    old = "def f():\n    return g(\n        1,\n        2,\n    )\n"
    assert watched(old, old.replace("2", "3")) == ["return g(", "1,", "3,", ")"]


def test_comments_and_docstrings_run_never() -> None:
    old = 'def f():\n    """Old."""\n    # old\n    return 1\n'
    assert watched(old, old.replace("Old", "New").replace("# old", "# new")) == []


def test_a_condition_is_watched_without_its_block() -> None:
    old = "def f(x):\n    if x > 1:\n        return 1\n    return 2\n"
    assert watched(old, old.replace("> 1", ">= 1")) == ["if x >= 1:"]


def test_definitions_behind_if_and_try_are_found() -> None:
    old = (
        "try:\n    import json\nexcept ImportError:\n    json = None\nelse:\n    def f():\n        return 1\n"
    )
    assert watched(old, old.replace("return 1", "return 2")) == ["return 2"]


def test_a_file_that_does_not_parse_is_not_watched() -> None:
    assert watch_lines(b"def f(:\n", (Hunk(1, 1, (), ("def f(:",)),)) == ()
    assert watch_lines(b"\0", (Hunk(1, 1, (), ("x",)),)) == ()


@given(
    st.lists(
        st.sampled_from(
            ["x = 1", "y = 2", "def f():\n    return 1", "class A:\n    def m(self):\n        pass"]
        )
    )
)
def test_only_lines_that_exist_are_watched(parts: list[str]) -> None:
    new = "\n".join(parts) + "\n"
    found = watch_lines(new.encode(), hunks("", new))
    assert all(1 <= line <= new.count("\n") + 1 for line in found)
    assert list(found) == sorted(set(found))
