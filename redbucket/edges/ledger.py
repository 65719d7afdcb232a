"""The ledger: one SQLite file that remembers what gates saw, for people to look back.

Several processes write it at once (WAL); one that is killed leaves whole gates behind. The file may be deleted
at any time. It is never trusted: code under test runs as the same user and may write what it likes into it,
so that nothing which decides is read from here, and no trigger or view in it is ever run.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from redbucket.core.errors import WorldFailed
from redbucket.core.ledgered import Conversion, LedgerFreeze, LedgerGate
from redbucket.core.ledgerlines import SCHEMA
from redbucket.edges.ledgerschema import NEWEST, STEPS, TABLES

VARIABLE = "REDBUCKET_LEDGER"
_OFF = ("off", "0", "none")
_BUSY = 3.0  # seconds to wait for another writer
_LONGEST = 20.0  # seconds for one command's work: a crafted file must not hold a gate up
_STEPS_PER_LOOK = 20_000


def place_of(environment: Mapping[str, str], common_dir: Path) -> Path | None:
    """Return where the ledger is: what REDBUCKET_LEDGER says ("off": None), or in the common git folder."""
    said = environment.get(VARIABLE, "")
    if said.lower() in _OFF:
        return None
    return Path(said) if said else common_dir / "redbucket" / "ledger.sqlite"


@contextmanager
def opened(place: Path, *, create: bool = True) -> Iterator[Ledger]:
    """Open the ledger, made or brought up to date where need be; raises WorldFailed "ledger-unusable"."""
    try:
        if create:
            place.parent.mkdir(parents=True, exist_ok=True)
        elif not place.is_file():
            raise _unusable(place, "there is none yet", f"run a gate first, or set {VARIABLE}")
        uri = f"{place.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY, isolation_level=None)) as connection:
            _guard(connection)
            _bring_up(connection, place)
            yield Ledger(connection)
    except sqlite3.Error as error:
        locked = "locked" in str(error) or "busy" in str(error)
        remedy = "another process writes to it: try again" if locked else f"delete {place}, or move it away"
        raise _unusable(place, str(error), remedy) from error
    except OSError as error:
        raise _unusable(
            place, error.strerror or str(error), f"make its folder writable, or set {VARIABLE}"
        ) from error


def _unusable(place: Path, reason: str, remedy: str) -> WorldFailed:
    return WorldFailed("ledger-unusable", f"the ledger {place} can't be used: {reason}", remedy)


def _guard(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + _LONGEST
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS_PER_LOOK)
    for pragma in (
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "foreign_keys = ON",
        "synchronous = NORMAL",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _bring_up(connection: sqlite3.Connection, place: Path) -> None:
    """Run the steps that are missing, all or none; refuse a file that holds what no step made."""
    version = _version(connection)
    if version > NEWEST:
        raise _unusable(
            place, f"a newer redbucket made it (version {version})", "update redbucket, or delete it"
        )
    (odd,) = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view')"
    ).fetchone()
    if odd:
        raise _unusable(place, "it holds triggers or views, which redbucket never makes", "delete it")
    if version == NEWEST:
        return
    _write_ahead(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[_version(connection) :]:  # another process may have been first
            for statement in filter(str.strip, step.split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {NEWEST}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL; the switch does not wait for others by itself, and a file system may not allow it."""
    until = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


class Ledger:
    """An open ledger."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def add_gate(self, gate: LedgerGate) -> None:
        """Keep a gate with all its rows and captures, whole or not at all."""
        with self._writing() as connection:
            cursor = connection.execute(
                "INSERT INTO gates (at, base, base_name, head, merge_tree, verdict, exit_code, agent, seed, reruns,"
                " duration, tests) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(
                        gate.at,
                        gate.base,
                        _text(gate.base_name),
                        gate.head,
                        gate.merge_tree,
                        gate.verdict,
                        gate.exit_code,
                    ),
                    *(gate.agent, gate.seed, gate.reruns, gate.duration, len(gate.rows)),
                ),
            )
            number = cursor.lastrowid
            connection.executemany(
                "INSERT INTO tests (nodeid, seconds) VALUES (?, ?) ON CONFLICT (nodeid)"
                " DO UPDATE SET seconds = coalesce(excluded.seconds, seconds)",
                ((_text(row.nodeid), row.seconds) for row in gate.rows),
            )
            connection.executemany(
                "INSERT INTO rows (gate, test, bucket, introduced, state, cause, blocks, frozen_until, failed, runs,"
                " base_failed, base_runs, fixtures)"
                " SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM tests WHERE nodeid = ?",
                (
                    (
                        *(
                            number,
                            row.bucket,
                            row.introduced,
                            row.state,
                            _text(row.cause),
                            row.blocks,
                            row.frozen_until,
                        ),
                        *(row.failed, row.runs, row.base_failed, row.base_runs),
                        *(json.dumps(row.fixtures) if row.fixtures else "", _text(row.nodeid)),
                    )
                    for row in gate.rows
                ),
            )
            connection.executemany(
                "INSERT INTO captures (at, nodeid, path) VALUES (?, ?, ?)",
                ((gate.at, _text(row.nodeid), _text(row.capture)) for row in gate.rows if row.capture),
            )

    def add_capture(self, at: str, nodeid: str, path: str) -> None:
        """Keep that a capture was written."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO captures (at, nodeid, path) VALUES (?, ?, ?)", (at, _text(nodeid), _text(path))
            )

    def add_freeze(self, one: LedgerFreeze) -> None:
        """Keep that a freeze was made or ended."""
        values = (one.at, one.nodeid, one.action, one.owner, one.ticket, one.expires, one.replay)
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO freezes (at, nodeid, action, owner, ticket, expires, replay) VALUES (?, ?, ?, ?, ?, ?, ?)",
                tuple(map(_text, values)),
            )

    def add_conversion(self, one: Conversion) -> None:
        """Keep what a failure was turned into."""
        self.add_conversions([one])

    def add_conversions(self, some: Iterable[Conversion]) -> None:
        """Keep what failures were turned into: all of them or, after a kill, none."""
        with self._writing() as connection:
            connection.executemany(
                "INSERT INTO conversions (at, nodeid, kind, owner, detail) VALUES (?, ?, ?, ?, ?)",
                [tuple(map(_text, (one.at, one.nodeid, one.kind, one.owner, one.detail))) for one in some],
            )

    def every(self, kind: str) -> Iterator[dict[str, Any]]:
        """Yield all of one kind ("gate", "row", "test", "capture", "freeze", "conversion"), oldest first."""
        cursor = self._connection.execute(TABLES[kind])
        names = [column[0] for column in cursor.description]
        for values in cursor:
            yield dict(zip(names, values, strict=True))

    def failures(self, since: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of gates since then that call for work, oldest first."""
        cursor = self._connection.execute(
            "SELECT gates.at, gates.head, nodeid, bucket, introduced, frozen_until, fixtures FROM rows"
            " JOIN gates ON gates.id = rows.gate JOIN tests ON tests.id = rows.test WHERE gates.at >= ? AND bucket IN"
            " ('invariant_miss', 'fixture_drift', 'noise', 'unclassified') ORDER BY gates.at, rows.rowid",
            (since,),
        )
        names = [column[0] for column in cursor.description]
        for values in cursor:
            yield dict(zip(names, values, strict=True))

    def misses(self, most: int) -> list[tuple[str, str]]:
        """Return (node id, head) of the newest ``most`` invariant misses that a patch introduced, newest first."""
        found = self._connection.execute(
            "SELECT nodeid, gates.head FROM rows JOIN gates ON gates.id = rows.gate JOIN tests ON tests.id = rows.test"
            " WHERE bucket = 'invariant_miss' AND introduced = 1 ORDER BY gates.at DESC, rows.rowid DESC LIMIT ?",
            (most,),
        )
        return [(str(nodeid), str(head)) for nodeid, head in found]

    def rate(self, nodeid: str) -> tuple[int, int, int, str]:
        """Return (runs that failed, runs, gates, when the first was) of one test in base, over all gates."""
        row = self._connection.execute(
            "SELECT coalesce(sum(base_failed), 0), coalesce(sum(base_runs), 0), count(*), coalesce(min(at), '')"
            " FROM rows JOIN gates ON gates.id = rows.gate JOIN tests ON tests.id = rows.test"
            " WHERE nodeid = ? AND base_runs > 0",
            (_text(nodeid),),
        ).fetchone()
        return int(row[0]), int(row[1]), int(row[2]), str(row[3])

    def durations(self) -> dict[str, float]:
        """Return {node id: seconds} as last seen, for whoever splits a suite; a wrong one costs time alone."""
        found = self._connection.execute(
            # whoever wrote the file: a column of SQLite's takes what it is given
            "SELECT nodeid, seconds FROM tests WHERE typeof(seconds) IN ('real', 'integer')"
        )
        return {str(nodeid): float(seconds) for nodeid, seconds in found}

    def prune(self, before: str) -> dict[str, int]:
        """Forget what is older than ``before``; return {kind: how many went}."""
        gone: dict[str, int] = {}
        with self._writing() as connection:
            for kind in ("gate", "capture", "freeze", "conversion"):
                statement = f"DELETE FROM {kind}s WHERE at < ?"  # noqa: S608 (a name of ours)
                gone[kind] = connection.execute(statement, (before,)).rowcount
            connection.execute("DELETE FROM tests WHERE id NOT IN (SELECT test FROM rows)")
        self._connection.execute("VACUUM")
        return gone


def _text(value: str) -> str:
    """SQLite takes no lone surrogates, which stand for undecodable bytes of a path."""
    return os.fsencode(value).decode("utf-8", "replace") if not value.isascii() else value


def lines(ledger: Ledger, kinds: Iterable[str] = TABLES) -> Iterator[str]:
    """Yield the ledger as JSON Lines, each with its schema and the ``table`` it is from (``core.ledgerlines``)."""
    for kind in kinds:
        for one in ledger.every(kind):
            yield json.dumps({"schema": SCHEMA, "table": kind, **plain(one)}, ensure_ascii=False)


def plain(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as it leaves the ledger: truth values as such, lists as lists."""
    found = dict(one)
    for name in ("agent", "introduced", "blocks"):
        if found.get(name) is not None and name in found:
            found[name] = bool(found[name])
    if "fixtures" in found:
        found["fixtures"] = fixtures_of(found["fixtures"])
    return found


def fixtures_of(text: object) -> list[str]:
    """Return the paths that a row holds; [] for what is no list, whoever wrote it."""
    try:
        found = json.loads(str(text)) if text else []
    except ValueError:
        return []
    return [path for path in found if isinstance(path, str)] if isinstance(found, list) else []
