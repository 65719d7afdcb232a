"""Which fixture files a test read, and their hash."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.recorder.runkit import record

PATHS = (*(f"tests/data/{n}.txt" for n in "abcdefghij"), "tests/data/db.sqlite")
FILES = {
    **{p: p for p in PATHS if p.endswith("txt")},
    "tests/helper.py": 'DATA = open("tests/data/d.txt").read()\n',
    "tests/other_helper.py": "from helper import DATA as MORE\n",
    "tests/conftest.py": """
    import pytest
    @pytest.fixture(scope="session")
    def wide(): return open("tests/data/b.txt").read()
    @pytest.fixture(scope="module")
    def narrow(wide): return wide
    @pytest.fixture
    def dynamic(request): return request.getfixturevalue("late")
    @pytest.fixture(scope="session")
    def late(): return open("tests/data/j.txt").read()
    """,
    "tests/test_a.py": """
    import os, pathlib, shutil, sqlite3
    import pytest

    AT_IMPORT = open("tests/data/c.txt").read()
    HERE = pathlib.Path(__file__).parent / "data"

    def test_none(): pass
    def test_direct(): open("tests/data/a.txt").read()
    def test_wide_first(wide): pass
    def test_wide_again(narrow): pass
    def test_bytes(): open(os.fsencode(HERE / "e.txt")).read()
    def test_path(): (HERE / ".." / "data" / "f.txt").read_text()
    def test_os_open(): os.close(os.open(HERE / "a.txt", os.O_RDONLY))
    def test_chdir(monkeypatch):
        monkeypatch.chdir(HERE)
        open("g.txt").read()
    def test_sqlite(): sqlite3.connect(HERE / "db.sqlite").execute("select * from t").fetchall()
    def test_sqlite_uri(): sqlite3.connect("file:%s?mode=ro" % (HERE / "db.sqlite"), uri=True).execute("select 1")
    def test_sqlite_write():
        with sqlite3.connect(HERE / "db.sqlite") as c: c.execute("insert into t values (9)")
    def test_write(): (HERE / "h.txt").write_text("changed")
    def test_remove(): os.remove(HERE / "i.txt")
    def test_rename(): os.rename(HERE / "h.txt", HERE / "z.txt")
    def test_copy(tmp_path): shutil.copy(HERE / "a.txt", tmp_path)
    def test_rmtree(tmp_path):
        (tmp_path / "a.txt").touch()
        os.chdir(HERE)
        shutil.rmtree(tmp_path)
        os.chdir(HERE.parent.parent)
    def test_late(request): request.getfixturevalue("late")
    def test_late_again(request): request.getfixturevalue("late")
    def test_dynamic(dynamic): pass
    """,
    "tests/test_b.py": "from helper import DATA\ndef test_b(): pass\n",
    "tests/test_c.py": "import other_helper\ndef test_c(): pass\n",
    "tests/test_d.py": "def test_d(): pass\n",
}


def test_reads(tmp_path: Path) -> None:
    db = tmp_path / "seed.sqlite"
    with sqlite3.connect(db) as connection:
        connection.execute("create table t (x)")
    files = {
        **FILES,
        "conftest.py": f"""
        import shutil, os
        if not os.path.exists("tests/data/db.sqlite"):
            shutil.copy({str(db)!r}, "tests/data/db.sqlite")
        """,
    }
    r, again = (record(tmp_path / n, files, fixtures=PATHS) for n in "ab")
    assert r.footer["complete"]
    bad = {k: v for k, v in r.outcomes.items() if v != "passed"}
    assert not bad, [e for e in r.of("end") if e["nodeid"] in bad]
    reads = {
        e["nodeid"].partition("::test_")[2]: {
            p[len("tests/data/") :].partition(".")[0] for p in e.get("fixtures", ())
        }
        for e in r.of("end")
    }
    # conftest.py copies the database before the session starts: nobody's, and a write
    imported = {"c"}
    assert reads["d"] == set()
    assert reads["b"] == reads["c"] == {"d"}
    assert {k: v - imported for k, v in reads.items() if k not in "bcd"} == {
        "none": set(),
        "direct": {"a"},
        "wide_first": {"b"},
        "wide_again": {"b"},
        "bytes": {"e"},
        "path": {"f"},
        "os_open": {"a"},
        "chdir": {"g"},
        "sqlite": {"db"},
        "sqlite_uri": {"db"},
        "sqlite_write": {"db"},
        "write": {"h"},
        "remove": {"i"},
        "rename": {"h"},
        "copy": {"a"},
        "rmtree": set(),
        "late": {"j"},
        "late_again": {"j"},
        "dynamic": {"j"},
    }
    assert all(v >= imported for k, v in reads.items() if k not in "bcd")
    wrote = {e["nodeid"].partition("::test_")[2] for e in r.of("end") if e.get("wrote")}
    assert wrote == {"sqlite_write", "write", "remove", "rename"}
    hashes = [{e["nodeid"]: e.get("fixture_hash") for e in x.of("end")} for x in (r, again)]
    assert hashes[0] == hashes[1]
    assert r.end("test_direct")["fixture_hash"] != r.end("test_none")["fixture_hash"]


UPDATES = """\
    import os
    held = []
    def test_looks():
        with open("a.txt", "r+") as file: assert file.read() == "a"
    def test_appends_nothing():
        with open("b.txt", "a"): pass
    def test_takes_a_descriptor(): os.close(os.open("a.txt", os.O_RDWR))
    def test_puts_back():
        with open("a.txt", "r+") as file:
            for text in "xa":
                file.seek(0)
                file.write(text)
                file.flush()
        os.utime("a.txt", (0, 0))
    def test_keeps_it_open(): held.append(open("c.txt", "rb+", buffering=0))
    def test_writes_later(): held[0].write(b"c")
    def test_makes_it(): open("d.txt", "a").close()
    def test_empties(): open("b.txt", "w").close()
"""


def test_what_is_opened_to_be_written_and_is_not(tmp_path: Path) -> None:
    """A file that is opened to be updated is read; whether it was written is told by what can't be set back."""
    names = ("a.txt", "b.txt", "c.txt", "d.txt")
    files = {"test_a.py": UPDATES, **{name: name[0] for name in names[:3]}}
    r = record(tmp_path, files, fixtures=names)
    assert set(r.outcomes.values()) == {"passed"}, r.of("end")
    wrote = {e["nodeid"].partition("::test_")[2]: e["wrote"] for e in r.of("end") if e.get("wrote")}
    assert wrote == {
        "puts_back": ["a.txt"],
        "writes_later": ["c.txt"],
        "makes_it": ["d.txt"],
        "empties": ["b.txt"],
    }
    assert r.end("test_looks")["fixtures"] == r.end("test_takes_a_descriptor")["fixtures"] == ["a.txt"]


def test_hash_changes_with_content(tmp_path: Path) -> None:
    test = "def test_a(): open('a.txt').read()\ndef test_b(): open('b.txt').read()\n"
    one, two = (
        record(
            tmp_path / text, {"test_a.py": test, "a.txt": text, "b.txt": "same"}, fixtures=("a.txt", "b.txt")
        )
        for text in ("one", "two")
    )
    assert one.end("test_a")["fixture_hash"] != two.end("test_a")["fixture_hash"]
    assert one.end("test_b")["fixture_hash"] == two.end("test_b")["fixture_hash"]


def test_tampered_judge_files(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {"test_a.py": "def test_a(): open(__file__, 'a').write('#')\n", "test_b.py": "def test_b(): pass\n"},
        watched=("test_a.py", "test_b.py"),
    )
    assert r.footer["tampered"] == ["test_a.py"]
