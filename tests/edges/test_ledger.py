"""The ledger under several writers, kills, damage and crafted files."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from redbucket.core.errors import WorldFailed
from redbucket.core.ledgered import Conversion, LedgerFreeze, LedgerGate, LedgerRow
from redbucket.edges.ledger import lines, opened, place_of
from redbucket.edges.ledgerschema import NEWEST, STEPS

# Writes gates of 200 rows into the ledger, as fast as it can: {count} of them, or for ever.
WRITER = """
import sys
from itertools import count
from pathlib import Path
from redbucket.edges.ledger import opened
from tests.edges.test_ledger import gate
for number in (range(int(sys.argv[2])) if sys.argv[2] else count()):
    with opened(Path(sys.argv[1])) as ledger:
        ledger.add_gate(gate(rows=200))
    print(number, flush=True)
"""


def gate(*, at="2026-11-30T12:00:00Z", rows=2, head="h" * 40, **more):
    return LedgerGate(
        at=at,
        base="b" * 40,
        base_name="main",
        head=head,
        merge_tree="t" * 40,
        verdict="accept",
        exit_code=0,
        agent=True,
        seed="1",
        reruns=3,
        duration=1.5,
        rows=tuple(
            LedgerRow(nodeid=f"t.py::test_{n}", bucket="stable_pass", runs=3, seconds=0.25)
            for n in range(rows)
        ),
        **more,
    )


def writer(place: Path, count: str = "") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(place), count], stdout=subprocess.PIPE)


def whole(place: Path) -> int:
    """How many gates there are; each must have all its rows, and the file must be sound."""
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counted = connection.execute(
            "SELECT tests, (SELECT count(*) FROM rows WHERE gate = gates.id) FROM gates"
        ).fetchall()
    assert all(said == held for said, held in counted)
    return len(counted)


def test_what_is_kept_comes_out_again(tmp_path):
    place = tmp_path / "deep" / "ledger.sqlite"
    row = LedgerRow(
        nodeid="t.py::test_\udcff[é]", bucket="noise", introduced=False, cause="order", failed=1, runs=3, base_failed=1,
        base_runs=4, fixtures=("tests/data/a.json",), capture="runs/noise.json", seconds=0.5,
    )  # fmt: skip
    with opened(place) as ledger:
        ledger.add_gate(LedgerGate(**{**gate().__dict__, "rows": (row,)}))
        ledger.add_freeze(
            LedgerFreeze("2026-11-30T12:00:01Z", "t.py::a", "add", "me", "T-1", "2026-12-30", "c.json")
        )
        ledger.add_conversion(
            Conversion("2026-11-30T12:00:02Z", "t.py::a", "property", "me", "tests/properties/a.py")
        )
    with opened(place, create=False) as ledger:
        found = [json.loads(line) for line in lines(ledger)]
        assert ledger.rate(row.nodeid) == (1, 4, 1, "2026-11-30T12:00:00Z")
        assert list(ledger.durations().values()) == [0.5]
    assert [one["table"] for one in found] == ["gate", "row", "test", "capture", "freeze", "conversion"]
    assert (found[0]["agent"], found[1]["introduced"], found[1]["fixtures"]) == (
        True,
        False,
        ["tests/data/a.json"],
    )
    assert found[3]["path"] == "runs/noise.json"


def test_several_processes_lose_nothing(tmp_path):
    place = tmp_path / "ledger.sqlite"
    writers = [writer(place, "10") for _ in range(4)]
    for process in writers:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert whole(place) == 40


def test_a_kill_at_any_moment_leaves_whole_gates(tmp_path):
    place = tmp_path / "ledger.sqlite"
    chance = random.Random(7)
    said = 0
    for _ in range(8):
        process = writer(place)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * 0.2)
        process.kill()
        rest, _ = process.communicate()
        said += 1 + rest.count(b"\n")
        assert whole(place) >= said, "a gate that was reported as written is gone"
    with opened(place) as ledger:
        ledger.add_gate(gate())


def test_a_file_of_an_earlier_version_is_brought_up(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript(STEPS[0])
        connection.execute("INSERT INTO tests (nodeid, seconds) VALUES ('t.py::old', 2.0)")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    with opened(place) as ledger:
        assert ledger.durations() == {"t.py::old": 2.0}
        ledger.add_conversion(Conversion("2026-11-30T12:00:02Z", "a", "other"))
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEWEST,)


def crafted(place: Path, kind: str) -> None:
    """A file as code under test might leave it."""
    if kind == "text":
        place.write_text("not a database, but long enough to look at its header" * 10)
        return
    with opened(place) as ledger:
        ledger.add_gate(gate())
    with closing(sqlite3.connect(place)) as connection:
        if kind == "newer":
            connection.execute(f"PRAGMA user_version = {NEWEST + 1}")
        elif kind == "trigger":
            connection.execute("CREATE TRIGGER evil AFTER INSERT ON gates BEGIN DELETE FROM rows; END")
        elif kind == "view":
            connection.execute("DROP TABLE rows")
            connection.execute("CREATE VIEW rows AS SELECT 1 AS gate")
        elif kind == "table":
            connection.execute("DROP TABLE rows")
        connection.commit()
    if kind == "cut":
        raw = place.read_bytes()
        for side in place.parent.glob("*-wal"):
            side.unlink()
        place.write_bytes(raw[: len(raw) // 2] + b"\xff" * (len(raw) // 4))


@pytest.mark.parametrize("kind", ["text", "newer", "trigger", "view", "table", "cut"])
def test_a_file_that_can_t_be_used_says_so(tmp_path, kind):
    place = tmp_path / "ledger.sqlite"
    crafted(place, kind)
    with pytest.raises(WorldFailed) as told, opened(place) as ledger:
        ledger.add_gate(gate())
    assert told.value.code == "ledger-unusable"
    assert str(place) in told.value.reason
    place.unlink()
    for side in tmp_path.glob("ledger.sqlite-*"):
        side.unlink()
    with opened(place) as ledger:  # deleted, it begins anew
        ledger.add_gate(gate())


def test_old_gates_are_forgotten(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with opened(place) as ledger:
        ledger.add_gate(gate(at="2025-01-01T00:00:00Z", rows=50))
        ledger.add_gate(gate(at="2026-11-01T00:00:00Z", rows=2))
        assert ledger.prune("2026-01-01T00:00:00Z") == {"gate": 1, "capture": 0, "freeze": 0, "conversion": 0}
        assert len(list(ledger.every("row"))) == 2
        assert len(list(ledger.every("test"))) == 2
    assert whole(place) == 1


def test_where_it_is(tmp_path):
    assert place_of({}, tmp_path) == tmp_path / "redbucket" / "ledger.sqlite"
    assert place_of({"REDBUCKET_LEDGER": "/srv/l.sqlite"}, tmp_path) == Path("/srv/l.sqlite")
    assert place_of({"REDBUCKET_LEDGER": "OFF"}, tmp_path) is None
