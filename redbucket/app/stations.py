"""Where runs happen, ready to use: this machine, or one at the end of a connection."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from redbucket.core.errors import Misused
from redbucket.core.isolation import Isolation
from redbucket.core.plural import plural
from redbucket.core.policy import Run, isolation_of
from redbucket.core.runspec import RunSpec

if TYPE_CHECKING:
    from redbucket.app.session import Session
    from redbucket.edges.interpreter import Launch
    from redbucket.edges.remoterunner import RemoteRunner, Spot

LOCAL = "local"


class RecordingRunner(Protocol):
    """A runner that knows the digest of each record that it wrote."""

    @property
    def records(self) -> dict[Path, str]:
        """{path: SHA-256}."""

    def run(self, spec: RunSpec) -> Path:
        """Run a spec and return the path of its record."""


class Station(Protocol):
    """A place with an interpreter and CPUs."""

    @property
    def cpus(self) -> int:
        """How many CPUs runs may use, on the largest machine if there are several."""

    @property
    def jobs(self) -> int:
        """How many runs may be asked for at once."""

    def resolve(self, command: Sequence[str], form: str = "") -> Launch:
        """Return how the tests are started there; ``form`` is [run] format. Raises WorldFailed "no-interpreter"."""

    def packages(self, launch: Launch) -> dict[str, str]:
        """Return the versions of Python and of what is installed for it."""

    def runner(
        self, launch: Launch, run: Run, paths: Iterable[str], budget: float | None = None
    ) -> RecordingRunner:
        """Return a runner for this repository's trees, set up as the policy's ``run`` says.

        ``paths`` are those of the trees; ``budget`` is in seconds from now, the policy's by default. Raises
        WorldFailed "no-sandbox".
        """

    def rest(self) -> object:
        """End what runs left behind; to be called when no run is under way."""

    @property
    def note(self) -> str:
        """What a reader of the report must know of this place, "" for nothing."""

    def no_sandbox(self, *, network: bool) -> str:
        """Return why runs can have no sandbox here, "" if they can: it is tried."""

    @property
    def walls(self) -> str:
        """What shut the runs off, and what did not; "" where nothing was asked for."""


@dataclass
class Walls:
    """What is said of the sandbox of a place."""

    said: str = ""

    def decide(self, isolation: Isolation, where: str, missing: Callable[[], str]) -> bool:
        """Return whether runs get one, and remember what is to be said. Raises WorldFailed "no-sandbox"."""
        if isolation.mode == "off":
            return False
        why = missing()
        applies = isolation.applies(where, why)
        self.said = isolation.described() if applies else f"the runs had no sandbox: {why}"
        return applies


def _sources(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({path for path in paths if path.endswith(".py")}))


def _deadline(run: Run, budget: float | None) -> float:
    return time.monotonic() + (run.budget if budget is None else budget)


def recorded_command(run: Run) -> tuple[str, ...]:
    """Return the command of tests that a recorder joins. Raises Misused "no-recorder" where the policy has another."""
    if run.format == "junit":
        raise Misused(
            "no-recorder",
            f'run.command {" ".join(run.command)!r} is judged by its own report ([run] format = "junit"), and this '
            "needs a recorder in the tests' process: pytest or unittest",
            "use redbucket gate, and redbucket rerun -n 20 to see what is noisy; docs/languages.md says what is weaker",
        )
    return tuple(run.command)


class LocalStation:
    """This machine."""

    note = ""

    def __init__(self, opened: Session) -> None:
        from redbucket.app.session import cpus

        self._opened, self._walls = opened, Walls()
        self.cpus = cpus()
        self.jobs = 2 * self.cpus

    def resolve(self, command: Sequence[str], form: str = "") -> Launch:
        """As ``Station`` says."""
        from redbucket.edges import anycommand, interpreter, namedinterpreter

        work_tree = self._opened.repository.work_tree
        if form == "junit":
            return anycommand.resolve(command, work_tree, os.environ)
        namedinterpreter.require_there(command, work_tree)
        return interpreter.resolve(command, work_tree, os.environ)

    def packages(self, launch: Launch) -> dict[str, str]:
        """As ``Station`` says."""
        from redbucket.edges import interpreter

        return interpreter.installed(launch, os.environ)

    def runner(
        self, launch: Launch, run: Run, paths: Iterable[str], budget: float | None = None
    ) -> RecordingRunner:
        """As ``Station`` says."""
        from redbucket.edges import installed, orphans, trees, unaltered
        from redbucket.edges.local import LocalRunner

        opened, isolation = self._opened, isolation_of(run)
        sandboxed = self._walls.decide(
            isolation, "this machine", lambda: self.no_sandbox(network=isolation.network)
        )
        orphans.adopt()
        unaltered.stand()
        own = installed.own_folders()
        return LocalRunner(
            launch=launch,
            folder=opened.workshop.folder("runs"),
            lay_out=opened.lay_out,
            digest=trees.digest,
            outside=opened.outside,
            tracked=_sources(paths),
            prepare=run.prepare,
            extra_env=run.env,
            deadline=_deadline(run, budget),
            tree_name=opened.tree_name,
            user_env=os.environ,
            cancelled=opened.cancelled,
            on_test=opened.test_ended,
            elsewhere=opened.workshop.elsewhere,
            installed=lambda: {
                **installed.look(launch.path, closed=not run.prepare),
                **installed.look(own),
            },
            report=run.report,
            sandboxed=sandboxed,
            network=isolation.network,
        )

    def rest(self) -> object:
        """As ``Station`` says."""
        from redbucket.edges import orphans

        return orphans.end()

    def no_sandbox(self, *, network: bool) -> str:
        """As ``Station`` says."""
        from redbucket.edges import sandbox

        return sandbox.missing(network=network)

    @property
    def walls(self) -> str:
        """As ``Station`` says."""
        return self._walls.said

    def close(self) -> None:
        """Nothing is open."""


class Ground(Protocol):
    """Machines that are reached, and take runs; ``remoterunner.Spots`` says how."""

    def taken(self, run: str, near: str, until: float) -> AbstractContextManager[Spot]: ...

    @property
    def cpus(self) -> int:
        """The CPUs of the largest."""

    @property
    def jobs(self) -> int:
        """How many runs may be asked for at once."""

    def ask(self, name: str, given: dict[str, Any]) -> Any:
        """Have something done that leaves nothing behind."""

    def rest(self) -> None:
        """End what runs left behind."""

    def close(self) -> None:
        """End it; nothing is left there."""


@dataclass
class RemoteStation:
    """Machines elsewhere. ``name`` is for messages, ``python`` and ``repo`` are their interpreter and clone, if named.

    Close it at the end.
    """

    opened: Session
    ground: Ground
    name: str
    python: str
    folder: str
    repo: str = ""
    _runners: list[RemoteRunner] = field(default_factory=list)
    _walls: Walls = field(default_factory=Walls)

    @property
    def cpus(self) -> int:
        """As ``Station`` says."""
        return self.ground.cpus

    @property
    def jobs(self) -> int:
        """As ``Station`` says."""
        return self.ground.jobs

    def resolve(self, command: Sequence[str], form: str = "") -> Launch:
        """As ``Station`` says; ``?python=`` comes before all else."""
        from redbucket.edges.interpreter import Launch

        folder = self.repo or self.folder
        given = {"command": list(command), "python": self.python, "folder": folder, "form": form}
        found = self.ground.ask("resolve", given)
        return Launch.of(found)

    def packages(self, launch: Launch) -> dict[str, str]:
        """As ``Station`` says."""
        return dict(self.ground.ask("packages", {"launch": asdict(launch)}))

    def runner(
        self, launch: Launch, run: Run, paths: Iterable[str], budget: float | None = None
    ) -> RecordingRunner:
        """As ``Station`` says."""
        from redbucket.edges.digests import digest
        from redbucket.edges.local import LocalRunner
        from redbucket.edges.remoterunner import RemoteRunner, no_tree
        from redbucket.edges.remotesite import Installed, RemoteSite

        folder, deadline = self.opened.workshop.folder("runs"), _deadline(run, budget)
        isolation, tracked = isolation_of(run), _sources(paths)
        network = isolation.network
        sandboxed = self._walls.decide(
            isolation, self.name, lambda: self.no_sandbox(network=isolation.network)
        )

        def make(site: RemoteSite) -> LocalRunner:
            return LocalRunner(
                launch,
                folder,
                no_tree,
                digest,
                # an editable install there may point at a clone, or, on this very machine, at the work tree
                outside=(*self.opened.outside, *([self.repo] if self.repo else [])),
                tracked=tracked,
                prepare=run.prepare,
                extra_env=run.env,
                deadline=deadline,
                tree_name=self.opened.tree_name,
                cancelled=self.opened.cancelled,
                on_test=self.opened.test_ended,
                report=run.report,
                site=site,
                sandboxed=sandboxed,
                network=network,
            )

        fresh = lambda: Installed(launch.path, closed=not run.prepare)  # noqa: E731
        made = RemoteRunner(self.ground, make, fresh, deadline)
        self._runners.append(made)
        return made

    def rest(self) -> object:
        """As ``Station`` says."""
        self.ground.rest()
        return None

    @property
    def note(self) -> str:
        """As ``Station`` says."""
        broken = sum(runner.broken for runner in self._runners)
        return f"the connection to {self.name} broke; made again: {plural(broken, 'run')}" if broken else ""

    def no_sandbox(self, *, network: bool) -> str:
        """As ``Station`` says."""
        return str(self.ground.ask("sandbox", {"network": network})["missing"])

    @property
    def walls(self) -> str:
        """As ``Station`` says."""
        return self._walls.said

    def close(self) -> None:
        """As ``Ground`` says."""
        self.ground.close()


def station_of(opened: Session, where: str) -> LocalStation | RemoteStation:
    """Return the station that ``where`` names.

    Raises Misused "bad-runner" or "dask-missing", WorldFailed "runner-unreachable" or "runner-version".
    """
    if where == LOCAL:
        return LocalStation(opened)
    opened.progress.say(f"connecting to {where}")
    return _dask(opened, where) if where.startswith("dask:") else _ssh(opened, where)


def _ssh(opened: Session, where: str) -> RemoteStation:
    """A machine that the user's OpenSSH client reaches."""
    from redbucket.core.sshaddress import parse_address
    from redbucket.edges.connection import Connection

    address = parse_address(where)
    connection = Connection(address, opened.cancelled, opened.scratch, opened.shipped)
    return RemoteStation(opened, connection, address.name, address.python, address.folder, address.repo)


def _dask(opened: Session, where: str) -> RemoteStation:
    """The workers of a cluster."""
    from redbucket.core.daskaddress import parse_dask
    from redbucket.edges.daskcluster import Cluster

    address = parse_dask(where)
    cluster = Cluster(address, opened.cancelled, opened.scratch, opened.shipped)
    return RemoteStation(opened, cluster, address.name, address.python, address.folder)
