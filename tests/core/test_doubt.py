"""The numbers, against the published table and against brute force."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redbucket.core.doubt import (
    blind_spot,
    chance_mixed,
    clopper_pearson_lower,
    clopper_pearson_upper,
    doubt,
    reruns_for,
    visible_rate,
)


@pytest.mark.parametrize(
    ("p", "mixed", "all_fail", "all_pass"),
    [
        (0.05, 0.14, 0.0, 0.86),
        (0.1, 0.27, 0.001, 0.73),
        (0.2, 0.48, 0.008, 0.51),
        (0.3, 0.63, 0.027, 0.34),
        (0.5, 0.75, 0.125, 0.125),
        (0.7, 0.63, 0.34, 0.03),
        (0.8, 0.48, 0.51, 0.01),
        (0.9, 0.27, 0.73, 0.001),
        (0.95, 0.14, 0.86, 0.0),
    ],
)
def test_what_three_runs_can_know(p, mixed, all_fail, all_pass):
    assert chance_mixed(p, 3) == pytest.approx(mixed, abs=0.005)
    assert 1 - chance_mixed(p, 3) == pytest.approx(all_fail + all_pass, abs=0.01)


@pytest.mark.parametrize(("n", "rate"), [(3, 0.63), (10, 0.26), (20, 0.14)])
def test_what_is_visible_at_95_percent(n, rate):
    assert visible_rate(n) == pytest.approx(rate, abs=0.005)


def test_three_against_three_is_the_contract_s_number():
    assert doubt(3, 3) == pytest.approx(0.015625)


@pytest.mark.parametrize("pair", [(0, 0), (3, 0), (0, 3), (-1, 2)])
def test_without_both_sides_nothing_is_known(pair):
    assert doubt(*pair) == 1.0


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40))
def test_doubt_is_the_maximum_over_all_rates(n, m):
    best = max(p**n * (1 - p) ** m for p in (i / 1000 for i in range(1001)))
    assert doubt(n, m) >= best * (1 - 1e-9)
    assert doubt(n, m) <= best * 1.05


@settings(deadline=None)
@given(st.floats(1e-9, 1), st.integers(0, 20), st.integers(0, 20))
def test_the_reruns_are_enough_and_no_more(target, n, m):
    more = reruns_for(target, n, m)
    assert doubt(n + more, m + more) <= target
    assert more == 0 or doubt(n + more - 1, m + more - 1) > target


def test_reruns_for_a_thousandth():
    assert reruns_for(0.001, 3, 3) == 2


@pytest.mark.parametrize("target", [0, -1, 1.5, math.nan])
def test_certainty_can_t_be_asked_for(target):
    with pytest.raises(ValueError, match="doubt"):
        reruns_for(target)


def test_ten_of_ten():
    assert clopper_pearson_lower(10, 10) == pytest.approx(0.05 ** (1 / 10), abs=1e-9)
    assert clopper_pearson_lower(10, 10) >= 0.74


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 3, 0.0, 0.631597), (3, 3, 0.368403, 1.0), (5, 10, 0.222441, 0.777559), (1, 10, 0.005116, 0.394163)],
)
def test_published_bounds(k, n, low, high):
    assert clopper_pearson_lower(k, n) == pytest.approx(low, abs=2e-6)
    assert clopper_pearson_upper(k, n) == pytest.approx(high, abs=2e-6)


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(0, 300))
def test_the_bounds_hold_the_rate(k, extra):
    n = k + extra
    low, high = clopper_pearson_lower(k, n), clopper_pearson_upper(k, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= k / n + 1e-9
        assert high >= k / n - 1e-9


def test_no_count():
    with pytest.raises(ValueError, match="count"):
        clopper_pearson_lower(4, 3)


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (3, "3 runs show a flake with 95% probability only if it fails 63% of the time"),
        (10, "10 runs show a flake with 95% probability only if it fails 26% of the time"),
        (20, "20 runs show a flake with 95% probability only if it fails 14% of the time"),
        (1, "1 run shows"),
        (0, "no run was made"),
    ],
)
def test_the_sentence(n, words):
    assert blind_spot(n).startswith(words)
