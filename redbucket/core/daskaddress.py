"""Addresses of dask clusters: ``dask://HOST[:PORT][/DIR][?python=INTERPRETER]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from redbucket.core.errors import Misused

SCHEME = "dask://"
_PORT = 8786  # where a scheduler listens if nobody says otherwise
_SHAPE = re.compile(
    r"dask://(?P<host>[\w][\w.-]*|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?(?P<folder>/[^?#]*)?(?:\?(?P<query>[^#]*))?",
    re.ASCII,
)
_WANTED = "dask://HOST[:PORT][/DIR][?python=INTERPRETER]"


@dataclass(frozen=True)
class DaskAddress:
    """A cluster to run on.

    ``folder`` is where the temporary folder is made on the workers ("" = the system's), ``python`` the project's
    interpreter there ("" = the usual search).
    """

    host: str
    port: int = _PORT
    folder: str = ""
    python: str = ""

    @property
    def scheduler(self) -> str:
        """The scheduler, as dask is told; what it is spoken to with is dask's own setting."""
        return f"{self.host}:{self.port}"

    @property
    def name(self) -> str:
        """The cluster, for messages."""
        return f"{SCHEME}{self.scheduler}"


def parse_dask(text: str) -> DaskAddress:
    """Return the parts of an address. Raises Misused "bad-runner"."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise _bad(text, f"expected {_WANTED}")
    pairs = parse_qsl(found["query"] or "", keep_blank_values=True)
    if [name for name, _ in pairs] not in ([], ["python"]) or not all(value for _, value in pairs):
        raise _bad(text, "after the question mark there may be python=INTERPRETER")
    port = int(found["port"] or _PORT)
    if not 0 < port < 65536:
        raise _bad(text, "no such port")
    return DaskAddress(
        host=found["host"],
        port=port,
        folder=unquote(found["folder"] or "").rstrip("/"),
        python=dict(pairs).get("python", ""),
    )


def _bad(text: str, why: str) -> Misused:
    return Misused("bad-runner", f"{text!r} is no runner: {why}", f"use local, or {_WANTED}")
