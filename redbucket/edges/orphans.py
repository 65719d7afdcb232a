"""Ends what runs leave behind: daemons that shed their session, environment and folder.

On Linux this process asks to be the parent of all its orphaned descendants (prctl(2),
PR_SET_CHILD_SUBREAPER, Linux 3.4). Each run has a session of its own, and no process can
join an existing session: a child of ours in another session than ours comes from a run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from redbucket.edges.prctl import prctl

_SET_CHILD_SUBREAPER = 36
# A killed process hands its own children to us, so each round may find more; a daemon
# that forks faster than it is killed must not hold up the gate for ever.
_ROUNDS = 200


def adopt() -> bool:
    """Become the parent of orphaned descendants; return False where the system has no such thing."""
    return prctl(_SET_CHILD_SUBREAPER, 1)


def end() -> int:
    """Kill the orphans of runs that have ended, and theirs; return how many there were.

    To be called when no run is under way.
    """
    killed = 0
    for _ in range(_ROUNDS):
        found = list(_orphans())
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        killed += len(found)
        if not found:
            break
    return killed


def _orphans() -> Iterator[int]:
    if not sys.platform.startswith("linux"):
        return
    own, session = os.getpid(), os.getsid(0)
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            with Path(entry.path, "stat").open("rb") as stream:
                # after the name, which may hold anything: state, parent, process group, session
                fields = stream.read().rpartition(b")")[2].split()
            if int(fields[1]) == own and int(fields[3]) != session:
                yield int(entry.name)
