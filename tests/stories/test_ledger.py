"""What gates leave in the ledger, and that it never stands in their way."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest

from redbucket.app.remember import history
from redbucket.core.ledgered import LedgerGate, LedgerRow
from redbucket.edges.ledger import opened
from tests.docs.reference import schema
from tests.stories.kit import SHOP, Shop, assert_clear, redbucket

WRONG = SHOP.replace("sum(prices)", "len(prices)")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A shop with a broken patch, whose gates are kept in ``ledger.sqlite`` beside it."""
    monkeypatch.setenv("REDBUCKET_LEDGER", str(tmp_path / "ledger.sqlite"))
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG})
    return shop


def exported(shop: Shop) -> list[dict[str, object]]:
    ended = redbucket("ledger", "export", "-C", shop.path)
    assert ended.exit_code == 0, ended.err
    found = [json.loads(line) for line in ended.out.splitlines()]
    made = schema("ledger")
    fields = {
        each["properties"]["table"]["enum"][0]: {*each["properties"]}
        for each in made["$defs"].values()
        if "properties" in each
    }
    for line in found:
        jsonschema.validate(line, made)
        assert {*line} == fields[line["table"]]
    return found


def test_a_gate_is_kept(shop: Shop) -> None:
    told = shop.gate()
    assert (told.exit_code, told.err) == (1, "")
    found = exported(shop)
    (gate,) = [one for one in found if one["table"] == "gate"]
    assert (gate["head"], gate["verdict"], gate["agent"], gate["tests"]) == (
        told.report["head"],
        "refuse",
        True,
        3,
    )
    rows = {str(one["nodeid"]).rpartition(".")[2]: one for one in found if one["table"] == "row"}
    assert rows["test_total"]["bucket"] == "invariant_miss"
    assert (rows["test_total"]["failed"], rows["test_total"]["runs"]) == (3, 3)
    assert (rows["test_total"]["base_failed"], rows["test_total"]["base_runs"]) == (0, 1)
    assert len([one for one in found if one["table"] == "test" and one["seconds"] is not None]) == 3


def test_it_lies_in_the_common_git_folder(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDBUCKET_LEDGER")
    place = shop.path / ".git" / "redbucket" / "ledger.sqlite"
    before = shop.snapshot()
    assert (
        redbucket("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--quiet").exit_code == 1
    )
    assert place.is_file()
    after = {k: v for k, v in shop.snapshot().items() if not k.startswith(".git/redbucket")}
    assert after == before
    assert len([one for one in exported(shop) if one["table"] == "gate"]) == 1


@pytest.mark.parametrize(
    "how",
    ["locked", "corrupt", *(pytest.param(how, marks=pytest.mark.slow) for how in ("a folder", "nowhere"))],
)
def test_a_ledger_that_can_t_be_used_changes_nothing(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    place = tmp_path / "ledger.sqlite"
    with opened(place):
        pass
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        if how == "locked":
            other.execute("BEGIN IMMEDIATE")
        elif how == "corrupt":
            place.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
        elif how == "a folder":
            monkeypatch.setenv("REDBUCKET_LEDGER", str(tmp_path))
        else:
            monkeypatch.setenv("REDBUCKET_LEDGER", "/dev/null/ledger.sqlite")
        told = shop.gate()
    assert (told.exit_code, told.report["verdict"]) == (1, "refuse")
    assert told.buckets() == {
        "test_total": "invariant_miss",
        "test_total_of_nothing": "stable_pass",
        "test_label": "stable_pass",
    }
    assert len(told.err.splitlines()) == 1
    assert told.err.startswith("redbucket: not kept: the ledger ")
    assert told.errors == ["ledger-unusable"]


@pytest.mark.slow
def test_it_can_be_forgotten_and_deleted(shop: Shop, tmp_path: Path) -> None:
    assert_clear(redbucket("ledger", "export", "-C", shop.path), 4, "ledger-unusable")
    shop.gate()
    assert "forgotten: 0 gates" in redbucket("ledger", "prune", "-C", shop.path).out
    pruned = redbucket("ledger", "prune", "-C", shop.path, "--days", "0")
    assert pruned.exit_code == 0
    for path in tmp_path.glob("ledger.sqlite*"):
        path.unlink()
    assert shop.gate().exit_code == 1
    assert len([one for one in exported(shop) if one["table"] == "gate"]) == 1


@pytest.mark.slow
def test_it_can_be_switched_off(shop: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REDBUCKET_LEDGER", "off")
    shop.gate()
    assert not (tmp_path / "ledger.sqlite").exists()
    assert_clear(redbucket("ledger", "export", "-C", shop.path), 3, "no-ledger")


def test_parquet(shop: Shop, tmp_path: Path) -> None:
    shop.gate()
    words = ("ledger", "export", "-C", shop.path, "--format", "parquet", "--output", tmp_path / "tables")
    try:
        from pyarrow import parquet
    except ImportError:
        assert_clear(redbucket(*words), 3, "no-pyarrow")
        return
    ended = redbucket(*words)
    assert ended.exit_code == 0
    assert parquet.read_table(tmp_path / "tables" / "gate.parquet").num_rows == 1
    assert parquet.read_table(tmp_path / "tables" / "row.parquet").num_rows == 3


@pytest.mark.parametrize("name", ["protected_paths", "untrusted_tests", "fixture_checksums", "flake_expiry"])
def test_a_static_hook_does_not_load_sqlite(shop: Shop, name: str) -> None:
    script = (
        "import sys\nfrom importlib import import_module\n"
        f"try:\n    import_module('redbucket.hooks.{name}').run()\nexcept SystemExit:\n    pass\n"
        "assert 'redbucket.app.hook_run' in sys.modules\nassert 'sqlite3' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=shop.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_end_of_a_freeze_is_kept(shop: Shop) -> None:
    entry = (
        '["tests/test_shop.py::test_a"]\nowner = "me"\nticket = "T-1"\nexpires = 2099-01-01\n'
        'replay = "runs/a.json"\nreason = ""\n'
    )
    shop.repo.commit({"flakes.toml": entry}, "a freeze")
    assert redbucket("flakes", "remove", "tests/test_shop.py::test_a", "-C", shop.path).exit_code == 0
    (freeze,) = [one for one in exported(shop) if one["table"] == "freeze"]
    assert (freeze["nodeid"], freeze["action"]) == ("tests/test_shop.py::test_a", "remove")


def test_how_often_base_failed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("REDBUCKET_LEDGER", str(place))
    assert history(tmp_path, "t.py::a") == ""
    row = LedgerRow("t.py::a", "noise", base_failed=1, base_runs=4)
    with opened(place) as ledger:
        for day in (1, 2):
            at = f"2026-11-0{day}T00:00:00Z"
            ledger.add_gate(LedgerGate(at, "b", "main", "h", "t", "accept", 0, True, "1", 3, 1.0, (row,)))
    assert history(tmp_path, "t.py::a") == (
        "by the ledger, it failed in 2 of 8 runs of base, in 2 gates since 2026-11-01"
    )
    assert history(tmp_path, "t.py::b") == ""
    place.write_text("no database at all")
    assert history(tmp_path, "t.py::a") == ""
