"""Files that appear under the fixture paths are seen, whatever git ignores; caches are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.core.policy import Fixtures
from redbucket.edges.newfiles import appeared, listing
from tests.recorder.runkit import record

PATTERNS = Fixtures().paths


def put(tree: Path, *names: str) -> None:
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("x")


def test_new_recordings_are_named(tmp_path: Path) -> None:
    put(tmp_path, "tests/data/old.json", ".gitignore")
    before = listing(tmp_path)
    put(tmp_path, "tests/cassettes/new.yaml", "tests/data/deep/caf\u00e9.json", "pkg/__snapshots__/a.ambr")
    put(tmp_path, "build/out.o", "tests/test_new.py")
    (tmp_path / "tests/data/link").symlink_to("old.json")
    assert appeared(tmp_path, before, PATTERNS) == [
        "pkg/__snapshots__/a.ambr",
        "tests/cassettes/new.yaml",
        "tests/data/deep/caf\u00e9.json",
        "tests/data/link",
    ]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "__pycache__/a.cpython-311.pyc",
            "a.pyc",
            ".pytest_cache/v/x",
            ".hypothesis/examples/1",
            ".coverage",
        ),
        *(
            "test_a.received.txt",
            "report.obtained.yml",
            "db.sqlite-wal",
            ".mypy_cache/x",
            "x.lock",
            "notes.txt~",
        ),
    ],
)
def test_what_tools_leave_behind_is_no_recording(tmp_path: Path, name: str) -> None:
    put(tmp_path, "tests/data/old.json")
    before = listing(tmp_path)
    put(tmp_path, f"tests/data/{name}")
    assert appeared(tmp_path, before, PATTERNS) == []


def test_a_run_says_what_appeared(tmp_path: Path) -> None:
    test = """
        from pathlib import Path
        def test_records(): (Path(__file__).parent / "data" / "new.json").write_text("1")
        def test_tidy():
            place = Path(__file__).parent / "data" / "passing.json"
            place.write_text("1")
            place.unlink()
        def test_elsewhere(tmp_path): (tmp_path / "data.json").write_text("1")
    """
    files = {"tests/data/old.json": "1", "tests/test_a.py": test, ".gitignore": "new.json\n"}
    r = record(tmp_path, files, recorded=PATTERNS, fixtures=("tests/data/old.json",))
    assert r.footer["appeared"] == ["tests/data/new.json"]
    assert set(r.outcomes.values()) == {"passed"}
