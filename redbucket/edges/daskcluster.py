"""Keeps a dask cluster at hand: each run is a task, and each worker that takes one gets a far side of its own."""

from __future__ import annotations

import contextlib
import logging
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from redbucket import __version__
from redbucket.core.daskaddress import DaskAddress
from redbucket.core.errors import Misused, Undecided, WorldFailed
from redbucket.edges import daskpost
from redbucket.edges.daskcarrier import LOST, DaskCarrier
from redbucket.edges.grounds import SiteLost
from redbucket.edges.link import Link
from redbucket.edges.remoterunner import ATTEMPTS, Spot, lost_for_good
from redbucket.edges.scratch import Scratch
from redbucket.edges.shipping import Shipping

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECTING = "30s"
_REACHING = 15.0  # seconds for a port to open
_WITHOUT = 60.0  # seconds for a cluster without a worker to get one
_FIRST = 1200.0  # seconds for a busy one to take the first task
_AWAY = 60.0  # seconds after which a scheduler that does not answer is gone
_PARTING = 2.0  # seconds for the last places to be given back
_LOOK = 0.5  # seconds between two looks whether a place can still come
_LOOK_AT_ALL = 5.0  # seconds between two looks whether there are workers
_FEWEST = 32  # runs that are offered at once: a cluster may grow with what is asked of it


class _Begun(NamedTuple):
    """Where a task holds a place, and the version of redbucket there."""

    worker: str
    version: str


class Cluster:
    """A cluster that is there.

    ``looked`` is called with each tree before it is sent, and with whether names that differ by case are one there.
    What one worker answered, each other one must answer alike before it gets a run.
    """

    def __init__(
        self,
        address: DaskAddress,
        cancelled: threading.Event,
        scratch: Scratch,
        looked: Callable[[str, bool], None],
    ) -> None:
        """Connect. Raises Misused "dask-missing", WorldFailed "runner-unreachable" or "runner-version"."""
        self._address, self._cancelled, self._scratch, self._looked = address, cancelled, scratch, looked
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._spots: dict[str, Spot] = {}  # by the worker's address
        self._awaited: dict[str, queue.Queue[_Begun]] = {}
        self._unwanted: queue.Queue[tuple[str, str] | None] = queue.Queue()
        self._prefix = f"redbucket-{secrets.token_hex(6)}-"
        self._answers: list[tuple[str, dict[str, Any], Any]] = []
        self.cpus = 1
        self._client = _connected(address)
        self._usher = threading.Thread(target=self._send_away, daemon=True)
        self._usher.start()
        try:
            for worker, theirs in self._met().items():
                _same_version(worker, theirs)
            self.jobs = max(_FEWEST, self._staff())
            self._somewhere()
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def taken(self, run: str, near: str, until: float) -> Iterator[Spot]:
        """As ``Spots`` says: submit the task that holds the place, and give the place back at the end."""
        there = ((worker, spot) for worker, spot in list(self._spots.items()) if spot.name == near)
        at = next((worker for worker, spot in there if not spot.link.lost), "")
        key = f"{self._prefix}{run}-{secrets.token_hex(4)}"
        begun: queue.Queue[_Begun] = queue.Queue()
        with self._lock:
            self._awaited[key] = begun
        future: Future[str] | None = None
        here = ""
        try:
            future = self._submitted(key, at)
            here = self._wait(future, begun, at, until)
            yield self._greeted(key, here)
        finally:
            with self._lock:
                del self._awaited[key]
            # a task whose worker was lost is begun again elsewhere by the scheduler: nobody waits there
            while not begun.empty():
                self._unwanted.put((key, begun.get().worker))
            if here:
                self._unwanted.put((key, here))
            if future is not None:
                with contextlib.suppress(*LOST):
                    future.release()

    def ask(self, name: str, given: dict[str, Any]) -> Any:
        """Have something done that leaves nothing behind, on any worker; it is asked again if that is lost."""
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                answer = self._somewhere().link.call(name, given)
            except SiteLost as lost:
                reason = lost.reason
                continue
            self._answers.append((name, given, answer))
            if name == "resolve" and answer["runner"] != "junit":
                self.ask("packages", {"launch": answer})  # tests see those, too
            return answer
        raise lost_for_good(reason)

    def _met(self) -> dict[str, object]:
        """Listen from now on, and return which version of redbucket each worker has."""
        try:
            self._client.subscribe_topic(daskpost.TOPIC, self._begun)
            return dict(self._client.run(daskpost.version, on_error="return"))
        except LOST as problem:
            raise _unreachable(self._address, str(problem)) from problem

    def rest(self) -> None:
        """End what runs left behind."""
        for spot in list(self._spots.values()):
            with contextlib.suppress(SiteLost):  # a far side that is lost ends it by itself
                spot.link.call("rest", {})

    def close(self) -> None:
        """End every far side, wait until it has cleared up, and leave the cluster."""
        ending = [threading.Thread(target=spot.link.close) for spot in self._spots.values()]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join()
        self._unwanted.put(None)
        self._usher.join(_PARTING)  # a place that is not given back gives itself up: its far side has ended
        self._client.close(timeout=5)

    def _somewhere(self) -> Spot:
        """Return the connection to a worker, whichever has one. Raises as ``taken`` does, but no SiteLost."""
        reason = ""
        for _ in range(ATTEMPTS):
            for spot in list(self._spots.values()):
                if not spot.link.lost:
                    return spot
            try:
                with self.taken("first", "", time.monotonic() + _FIRST) as spot:
                    return spot
            except SiteLost as lost:
                reason = lost.reason
        raise lost_for_good(reason)

    def _submitted(self, key: str, at: str) -> Future[str]:
        try:
            return self._client.submit(
                daskpost.hold, key, key=key, pure=False, retries=0, workers=[at] if at else None
            )
        except Exception as problem:
            raise self._gone() from problem

    def _wait(self, future: Future[str], begun: queue.Queue[_Begun], at: str, until: float) -> str:
        """Return the worker where a task has begun. Raises as ``Spots.taken`` does."""
        seen = staffed = look = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                here = begun.get(timeout=_LOOK)
                _same_version(here.worker, here.version)
                return here.worker
            now = time.monotonic()
            if self._client.status == "running":
                seen = now
            if self._cancelled.is_set():
                raise lost_for_good("interrupted")
            if self._client.status in ("closing", "closed") or now - seen > _AWAY:
                raise self._gone()
            if now > until:
                raise Undecided(
                    "runner-busy",
                    f"no worker of {self._address.name} took a run within the time that there was",
                    "try again when the cluster has room, or raise [run] budget",
                )
            if future.status == "error":
                raise _no_version(self._address.name, str(future.exception()).split("\n", 1)[0])
            if future.status != "pending":
                raise SiteLost(f"a task of {self._address.name} was {future.status}")
            if at and self._spots[at].link.lost:
                raise SiteLost(self._spots[at].link.lost)
            if now > look:
                look = now + _LOOK_AT_ALL
                staffed = now if self._staff() else staffed
                if now - staffed > _WITHOUT:
                    raise self._unstaffed()

    def _greeted(self, key: str, worker: str) -> Spot:
        """Return the connection to a worker that holds a place, a new one if there is none. Raises SiteLost."""
        with self._lock:
            opening = self._opening.setdefault(worker, threading.Lock())
        with opening:
            spot = self._spots.get(worker)
            if spot is None or spot.link.lost:
                spot = self._spots[worker] = self._open(worker)
        try:
            held = self._client.run(daskpost.greet, key, spot.name, workers=[worker])[worker]
        except LOST as problem:
            raise SiteLost(f"{worker}: {problem}") from problem
        if not held:
            raise SiteLost(f"{worker}: {daskpost.UNHEARD}")
        return spot

    def _open(self, worker: str) -> Spot:
        name = f"{self._prefix}{secrets.token_hex(4)}"
        link = Link(DaskCarrier(self._client, worker, name), self._cancelled)
        given = {"folder": self._address.folder, "repo": "", "object_format": self._scratch.object_format}
        try:
            said = link.call("open", given)
            self._alike(worker, link)
        except BaseException:
            link.close()
            raise
        folds = bool(said["folds"])
        self.cpus = max(self.cpus, int(said["cpus"]))
        shipping = Shipping(link, self._scratch, clone=False, looked=lambda tree: self._looked(tree, folds))
        return Spot(name, worker.rpartition(":")[0], link, shipping)

    def _alike(self, worker: str, link: Link) -> None:
        """Raise WorldFailed "workers-differ" if runs there would not be like those elsewhere."""
        for name, given, answer in self._answers:
            here = link.call(name, given)
            parts = [part for part in {**answer, **here} if answer.get(part) != here.get(part)]
            if parts and name == "sandbox":
                raise WorldFailed(
                    "workers-differ",
                    f"{worker} {_walls(here)}, another {_walls(answer)}",
                    'install bubblewrap on every worker of the cluster, or set [run] sandbox = "off"',
                )
            if parts:
                said = f"{parts[0]} is {here.get(parts[0])}, elsewhere {answer.get(parts[0])}"
                raise WorldFailed(
                    "workers-differ",
                    f"{worker} would run other tests: {said}",
                    "give every worker of the cluster the same interpreter and packages, or name them with ?python=",
                )

    def _begun(self, event: tuple[float, dict[str, str]]) -> None:
        """Hear, on dask's own thread, where a task begins; those of other gates are told of, too."""
        _, said = event
        key = said["key"]
        if not key.startswith(self._prefix):
            return
        with self._lock:
            awaited = self._awaited.get(key)
            if awaited is not None:
                awaited.put(_Begun(said["worker"], said["version"]))
                return
        self._unwanted.put((key, said["worker"]))

    def _send_away(self) -> None:
        """Give the places back that nobody waits for any more."""
        while (one := self._unwanted.get()) is not None:
            key, worker = one
            with contextlib.suppress(*LOST):
                if worker in self._client.nthreads():  # one that is lost would be waited for
                    self._client.run(daskpost.leave, key, workers=[worker])

    def _staff(self) -> int:
        """Return how many threads the workers have; none where nobody can say."""
        try:
            return sum(self._client.nthreads().values())
        except LOST:
            return 0

    def _unstaffed(self) -> Exception:
        why = f"{self._address.name} has no workers"
        return lost_for_good(why) if self._spots else _unreachable(self._address, why)

    def _gone(self) -> Undecided:
        return lost_for_good(f"the scheduler {self._address.scheduler} does not answer")


def _connected(address: DaskAddress) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise Misused(
            "dask-missing", f"{address.name} needs dask: {error}", "pip install 'redbucket[dask]'"
        ) from error
    # what becomes of connections is said by redbucket itself
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    try:
        # dask would try a closed port for all of its time
        socket.create_connection((address.host.strip("[]"), address.port), _REACHING).close()
        return Client(address.scheduler, timeout=_CONNECTING, set_as_default=False)
    except (*LOST, ValueError) as problem:
        raise _unreachable(address, str(problem)) from problem


def _unreachable(address: DaskAddress, why: str) -> WorldFailed:
    return WorldFailed(
        "runner-unreachable", f"{address.name}: {why}", "start a scheduler and workers there (docs/remote.md)"
    )


def _same_version(worker: str, theirs: object) -> None:
    if theirs != __version__:
        raise _no_version(worker, str(theirs))


def _no_version(where: str, found: str) -> WorldFailed:
    return WorldFailed(
        "runner-version",
        f"{where} has no redbucket {__version__}: {found}",
        f"install redbucket {__version__} where the scheduler and the workers of the cluster run",
    )


def _walls(answer: dict[str, Any]) -> str:
    """Return what a worker says of its sandbox."""
    return f"has no sandbox ({answer['missing']})" if answer["missing"] else "has a sandbox"
