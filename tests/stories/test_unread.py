"""A person's pull request takes a test out and leaves its recording behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitkit import HUMAN
from tests.stories.kit import SHOP, Shop, policy

DATA = "tests/data/label.txt"
LABELS = """\
from pathlib import Path
import unittest

from shop import label


class LabelTests(unittest.TestCase):
    def test_label(self):
        self.assertEqual(label(3), (Path(__file__).parent / "data" / "label.txt").read_text())
"""
MORE = SHOP + "\n\ndef double(price):\n    return 2 * price\n"


def shop_of(tmp_path: Path, more: str = "") -> Shop:
    files = {"tests/test_label.py": LABELS, DATA: "3.00 EUR", "tests/data/notes.txt": "nobody reads this"}
    return Shop.open(tmp_path, files, rules=policy(more=more))


@pytest.mark.parametrize(("level", "code"), [("warn", 0), ("refuse", 1)])
def test_a_recording_without_a_reader(tmp_path: Path, level: str, code: int) -> None:
    shop = shop_of(tmp_path, f'[fixtures]\nunread = "{level}"\n')
    shop.patch({"tests/test_label.py": None, "shop.py": MORE}, branch="fix", author=HUMAN)
    told = shop.gate("fix")
    (finding,) = told.findings("fixture-unread")
    assert (finding["path"], finding["severity"]) == (DATA, level)
    assert "test_label" in finding["reason"]
    assert told.exit_code == code


def test_it_is_deleted_too_or_still_read(tmp_path: Path) -> None:
    shop = shop_of(tmp_path)
    shop.patch({"tests/test_label.py": None, DATA: None}, branch="fix", author=HUMAN)
    assert shop.gate("fix").findings("fixture-unread") == []
    shop.patch({"tests/test_label.py": LABELS + "\n# kept\n"}, branch="other", author=HUMAN)
    assert shop.gate("other").findings("fixture-unread") == []


@pytest.mark.slow
def test_a_reader_that_is_skipped_says_nothing(tmp_path: Path) -> None:
    shop = shop_of(tmp_path)
    skipped = LABELS.replace("    def test", "    @unittest.skip('later')\n    def test")
    shop.patch({"tests/test_label.py": skipped, "shop.py": MORE}, branch="fix", author=HUMAN)
    assert shop.gate("fix").findings("fixture-unread") == []
