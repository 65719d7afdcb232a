"""A sandbox around each process of a run, by bubblewrap.

The root is read-only, ``/tmp`` and its like are empty, the network is loopback alone, there are no other processes, and
no capabilities; what a run may write is its own folder. Standard library only, Python 3.8.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence

# Where programs meet others, and leave things for others to find.
_EMPTY = ("/tmp", "/var/tmp")  # noqa: S108 (they are emptied, not used)
_SOCKETS = "/run"  # a daemon's socket is a way out, also where the network is none
_ALWAYS = (
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    "--die-with-parent",
    # a root without a user namespace would keep those that undo all of this
    *("--cap-drop", "ALL"),
    *("--ro-bind", "/", "/"),
    *("--dev", "/dev"),
    *("--proc", "/proc"),
)
_PATIENCE = 20.0  # seconds for a program that does nothing
_SIGNALLED = 128


def words(writable: Sequence[str], visible: Iterable[str], *, network: bool) -> list[str]:
    """Return what comes before the words of a process.

    ``writable`` are folders that it may write to, ``visible`` what it needs, also where that is in a folder that is
    emptied.
    """
    empty = [folder for folder in _EMPTY if os.path.isdir(folder)]  # noqa: PTH112 (texts, as all paths here)
    if not network and os.path.isdir(_SOCKETS):  # noqa: PTH112
        empty.append(_SOCKETS)
    # looked up here: the project's own folders come first in the run's PATH
    said = [shutil.which("bwrap") or "bwrap", *_ALWAYS, *(() if network else ("--unshare-net",))]
    for folder in empty:
        said += ["--tmpfs", folder]
    inside = tuple(f"{folder}/" for folder in empty)
    for path in dict.fromkeys(p for name in visible for p in (name, os.path.realpath(name))):
        if path.startswith(inside):
            said += ["--ro-bind-try", path, path]
    for folder in dict.fromkeys(writable):
        said += ["--bind", folder, folder]
    return [*said, "--"]


def missing(*, network: bool) -> str:
    """Return why there can be no sandbox on this machine, "" if there can: it is tried."""
    try:
        done = subprocess.run(
            [*words((), (), network=network), "true"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_PATIENCE,
            check=False,
        )
    except FileNotFoundError:
        return "bubblewrap (bwrap) is not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap does not run: {error}"
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else (said or [f"bwrap ended with {done.returncode}"])[-1][:300]


def status(ended: int) -> int:
    """Return a status as a process without a sandbox has it: bwrap tells a signal as shells do."""
    return _SIGNALLED - ended if ended > _SIGNALLED else ended
