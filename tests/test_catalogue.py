"""Every kind of attack, every trap of recordings and every way in which git makes a commit has a test that is there."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

from tests.catalogue import ATTACKS, HOOK_ROWS, TRAPS

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs/numbers.md"
TITLE = "## Attacks, row by row\n"
# How many kinds each family of the catalogue has.
FAMILIES = {"A": 11, "B": 7, "C": 12, "D": 14, "E": 10}
NAMED = re.compile(r"(?P<file>[^:\[\]]+\.py)::(?P<function>test_\w+)(\[(?P<case>.+)\])?")


@cache
def _source(file: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the test functions of a file, and every text that stands in it."""
    tree = ast.parse((TOP / file).read_bytes())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return frozenset(functions), frozenset(texts)


def fault(test: str) -> str:
    """Return what is wrong with the name of a test, "" if it is there."""
    named = NAMED.fullmatch(test)
    if named is None:
        return f"{test} is no name of a test"
    if not (TOP / named["file"]).is_file():
        return f"there is no {named['file']}"
    functions, texts = _source(named["file"])
    if named["function"] not in functions:
        return f"{named['file']} has no {named['function']}"
    return (
        f"{named['file']} has no case {named['case']!r}"
        if named["case"] and named["case"] not in texts
        else ""
    )


def table() -> str:
    """Return the page's tables of attacks and of traps."""
    lines = ["| row | kind | tests, each on real git or in real processes |", "|---|---|---|"]
    for row, kind in ATTACKS.items():
        lines.append(f"| {row} | {kind.what} | {'; '.join(f'`{_short(test)}`' for test in kind.tests)} |")
    lines += ["", "## Traps of recordings, thread by thread", ""]
    lines += ["| public thread | what went wrong there | tests |", "|---|---|---|"]
    for thread, kind in TRAPS.items():
        lines.append(f"| {thread} | {kind.what} | {'; '.join(f'`{_short(test)}`' for test in kind.tests)} |")
    return "\n".join(lines) + "\n"


def _short(test: str) -> str:
    return test.removeprefix("tests/")


def test_every_row_is_there() -> None:
    expected = [f"{family}{number}" for family, last in FAMILIES.items() for number in range(1, last + 1)]
    assert list(ATTACKS) == expected
    assert all(kind.tests and kind.what for kind in ATTACKS.values())
    assert len(HOOK_ROWS) == 13


@pytest.mark.parametrize("row", [*ATTACKS, *HOOK_ROWS, *TRAPS])
def test_the_tests_of_a_row_exist(row: str) -> None:
    kinds = {**ATTACKS, **TRAPS}
    tests = kinds[row].tests if row in kinds else HOOK_ROWS[row]
    assert tests
    assert [said for test in tests if (said := fault(test))] == []


@pytest.mark.parametrize(
    "test",
    [
        "tests/test_catalogue.py::test_nowhere",
        "tests/no_such.py::test_every_row_is_there",
        "tests/guards/test_altered_test.py::test_attacks_are_refused[no such" + " case]",
        "test_every_row_is_there",
    ],
)
def test_a_name_that_is_not_there_is_noticed(test: str) -> None:
    assert fault(test)


def test_the_benchmark_speaks_of_rows_that_are_there() -> None:
    from benchmarks.guard_attacks import RUNS, STATIC, TOLD

    assert {case.row for case in (*STATIC, *TOLD, *RUNS)} <= ATTACKS.keys()


def test_the_page_has_the_table() -> None:
    """REDBUCKET_REGENERATE=1 writes it."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, _ = page.partition(TITLE)
    expected = f"{before}{TITLE}\n{table()}"
    if os.environ.get("REDBUCKET_REGENERATE"):
        PAGE.write_text(expected, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == expected
