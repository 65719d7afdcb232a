"""Which lines of a failure's message a report shows, and what it keeps of a long one."""

from __future__ import annotations

import pytest

from redbucket.formats.clean import width
from redbucket.formats.excerpt import excerpt

LONG = "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19"
# What pytest 8 and unittest said of real failures.
STRINGS = (
    "AssertionError: assert 'A quick brow...a long while.' == 'The quick br... a long time.'\n  \n"
    "  - The quick brown fox jumps over the lazy dog, and after that it sleeps on the mat for a long time.\n"
    "  ? ^^^                                                                                         ^ ^\n"
    "  + The quick brown fox jumps over the lazy dog, and after that it sleeps on the mat for a long while.\n"
    "  ?                                                                                              ^^ ^ (t.py:f)"
)
DICTS = (
    "AssertionError: assert {'a': 1, 'b':... ['n0', 'm1']} == {'a': 1, 'b':... ['n0', 'n1']}\n  \n"
    "  Omitting 1 identical items, use -vv to show\n  Differing items:\n  {'b': 7} != {'b': 6}\n"
    "  {'c': ['n0', 'm1']} != {'c': ['n0', 'n1']}\n  Use -v to get more diff (t.py:f)"
)
LISTS = (
    f"AssertionError: Lists differ: [{LONG}, 20] != [{LONG}, 21]\n\nFirst differing element 20:\n20\n21\n\n"
    f"- [{LONG}, 20]\n?      ^\n\n+ [{LONG}, 21]\n?      ^\n (t.py:f)"
)
DOCTEST = (
    "doctest.DocTestFailure: <DocTest shop.names from /tmp/redbucket-abc/runs/def/r/shop.py:4 (2 examples)>\n"
    ">>> for name in names(2):\n...     print(name)\n"
    "expected: n0\nn1\nn2\n\ngot: n0\nn1\nm2\n (doctest.py:report_failure)"
)


@pytest.mark.parametrize("message", [STRINGS, DICTS, LISTS, DOCTEST])
@pytest.mark.parametrize("columns", [20, 40, 72, 192])
@pytest.mark.parametrize("limit", [1, 3, 30])
def test_it_fits(message: str, columns: int, limit: int) -> None:
    shown = excerpt(message, columns, limit)
    assert all(width(text) <= columns for text in shown.lines)
    assert shown.lines


@pytest.mark.parametrize("columns", [72, 192])
def test_both_sides_of_a_comparison_are_there(columns: int) -> None:
    head, *_ = excerpt(STRINGS, columns, 3).lines
    assert head.endswith("assert 'A quick brow...a long while.' == 'The quick br... a long time.'")
    head, one, other = excerpt(LISTS, columns, 3).lines
    assert "20] != " in head
    assert head.endswith(" 21]")
    assert one.startswith("- ")
    assert one.endswith(" 20]")
    assert other.startswith("+ ")
    assert other.endswith(" 21]")


def test_what_differs_is_kept_wherever_it_stands() -> None:
    for at in range(0, 300, 7):
        left = "".join("x" if n == at else "a" for n in range(300))
        right = left.replace("x", "y")
        (head,) = excerpt(f"AssertionError: {left} != {right}", 72, 3).lines
        assert "x" in head.partition(" != ")[0]
        assert "y" in head.partition(" != ")[2]
        _, one, other = excerpt(f"ValueError\n- {left}\n+ {right}", 72, 3).lines
        assert "x" in one
        assert "y" in other
        assert one.index("x") == other.index("y")


def test_the_lines_that_tell_what_differs_go_before_hints() -> None:
    shown = excerpt(DICTS, 72, 3)
    assert shown.lines[1:] == ["  {'b': 7} != {'b': 6}", "  {'c': ['n0', 'm1']} != {'c': ['n0', 'n1']}"]
    assert shown.left == 3
    _, gone, new = excerpt(STRINGS, 192, 3).lines
    assert gone.startswith("  - The quick")
    assert new.startswith("  + The quick")


def test_a_doctest_is_said_by_its_example_and_where_it_differs() -> None:
    assert excerpt(DOCTEST, 72, 3).lines == [
        "DocTestFailure: for name in names(2):",
        "expected: n2",
        "got: m2",
    ]


def test_a_doctest_that_printed_less_or_nothing() -> None:
    start = "doctest.DocTestFailure: <DocTest m.f from /x/m.py:1 (1 example)>\n>>> f()\n"
    assert excerpt(f"{start}expected: 1\n2\n\ngot: 1\n (doctest.py:r)", 72, 3).lines[1:] == [
        "expected: 2",
        "got:",
    ]
    assert excerpt(f"{start}expected: \ngot: 1\n (doctest.py:r)", 72, 3).lines[1:] == ["expected:", "got: 1"]
    raised = "doctest.UnexpectedException: <DocTest m.f from /x/m.py:1 (1 example)>\n>>> f()\nraised: KeyError: 'a'"
    assert excerpt(raised, 72, 3).lines == ["UnexpectedException: f()", "raised: KeyError: 'a'"]


def test_a_doctest_as_older_records_have_it() -> None:
    old = "doctest.DocTestFailure: <DocTest m.f from /x/m.py:1 (1 example)>\nexpected: 1\n\ngot: 2\n (doctest.py:r)"
    assert excerpt(old, 72, 3).lines == ["DocTestFailure", "expected: 1", "got: 2"]


def test_a_sentence_is_wrapped_instead_of_cut() -> None:
    said = "the text of the shop, which is shown on the front page in large letters, must not start like that"
    shown = excerpt(f"AssertionError: {said}\nassert False", 60, 3)
    assert "".join(text.strip() + " " for text in shown.lines[:-1]) == f"AssertionError: {said} "
    assert shown.lines[-1] == "assert False"
    endless = excerpt("word " * 2000, 60, 3).lines
    assert len(endless) == 3
    assert endless[-1].endswith("...")


def test_what_is_short_stays_as_it_is() -> None:
    assert excerpt("ValueError: old", 72, 3) == (["ValueError: old"], 0)
    assert excerpt("", 72, 3) == ([], 0)
    assert excerpt("AssertionError: assert 1 == 2\n  Use -v to get more diff", 72, 3).lines == [
        "AssertionError: assert 1 == 2",
        "  Use -v to get more diff",
    ]


def test_what_a_property_failed_with_is_shown_before_what_it_is_made_of() -> None:
    message = (
        "AssertionError: assert 6 == 7\n +  where 6 = f(3)\n +    where f = shop.f (tests/test_a.py:test_p)\n"
        "Failing test case: test_p( n=3, )\n"
        "You can reproduce this test case by temporarily adding @reproduce_failure('6.1', b'A') as a decorator"
    )
    assert excerpt(message, 100, 2).lines == [
        "AssertionError: assert 6 == 7",
        "Failing test case: test_p( n=3, )",
    ]
