"""The ledger's tables, step by step: each step brings a file from the version before to the next."""

from __future__ import annotations

STEPS = (
    """
    CREATE TABLE gates (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, base TEXT NOT NULL, base_name TEXT NOT NULL, head TEXT NOT NULL,
        merge_tree TEXT NOT NULL, verdict TEXT NOT NULL, exit_code INTEGER NOT NULL, agent INTEGER NOT NULL,
        seed TEXT NOT NULL, reruns INTEGER NOT NULL, duration REAL NOT NULL, tests INTEGER NOT NULL
    );
    CREATE INDEX gates_at ON gates (at);
    CREATE TABLE tests (id INTEGER PRIMARY KEY, nodeid TEXT NOT NULL UNIQUE, seconds REAL);
    CREATE TABLE rows (
        gate INTEGER NOT NULL REFERENCES gates (id) ON DELETE CASCADE, test INTEGER NOT NULL REFERENCES tests (id),
        bucket TEXT NOT NULL, introduced INTEGER, state TEXT NOT NULL, cause TEXT NOT NULL, blocks INTEGER NOT NULL,
        frozen_until TEXT NOT NULL, failed INTEGER NOT NULL, runs INTEGER NOT NULL, base_failed INTEGER NOT NULL,
        base_runs INTEGER NOT NULL, fixtures TEXT NOT NULL
    );
    CREATE INDEX rows_gate ON rows (gate);
    CREATE INDEX rows_test ON rows (test);
    """,
    """
    CREATE TABLE captures (id INTEGER PRIMARY KEY, at TEXT NOT NULL, nodeid TEXT NOT NULL, path TEXT NOT NULL);
    CREATE TABLE freezes (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, nodeid TEXT NOT NULL, action TEXT NOT NULL, owner TEXT NOT NULL,
        ticket TEXT NOT NULL, expires TEXT NOT NULL, replay TEXT NOT NULL
    );
    CREATE TABLE conversions (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, nodeid TEXT NOT NULL, kind TEXT NOT NULL, owner TEXT NOT NULL,
        detail TEXT NOT NULL
    );
    """,
)

NEWEST = len(STEPS)
# (table, columns) as they are exported; what is joined has the names of the outer world
TABLES = {
    "gate": "SELECT id, at, base, base_name, head, merge_tree, verdict, exit_code, agent, seed, reruns, duration, tests"
    " FROM gates ORDER BY id",
    "row": "SELECT gate, nodeid, bucket, introduced, state, cause, blocks, frozen_until, failed, runs, base_failed,"
    " base_runs, fixtures FROM rows JOIN tests ON tests.id = rows.test ORDER BY gate, rows.rowid",
    "test": "SELECT nodeid, seconds FROM tests ORDER BY id",
    "capture": "SELECT at, nodeid, path FROM captures ORDER BY id",
    "freeze": "SELECT at, nodeid, action, owner, ticket, expires, replay FROM freezes ORDER BY id",
    "conversion": "SELECT at, nodeid, kind, owner, detail FROM conversions ORDER BY id",
}
