"""Puts ``replay`` and ``explain`` together: which tree is run, under which policy, on which bench."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from os import getloadavg
from pathlib import Path, PurePosixPath
from typing import Any

from redbucket import __version__
from redbucket.app.remember import now, remember
from redbucket.app.session import Session, UserHistory, cpus, read_record
from redbucket.app.stations import recorded_command
from redbucket.core.axes import axes
from redbucket.core.errors import Misused, Undecided
from redbucket.core.explanation import Explanation
from redbucket.core.noisecapture import NoiseCapture, encode, file_name, from_data, of_run, seen
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import POLICY_NAME, Policy, parse
from redbucket.core.seeds import derive
from redbucket.core.startwords import StartWords
from redbucket.core.testpath import in_either_form
from redbucket.edges.capturefile import write
from redbucket.engine.bench import ParallelBench
from redbucket.engine.capturing import hidden
from redbucket.engine.explain import Explain
from redbucket.engine.explained import Shell, busy_note, explained
from redbucket.engine.flakes import Replayed
from redbucket.engine.protected import policy_at
from redbucket.engine.replay import Replay
from redbucket.engine.specs import Specs, specs_of_tree
from redbucket.engine.subject import Request, Subject, examine, require_merged

_FREEZE_RUNS = 20


@dataclass(frozen=True)
class Place:
    """One tree, ready to be run. ``subject`` is the patch it comes from, None for a plain commit."""

    tree: str
    world: str
    policy: Policy
    subject: Subject | None = None


def place_of(opened: Session, base: str | None, head: str | None, policy: bytes | None) -> Place:
    """Return HEAD's (or head's) tree alone, or with ``base`` the tree that the gate would judge."""
    if base is None:
        commit = opened.repository.resolve(head or "HEAD")
        return Place(opened.scratch.tree_of(commit), "", _policy(opened, commit, policy))
    request = Request(base=base, head=head, policy=policy)
    subject = examine(request, UserHistory(opened.repository), opened.scratch)  # type: ignore[arg-type]
    require_merged(subject)
    return Place(subject.h_tree, "H", subject.policy, subject)


def place_of_capture(opened: Session, capture: NoiseCapture, policy: bytes | None) -> Place:
    """Return the recorded tree; raise Undecided if this repository does not give the same one.

    The tree that a gate ran is in no repository: it is made again from the two commits.
    """
    for name, commit in (("base", capture.base), ("head", capture.head)):
        if commit and not opened.repository.has(commit):
            raise Undecided(
                "missing-object",
                f"the capture's {name}, {commit[:12]}, is not in this repository",
                "fetch it, or replay where the gate ran",
            )
    at = capture.base or capture.head
    if not at:
        raise Misused("bad-capture", "the capture names no commit", "make one: redbucket gate --captures DIR")
    rules = _policy(opened, at, policy)
    subject = None
    if not capture.base:
        tree = opened.scratch.tree_of(capture.head)
    elif capture.world == "B":
        tree = opened.scratch.tree_of(capture.base)
    elif opened.repository.has(capture.tree):
        tree = capture.tree
    else:
        request = Request(
            base=capture.base,
            head=capture.head,
            agent=capture.agent,
            head_ref=capture.head_ref,
            policy=policy,
        )
        subject = examine(request, UserHistory(opened.repository), opened.scratch)  # type: ignore[arg-type]
        tree = subject.h_tree
    if tree != capture.tree:
        raise Undecided(
            "other-tree",
            f"the recorded commits give the tree {tree[:12] or '(conflict)'} here, "
            f"and {capture.tree[:12]} was recorded",
            "replay with the policy and the redbucket that recorded it, or make a new capture",
        )
    return Place(tree, capture.world, rules, subject)


def workbench(
    opened: Session, place: Place, *, seed: str = "", roots: tuple[str, ...] = (), budget: float | None = None
) -> tuple[Specs, ParallelBench]:
    """Return the maker of specs and a bench that runs as many at once as there are CPUs."""
    run = place.policy.run
    station = opened.station(run.runner)
    launch = station.resolve(recorded_command(run))
    runner = station.runner(launch, run, opened.scratch.entries(place.tree), budget)
    specs = specs_of_tree(
        place.tree,
        place.world,
        opened.scratch,
        JudgeSide(place.policy),
        seed=seed or derive(place.tree),
        timeout=run.timeout,
        as_module=launch.as_module,
        roots=roots,
    )
    bench = ParallelBench(runner, read_record, station.cpus, opened.cancelled, station.rest, opened.sharing)
    return specs, bench


def replay_of(opened: Session, capture: NoiseCapture, policy: bytes | None = None) -> Replay:
    """Return the replay of a capture, ready to run."""
    place = place_of_capture(opened, capture, policy)
    specs, bench = workbench(opened, place, seed=capture.seed, roots=tuple(capture.roots))
    began = time.monotonic()
    budget = place.policy.run.budget
    replay = Replay(
        capture,
        specs,
        bench,
        opened.progress.say,
        over=lambda: time.monotonic() - began > budget,
        clock=time.monotonic,
    )
    run = place.policy.run
    python = opened.station(run.runner).resolve(recorded_command(run)).version
    here = ".".join(map(str, python))
    if capture.python and capture.python != here:
        replay.notes.append(f"recorded with Python {capture.python}, replayed with {here}")
    return replay


def explain(
    opened: Session,
    nodeid: str,
    place: Place,
    *,
    head: str,
    budget: float | None = None,
    captures: Path | None = None,
) -> Explanation:
    """Run the experiments on one test of a tree; write a capture of what failed to ``captures``."""
    # a run that hangs must end with the rest: twice the time, and an hour where nothing is known yet
    specs, bench = workbench(opened, place, budget=2 * budget if budget else None)
    work = Explain(
        nodeid,
        place.world,
        specs,
        bench,
        axes(specs.other_seed, time.time(), 3 * cpus(), specs.seed),
        opened.progress.say,
        time.monotonic,
        budget,
        find=partial(in_either_form, paths=opened.scratch.entries(place.tree)),
    )
    busy = busy_note(getloadavg()[0], cpus()) if place.policy.run.runner == "local" else ""
    found = work.run()
    if busy and found is None:
        work.notes.append(busy)
    if opened.sharing:
        work.notes.append(
            "an address was in use while runs stood side by side, so they were made one after another: "
            + ", ".join(sorted(filter(None, opened.sharing))[:3])
        )
    nodeid = work.nodeid
    base = _in_base(opened, place, specs, bench, nodeid) if place.subject is not None else []
    name = None
    failing, passing = work.both_ways(found)
    if captures is not None and failing is not None:
        subject = place.subject
        capture = of_run(
            failing.tests[nodeid],
            failing,
            bucket="noise",
            cause=found.cause if found else None,
            passing=seen(passing.tests[nodeid], passing) if passing else None,
            base=subject.patch.base if subject else "",
            head=subject.patch.head if subject else head,
            roots=list(specs.roots),
            redbucket=__version__,
        )
        safe = hidden(capture, place.policy.run.env)
        if safe is None:
            work.notes.append("no capture: a value of [run] env is in the id of a test")
        else:
            name = str(write(captures / file_name(safe), encode(safe)))
            remember(opened.repository.common_dir, lambda ledger: ledger.add_capture(now(), nodeid, name))
    shell = Shell(
        _start(opened, place),
        head if place.subject is None else "",
        tuple(sorted(place.policy.run.env)),
        head if head != opened.repository.resolve("HEAD") else "",
    )
    return explained(work, found, tree=place.tree, shell=shell, base=base, capture=name)


def _in_base(opened: Session, place: Place, specs: Specs, bench: ParallelBench, nodeid: str) -> list[str]:
    """Return what the test does three times in base's suite."""
    assert place.subject is not None
    tree = place.subject.base_tree
    other = specs_of_tree(
        tree,
        "B",
        opened.scratch,
        JudgeSide(place.policy),
        seed=specs.seed,
        timeout=specs.timeout,
        as_module=False,
        roots=specs.roots,
    )
    other.made = specs.made
    runs = bench.run([other.make("B") for _ in range(3)])
    return [run.tests[nodeid].outcome.value if nodeid in run.tests else "missing" for run in runs]


def _start(opened: Session, place: Place) -> StartWords:
    """Return how the user's shell starts what the runs had."""
    run = place.policy.run
    station = opened.station(run.runner)
    launch = station.resolve(recorded_command(run))
    python = launch.python
    top = opened.repository.work_tree
    if run.runner != "local" or _same_file(shutil.which("python"), python):
        python = "python"
    elif top is not None and Path(python).is_relative_to(top):
        python = str(Path(python).relative_to(top))
    files = opened.scratch.entries(place.tree)
    paths = frozenset(files) | {str(up) for path in files for up in PurePosixPath(path).parents}
    return StartWords(launch.runner, python, launch.args, launch.as_module, paths, launch.options)


def _same_file(one: str | None, other: str) -> bool:
    # not by where the links lead: an environment's interpreter is a link to the one that it was made with
    return one is not None and Path(one).absolute() == Path(other).absolute()


@dataclass
class CaptureReplayer:
    """The replayer that ``flakes add`` asks."""

    opened: Session

    def replay(self, capture: Mapping[str, Any], nodeid: str) -> Replayed:
        """Run the capture now; raise RedbucketError if it can't be run."""
        try:
            return replay_of(self.opened, from_data(capture, "the capture")).for_freeze(_FREEZE_RUNS)
        finally:
            self.opened.progress.clear()


def _policy(opened: Session, commit: str, given: bytes | None) -> Policy:
    return parse(given, POLICY_NAME) if given is not None else policy_at(opened.scratch, commit)
