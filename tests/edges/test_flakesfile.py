"""The file changes whole or not at all, and two at once lose nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from redbucket.core.errors import Misused, WorldFailed
from redbucket.edges.flakesfile import edit, read


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "flakes.toml"
    threads = [
        threading.Thread(target=edit, args=(path, tmp_path, lambda before, n=n: before + b"# %d\n" % n))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.read_bytes().split()[1::2], key=int) == [b"%d" % n for n in range(20)]


def test_an_error_leaves_the_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "flakes.toml"
    path.write_bytes(b"# mine\n")

    def fail(before: bytes) -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        edit(path, tmp_path, fail)
    assert path.read_bytes() == b"# mine\n"
    assert {p.name for p in tmp_path.iterdir()} == {"flakes.toml", "redbucket-flakes.lock"}


def test_the_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "flakes.toml"
    path.write_bytes(b"")
    path.chmod(0o640)
    edit(path, tmp_path, lambda before: b"# x\n")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "flakes.toml"
    path.symlink_to(tmp_path / "other")
    with pytest.raises(Misused):
        edit(path, tmp_path, lambda before: b"")
    assert path.is_symlink()


def test_no_file_reads_as_none(tmp_path: Path) -> None:
    assert read(tmp_path / "flakes.toml") is None


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(WorldFailed) as caught:
        edit(tmp_path / "gone" / "flakes.toml", tmp_path, lambda before: b"x")
    assert caught.value.code == "not-writable"
