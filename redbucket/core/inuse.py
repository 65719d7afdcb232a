"""Failures by an address that another process holds: runs that stand side by side may do that to each other."""

from __future__ import annotations

import re

from redbucket.core.classification import FAILING
from redbucket.core.records import Run

_IN_USE = re.compile(r"[Aa]ddress already in use|EADDRINUSE|\[(?:Errno|WinError) (?:98|48|10048)\]")
_LOOKED_AT = 20_000


def says_in_use(message: str) -> bool:
    """Return whether a failure says that an address was in use."""
    return bool(_IN_USE.search(message[:_LOOKED_AT]))


def collided(run: Run) -> frozenset[str]:
    """Return what failed in a run because an address was in use: tests, files that could not be imported, the run."""
    found = {
        test.nodeid for test in run.tests.values() if test.outcome in FAILING and says_in_use(test.message)
    }
    found |= {path for path, reason in run.errors.items() if says_in_use(reason)}
    if run.broken and says_in_use(run.broken):
        found.add("")
    return frozenset(found)
