"""The main job: guards, worlds, reruns, classification, verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from redbucket.core.align import function_of
from redbucket.core.buckets import Bucket
from redbucket.core.errors import Misused
from redbucket.core.findings import Finding, Severity
from redbucket.core.oracled import OracleReport
from redbucket.core.plural import plural
from redbucket.core.policy import scope_of, shards_of
from redbucket.core.report import GateReport, IdentityReport, Problem, Row
from redbucket.core.testpath import pytest_id
from redbucket.core.verdict import EXIT_CODES, count, decide
from redbucket.engine.ports import Bench, History, Objects
from redbucket.engine.protected import branch_of
from redbucket.engine.subject import Request, Subject, examine, examine_index, require_judgeable
from redbucket.engine.today import utc_today
from redbucket.guards import registry
from redbucket.guards.remedies import SIGNERS

if TYPE_CHECKING:
    from redbucket.core.axes import Axis
    from redbucket.core.noisecapture import NoiseCapture
    from redbucket.core.patch import Commit
    from redbucket.core.runspec import RunSpec
    from redbucket.engine.specs import Specs

    # what was judged, the specs of its first runs, the bench -> a bench with those runs, problems, notes
    Bringing = Callable[[Subject, Sequence[RunSpec], Bench], tuple[Bench, list[Problem], list[Problem]]]


@dataclass
class Tools:
    """What the gate is given to work with.

    ``bench`` makes the bench once it is known what is judged; it returns the
    bench, whether the command is ``python -m``, and the interpreter's path.
    ``today`` is the date in UTC that freezes are held against. ``capture`` puts the capture of a
    noisy test away and returns the name of its file; None: no captures are made. ``axes`` gives those
    along which causes are searched. ``brought`` takes the specs of the first runs, where those were made
    in other jobs, and returns a bench that has them, what is wrong with them, and what to note. ``recalled`` takes the
    commits of a patch and returns {missed test: commit} of the invariant misses that earlier gates found in it.
    ``durations`` gives the seconds that tests took before, by id, and ``draw`` a name that nothing else has.
    """

    history: History
    objects: Objects
    bench: Callable[[Subject], tuple[Bench, bool, str]]
    say: Callable[[str], None]
    clock: Callable[[], float]
    environment: Mapping[str, str] | None = None
    today: Callable[[], date] = utc_today
    capture: Callable[[NoiseCapture], str] | None = None
    axes: Callable[[Specs], Sequence[Axis]] | None = None
    brought: Bringing | None = None
    recalled: Callable[[Sequence[Commit]], Mapping[str, str]] = lambda commits: {}
    durations: Callable[[], Mapping[str, float]] = dict
    draw: Callable[[], str] = str


def gate(request: Request, tools: Tools) -> GateReport:
    """Judge one patch and return the report. Raises RedbucketError where there is nothing to report."""
    # imported here: a static hook runs ``guard`` alone, and pays for what it uses
    from concurrent.futures import ThreadPoolExecutor

    from redbucket.core.runspec import full_runs
    from redbucket.engine.capturing import with_captures
    from redbucket.engine.flakes import freezes
    from redbucket.engine.judge import Judge
    from redbucket.engine.places import placed
    from redbucket.engine.reported import OWN_REPORT, reported_rows
    from redbucket.engine.sharded import Sharded, notes_on
    from redbucket.engine.specs import opening, specs_for
    from redbucket.engine.untrusted import untrusted_rows

    began = tools.clock()
    subject = examine(request, tools.history, tools.objects, tools.environment)
    run = subject.policy.run
    budget = request.budget or run.budget
    report = _Report(subject, began, tools.clock)
    if subject.conflicts:
        report.findings += [_conflict(path) for path in subject.conflicts]
        return report.finish()
    if subject.patch.base == subject.patch.head or not subject.net:
        report.notes += _nothing(subject.patch.head, tools.history)
        return report.finish()
    asked = shards_of(run, request.shards)
    today = tools.today()
    with ThreadPoolExecutor(1) as pool:  # asking the interpreter about itself takes as long as the guards
        opened = pool.submit(tools.bench, subject)
        context = subject.context(today)
        before = tools.recalled(subject.patch.commits)
        if before:
            trees = {
                nodeid: tools.objects.tree_view(tools.objects.tree_of(oid)) for nodeid, oid in before.items()
            }
            context = replace(context, recalled=trees)
        report.findings += registry.check(context, subject.judge)
        require_judgeable(subject)
        bench, as_module, report.interpreter = opened.result()
    specs = specs_for(subject, tools.objects, as_module=as_module, timeout=request.timeout or run.timeout)
    report.seed = specs.seed
    report.reruns = request.reruns or run.reruns
    scope = scope_of(run, request.scope)
    if tools.brought is not None:
        first = opening(replace(specs), full_runs(report.reruns, scope))
        bench, problems, notes = tools.brought(subject, first, bench)
        report.notes += notes
        report.problems += problems
        if problems:
            return report.finish()
    sharded: Sharded | None = None
    if asked > 1 and tools.brought is None:
        bench = sharded = Sharded(bench, asked, tools.durations(), subject.sides.base, tools.draw)
    judged = Judge(
        subject=subject,
        objects=tools.objects,
        specs=specs,
        bench=bench,
        reruns=report.reruns,
        scope=scope,
        doubt=request.doubt,
        say=tools.say,
        over=lambda: tools.clock() - began > budget,
        freezes=freezes(subject, today),
        limited=_limit(tools.clock, run.challenge_budget) if run.challenge_budget else None,
        axes=tools.axes(specs) if tools.axes is not None else (),
        brought=tools.brought is not None,
        split=sharded.decide if sharded is not None else None,
    ).judge()
    if sharded is not None:
        report.shards = sharded.shards
        report.notes += notes_on(sharded.shards, asked)
    if specs.whole:
        report.notes.append(OWN_REPORT)
    elif tools.capture is not None:
        branch = request.head_ref or branch_of(request.head, tools.history)
        judged.rows = with_captures(
            judged.rows, judged.trials, subject, request, branch, specs, tools.capture
        )
    report.rows += judged.rows
    report.findings += judged.findings
    report.problems += judged.problems
    report.notes += judged.notes
    report.interpreter = judged.session or report.interpreter
    own_tests = reported_rows if specs.whole else untrusted_rows
    rows, findings = own_tests(subject, tools.objects, specs, bench, tools.say, judged.trials)
    report.rows += rows
    # their rows say it better than the guard's notes
    listed = {function_of(pytest_id(row.nodeid, subject.sides.merged)) for row in rows}
    report.findings = [f for f in report.findings if f.rule != "untrusted-test" or f.nodeid not in listed]
    report.findings += findings
    report.rows = placed(report.rows, subject.merged)
    _untrusted_green(report, judged.touching, judged.unwatched, specs)
    if subject.policy.gate.oracle != "off" and not specs.whole and not any(row.blocks for row in report.rows):
        from redbucket.engine.oraclegate import weak_oracle

        report.oracle, said, notes = weak_oracle(
            subject, tools.objects, specs, bench, tools.say, lambda: tools.clock() - began > budget
        )
        report.findings += said
        report.notes += notes
    return report.finish()


def guard(
    request: Request,
    tools: Tools,
    names: Sequence[str] | None,
    index_tree: str | None = None,
    *,
    scope: str = "",
    offered: str = "the index",
) -> GateReport:
    """Run the static guards alone; with ``index_tree``, which is ``offered``, judge that tree against HEAD.

    With the scope "tree" guards that can look at all of what would land, not at the patch alone.
    """
    began = tools.clock()
    if index_tree is not None:
        subject = examine_index(request, tools.history, tools.objects, index_tree, tools.environment)
    else:
        subject = examine(request, tools.history, tools.objects, tools.environment, runs=False)
    report = _Report(subject, began, tools.clock, offered if index_tree is not None else "")
    report.findings += [_conflict(path) for path in subject.conflicts]
    context = subject.context(tools.today(), scope=scope)
    report.findings += registry.check(context, subject.judge, names)
    return report.finish()


def _limit(clock: Callable[[], float], seconds: float) -> Callable[[], Callable[[], bool]]:
    """Return what starts a time limit."""

    def start() -> Callable[[], bool]:
        began = clock()
        return lambda: clock() - began > seconds

    return start


def _nothing(head: str, history: History) -> list[Problem]:
    """Return that there is nothing to judge, and whether head is a first commit."""
    notes = [
        Problem(code="nothing-to-judge", reason="head brings nothing that base does not have", remedy="")
    ]
    try:
        history.resolve(f"{head}^1")
    except Misused:
        notes.append(
            Problem(
                code="first-commit",
                reason="no commit before head is here, so the last one can't be judged against it",
                remedy="",
            )
        )
    return notes


def _conflict(path: str) -> Finding:
    return Finding(
        rule="merge-conflict",
        severity=Severity.REFUSE,
        path=path,
        reason="head and base conflict in this file",
        remedy="merge or rebase head on base, and try again",
    )


def _untrusted_green(report: _Report, touching: int, unwatched: Sequence[str], specs: Specs) -> None:
    """Green that rests on no trusted test that ran a changed line is said loudly."""
    if not specs.lines or touching:
        return
    if not any(row.bucket is Bucket.STABLE_PASS for row in report.rows):
        return
    if any(row.blocks for row in report.rows):
        return  # not green: often the one test that runs the change is the one that fails
    refuse = report.subject.policy.gate.untrusted_green == "refuse"
    hidden = sorted(set(specs.lines).intersection(unwatched))
    if hidden:
        (report.problems if refuse else report.notes).append(_unwatched(hidden))
        return
    report.untrusted_green = True
    own = sum(row.bucket is Bucket.UNTRUSTED for row in report.rows)
    report.findings.append(
        Finding(
            rule="untrusted-green",
            severity=Severity.REFUSE if refuse else Severity.WARN,
            path=min(specs.lines),
            reason="no trusted test that passed was seen to run a changed line"
            + (f": green rests on the patch's own {plural(own, 'test')}" if own else "")
            + " (what tests start in other processes is not seen)",
            remedy="a person writes a test that runs the change, in base, or reads the patch's own and endorses it"
            + ("" if report.subject.policy.identity.allowed_signers else f" ({SIGNERS})"),
        )
    )


def _unwatched(paths: Sequence[str]) -> Problem:
    more = f" and {plural(len(paths) - 1, 'more file')} were" if len(paths) > 1 else " was"
    return Problem(
        code="lines-unwatched",
        reason=f"it is not known whether a trusted test runs the change: {paths[0]}{more} imported by pytest"
        " itself (a plugin, or what pytest needs), and before Python 3.12 its lines can't be watched then",
        remedy="run the tests with Python 3.12 or newer to know",
    )


class _Report:
    """Collects the parts of the report."""

    def __init__(self, subject: Subject, began: float, clock: Callable[[], float], offered: str = "") -> None:
        self.subject, self._began, self._clock, self._offered = subject, began, clock, offered
        self.rows: list[Row] = []
        self.findings: list[Finding] = []
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self.untrusted_green = False
        self.oracle: OracleReport | None = None
        self.seed = ""
        self.reruns = 0
        self.shards = 1
        self.interpreter = ""

    def finish(self) -> GateReport:
        """Return the report with its verdict."""
        verdict = decide(self.rows, self.findings, self.problems)
        patch, identity = self.subject.patch, self.subject.identity
        return GateReport(
            verdict=verdict,
            exit_code=EXIT_CODES[verdict],
            base=patch.base,
            base_name=self.subject.base_name,
            added=sorted(
                {f.path for f in self.findings if f.path and f.path not in self.subject.base.entries}
            ),
            untouched=sorted(
                {f.path for f in self.findings if f.path and f.path not in self.subject.touched}
            ),
            signatures=bool(self.subject.policy.identity.allowed_signers),
            head=patch.head,
            offered=self._offered,
            merge_base=patch.merge_base,
            merge_tree=self.subject.merged_tree,
            seed=self.seed,
            identity=IdentityReport(agent=identity.agent, marks=list(identity.marks)),
            tests=self.rows,
            findings=self.findings,
            undecided=self.problems,
            notes=self.notes,
            counts=count(self.rows),
            untrusted_green=self.untrusted_green,
            oracle=self.oracle,
            reruns=self.reruns,
            shards=self.shards,
            interpreter=self.interpreter,
            duration=round(self._clock() - self._began, 3),
        )
