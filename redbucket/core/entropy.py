"""Kinds of entropy, from the lines that were seen to touch it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DATES = (".now", ".utcnow", ".today")
_SITE = re.compile(r".*:\d+ (.+)", re.DOTALL)
_STARTS = {"random.": "random", "numpy ": "random", "torch.": "random"}


# What no axis asks for, but a reader of a line wants to know.
_OTHERS = {
    "os.listdir": "directory order",
    "os.scandir": "directory order",
    "os.getpid": "process id",
    "id": "memory address",
}


def kinds_of(sites: Iterable[str]) -> set[str]:
    """Return "clock", "thread", "random" and so on, as the recorder names them, from "path:line what"."""
    return {kind for site in sites if (kind := _known(_what(site)))}


def kind_of(site: str) -> str:
    """Return what kind of thing the line touches, in words: of ``kinds_of``, or "directory order" and such; or ""."""
    what = _what(site)
    return _known(what) or _OTHERS.get(what, "")


def _what(site: str) -> str:
    # the path may hold blanks, and what was called may, too ("a thread", "numpy Generator.random")
    found = _SITE.match(site)
    return found[1] if found else ""


def _known(what: str) -> str:
    if what == "a thread":
        return "thread"
    if what == "time.sleep":
        return "sleep"
    if what.startswith("time.") or what.endswith(_DATES):
        return "clock"
    if what.startswith(("uuid.", "secrets.")) or what == "os.urandom":
        return "urandom"
    if what.startswith("socket."):
        return "socket"
    if what in ("subprocess.Popen", "os.system", "os.fork", "os.posix_spawn"):
        return "subprocess"
    return next((kind for start, kind in _STARTS.items() if what.startswith(start)), "")
