"""``--miss``: what a patch answers an invariant miss with."""

from __future__ import annotations

import json
from pathlib import Path

from tests.stories.kit import PYTEST, Shop, assert_clear, policy, redbucket, reported

MISS = "tests/test_shop.py::ShopTests::test_total"
LITERAL = "from shop import total\n\n\ndef test_sum():\n    assert total([2, 2]) == 4\n"
PROPERTY = (
    "from shop import total\n\n\ndef test_sum():\n"
    "    for n in range(50):\n        assert total(range(n + 1)) == n * (n + 1) // 2\n"
)


def test_the_misses_of_a_report_must_be_answered_by_properties(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy(PYTEST))
    shop.patch({"tests/test_more.py": LITERAL}, branch="agent/literal")
    shop.patch({"tests/test_more.py": PROPERTY}, branch="agent/property")
    row = {"nodeid": MISS, "bucket": "invariant_miss", "introduced": True}
    others = [{**row, "nodeid": "x::y", "introduced": False}, {**row, "nodeid": "x::z", "bucket": "noise"}]
    verdict = shop.repo.home / "verdict.json"
    verdict.write_text(json.dumps({"schema": "redbucket.gate/1", "tests": [row, *others]}))
    for branch, code in (("agent/literal", 1), ("agent/property", 0)):
        told = reported("guard", "-C", shop.path, "--base", "main", "--head", branch, "--miss", verdict)
        assert told.exit_code == code
        assert bool(told.findings("one-example")) == bool(code)
        told = reported("guard", "-C", shop.path, "--base", "main", "--head", branch, "--miss", MISS)
        assert told.exit_code == code
    assert reported("guard", "-C", shop.path, "--base", "main", "--head", "agent/literal").exit_code == 0


def test_a_file_that_is_no_report_is_said(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    (shop.repo.home / "x.json").write_text('{"schema": "other"}')
    ended = redbucket("guard", "-C", shop.path, "--base", "main", "--miss", shop.repo.home / "x.json")
    assert_clear(ended, 3, "not-a-report")
