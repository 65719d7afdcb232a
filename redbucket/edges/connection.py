"""Keeps one far side at hand: connects, sees when the connection is lost, and connects again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from redbucket.core.errors import RedbucketError, Undecided
from redbucket.core.sshaddress import SshAddress
from redbucket.edges.grounds import SiteLost
from redbucket.edges.link import Link
from redbucket.edges.remoterunner import ATTEMPTS, Spot, lost_for_good
from redbucket.edges.scratch import Scratch
from redbucket.edges.shipping import Shipping
from redbucket.edges.sshcarrier import SshCarrier

_PAUSES = (0.5, 2.0, 8.0, 20.0)  # seconds before each further attempt to connect


class Connection:
    """A far side that is there, or is there again.

    ``looked`` is called with each tree before it is sent, and with whether names that differ by case are one there.
    """

    def __init__(
        self,
        address: SshAddress,
        cancelled: threading.Event,
        scratch: Scratch,
        looked: Callable[[str, bool], None],
    ) -> None:
        """Connect. Raises WorldFailed "runner-unreachable", or what the far side lacks."""
        self._address, self._cancelled, self._scratch, self._looked = address, cancelled, scratch, looked
        self._lock = threading.Lock()
        self.cpus = 1
        self._now = self._open()

    def _open(self) -> tuple[Link, Shipping]:
        link = Link(SshCarrier(self._address), self._cancelled)
        try:
            said = link.call(
                "open",
                {
                    "folder": self._address.folder,
                    "repo": self._address.repo,
                    "object_format": self._scratch.object_format,
                },
            )
        except SiteLost as lost:
            raise Undecided("runner-lost", f"{self._address.name}: {lost.reason}", "try again") from lost
        except BaseException:
            link.close()
            raise
        self.cpus = int(said["cpus"])
        folds = bool(said["folds"])
        shipping = Shipping(
            link, self._scratch, clone=bool(self._address.repo), looked=lambda tree: self._looked(tree, folds)
        )
        return link, shipping

    def get(self) -> tuple[Link, Shipping]:
        """Return the connection, a new one if it was lost. Raises Undecided "runner-lost"."""
        with self._lock:
            if not self._now[0].lost:
                return self._now
            problem: RedbucketError | None = None
            for pause in _PAUSES:
                if self._cancelled.wait(pause):
                    break
                try:
                    self._now = self._open()
                except RedbucketError as error:
                    problem = error
                else:
                    return self._now
            raise lost_for_good(f"{self._now[0].lost}; then: {problem or 'interrupted'}")

    @property
    def jobs(self) -> int:
        """How many runs may be asked for at once."""
        return 2 * self.cpus

    @contextlib.contextmanager
    def taken(self, run: str, near: str, until: float) -> Iterator[Spot]:
        """As ``Spots`` says: there is one machine, and it takes every run."""
        link, shipping = self.get()
        yield Spot(self._address.name, self._address.name, link, shipping)

    def ask(self, name: str, given: dict[str, Any]) -> Any:
        """Have something done that leaves nothing behind; it is asked again if the connection breaks."""
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                return self.get()[0].call(name, given)
            except SiteLost as lost:
                reason = lost.reason
        raise lost_for_good(reason)

    def rest(self) -> None:
        """End what runs left behind."""
        with contextlib.suppress(SiteLost):  # a far side that is lost ends it by itself
            self._now[0].call("rest", {})

    def close(self) -> None:
        """End the connection, and wait until the far side has cleared up."""
        self._now[0].close()
