"""A suite that makes its tests from a data file: the patch's new rows are tests that base does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.kit import PYTEST, Shop, policy

CASES = "tests/data/labels.txt"
TESTS = """\
from pathlib import Path

import pytest

from shop import label

CASES = [line.split(",") for line in (Path(__file__).parent / "data" / "labels.txt").read_text().splitlines()]


@pytest.mark.parametrize(("price", "text"), CASES)
def test_label(price, text):
    assert label(float(price)) == text
"""


UNITTESTS = """\
import unittest
from pathlib import Path

from shop import label


class LabelTests(unittest.TestCase):
    pass


def add(price, text):
    setattr(LabelTests, f"test_label_{price}-", lambda self: self.assertEqual(label(float(price)), text))


for line in (Path(__file__).parent / "data" / "labels.txt").read_text().splitlines():
    add(*line.split(","))
"""


@pytest.mark.parametrize(("row", "bucket"), [("5,5 EUR", "fixture_drift"), ("5,5.00 EUR", "")])
@pytest.mark.parametrize(
    ("tests", "rules"),
    [pytest.param(TESTS, policy(PYTEST), marks=pytest.mark.slow), (UNITTESTS, policy())],
    ids=["pytest", "unittest"],
)
def test_a_new_row(tmp_path: Path, tests: str, rules: str, row: str, bucket: str) -> None:
    files = {"tests/test_shop.py": tests, CASES: "3,3.00 EUR\n4,4.00 EUR\n"}
    shop = Shop.open(tmp_path, files, rules=rules)
    shop.patch({CASES: f"3,3.00 EUR\n4,4.00 EUR\n{row}\n"})
    told = shop.gate()
    rows = {r["nodeid"]: r for r in told.report["tests"]}
    new = [r for name, r in rows.items() if "5-" in name]
    assert [r["bucket"] for r in new] == ([bucket] if bucket else [])
    assert told.exit_code == (1 if bucket else 0)
    if bucket:
        assert new[0]["outcomes"] == {"F": ["failed"] * 3}
        assert new[0]["fixtures"] == [CASES]
