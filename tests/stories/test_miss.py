"""``--miss``: what a patch answers an invariant miss with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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


@pytest.mark.slow  # several gates
def test_a_miss_that_an_earlier_gate_found_must_be_answered_by_a_property(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDBUCKET_LEDGER", str(tmp_path / "ledger.sqlite"))
    shop = Shop.open(tmp_path, rules=policy(PYTEST))
    sound = (shop.path / "shop.py").read_text()
    shop.patch({"shop.py": sound.replace("sum(", "-sum(")}, "wrong")
    first = shop.gate("agent/fix")
    assert first.row("test_total")["bucket"] == "invariant_miss"
    assert not first.findings("one-example")
    shop.patch({"shop.py": sound + "\n\nNEW = 1\n", "tests/test_more.py": LITERAL}, "mended")
    told = shop.gate("agent/fix")
    (finding,) = told.findings("one-example")
    assert (told.exit_code, finding["severity"]) == (1, "refuse")
    assert "an earlier gate of this patch found the miss" in finding["reason"]
    # squashed into the first commit, whose author and time stay
    shop.repo.switch("agent/fix")
    shop.repo.git("reset", "--soft", "HEAD~1")
    shop.repo.git(
        *(
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "commit",
            "--quiet",
            "--amend",
            "--no-edit",
        )
    )
    shop.repo.switch("main")
    assert shop.gate("agent/fix").findings("one-example")
    other = {"shop.py": sound + "\n\nNEW = 1\n", "tests/test_more.py": LITERAL}
    shop.patch(other, branch="agent/other", author="Codex <codex@example.org>")
    assert not shop.gate("agent/other").findings("one-example")
    shop.patch({"tests/test_law.py": PROPERTY}, "a law")
    assert not shop.gate("agent/fix").findings("one-example")
