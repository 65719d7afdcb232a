"""Which test commands a repository's own files name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.testcommands import declared

PATHS = {"tests", "tests/test_a.py", "src", "unit"}
PYTEST = ("python", "-m", "pytest")
UNITTEST = ("python", "-m", "unittest")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test:\n\tpytest tests/\n", [(*PYTEST, "tests")]),
        ("[testenv]\ncommands = pytest {posargs}\n", [PYTEST]),
        ("      - run: uv run pytest -x --cov=src tests\n", [(*PYTEST, "tests")]),
        ("run: python3.12 -m pytest tests && echo done", [(*PYTEST, "tests")]),
        (
            "run: python -Wd -m unittest discover -s tests -t . -v",
            [(*UNITTEST, "discover", "-s", "tests", "-t", ".")],
        ),
        ("run: python -m unittest", [UNITTEST]),
        ("pytest tests\npytest unit\npytest tests\n", [(*PYTEST, "tests"), (*PYTEST, "unit")]),
        ("pytest no/such/folder", [PYTEST]),
        ('run: "pytest tests"', [(*PYTEST, "tests")]),
        # words of prose and dependencies are no commands
        ("deps = pytest-cov\n", []),
        ("import unittest\nfrom unittest import mock\n", []),
        ("", []),
    ],
)
def test_commands(text: str, expected: list[tuple[str, ...]]) -> None:
    assert declared([text], PATHS) == expected


@given(st.text())
def test_any_text_gives_commands_of_known_words(text: str) -> None:
    for words in declared([text], PATHS):
        assert words[:3] in (PYTEST, UNITTEST)


@given(st.text(alphabet=" \t'\"\\$;&|pytest-m unittest/discover", max_size=60))
def test_half_quoted_commands_are_passed_over(text: str) -> None:
    declared([f"pytest {text}", f"python -m unittest {text}"], PATHS)
