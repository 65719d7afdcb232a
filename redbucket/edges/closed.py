"""Keeps the secrets of this process from the code that it starts: both run as the same user."""

from __future__ import annotations

import os
import sys

from redbucket.edges.prctl import prctl

_SET_DUMPABLE = 4


def close_process() -> bool:
    """Let nobody but root read this process's memory or follow it; return False where there is no such thing.

    Linux: prctl(2), PR_SET_DUMPABLE. Programs that it starts are as open as ever.
    """
    return prctl(_SET_DUMPABLE, 0)


def read_secret() -> bytes:
    """Return what standard input holds, and leave nothing of it to be read again."""
    raw = sys.stdin.buffer.read()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # a here-document may be a deleted file, which /proc/PID/fd/0 would open once more
    os.close(null)
    return raw
