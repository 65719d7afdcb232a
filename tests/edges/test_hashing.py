"""Files hashed and named as blobs; what can't be hashed is said."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import pytest

from redbucket.edges import hashing
from redbucket.edges.hashing import Seen, compare


def ids(data: bytes, name: str = "sha1") -> tuple[str, str]:
    return hashlib.sha256(data).hexdigest(), hashlib.new(name, b"blob %d\0" % len(data) + data).hexdigest()


@pytest.mark.parametrize("size", [0, 1, 4096, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 600_000])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_small_and_large_files(tmp_path: Path, size: int, object_format: str) -> None:
    data = os.urandom(size)
    (tmp_path / "f").write_bytes(data)
    sha, oid = ids(data, object_format)
    top = str(tmp_path)
    assert compare(top, [("f", sha, oid)], object_format) == {}
    assert compare(top, [("f", sha, "")], object_format) == {}
    assert compare(top, [("f", "0" * 64, oid)], object_format) == {"f": Seen("", sha, oid, size)}
    assert compare(top, [("f", sha, "0" * len(oid))], object_format) == {"f": Seen("", sha, oid, size)}
    assert compare(top, [("f", "", "")], object_format) == {"f": Seen("", sha, "", size)}


def test_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/f").write_text("x")
    (tmp_path / "link").symlink_to("real/f")
    (tmp_path / "folder").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        names = ("none", "real", "link", "folder/f", "real/f/below", "pipe", "door")
        found = compare(str(tmp_path), [(name, "0" * 64, "0" * 40) for name in names])
    assert {name: seen.state for name, seen in found.items()} == {
        "none": "missing",
        "real": "not a file",
        "link": "link",
        "folder/f": "behind a link",
        "real/f/below": "missing",
        "pipe": "not a file",
        "door": "not a file",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_closed_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "f").chmod(0)
    assert compare(str(tmp_path), [("f", "", "")])["f"].state == "unreadable"


def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "f"
    place.write_bytes(b"x" * 200_000)
    real = os.readv

    def growing(handle: int, buffers: list[memoryview]) -> int:
        count = real(handle, buffers)
        with place.open("ab") as stream:
            stream.write(b"y" if place.stat().st_size < 200_100 else b"")
        return count

    monkeypatch.setattr(hashing.os, "readv", growing)
    assert compare(str(tmp_path), [("f", "0" * 64, "")])["f"].state == "changed while it was read"


def test_two_processes_say_what_one_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_WORTH_A_PROCESS", 4)
    monkeypatch.setattr(hashing.threading, "active_count", lambda: 1)
    wanted = []
    for number in range(20):
        data = b"%d" % number
        if number % 7:
            (tmp_path / f"f{number}").write_bytes(data)
        sha, oid = ids(data)
        wanted.append((f"f{number}", sha if number % 3 else "0" * 64, oid))
    one, three = (compare(str(tmp_path), wanted, cpus=cpus) for cpus in (1, 3))
    assert one == three and len(one) == 9

    monkeypatch.setattr(hashing.marshal, "dumps", lambda value: b"")  # a child that died
    assert compare(str(tmp_path), wanted, cpus=2) == one
