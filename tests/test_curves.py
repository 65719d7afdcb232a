"""benchmarks/curves.py: the exponent is that of what grows, and the plot is one that needs no other file."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import msgspec
import pytest

from benchmarks.curves import CURVES, Point, exponent, record, svg, table, told
from redbucket.core.records import End, Outcome

SIZES = (100, 300, 1_000, 3_000, 10_000)


def points(power: float, *, start: float = 0.2, unit: float = 1e-4, name: str = "classify") -> list[Point]:
    return [Point(name, size, start + unit * size**power, 30.0) for size in SIZES]


@pytest.mark.parametrize("start", [0.0, 0.2, 20.0])
def test_a_fixed_start_up_does_not_hide_the_growth(start: float) -> None:
    assert exponent(points(1.0, start=start)) == pytest.approx(1.0, abs=0.011)
    assert exponent(points(2.0, start=start, unit=1e-7)) == pytest.approx(2.0, abs=0.011)


def test_growth_that_is_noise_has_no_exponent() -> None:
    assert exponent(points(1.0, unit=1e-7)) is None
    assert exponent(points(1.0)[:1]) is None


def test_what_is_steep_is_told_and_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert told({("classify", p.size): p for p in points(1.0)}) == 0
    assert "steeper than linear: none" in capsys.readouterr().out
    assert told({("classify", p.size): p for p in points(1.5)}) == 1
    assert "steeper than linear: classify: 1.5" in capsys.readouterr().out


def test_the_table_has_a_line_a_curve_that_was_measured() -> None:
    lines = table(points(1.0) + points(1.0, name="tree layout")).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| classify", "| tree layout"]
    assert "10,000: 1.20 (30) | 1.00 |" in lines[2]


def test_every_curve_has_five_sizes_or_more() -> None:
    assert all(len(curve.sizes) >= 5 for curve in CURVES)
    assert len({curve.name for curve in CURVES}) == len(CURVES)


def test_the_plot_is_whole_and_fetches_nothing() -> None:
    drawn = svg([p for curve in CURVES for p in points(1.0, name=curve.name)])
    top = ElementTree.fromstring(drawn)
    names = {text.text for text in top.iter("{http://www.w3.org/2000/svg}text")}
    assert {curve.name for curve in CURVES} <= names
    assert len(list(top.iter("{http://www.w3.org/2000/svg}polyline"))) == len(CURVES)
    assert "href" not in drawn
    assert "url(" not in drawn


def test_the_records_are_whole_and_hold_noise_and_misses() -> None:
    lines = {number: list(record(number, 1_000)) for number in (1, 2)}
    assert all(msgspec.json.encode(line) for line in lines[1])
    red = {
        number: {line.index for line in seen if isinstance(line, End) and line.outcome is Outcome.FAILED}
        for number, seen in lines.items()
    }
    assert red[2] - red[1] == {7}
    assert len(red[1]) == 9
