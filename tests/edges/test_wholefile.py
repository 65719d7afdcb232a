"""What a user named is written to, and never replaced by something of another kind."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from redbucket.edges import wholefile
from tests.stories.kit import CONSOLE

DATA = b"line\n" * 100_000


def test_a_new_file_and_an_old_one_with_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "report"
    wholefile.put(place, DATA)
    place.chmod(0o600)
    wholefile.put(place, b"other")
    assert place.read_bytes() == b"other"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [place.name for place in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("there", [True, False])
def test_through_a_link(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    if there:
        (folder / "real").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(folder / "real")
    wholefile.put(link, DATA)
    assert link.is_symlink()
    assert (folder / "real").read_bytes() == DATA


def test_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    wholefile.put(link, DATA)
    reader.join()
    assert read == [DATA]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a device")
def test_a_device_stays_one(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("no device can be made here")
    wholefile.put(device, DATA)
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_folder_is_an_error_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        wholefile.put(tmp_path / "folder", DATA)
    assert [place.name for place in tmp_path.iterdir()] == ["folder"]


def test_standard_output_by_its_name(tmp_path: Path) -> None:
    command = [CONSOLE, "guard", "-C", str(tmp_path), "--format", "json", "--output", "/dev/stdout"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(tmp_path), *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    done = subprocess.run([*command, "--base", "HEAD", "--head", "HEAD"], capture_output=True, check=False)
    assert done.stdout.startswith(b"{"), done.stderr
