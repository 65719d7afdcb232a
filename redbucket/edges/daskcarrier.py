"""The far side beside a dask worker as the carrier of a connection: bytes through the cluster's own connections."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redbucket.core.errors import WorldFailed
from redbucket.edges import daskpost
from redbucket.edges.frames import Gone, Reader, Writer
from redbucket.edges.grounds import SiteLost

if TYPE_CHECKING:
    from distributed import Client

_WAIT = 5.0  # seconds that the worker waits for a word of the far side before it answers that there is none
_PART = 1 << 18
# what dask raises where a worker or the scheduler is not there, or goes meanwhile, and where its client is closed
LOST = (OSError, RuntimeError, TimeoutError, asyncio.TimeoutError, asyncio.CancelledError)


class DaskCarrier:
    """One far side on a worker; ``link.Carrier`` explains the methods."""

    def __init__(self, client: Client, worker: str, post: str) -> None:
        """Start it. Raises SiteLost."""
        self._client, self._worker, self._post = client, worker, post
        self._lost = self._talk = ""
        self._ours, self._theirs = socket.socketpair()
        self.reader, self.writer = Reader(self._ours.fileno()), Writer(self._ours.fileno())
        try:
            self._ask(daskpost.begin)
        except LOST as problem:
            raise SiteLost(f"{worker}: {problem}") from problem
        self._pumps = [threading.Thread(target=work, daemon=True) for work in (self._bring, self._fetch)]
        for pump in self._pumps:
            pump.start()

    def unreachable(self, problem: Gone) -> Exception:
        """As ``Carrier`` says: the worker was lost, or what started there did not begin."""
        self.end()
        if self._lost:
            return SiteLost(f"{self._worker}: {self._lost}")
        return WorldFailed(
            "runner-unreachable",
            f"{self._worker}: {self.last_words() or problem}",
            "see what the worker's Python is",
        )

    def last_words(self) -> str:
        """As ``Carrier`` says: how the worker was lost, or the far side's last line."""
        lines = self._talk.strip().splitlines()
        return self._lost or (lines[-1].strip()[:300] if lines else "")

    def hang_up(self) -> None:
        """As ``Carrier`` says."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """As ``Carrier`` says."""
        self.hang_up()
        if self._lost:
            return
        try:
            self._talk = self._ask(daskpost.end)
        except LOST as problem:
            self._lost = str(problem)

    def cut(self) -> None:
        """As ``Carrier`` says; the worker ends what hears nothing more."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)

    def _ask(self, what: Callable[..., Any], *given: object) -> Any:
        return self._client.run(what, self._post, *given, workers=[self._worker])[self._worker]

    def _bring(self) -> None:
        """Take what the link says to the far side, until it hangs up."""
        try:
            while data := self._theirs.recv(_PART):
                if not self._ask(daskpost.send, data):
                    break
            else:
                self._ask(daskpost.send, b"")
        except LOST as problem:
            self._lost = self._lost or str(problem)
            self.cut()

    def _fetch(self) -> None:
        """Take what the far side says to the link, until it ends."""
        try:
            while (data := self._ask(daskpost.receive, _WAIT)) is not None:
                with contextlib.suppress(OSError):  # the link may have broken off; the far side is heard out
                    self._theirs.sendall(data)
        except LOST as problem:
            self._lost = self._lost or str(problem)
        with contextlib.suppress(OSError):
            self._theirs.shutdown(socket.SHUT_WR)
