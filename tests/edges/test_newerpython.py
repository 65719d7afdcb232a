"""Newer Pythons on this machine: which are asked, and what becomes of one that misbehaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from redbucket.edges.newerpython import NewerPythons
from tests.core.test_foreigntree import NEW

FAKE = """\
#!{python}
import json, sys, time
def say(value):
    raw = json.dumps(value).encode()
    sys.stdout.buffer.write(len(raw).to_bytes(4, "big") + raw)
    sys.stdout.buffer.flush()
say({version})
while len(size := sys.stdin.buffer.read(4)) == 4:
    source = sys.stdin.buffer.read(int.from_bytes(size, "big"))
    {does}
"""
READS = f"say({{'tree': json.loads({json.dumps(NEW)!r})}})"
REFUSES = "say({'line': 3, 'error': 'no such thing'})"


def fake(folder: Path, does: str, version: str = "[3, 99]", name: str = "python3.20") -> Path:
    """Put an interpreter that knows more than this one into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    place.write_text(FAKE.format(python=sys.executable, version=version, does=does))
    place.chmod(0o755)
    return place


def asked(env: dict[str, str], work_tree: Path | None = None, source: bytes = b"x = = 1\n") -> object:
    pythons = NewerPythons(work_tree, env)
    try:
        first = pythons.ask(source)
        assert pythons.ask(source) == first
        return first
    finally:
        pythons.close()


def test_a_newer_python_on_path_is_asked(tmp_path: Path) -> None:
    fake(tmp_path / "bin", READS)
    assert asked({"PATH": str(tmp_path / "bin")}) == (NEW, None, "")


def test_the_first_one_that_can_read_it_counts(tmp_path: Path) -> None:
    fake(tmp_path / "a", REFUSES)
    fake(tmp_path / "b", READS, name="python3.19")
    assert asked({"PATH": f"{tmp_path / 'a'}:{tmp_path / 'b'}"}) == (NEW, None, "")
    assert asked({"PATH": str(tmp_path / "a")}) == (None, 3, "no such thing")


@pytest.mark.parametrize(
    ("does", "version"),
    [
        (READS, "[3, 2]"),
        (READS, "'nonsense'"),
        ("sys.exit(0)", "[3, 99]"),
        ("sys.stdout.buffer.write(b'\\0\\0\\0\\1x'); sys.stdout.buffer.flush()", "[3, 99]"),
        ("say([1])", "[3, 99]"),
    ],
)
def test_one_that_is_older_or_misbehaves_is_none(tmp_path: Path, does: str, version: str) -> None:
    fake(tmp_path / "bin", does, version)
    assert asked({"PATH": str(tmp_path / "bin")}) is None


def test_none_is_there(tmp_path: Path) -> None:
    assert asked({"PATH": str(tmp_path)}) is None


def test_a_file_of_the_work_tree_is_never_started(tmp_path: Path) -> None:
    """A patch may bring one; an environment's link to an interpreter elsewhere is that interpreter."""
    tree = tmp_path / "tree"
    fake(tree / ".venv" / "bin", READS, name="python")
    assert asked({"PATH": str(tree / ".venv" / "bin"), "VIRTUAL_ENV": str(tree / ".venv")}, tree) is None
    (tree / ".venv" / "bin" / "python").unlink()
    (tree / ".venv" / "bin" / "python").symlink_to(fake(tmp_path / "real", READS))
    assert asked({"PATH": str(tmp_path)}, tree) == (NEW, None, "")
    (tree / ".venv" / "bin" / "python").unlink()
    (tree / ".venv" / "bin" / "python").symlink_to(fake(tmp_path / "real", READS, name="tool"))
    assert asked({"PATH": str(tmp_path)}, tree) is None
