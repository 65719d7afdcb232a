"""Daemons that nothing ties to their run are ended all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from redbucket.edges import orphans

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a feature of Linux")

# Leaves the session twice, has an empty environment, stands in "/", and has a child of its own.
DAEMON = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.setsid()
os.chdir("/")
with open(sys.argv[1], "w") as stream:
    stream.write(str(os.getpid()))
os.rename(sys.argv[1], sys.argv[1] + ".ready")
code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
os.execve(sys.executable, [sys.executable, "-c", code], {})
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(path: Path) -> int:
    for _ in range(2000):
        if path.exists():
            return int(path.read_text())
        os.sched_yield()
        subprocess.run(["sleep", "0.01"], check=False)
    raise AssertionError("the daemon did not start")


def test_a_daemon_is_ended_and_other_children_live(tmp_path: Path) -> None:
    assert orphans.adopt()
    mine = subprocess.Popen(["sleep", "600"])
    try:
        run = subprocess.Popen([sys.executable, "-c", DAEMON, str(tmp_path / "pid")], start_new_session=True)
        pid = wait_for(tmp_path / "pid.ready")
        run.wait()
        assert alive(pid)
        assert orphans.end() >= 1
        assert not alive(pid)
        assert alive(mine.pid)
        assert orphans.end() == 0
    finally:
        mine.kill()
        mine.wait()
