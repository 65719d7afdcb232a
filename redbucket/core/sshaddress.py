"""``ssh://user@host:port/dir?python=...&repo=...``: where runs happen on another machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from redbucket.core.errors import Misused

_SHAPE = re.compile(
    r"ssh://(?:(?P<user>[\w.][\w.@+-]*)@)?(?P<host>[\w][\w.-]*|\[[0-9A-Fa-f:.]+(?:%[\w.]+)?\])(?::(?P<port>\d{1,5}))?"
    r"(?P<folder>/[^?#]*)?(?:\?(?P<query>[^#]*))?",
    re.ASCII,
)
_KEYS = frozenset({"python", "repo"})
_WANTED = "ssh://[USER@]HOST[:PORT][/DIR][?python=INTERPRETER][&repo=CLONE]"


@dataclass(frozen=True)
class SshAddress:
    """A machine to run on.

    ``folder`` is where the temporary folder is made there ("" = the system's), ``python`` the project's interpreter
    ("" = the usual search), ``repo`` a clone whose objects need not be sent.
    """

    host: str
    user: str = ""
    port: int = 0
    folder: str = ""
    python: str = ""
    repo: str = ""

    @property
    def name(self) -> str:
        """The machine, for messages."""
        return (f"{self.user}@" if self.user else "") + self.host + (f":{self.port}" if self.port else "")


def parse_address(text: str) -> SshAddress:
    """Return the parts of an address. Raises Misused "bad-runner"; nothing in it can be taken for an option of ssh."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise _bad(text, f"expected {_WANTED}")
    pairs = parse_qsl(found["query"] or "", keep_blank_values=True)
    given = dict(pairs)
    if len(given) != len(pairs) or not set(given) <= _KEYS or not all(given.values()):
        raise _bad(text, "after the question mark there may be python=INTERPRETER and repo=CLONE, once each")
    port = int(found["port"] or 0)
    if port > 65535:
        raise _bad(text, "no such port")
    repo = given.get("repo", "")
    if repo and not repo.startswith("/"):
        raise _bad(text, "repo needs a path from the root")
    return SshAddress(
        host=found["host"].strip("[]"),
        user=found["user"] or "",
        port=port,
        folder=unquote(found["folder"] or "").rstrip("/"),
        python=given.get("python", ""),
        repo=repo,
    )


def _bad(text: str, why: str) -> Misused:
    return Misused(
        "bad-runner", f"{text!r} is no runner: {why}", f"use local, {_WANTED}, or dask://HOST[:PORT]"
    )
