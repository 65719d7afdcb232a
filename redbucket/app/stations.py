"""Where runs happen, ready to use: this machine, or one at the end of a connection."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from redbucket.core.plural import plural
from redbucket.core.runspec import RunSpec

if TYPE_CHECKING:
    from redbucket.app.session import Session
    from redbucket.core.sshaddress import SshAddress
    from redbucket.edges.interpreter import Launch
    from redbucket.edges.sshrunner import SshRunner

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
        """How many CPUs runs may use."""

    def resolve(self, command: Sequence[str], form: str = "") -> Launch:
        """Return how the tests are started there; ``form`` is [run] format. Raises WorldFailed "no-interpreter"."""

    def packages(self, launch: Launch) -> dict[str, str]:
        """Return the versions of Python and of what is installed for it."""

    def runner(
        self,
        launch: Launch,
        *,
        tracked: tuple[str, ...],
        prepare: tuple[tuple[str, ...], ...],
        env: Mapping[str, str],
        budget: float,
        report: str = "",
    ) -> RecordingRunner:
        """Return a runner for this repository's trees; ``budget`` is in seconds from now.

        ``report`` is where a command without a recorder writes one.
        """

    def rest(self) -> object:
        """End what runs left behind; to be called when no run is under way."""

    @property
    def note(self) -> str:
        """What a reader of the report must know of this place, "" for nothing."""


class LocalStation:
    """This machine."""

    note = ""

    def __init__(self, opened: Session) -> None:
        from redbucket.app.session import cpus

        self._opened = opened
        self.cpus = cpus()

    def resolve(self, command: Sequence[str], form: str = "") -> Launch:
        """As ``Station`` says."""
        from redbucket.edges import anycommand, interpreter

        find = anycommand.resolve if form == "junit" else interpreter.resolve
        return find(command, self._opened.repository.work_tree, os.environ)

    def packages(self, launch: Launch) -> dict[str, str]:
        """As ``Station`` says."""
        from redbucket.edges import interpreter

        return interpreter.installed(launch, os.environ)

    def runner(
        self,
        launch: Launch,
        *,
        tracked: tuple[str, ...],
        prepare: tuple[tuple[str, ...], ...],
        env: Mapping[str, str],
        budget: float,
        report: str = "",
    ) -> RecordingRunner:
        """As ``Station`` says."""
        return self._opened.runner(
            launch, tracked=tracked, prepare=prepare, env=env, budget=budget, report=report
        )

    def rest(self) -> object:
        """As ``Station`` says."""
        from redbucket.edges import orphans

        return orphans.end()

    def close(self) -> None:
        """Nothing is open."""


class SshStation:
    """A machine that the user's OpenSSH client reaches. Close it at the end."""

    def __init__(self, opened: Session, address: SshAddress) -> None:
        """Connect. Raises WorldFailed "runner-unreachable"."""
        from redbucket.edges.connection import Connection

        self._opened, self._address = opened, address
        self._runners: list[SshRunner] = []
        opened.progress.say(f"connecting to {address.name}")
        self._connection = Connection(address, opened.cancelled, opened.scratch, opened.shipped)
        self.cpus = self._connection.cpus

    def resolve(self, command: Sequence[str], form: str = "") -> Launch:
        """As ``Station`` says; ``?python=`` comes before all else."""
        from redbucket.edges.interpreter import Launch

        folder = self._address.repo or self._address.folder
        given = {"command": list(command), "python": self._address.python, "folder": folder, "form": form}
        found = self._connection.ask("resolve", given)
        return Launch(**{**found, **{name: tuple(found[name]) for name in ("args", "version", "path")}})

    def packages(self, launch: Launch) -> dict[str, str]:
        """As ``Station`` says."""
        from dataclasses import asdict

        return dict(self._connection.ask("packages", {"launch": asdict(launch)}))

    def runner(
        self,
        launch: Launch,
        *,
        tracked: tuple[str, ...],
        prepare: tuple[tuple[str, ...], ...],
        env: Mapping[str, str],
        budget: float,
        report: str = "",
    ) -> RecordingRunner:
        """As ``Station`` says."""
        from redbucket.edges.sshrunner import SshRunner

        made = SshRunner.make(
            self._connection,
            launch,
            folder=self._opened.workshop.folder("runs"),
            # an editable install there may point at a clone, or, on this very machine, at the work tree
            outside=(*self._opened.outside, *([self._address.repo] if self._address.repo else [])),
            tracked=tracked,
            prepare=prepare,
            extra_env=env,
            deadline=time.monotonic() + budget,
            tree_name=self._opened.tree_name,
            cancelled=self._opened.cancelled,
            on_test=self._opened.test_ended,
            report=report,
        )
        self._runners.append(made)
        return made

    def rest(self) -> object:
        """As ``Station`` says."""
        self._connection.rest()
        return None

    @property
    def note(self) -> str:
        """As ``Station`` says."""
        broken = sum(runner.broken for runner in self._runners)
        return (
            f"the connection to {self._address.name} broke; made again: {plural(broken, 'run')}"
            if broken
            else ""
        )

    def close(self) -> None:
        """End the connection; nothing is left on the far side."""
        self._connection.close()


def station_of(opened: Session, where: str) -> LocalStation | SshStation:
    """Return the station that ``where`` names. Raises Misused "bad-runner", WorldFailed "runner-unreachable"."""
    if where == LOCAL:
        return LocalStation(opened)
    from redbucket.core.sshaddress import parse_address

    return SshStation(opened, parse_address(where))
