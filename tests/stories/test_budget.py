"""The budget of a repository: failures that real gates saw, and what was made of them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.ledgered import LedgerGate, LedgerRow
from redbucket.edges.ledger import opened
from tests.gitkit import Content
from tests.stories.kit import PYTEST, SHOP, Shop, assert_clear, policy, redbucket

TOTAL = "tests/test_shop.py::ShopTests::test_total"
PROPERTY = f'''\
"""Proposed for the miss of {TOTAL}: the sum of its parts."""

import unittest

from shop import total


class TotalLaw(unittest.TestCase):
    def test_adds(self):
        for some in range(20):
            self.assertEqual(total([some, 1]), some + total([1]))
'''


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A shop whose ledger begins with one real gate's miss."""
    monkeypatch.setenv("REDBUCKET_LEDGER", str(tmp_path / "ledger.sqlite"))
    shop = Shop.open(tmp_path, rules=policy(PYTEST))
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    return shop


def told(shop: Shop, *words: str) -> dict[str, Any]:
    ended = redbucket("budget", "-C", shop.path, "--format", "json", *words)
    assert (ended.exit_code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def land(shop: Shop, files: dict[str, Content]) -> None:
    """Commit on main, now: what answers a failure comes after it."""
    shop.repo.commit(files, "an answer", when=int(time.time()) + 1)


def keep(tmp_path: Path, *rows: LedgerRow, days_ago: int = 1, head: str = "h" * 40) -> None:
    """Put a gate into the ledger as if it had run some days ago."""
    when = datetime.now(timezone.utc) - timedelta(days=days_ago)
    with opened(tmp_path / "ledger.sqlite") as ledger:
        at = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        ledger.add_gate(
            LedgerGate(at, "b" * 40, "main", head, "t" * 40, "refuse", 1, True, "1", 3, 1.0, rows)
        )


@pytest.mark.slow
def test_a_miss_becomes_a_property(shop: Shop) -> None:
    assert shop.gate().exit_code == 1
    before = told(shop)
    assert (before["failures"], before["converted"], before["rate"]) == (1, 0, 0.0)
    assert [(one["nodeid"], one["bucket"], one["owner"]) for one in before["open"]] == [
        (TOTAL, "invariant_miss", "nobody")
    ]
    assert len(before["weeks"]) == 8
    land(shop, {"tests/properties/test_total.py": PROPERTY})
    after = told(shop)
    (one,) = after["conversions"]
    assert (one["kind"], one["source"]) == ("property", "recognised")
    assert one["detail"] == "tests/properties/test_total.py, which names it"
    assert (after["open"], after["rate"]) == ([], 1.0)
    text = redbucket("budget", "-C", shop.path, "--weeks", "1")
    assert "property 1" in text.out
    assert "1 of 1 failure became something that lasts (100%)" in text.out


@pytest.mark.slow
def test_a_reviewed_property_counts_once_it_has_landed(shop: Shop, tmp_path: Path) -> None:
    keep(tmp_path, LedgerRow(TOTAL, "invariant_miss"), head=shop.repo.git("rev-parse", "agent/fix"))
    unnamed = PROPERTY.replace(TOTAL, "something")
    draft = tmp_path / "test_total.py"
    draft.write_text(unnamed)
    reviewed = redbucket(
        "review", draft, "-C", shop.path, "--base", "main", "--head", "agent/fix", "--mutants", "0"
    )
    assert reviewed.exit_code == 0, reviewed.out
    assert told(shop)["converted"] == 0
    land(shop, {"tests/properties/test_total.py": unnamed})
    (one,) = told(shop)["conversions"]
    assert one["detail"] == "tests/properties/test_total.py, which fails on the patch and holds on base"


def test_drift_becomes_a_lock_and_noise_a_freeze(shop: Shop, tmp_path: Path) -> None:
    data = "tests/data/prices.json"
    keep(
        tmp_path,
        LedgerRow("tests.test_shop.ShopTests.test_label", "fixture_drift", fixtures=(data,)),
        LedgerRow("tests/test_cache.py::test_evicts", "noise"),
        LedgerRow("tests/test_cache.py::test_other", "noise"),
        LedgerRow("tests/test_cache.py::test_owned", "noise"),
    )
    found = told(shop)
    assert (found["failures"], found["converted"]) == (4, 0)
    freeze = (
        '["tests/test_cache.py::test_evicts"]\nowner = "platform"\nticket = "QA-1"\n'
        'expires = 2020-01-01\nreplay = "runs/noise.json"\nreason = "old"\n'
    )
    land(shop, {"fixtures.sha256": f"{'0' * 64}  {data}\n"})
    land(shop, {"flakes.toml": freeze, "CODEOWNERS": "/tests/test_cache.py @qa\n"})
    found = told(shop)
    assert sorted((one["nodeid"].rpartition("_")[2], one["kind"]) for one in found["conversions"]) == [
        ("evicts", "freeze"),
        ("label", "lock"),
    ]
    assert [(one["nodeid"], one["expired"], one["age"]) for one in found["freezes"]] == [
        ("tests/test_cache.py::test_evicts", True, 0)
    ]
    assert {one["owner"] for one in found["open"]} == {"@qa"}
    assert "Freezes that have expired" in redbucket("budget", "-C", shop.path).out
    nodeid = "tests/test_cache.py::test_other"
    spent = redbucket("budget", "spend", nodeid, "--into", "other", "--detail", "removed", "-C", shop.path)
    assert (spent.exit_code, spent.err) == (0, "")
    (recorded,) = [one for one in told(shop)["conversions"] if one["source"] == "recorded"]
    assert (recorded["nodeid"], recorded["detail"]) == (nodeid, "removed")
    odd = redbucket("budget", "spend", "no::such", "--into", "other", "-C", shop.path)
    assert "no gate in the ledger saw this test fail" in odd.err


def test_many_failures_are_answered_at_once(shop: Shop, tmp_path: Path) -> None:
    broken = shop.repo.git("rev-parse", "agent/fix")
    some = [LedgerRow(f"a/test_a.py::test_{n}", "invariant_miss") for n in range(40)]
    keep(tmp_path, *some, head=broken)
    keep(tmp_path, LedgerRow("b.py::t", "noise"), LedgerRow("b.py::u", "noise"))
    at = ("-C", shop.path, "--into", "other")
    ended = redbucket("budget", "spend", "--head", "agent/fix", *at, "--detail", "mended before it landed")
    assert (ended.exit_code, len(ended.out.splitlines())) == (0, 40)
    assert (told(shop)["converted"], len(told(shop)["open"])) == (40, 2)
    assert redbucket("budget", "spend", "b.py::t", "b.py::u", *at).exit_code == 0
    assert told(shop)["open"] == []
    nothing = redbucket("budget", "spend", "--head", "main", *at)
    assert (nothing.exit_code, nothing.errors) == (3, ["no-failure"])
    assert redbucket("budget", "spend", *at).exit_code == 3


def test_there_is_no_budget_without_a_ledger(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_clear(redbucket("budget", "-C", shop.path), 4, "ledger-unusable")
    monkeypatch.setenv("REDBUCKET_LEDGER", "off")
    assert_clear(redbucket("budget", "-C", shop.path), 3, "no-ledger")


def test_nonsense_in_the_ledger_is_no_crash(shop: Shop, tmp_path: Path) -> None:
    keep(tmp_path, LedgerRow("a", "noise"))
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        connection.execute("UPDATE rows SET fixtures = '{'")
        connection.execute("UPDATE gates SET at = '9999-no-date'")
        connection.commit()
    assert told(shop)["failures"] == 1
