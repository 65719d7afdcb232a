"""Kinds of entropy, from the lines that were seen to touch it."""

from __future__ import annotations

from collections.abc import Iterable

_DATES = (".now", ".utcnow", ".today")
_STARTS = {"random.": "random", "numpy ": "random", "torch.": "random"}


def kinds_of(sites: Iterable[str]) -> set[str]:
    """Return "clock", "thread", "random" and so on, from "path:line what"."""
    found = set()
    for site in sites:
        what = site.partition(" ")[2]
        if what == "a thread":
            found.add("thread")
        elif what == "time.sleep":
            found.add("sleep")
        elif what.startswith("time.") or what.endswith(_DATES):
            found.add("clock")
        elif what.startswith(("uuid.", "secrets.")) or what == "os.urandom":
            found.add("urandom")
        elif what.startswith("socket."):
            found.add("socket")
        elif what in ("subprocess.Popen", "os.system", "os.fork", "os.posix_spawn"):
            found.add("subprocess")
        else:
            found |= {kind for start, kind in _STARTS.items() if what.startswith(start)}
    return found
