"""Runs specs on machines that may be lost: what was broken off is made again, whole, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from redbucket.core.errors import Undecided
from redbucket.core.runspec import RunSpec
from redbucket.edges.grounds import SiteLost
from redbucket.edges.link import Link
from redbucket.edges.local import LocalRunner
from redbucket.edges.remotesite import Installed, RemoteSite
from redbucket.edges.shipping import Shipping

ATTEMPTS = 4  # at one thing that a lost connection broke off


class Spot(NamedTuple):
    """A place for one run: its name, the machine that it is on, and the connection to it."""

    name: str
    host: str
    link: Link
    shipping: Shipping


class Spots(Protocol):
    """Gives each run a place for as long as it lasts."""

    def taken(self, run: str, near: str, until: float) -> AbstractContextManager[Spot]:
        """Wait for a place for ``run``, the one named ``near`` if that is still there.

        ``until`` is on the monotonic clock. Raises SiteLost, and Undecided "runner-lost" or "runner-busy".
        """


@dataclass
class RemoteRunner:
    """``make`` gives what writes the records here, for a site and what it knows of the interpreter's own files there.

    ``broken`` counts the runs that were broken off and made again; ``deadline`` is on the monotonic clock.
    """

    spots: Spots
    make: Callable[[RemoteSite], LocalRunner]
    fresh: Callable[[], Installed]
    deadline: float
    broken: int = 0
    _runners: dict[str, LocalRunner] = field(default_factory=dict)
    _files: dict[str, Installed] = field(default_factory=dict)
    _specs: dict[str, RunSpec] = field(default_factory=dict)
    _where: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def records(self) -> dict[Path, str]:
        """The digest of each record, as it was written."""
        return {path: digest for runner in self._runners.values() for path, digest in runner.records.items()}

    def run(self, spec: RunSpec) -> Path:
        """Run ``spec`` and return the path of its record.

        What a test did in an attempt that was broken off counts with what it does in the next: a run can't be
        broken off until it pleases. Raises Undecided "runner-lost".
        """
        earlier: dict[str, list[str]] = {}
        open_before: set[str] = set()
        self._specs[spec.name] = spec
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                with self.spots.taken(spec.name, self._where.get(spec.used_home, ""), self.deadline) as spot:
                    self._where[spec.name] = spot.name
                    runner, site = self._of(spot)
                    return runner.run(self._with_home(spec, runner, site), earlier, site)
            except SiteLost as lost:
                reason = lost.reason
                self.broken += 1
                if lost.open_test in open_before:
                    raise lost_for_good(f"it broke twice while {lost.open_test} ran ({reason})") from lost
                open_before |= {lost.open_test} - {""}
                for nodeid, outcome in lost.done.items():
                    earlier.setdefault(nodeid, []).append(outcome)
        raise lost_for_good(f"one run was broken off {ATTEMPTS} times ({reason})")

    def _of(self, spot: Spot) -> tuple[LocalRunner, RemoteSite]:
        """Return what runs on a machine: the interpreter's files are known as they were when it was first used."""
        with self._lock:
            files = self._files.setdefault(spot.host, self.fresh())
            site = RemoteSite(spot.link, spot.shipping, files)
            if spot.host not in self._runners:
                self._runners[spot.host] = self.make(site)
            return self._runners[spot.host], site

    def _with_home(self, spec: RunSpec, runner: LocalRunner, site: RemoteSite) -> RunSpec:
        """A HOME that an earlier run used went with its connection, or is elsewhere: use one again."""
        before = self._specs.get(spec.used_home)
        if before is None or site.knows(spec.used_home):
            return spec
        first = replace(before, condition=f"{before.condition} once more")
        if not site.knows(first.name):
            runner.run(self._with_home(first, runner, site), {}, site)
        return replace(spec, used_home=first.name)


def lost_for_good(what: str) -> Undecided:
    """Return the error for a connection that does not come back, or breaks each time."""
    return Undecided(
        "runner-lost",
        f"the connection to the runner was lost: {what}",
        "run it again when the connection holds, or with --runner local",
    )


def no_tree(tree: str, folder: Path) -> None:
    """What lays trees out here: nothing does."""
    raise AssertionError("trees are laid out on the far side")
