"""Runs specs at the end of a connection that may break: what was broken off is made again, whole, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from redbucket.core.runspec import RunSpec
from redbucket.edges.connection import ATTEMPTS, Connection, lost_for_good
from redbucket.edges.digests import digest
from redbucket.edges.grounds import SiteLost
from redbucket.edges.interpreter import Launch
from redbucket.edges.local import LocalRunner
from redbucket.edges.remotesite import Installed, RemoteSite


@dataclass
class SshRunner:
    """``inner`` writes the records here; ``broken`` counts the runs that were broken off and made again."""

    inner: LocalRunner
    connection: Connection
    files: Installed
    broken: int = 0
    _specs: dict[str, RunSpec] = field(default_factory=dict)

    @classmethod
    def make(cls, connection: Connection, launch: Launch, *, folder: Path, **given: Any) -> SshRunner:
        """Return a runner for what ``launch`` starts on the far side; ``given`` is what ``LocalRunner`` takes."""
        files = Installed(launch.path, closed=not given["prepare"])
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                site = RemoteSite(*connection.get(), files)
                inner = LocalRunner(launch, folder, _no_tree, digest, site=site, **given)
                return cls(inner, connection, files)
            except SiteLost as lost:
                reason = lost.reason
        raise lost_for_good(reason)

    @property
    def records(self) -> dict[Path, str]:
        """The digest of each record, as it was written."""
        return self.inner.records

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
            site = RemoteSite(*self.connection.get(), self.files)
            try:
                return self.inner.run(self._with_home(spec, site), earlier, site)
            except SiteLost as lost:
                reason = lost.reason
                self.broken += 1
                if lost.open_test in open_before:
                    raise lost_for_good(f"it broke twice while {lost.open_test} ran ({reason})") from lost
                open_before |= {lost.open_test} - {""}
                for nodeid, outcome in lost.done.items():
                    earlier.setdefault(nodeid, []).append(outcome)
        raise lost_for_good(f"one run was broken off {ATTEMPTS} times ({reason})")

    def _with_home(self, spec: RunSpec, site: RemoteSite) -> RunSpec:
        """A HOME that an earlier run used went with its connection: use one again."""
        before = self._specs.get(spec.used_home)
        if before is None or site.knows(spec.used_home):
            return spec
        first = replace(before, condition=f"{before.condition} once more")
        if not site.knows(first.name):
            self.inner.run(self._with_home(first, site), {}, site)
        return replace(spec, used_home=first.name)


def _no_tree(tree: str, folder: Path) -> None:
    raise AssertionError("trees are laid out on the far side")
