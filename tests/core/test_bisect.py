"""Delta debugging: the smallest part that still does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.bisect import smallest

NAMES = [f"t{n}" for n in range(64)]


def needs(*wanted: str) -> Callable[[Sequence[Sequence[str]]], list[bool]]:
    return lambda parts: [set(wanted) <= set(part) for part in parts]


@given(st.sets(st.sampled_from(NAMES), min_size=1, max_size=4))
def test_what_is_needed_is_found_in_its_order(wanted: set[str]) -> None:
    assert smallest(NAMES, needs(*wanted)) == [n for n in NAMES if n in wanted]


def test_one_of_a_thousand_takes_few_checks() -> None:
    names = [f"t{n}" for n in range(1000)]
    asked = 0

    def holds(parts: Sequence[Sequence[str]]) -> list[bool]:
        nonlocal asked
        asked += len(parts)
        return ["t777" in part for part in parts]

    assert smallest(names, holds) == ["t777"]
    assert asked <= 20


def test_when_time_is_up_the_smallest_so_far_is_given() -> None:
    assert smallest(NAMES, needs("t1"), over=lambda: True) == NAMES
