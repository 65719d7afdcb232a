"""Puts the engine and the real world together: the only place that knows both."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from redbucket.core.pytree import newer_python
from redbucket.core.report import GateReport, Problem
from redbucket.edges.progress import Progress
from redbucket.edges.repository import Repository
from redbucket.edges.scratch import Scratch
from redbucket.edges.unfinished import squashed
from redbucket.edges.workshop import Workshop, set_aside
from redbucket.engine import gate as gates
from redbucket.engine.ports import Bench
from redbucket.engine.subject import Request, Subject

# What runs tests is imported where it is used: a static hook runs none, and must be quick.
if TYPE_CHECKING:
    from redbucket.app.stations import LocalStation, RecordingRunner, RemoteStation, Station
    from redbucket.core.axes import Axis
    from redbucket.core.noisecapture import NoiseCapture
    from redbucket.core.patch import Commit
    from redbucket.core.pytree import Told
    from redbucket.core.records import Run
    from redbucket.core.runspec import RunSpec
    from redbucket.edges.interpreter import Launch
    from redbucket.edges.newerpython import NewerPythons
    from redbucket.engine.specs import Specs

Noted = TypeVar("Noted", bound=msgspec.Struct)


@dataclass(frozen=True)
class UserHistory:
    """The user's repository, with signatures verified where they are asked for.

    What a name stands for is asked once: a ref that moves meanwhile must not have two answers.
    """

    repository: Repository
    _resolved: dict[str, str] = field(default_factory=dict)
    _current: list[str] = field(default_factory=list)

    @property
    def is_shallow(self) -> bool:
        """True if the history is cut off."""
        return self.repository.is_shallow

    def resolve(self, revision: str) -> str:
        """Return the id of the commit that ``revision`` names. Raises Misused as ``Repository.resolve`` does."""
        if revision not in self._resolved:
            self._resolved[revision] = self.repository.resolve(revision)
        return self._resolved[revision]

    def current_branch(self) -> str:
        """Return the short name of the branch that HEAD is on, "" if detached."""
        if not self._current:
            self._current.append(self.repository.current_branch())
        return self._current[0]

    def __getattr__(self, name: str) -> object:
        return getattr(self.repository, name)

    def signers(self, merge_base: str, head: str, allowed: bytes) -> Mapping[str, str]:
        """Return {commit id: principal}."""
        import shutil

        from redbucket.edges import signatures

        signatures.require_ssh_keygen(shutil.which("ssh-keygen"))
        return signatures.signers(self.repository, merge_base, head, allowed)


def cpus() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_record(path: Path, digest: str | None = None) -> Run:
    """Return the run that a record file holds, broken if its bytes have another ``digest``."""
    from redbucket.core.readers import read

    raw = path.read_bytes()
    (run,) = read(raw, str(path))
    if digest is not None and hashlib.sha256(raw).hexdigest() != digest:
        run = msgspec.structs.replace(
            run, broken=f"{path}: something rewrote the record after it was written"
        )
    return run


@dataclass
class Session:
    """One command's repository, scratch objects, temporary folder and progress."""

    repository: Repository
    scratch: Scratch
    workshop: Workshop
    progress: Progress
    cancelled: threading.Event = field(default_factory=threading.Event)
    not_materialised: set[str] = field(default_factory=set)
    sharing: set[str] = field(default_factory=set)  # tests that took an address from each other
    own_interpreter: str = ""
    _seconds: dict[str, float] = field(default_factory=dict)
    stations: dict[str, LocalStation | RemoteStation] = field(default_factory=dict)

    def gate(
        self,
        request: Request,
        *,
        keep: Path | None = None,
        staged: bool = False,
        captures: Path | None = None,
        brought: gates.Bringing | None = None,
    ) -> GateReport:
        """Judge one patch; with ``keep`` move trees and records there. Captures go there, or to ``captures``.

        ``brought`` gives the runs that were made in other jobs.
        """
        tools = gates.Tools(
            history=UserHistory(self.repository),  # type: ignore[arg-type]
            objects=self.scratch,
            bench=lambda subject: self._bench(subject, request),
            say=self.progress.say,
            clock=time.monotonic,
            environment=os.environ if staged else None,
            capture=self._captures(captures or keep),
            axes=self._axes,
            brought=brought,
            recalled=self._recalled,
            durations=self._durations,
            draw=lambda: secrets.token_hex(8),
        )
        kept: Path | None = None
        try:
            report = self._with_uncommitted(self._with_absent(gates.gate(request, tools)), request)
            report = self._with_moved(self._with_own_interpreter(report), request)
            report = self._with_shared_addresses(self._with_notes_of_stations(report))
        finally:
            self.progress.clear()
            if keep is not None and (self.workshop.root / "runs").exists():
                kept = self.workshop.keep(self.workshop.root / "runs", keep)
        report = msgspec.structs.replace(report, kept=str(kept)) if kept else report
        self._remember(report)
        return report

    def _remember(self, report: GateReport) -> None:
        """Put the gate into the ledger: the last thing that is done, so that it can cost nothing but itself."""
        from redbucket.app.remember import now, remember
        from redbucket.core.ledgered import entry_of

        entry = entry_of(report, now(), self._seconds)
        remember(self.repository.common_dir, lambda ledger: ledger.add_gate(entry))

    def _recalled(self, commits: Sequence[Commit]) -> Mapping[str, str]:
        """Return {missed test: commit} of the misses that gates before this one found in earlier states of a patch."""
        from redbucket.app.remember import recalled
        from redbucket.edges.samework import earlier

        misses = recalled(self.repository.common_dir)
        mine = earlier(self.repository.git, {head for _, head in misses}, commits) if misses else set()
        return {nodeid: head for nodeid, head in reversed(misses) if head in mine}

    def _durations(self) -> Mapping[str, float]:
        """Return the seconds that tests took when they were last judged here, by id."""
        from redbucket.app.remember import durations

        return durations(self.repository.common_dir)

    def _axes(self, specs: Specs) -> Sequence[Axis]:
        from redbucket.core.axes import axes

        busiest = max((station.cpus for station in self.stations.values()), default=cpus())
        return axes(specs.other_seed, time.time(), 3 * busiest, specs.seed)

    def _captures(self, folder: Path | None) -> Callable[[NoiseCapture], str] | None:
        if folder is None:
            return None
        from redbucket.core.noisecapture import encode, file_name
        from redbucket.edges.capturefile import write

        return lambda capture: str(write(folder / file_name(capture), encode(capture)))

    def _with_moved(self, report: GateReport, request: Request) -> GateReport:
        """Add what changed in the recorded fixtures that the patch moves."""
        from redbucket.app.moved_fixtures import moved_fixtures
        from redbucket.core.paths import JudgeSide
        from redbucket.core.policy import parse
        from redbucket.engine.protected import policy_or_defaults

        if not (report.base and report.merge_tree):
            return report
        given = request.policy
        policy = parse(given, request.policy_name) if given else policy_or_defaults(self.scratch, report.base)
        moved = moved_fixtures(report, self.scratch, JudgeSide(policy))
        return msgspec.structs.replace(report, moved=moved) if moved else report

    def _with_uncommitted(self, report: GateReport, request: Request) -> GateReport:
        """Say that a dirty work tree is no part of what was judged, where a user may think so."""
        if request.head not in (None, "HEAD") or not self.repository.uncommitted():
            return report
        note = Problem(
            code="uncommitted",
            reason="tracked files differ from HEAD: what is not committed was not judged",
            remedy="commit it to have it judged",
        )
        return msgspec.structs.replace(report, notes=[*report.notes, note])

    def _with_own_interpreter(self, report: GateReport) -> GateReport:
        """Say that the tests ran where redbucket sits, where that may be the wrong place: something failed."""
        if not self.own_interpreter or report.exit_code == 0:
            return report
        note = Problem(
            code="own-interpreter",
            reason=f"the tests ran in redbucket's own environment, {self.own_interpreter}",
            remedy="if the project has another one, activate it, or name its interpreter in [run] command",
        )
        return msgspec.structs.replace(report, notes=[*report.notes, note])

    def _with_notes_of_stations(self, report: GateReport) -> GateReport:
        """Say what happened where the runs were."""
        notes = [
            Problem(
                code="connection-broke",
                reason=station.note,
                remedy="what tests did before counts with what they did then",
            )
            for station in self.stations.values()
            if station.note
        ]
        notes += [
            Problem(code="sandbox", reason=walls, remedy="docs/sandbox.md says what that means")
            for walls in self.walls
        ]
        return msgspec.structs.replace(report, notes=[*report.notes, *notes]) if notes else report

    def _with_shared_addresses(self, report: GateReport) -> GateReport:
        """Say which tests can't stand side by side, so that the runs did not."""
        if not self.sharing:
            return report
        few = ", ".join(sorted(filter(None, self.sharing))[:3])
        note = Problem(
            code="shared-address",
            reason="an address was in use while runs stood side by side and in none that stood alone, so all were made "
            f"one after another ({len(self.sharing)}): {few}",
            remedy="let them ask for a free port (port 0), or give each run a loopback of its own "
            '([run] sandbox = "auto"): then the runs are quicker',
        )
        return msgspec.structs.replace(report, notes=[*report.notes, note])

    def _with_absent(self, report: GateReport) -> GateReport:
        """Say which files of the trees were LFS pointers or empty submodules."""
        if not self.not_materialised:
            return report
        few = ", ".join(sorted(self.not_materialised)[:3])
        note = Problem(
            code="not-materialised",
            reason=f"LFS pointers or empty submodules in every run ({len(self.not_materialised)}): {few}",
            remedy="tests that read them fail with and without the patch; fetch them in [run] prepare",
        )
        return msgspec.structs.replace(report, notes=[*report.notes, note])

    def guard(
        self,
        request: Request,
        names: Sequence[str] | None,
        *,
        staged: bool = False,
        tree: str | None = None,
        scope: str = "",
        history: UserHistory | None = None,
    ) -> GateReport:
        """Run the static guards alone, on a range, or on the index (``staged``) or a ``tree`` against HEAD.

        ``history`` is what a caller has asked already.
        """
        tools = gates.Tools(
            history=history or UserHistory(self.repository),  # type: ignore[arg-type]
            objects=self.scratch,
            bench=lambda subject: self._bench(subject, request),
            say=self.progress.say,
            clock=time.monotonic,
            environment=os.environ if staged or tree else None,
        )
        if staged:
            request = replace(request, squashed=squashed(self.repository))
        index = self.scratch.write_index_tree() if staged else tree
        offered = "the index" if staged else "flakes.toml of the work tree"
        return gates.guard(request, tools, names, index, scope=scope, offered=offered)

    def rerun(
        self,
        revision: str,
        reruns: int,
        out: Path,
        command: Sequence[str],
        where: str | None = None,
        shards: int | None = None,
    ) -> tuple[list[Path], list[Run], Path | None]:
        """Run one commit's tests ``reruns`` times, in so many ``shards`` or as its policy says.

        Returns the records, moved to ``out``, what they say, and where an earlier rerun's records went.
        """
        from redbucket.core.paths import JudgeSide
        from redbucket.core.policy import shards_of
        from redbucket.core.seeds import derive
        from redbucket.engine.bench import ParallelBench
        from redbucket.engine.protected import policy_at
        from redbucket.engine.rerun import plain_specs
        from redbucket.engine.sharded import Sharded

        commit = self.repository.resolve(revision)
        policy = policy_at(self.scratch, commit)
        run = policy.run
        asked = shards_of(run, shards)
        station = self.station(where or run.runner)
        launch = station.resolve(command or run.command, run.format)
        tree = self.scratch.tree_of(commit)
        entries = self.scratch.entries(tree)
        runner = station.runner(launch, run, entries)
        specs = plain_specs(
            tree,
            entries,
            JudgeSide(policy),
            seed=os.environ.get("TEST_SEED") or derive(tree),
            reruns=reruns,
            timeout=run.timeout,
            as_module=launch.as_module,
        )
        bench: Bench = ParallelBench(
            runner, read_record, station.jobs, self.cancelled, station.rest, self.sharing
        )
        times = "once" if reruns == 1 else f"{reruns} times"
        try:
            if asked > 1:
                self.progress.say("listing the tests")
                (listed,) = bench.run([replace(specs[0], run_id=0, condition="collect", collect_only=True)])
                bench = sharded = Sharded(
                    bench, asked, self._durations(), entries, lambda: secrets.token_hex(8)
                )
                sharded.decide(listed)
            self.progress.say(f"running the tests {times}")
            runs = bench.run(specs)
        finally:
            self.progress.clear()
        earlier = set_aside(out)
        return [self.workshop.keep(Path(source), out) for r in runs for source in r.sources], runs, earlier

    def _bench(self, subject: Subject, request: Request) -> tuple[Bench, bool, str]:
        bench, _, launch = self.workbench(subject, request)
        return bench, launch.as_module, launch.python

    def workbench(self, subject: Subject, request: Request) -> tuple[Bench, RecordingRunner, Launch]:
        """Return the bench for the worlds of a patch, the runner behind it, and what it starts."""
        from redbucket.app.stations import LOCAL
        from redbucket.engine.bench import ParallelBench

        run = subject.policy.run
        where = request.runner or run.runner
        station = self.station(where)
        launch = station.resolve(run.command, run.format)
        self.own_interpreter = (
            launch.python if where == LOCAL and launch.is_own and run.format != "junit" else ""
        )
        paths = (*subject.sides.base, *subject.sides.merged)
        runner = station.runner(launch, run, paths, request.budget)
        bench = ParallelBench(
            runner,
            lambda path: self._timed(read_record(path, runner.records[path])),
            station.jobs,
            self.cancelled,
            station.rest,
            self.sharing,
        )
        return bench, runner, launch

    def _timed(self, run: Run) -> Run:
        """Note how long each test took when it was first run with the patch, for the ledger."""
        if run.world == "H" and run.condition == "plain":
            for nodeid, test in run.tests.items():
                self._seconds.setdefault(nodeid, test.duration)
        return run

    def lay_out(self, tree: str, folder: Path) -> None:
        from redbucket.edges import trees

        self.not_materialised.update(trees.layout(self.scratch, tree, folder).not_materialised)

    def shipped(self, tree: str, folds: bool) -> None:
        """Note what can't be laid out of a tree that is sent elsewhere. Raises Undecided "case-collision"."""
        from redbucket.edges import trees

        entries = self.scratch.entries(tree)
        if folds:
            trees.refuse_folded(entries)
        self.not_materialised.update(trees.lfs_pointers(self.scratch, entries))
        self.not_materialised.update(path for path, entry in entries.items() if entry.is_gitlink)

    def test_ended(self, spec: RunSpec, done: int) -> None:
        """Count one more test."""
        self.progress.test_ended()

    @property
    def outside(self) -> tuple[str, ...]:
        """The user's work tree, by each of its names: its code must not be what is tested."""
        top = self.repository.work_tree
        return tuple(sorted({str(top), str(top.resolve())})) if top is not None else ()

    @property
    def tree_name(self) -> str:
        """The name of the folder that tests are in: they may look at it."""
        top = self.repository.work_tree
        return top.name if top is not None and top.name else "tree"

    def station(self, where: str) -> Station:
        """Return the place where runs happen, the same one each time; it is closed with the session."""
        from redbucket.app.stations import station_of

        if where not in self.stations:
            self.stations[where] = station_of(self, where)
        return self.stations[where]

    @property
    def walls(self) -> list[str]:
        """What shut off the runs that there were, and what did not; empty where no sandbox was asked for."""
        return [station.walls for station in self.stations.values() if station.walls]

    def told(self, report: Noted) -> Noted:
        """Return a report with a note of how its runs were shut off, where the policy asks for a sandbox."""
        return msgspec.structs.replace(report, notes=[*report.notes, *self.walls])  # type: ignore[attr-defined]


@contextmanager
def session(
    start: Path, progress: Progress, *, index: Path | None = None, quarantine: Sequence[Path] = ()
) -> Iterator[Session]:
    """Open the repository that holds ``start``; the temporary folder goes at the end."""
    repository = Repository.discover(start, index_file=index, quarantine=quarantine)
    pythons = _Pythons(repository.work_tree)
    with (
        Workshop() as workshop,
        Scratch(workshop.root / "scratch.git", repository) as scratch,
        newer_python(pythons.ask),
    ):
        opened = Session(repository, scratch, workshop, progress)
        try:
            yield opened
        finally:
            opened.cancelled.set()
            for station in opened.stations.values():
                station.close()
            pythons.close()
            progress.clear()


class _Pythons:
    """Newer Pythons, looked for when a file can't be read by this one: most commands need none."""

    def __init__(self, work_tree: Path | None) -> None:
        self._work_tree = work_tree
        self._found: NewerPythons | None = None

    def ask(self, source: bytes) -> Told | None:
        from redbucket.edges.newerpython import NewerPythons

        if self._found is None:
            self._found = NewerPythons(self._work_tree, os.environ)
        return self._found.ask(source)

    def close(self) -> None:
        if self._found is not None:
            self._found.close()


def interpreter_name() -> str:
    """Return the interpreter that runs redbucket itself."""
    return sys.executable
