"""Small faults: where they are, that each compiles and runs otherwise, and which are left out."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.mutants import mutants, sample

SOURCE = b'''\
"""Doc 1."""
import logging

log = logging.getLogger("x")
__all__ = ["a"]


def a(x: "int" = 3, *, y=True) -> "str":
    """Doc 2."""
    log.info("start %s", 1 + 1)
    if x < 4 and y not in (1, 2):  # a < comment
        return x + 1
    for i in range(x):
        if i == 2:
            break
    raise ValueError("bad" + str(3))


if __name__ == "__main__":
    print(a(1 + 2))
'''


def operators(line: int) -> list[str]:
    return [m.operator for m in mutants(SOURCE, "a.py", [line])]


def test_each_operator_on_its_line() -> None:
    assert operators(8) == ["number plus 1", "other truth"]
    assert sorted(operators(11)) == ["< to <=", "and to or", "negate", "not in to in"] + ["number plus 1"] * 3
    assert sorted(operators(12)) == ["+ to -", "number plus 1", "return None"]
    assert operators(15) == ["drop the break"]
    assert operators(16) == ["drop the raise"]


def test_what_no_test_can_tell_is_left_out() -> None:
    for line in (1, 2, 5, 9, 10, 19, 20):
        assert operators(line) == [], line


def test_each_is_another_program_of_one_changed_place() -> None:
    every = mutants(SOURCE, "a.py", range(1, 30))
    assert len({m.source for m in every}) == len(every) == len({m.key for m in every})
    for one in every:
        ast.parse(one.source)
        diff = one.diff(SOURCE).splitlines()
        assert sum(part.startswith("-") for part in diff) == 2
        assert diff[2].startswith(f"@@ -{one.line} ")


def test_positions_are_bytes() -> None:
    (one,) = [m for m in mutants('x = "é" + y\n'.encode(), "a.py", [1]) if m.operator == "+ to -"]
    assert one.source.decode() == 'x = "é" - y\n'


def test_a_sample_is_the_same_each_time_and_spreads_over_the_lines() -> None:
    every = mutants(SOURCE, "a.py", range(1, 30))
    few = sample(every, 5, "7")
    assert few == sample(every[::-1], 5, "7")
    assert len({m.line for m in few}) == 5
    assert sample(every, 5, "8") != few
    assert sample(every, 1000, "7") == sorted(every, key=lambda m: (m.path, m.line, m.key))


@given(st.binary(max_size=200))
def test_any_bytes_have_mutants_or_none(source: bytes) -> None:
    for one in mutants(source, "a.py", range(1, 50)):
        compile(one.source, "a", "exec")
