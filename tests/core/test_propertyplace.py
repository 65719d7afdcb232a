"""Where a property is to lie, and which words of a command name tests."""

from __future__ import annotations

import pytest

from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy, Protect
from redbucket.core.propertyplace import place_for, without_paths


def side(*patterns: str) -> JudgeSide:
    return JudgeSide(Policy(protect=Protect(paths=patterns))) if patterns else JudgeSide(Policy())


@pytest.mark.parametrize(
    ("path", "name", "patterns", "place"),
    [
        ("", "law.py", (), "tests/properties/test_law.py"),
        ("tests/properties/test_a.py", "test_a.py", (), "tests/properties/test_a.py"),
        ("tests/test_a.py", "test_a.py", (), "tests/properties/test_a.py"),
        ("", "test_a.py", ("docs/**", "tests/laws/**"), "tests/laws/test_a.py"),
        ("", "test_taken.py", (), "tests/properties/test_taken_2.py"),
    ],
)
def test_where_a_property_is_to_lie(path: str, name: str, patterns: tuple[str, ...], place: str) -> None:
    assert place_for(path, name, side(*patterns), {"tests/properties/test_taken.py"}) == place


def test_the_paths_of_a_command_are_left_out() -> None:
    paths = ["tests/unit/test_a.py", "src/a.py"]
    words = (
        "-q",
        "tests/unit",
        "./tests",
        "tests/unit/test_a.py::test_x",
        "-m",
        "not slow",
        "tests.cfg",
        ".",
    )
    assert without_paths(words, paths) == ("-q", "-m", "not slow", "tests.cfg")
