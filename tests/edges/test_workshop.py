"""The temporary root: private, locked, and gone afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from redbucket.core.errors import WorldFailed
from redbucket.edges.workshop import Workshop, collect, remove, temporary_root


def test_it_is_private_and_goes_away(tmp_path: Path) -> None:
    with Workshop(tmp_path) as shop:
        assert shop.root.parent == tmp_path and shop.root.stat().st_mode & 0o777 == 0o700
        assert (shop.root / "pytest.ini").read_text().startswith("[pytest]")
        one, two = shop.folder("world"), shop.folder("world")
        assert one != two and one.is_dir() and two.is_dir()
    assert list(tmp_path.iterdir()) == []
    assert shop.close() is None


def test_it_goes_away_after_an_error_and_whatever_is_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("1")
    parent = tmp_path / "shops"
    parent.mkdir()
    with pytest.raises(KeyboardInterrupt), Workshop(parent) as shop:
        deep = shop.folder("a")
        for number in range(200):
            deep = deep / f"level-{number:04d}"
            deep.mkdir()
        (shop.root / "link").symlink_to(outside)
        (shop.root / "a" / "link").symlink_to(outside)
        closed = shop.folder("closed")
        (closed / "x").write_text("1")
        (closed / "x").chmod(0)
        (closed / "sub").mkdir()
        (closed / "sub").chmod(0o500)
        closed.chmod(0)
        raise KeyboardInterrupt
    assert list(parent.iterdir()) == [] and (outside / "precious").exists()


CHILD = """
import sys, time
from pathlib import Path
from redbucket.edges.workshop import Workshop
with Workshop(Path(sys.argv[1])) as shop:
    closed = shop.folder("closed"); (closed / "x").write_text("1"); closed.chmod(0)
    print(shop.root, flush=True)
    time.sleep(60)
"""


def test_a_killed_process_is_cleaned_up_after_and_a_living_one_is_left_alone(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    root = Path(child.stdout.readline().strip())
    with Workshop(tmp_path):
        assert root.is_dir()
    assert collect(tmp_path) == []
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert root.is_dir()
    with Workshop(tmp_path) as shop:
        assert not root.exists() and shop.root.exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "redbucket-notes").mkdir()
    (tmp_path / "redbucket-file").write_text("1")
    (tmp_path / "target").mkdir()
    (tmp_path / "target/.lock").write_text("")
    (tmp_path / "redbucket-link").symlink_to("target")
    (tmp_path / ".redbucket-new-young").mkdir()
    old = tmp_path / ".redbucket-new-old"
    old.mkdir()
    os.utime(old, (time.time() - 7200,) * 2)
    assert collect(tmp_path) == [old]
    assert len(list(tmp_path.iterdir())) == 5 and (tmp_path / "target/.lock").exists()


def test_a_forked_child_does_not_take_it_away(tmp_path: Path) -> None:
    with Workshop(tmp_path) as shop:
        pid = os.fork()
        if pid == 0:
            shop.close()
            os._exit(0)
        os.waitpid(pid, 0)
        assert shop.root.is_dir()


def test_keeping(tmp_path: Path) -> None:
    (tmp_path / "shops").mkdir()
    with Workshop(tmp_path / "shops") as shop:
        runs = shop.folder("runs")
        (runs / "1.jsonl").write_text("{}")
        runs.chmod(0o500)
        kept = shop.keep(runs, tmp_path / "mine")
        again = shop.keep(shop.folder("runs"), tmp_path / "mine")
    assert (kept / "1.jsonl").read_text() == "{}" and kept == tmp_path / "mine/runs"
    assert again == tmp_path / "mine/runs-2"


@pytest.mark.parametrize("step", ["collect", "remove"])
def test_an_interrupt_while_it_is_made_or_goes_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    interrupts = [KeyboardInterrupt]
    work = {"collect": collect, "remove": remove}[step]

    def interrupted(place: Path) -> object:
        if interrupts:
            raise interrupts.pop()
        return work(place)

    monkeypatch.setattr(f"redbucket.edges.workshop.{step}", interrupted)
    with pytest.raises(KeyboardInterrupt), Workshop(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_where_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDBUCKET_TMPDIR", str(tmp_path / "mine"))
    assert temporary_root() == tmp_path / "mine"
    (tmp_path / "mine").mkdir()
    with Workshop() as shop:
        assert shop.root.parent == tmp_path / "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(WorldFailed) as caught, Workshop(tmp_path / "file"):
        pass
    assert caught.value.code == "not-writable" and "REDBUCKET_TMPDIR" in caught.value.remedy


def test_removing_what_is_not_there(tmp_path: Path) -> None:
    assert remove(tmp_path / "nothing")


def test_many_gates_may_start_at_once(tmp_path: Path) -> None:
    """Each renames its folder while the others look for stale ones."""

    def start(number: int) -> bool:
        with Workshop(tmp_path) as workshop:
            return workshop.root.is_dir()

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(start, range(200)))
    assert list(tmp_path.iterdir()) == []
