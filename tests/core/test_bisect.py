"""The smallest part that still does it, by prefixes and by delta debugging."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.bisect import fewest, smallest

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


@given(st.sets(st.sampled_from(NAMES), min_size=1, max_size=9))
def test_by_prefixes_the_same_is_found(wanted: set[str]) -> None:
    assert fewest(NAMES, needs(*wanted)) == [n for n in NAMES if n in wanted]


@given(st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_an_item_that_undoes_another_does_not_mislead(wanted: str, cleaner: str) -> None:
    """``cleaner`` right after ``wanted`` takes the effect back, unless it is the item itself."""

    def holds(parts: Sequence[Sequence[str]]) -> list[bool]:
        return [
            wanted in part
            and (wanted == cleaner or cleaner not in part or part.index(cleaner) < part.index(wanted))
            for part in map(list, parts)
        ]

    if holds([NAMES])[0]:
        assert wanted in fewest(NAMES, holds)


def test_one_of_a_thousand_takes_few_rounds() -> None:
    names = [f"t{n}" for n in range(1000)]
    asked: list[int] = []

    def holds(parts: Sequence[Sequence[str]]) -> list[bool]:
        asked.append(len(parts))
        return ["t777" in part for part in parts]

    assert fewest(names, holds) == ["t777"]
    assert len(asked) <= 9 and max(asked) <= 2
