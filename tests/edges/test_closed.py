"""A process that holds a key is closed to other programs of its user."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

_INNER = """
import subprocess, sys
from redbucket.edges.closed import close_process
look = "import os; print(b'secret' in open('/proc/%d/environ' % os.getppid(), 'rb').read())"
ask = lambda: subprocess.run([sys.executable, "-c", look], capture_output=True, text=True).stdout.strip()
print(ask(), close_process(), ask() or "denied")
"""


def _no_rights() -> None:
    """Root may look at anybody: take such rights away for good (prctl PR_CAPBSET_DROP, every capability)."""
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_a_child_can_not_read_what_its_parent_was_started_with() -> None:
    words = [sys.executable, "-c", _INNER]
    env = {**os.environ, "KEY": "secret"}
    done = subprocess.run(
        words,
        env=env,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=_no_rights,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.split() == ["True", "True", "denied"], done.stderr
