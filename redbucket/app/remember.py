"""Puts things into the ledger without ever standing in the way: what goes wrong is one line on stderr."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from redbucket.core.errors import RedbucketError
from redbucket.core.plural import plural

if TYPE_CHECKING:  # sqlite3 is for whoever writes: a static hook must not pay for it
    from redbucket.edges.ledger import Ledger


def now() -> str:
    """Return the time in UTC, to the second, as the ledger keeps it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def remember(common_dir: Path, write: Callable[[Ledger], None]) -> None:
    """Let ``write`` put something into the repository's ledger, if there is to be one."""
    from redbucket.app.output import say
    from redbucket.edges.ledger import opened, place_of

    place = place_of(os.environ, common_dir)
    if place is None:
        return
    try:
        with opened(place) as ledger:
            write(ledger)
    except RedbucketError as error:
        say(f"redbucket: not kept: {error.reason}; {error.remedy} [{error.code}]\n")
    except Exception as error:  # noqa: BLE001 (whatever it is, the report that waits behind this comes first)
        say(f"redbucket: not kept in the ledger {place}: {type(error).__name__}: {error}; please report it\n")


def history(common_dir: Path, nodeid: str) -> str:
    """Return how often a test failed in base in all gates that the ledger knows, in a sentence; "" if unknown."""
    from redbucket.edges.ledger import opened, place_of

    place = place_of(os.environ, common_dir)
    if place is None or not place.is_file():
        return ""
    try:
        with opened(place, create=False) as ledger:
            failed, runs, gates, since = ledger.rate(nodeid)
    except RedbucketError:
        return ""  # what has no ledger has no history
    if not runs:
        return ""
    return (
        f"by the ledger, it failed in {failed} of {plural(runs, 'run')} of base, "
        f"in {plural(gates, 'gate')} since {since[:10]}"
    )


def recalled(common_dir: Path, most: int = 5000) -> list[tuple[str, str]]:
    """Return (node id, head) of the invariant misses that the ledger has, newest first; [] where it can't be read.

    That it can't be read is said when the gate is put into it.
    """
    from redbucket.edges.ledger import opened, place_of

    place = place_of(os.environ, common_dir)
    if place is None or not place.is_file():
        return []
    try:
        with opened(place, create=False) as ledger:
            return ledger.misses(most)
    except RedbucketError:
        return []


def durations(common_dir: Path) -> dict[str, float]:
    """Return {node id: seconds} as tests last took; {} where the ledger can't be read. A wrong one costs time alone."""
    from redbucket.edges.ledger import opened, place_of

    place = place_of(os.environ, common_dir)
    if place is None or not place.is_file():
        return {}
    try:
        with opened(place, create=False) as ledger:
            return ledger.durations()
    except RedbucketError:
        return {}
