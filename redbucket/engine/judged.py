"""Turns what the runs gave into rows, findings and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from redbucket.core import worlds
from redbucket.core.answers import first_line
from redbucket.core.classification import FAILING
from redbucket.core.findings import Finding, Severity
from redbucket.core.fingerprint import normalise
from redbucket.core.frozen import Frozen, frozen_row
from redbucket.core.manifests import Scope
from redbucket.core.paths import Matcher
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run
from redbucket.core.report import Problem, Row
from redbucket.core.rows import BLOCKING, Facts, row_of
from redbucket.core.skipmarks import SkipMark, skip_marks
from redbucket.core.skips import REMEDY as SKIPS
from redbucket.core.skips import many_skipped
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.trials import Trials
from redbucket.core.wellknown import CODE_AND_DOCS
from redbucket.engine.axistrial import UNTOLD
from redbucket.engine.challenge import Challenge
from redbucket.engine.offlock import off_lock
from redbucket.engine.ports import Objects
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject
from redbucket.guards.remedies import approval

# What extension modules are built from: C, C++, Cython, Rust, Fortran.
COMPILED = (
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"),
    *(".pyx", ".pxd", ".pxi", ".rs", ".f", ".f90", ".pyf"),
)
# Python that builds, and is no module of the product.
_BUILD_SCRIPTS = frozenset({"setup.py", "hatch_build.py", "pdm_build.py", "build.py"})

# How the recorder begins the names of what is no part of a framework (recorder/machinery.py).
_LIBRARY = "the library's "
_LEAVE_FRAMEWORK = (
    "product code must leave the test framework, the recorder, builtins and what test files hold as they are, and"
    " end no example or part of a test"
)
_LEAVE_LIBRARY = (
    "read why it is replaced for the whole process; a function of the product's own leaves others alone"
)
_OFF = frozenset((Outcome.SKIPPED, Outcome.XFAILED))


@dataclass
class Judged:
    """What the runs gave."""

    rows: list[Row] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    trials: Trials = field(default_factory=Trials)
    session: str = ""
    touching: int = 0
    unwatched: tuple[str, ...] = ()


@dataclass
class Said:
    """What is said of the runs of one gate; ``reruns`` is how many of head were asked for."""

    subject: Subject
    objects: Objects
    specs: Specs
    reruns: int
    scope: str
    freezes: Mapping[str, Frozen]
    out: Judged
    marks: dict[tuple[str, bool], list[SkipMark]] = field(default_factory=dict)

    def rows(
        self,
        trials: Trials,
        challenge: Challenge,
        expected: Sequence[str],
        collected: Run,
        base: Run | None,
        broken: str,
    ) -> None:
        moved = worlds.moved_fixtures(self.subject.sides)
        off_lock = self._off_lock(trials)
        in_base = set(trials.names(collected).values()) | set(collected.errors)
        must, failing = set(expected), self._failing(trials)
        lost = _lost(challenge)
        for name in trials.order:
            known = challenge.of(name)
            outcomes = trials.outcomes(name, "H")
            if not outcomes and name not in must:
                continue  # base's alone: a trusted hand took the test out of its file
            gone = bool(outcomes) and set(outcomes) == {Outcome.MISSING} and name in must
            read = {p for t in trials.tests(name, "H") for p in t.fixtures}
            if self.specs.whole and (known.explains or known.other_fixture_passes):
                read = set(moved)
            facts = Facts(
                asked=len(outcomes) if self.scope != "all" and len(outcomes) == 1 else self.reruns,
                broken=broken,
                cause=known.cause,
                explained=known.explained,
                explains=known.explains,
                other_fixture_passes=known.other_fixture_passes,
                moved=tuple(sorted(read & moved)),
                tried=tuple(known.tried),
                wavers=known.wavers and known.cause is None,
                revealed_by=known.revealed_by,
                new=name not in in_base and base is not None,
                vanished=gone,
                off_lock=tuple(sorted(read & off_lock)),
                notes=tuple(known.notes),
                flipped_by=known.flipped_by,
                looks=tuple(known.looks),
                marker=self._marker(name, outcomes) if name in in_base else "",
                wrote_in_base=any(t.wrote for t in trials.tests(name, "B")),
                recorded=not self.specs.whole,
            )
            row = row_of(name, trials, facts)
            if self.freezes and (freeze := self.freezes.get(pytest_id(name, self.subject.sides.base))):
                row = frozen_row(row, freeze, new=facts.new)
            if lost and _is_unknown(row, trials):
                row = row_of(name, trials, replace(facts, broken=lost))
            if gone and not broken:
                self.out.findings.append(self._vanished(name, trials, row, failing=failing))
                if not self.subject.identity.agent and not _has_reason(trials, name):
                    continue  # a person's patch may take rows out of a table: said, not counted
            self.out.rows.append(row)
        self.out.touching = sum(
            bool(t.touched) and t.outcome is Outcome.PASSED
            for n in trials.order
            for t in trials.tests(n, "H")[:1]
        )

    def _marker(self, name: str, outcomes: Sequence[Outcome]) -> str:
        """The marker by which a trusted hand switches a test off in its own file, with its place; else ""."""
        sides = self.subject.sides
        path = file_of(name, sides.merged) if outcomes and _OFF.issuperset(outcomes) else None
        if path is None or path in self.subject.distrusted or sides.base.get(path) == sides.merged[path]:
            return ""
        test = pytest_id(name, sides.merged)
        old = self._marks(path, base=True)
        for mark in self._marks(path, base=False):
            if mark.holds(test, path) and (mark.name, mark.text) not in {(m.name, m.text) for m in old}:
                return f"{path}:{mark.line} {mark.text}"
        return ""

    def _marks(self, path: str, *, base: bool) -> list[SkipMark]:
        tree = self.subject.base if base else self.subject.merged
        key = path, base
        if key not in self.marks:
            entry = tree.entries.get(path)
            self.marks[key] = skip_marks(tree.read(path)) if entry is not None and entry.is_file else []
        return self.marks[key]

    def _off_lock(self, trials: Trials) -> frozenset[str]:
        """The fixtures that failing tests read and that base's lock, and head's, do not vouch for."""
        read = {
            path
            for name in trials.order
            for test in trials.tests(name, "H")
            if test.outcome in FAILING
            for path in test.fixtures
        }
        if not read or not Scope(self.subject.judge).candidates(self.subject.sides.base):
            return frozenset()
        head = self.objects.tree_view(self.subject.h_tree)
        judge = self.subject.judge
        return off_lock(self.subject.base, judge, read) & off_lock(head, judge, read)

    def _failing(self, trials: Trials) -> bool:
        """True if a whole command's runs hold a failure, which may have kept others from being run."""
        red = FAILING - {Outcome.MISSING}
        return self.specs.whole and any(t.outcome in red for n in trials.order for t in trials.tests(n, "H"))

    def _vanished(self, name: str, trials: Trials, row: Row, *, failing: bool) -> Finding:
        agent = self.subject.identity.agent or _has_reason(trials, name)
        reason = next((t.message for t in trials.tests(name, "H") if t.message), "")
        path = file_of(name, self.subject.sides.base)
        touched = path in self.subject.touched
        signers = bool(self.subject.policy.identity.allowed_signers)
        # to approve bytes that the patch leaves alone approves nothing
        person = (
            approval(path, signers=signers)
            if path and touched
            else "have a person make the change in a commit and on a branch of their own"
        )
        if reason:
            back = f"fix the code until {path or 'the test'} can be collected"
        elif failing:
            # a process that ends, or a file that does not load, takes all tests after it along
            back = "mend what fails in the same runs, which may keep this test from being run"
        elif touched:
            back = "bring the test back"
        else:
            back = "bring the test back in what it is made from (a table of rows, say): its own file is as in base"
        return Finding(
            rule="vanished-test",
            severity=Severity.REFUSE if agent else Severity.WARN,
            path=path,
            nodeid=name,
            reason="base collects this test and head does not"
            + (f": {first_line(reason)}" if reason else ""),
            remedy=f"{back}, or, if it is to go, {person}",
        )

    def rewritten(self, head: Sequence[Run], base: Run | None) -> None:
        """Files of the judge side that head's runs wrote, or its build, and base's did not."""
        before = set(base.tampered) if base is not None else set()
        built = set(base.prepared) if base is not None else set()
        # what a run does to a recording is the rule fixture-written's
        tampered = {p for run in head for p in run.tampered if not self.subject.judge.is_fixture(p)}
        for path in sorted(tampered - before):
            self._refuse(
                path,
                "this file judges the patch and was rewritten while the tests ran",
                "find what writes it: tests and test configuration must not change during a run",
            )
        for path in sorted({p for run in head for p in run.prepared} - built):
            self._refuse(
                path,
                "[run] prepare writes this file, which judges the patch, and does not in base",
                "find what writes it: a build must leave tests, fixtures and test configuration alone",
            )

    def _refuse(self, path: str, reason: str, remedy: str) -> None:
        rule, severity = "judge-rewritten", Severity.REFUSE
        self.out.findings.append(
            Finding(rule=rule, severity=severity, path=path, reason=reason, remedy=remedy)
        )

    def patched(self, parts: Sequence[str], base: Run | None) -> None:
        """What decides outcomes was replaced in head's process, and not in base's."""
        parts = [p for p in parts if (base is None or p not in base.patched) and self._as_in_base(p)]
        if not parts:
            return
        library = [part for part in parts if part.startswith(_LIBRARY)]
        decides = [part for part in parts if part not in library]
        refuse = Severity.REFUSE if self.subject.identity.agent else Severity.WARN
        for group, severity, what, remedy in (
            (decides, refuse, "replaces or goes around what decides the outcome of tests", _LEAVE_FRAMEWORK),
            (library, Severity.WARN, "replaces what tests may go through", _LEAVE_LIBRARY),
        ):
            if group:
                few = ", ".join(group[:3])
                few += f" and {plural(len(group) - 3, 'more place')}" if len(group) > 3 else ""
                self.out.findings.append(
                    Finding(
                        rule="machinery-patched",
                        severity=severity,
                        path=min((*self.specs.lines, *self.specs.modules), default=None),
                        reason=f"with the patch, code under test {what}: {few}",
                        remedy=remedy,
                    )
                )

    def _as_in_base(self, part: str) -> bool:
        """Return whether base says something of a part, "NAME of FILE" where a test file holds it."""
        path = part.partition(" of ")[2]
        sides = self.subject.sides
        return path in self.subject.distrusted or sides.base.get(path) == sides.merged.get(path)

    def notes(self, first: Run, challenge: Challenge, unscouted: str) -> None:
        # what was left out for another reason says so in brackets of its own
        late = [what for what in dict.fromkeys(challenge.untried) if not any(why in what for why in UNTOLD)]
        if late:
            self.out.notes.append(
                Problem(
                    code="not-tried",
                    reason=f"not tried for lack of time: {', '.join(late)}",
                    remedy="raise [run] challenge_budget (and budget), or run redbucket explain on one test",
                )
            )
        rest = [what for what in dict.fromkeys(challenge.untried) if what not in late]
        if rest:
            self.out.notes.append(
                Problem(code="not-tried", reason=f"not tried, or in vain: {', '.join(rest)}", remedy="")
            )
        if unscouted:
            self.out.notes.append(
                Problem(
                    code="scout-in-part",
                    reason=f"{unscouted} were not run with other seeds: the scout takes a tenth of the "
                    "suite's time, or a few seconds",
                    remedy="",
                )
            )
        skipped = many_skipped(first.tests.values())
        if skipped:
            self.out.notes.append(Problem(code="many-skipped", reason=skipped, remedy=SKIPS))
        few = ", ".join(sorted(first.parts)[:3])
        compiled = self._compiled() if first.parts else []
        if compiled:
            self.out.problems.append(
                Problem(
                    code="stale-build",
                    reason=f"the patch changes {', '.join(compiled[:3])}, but the tests ran with what the installed "
                    f"copy has built: {few}",
                    remedy="build in the judged tree: [run] prepare, for instance "
                    '[["python", "setup.py", "build_ext", "--inplace"]]',
                )
            )
        elif first.parts and (sources := self._sources_of_builds()):
            self.out.notes.append(
                Problem(
                    code="built-parts",
                    reason=f"{plural(len(first.parts), 'built or generated module')} came from the "
                    f"installed copy ({few}), and the patch changes {', '.join(sources[:3])}",
                    remedy="if they are made from that, build them in the judged tree: [run] prepare",
                )
            )
        if first.dropped:
            self.out.notes.append(
                Problem(
                    code="updates-dropped",
                    reason=f"left out of every run, because it rewrites what tests expect: {', '.join(first.dropped)}",
                    remedy="take it out of [run] command and env, addopts and PYTEST_ADDOPTS",
                )
            )
        if first.unplayed:
            few = ", ".join(f"{path} ({count})" for path, count in sorted(first.unplayed.items())[:3])
            self.out.notes.append(
                Problem(
                    code="unplayed",
                    reason=f"{sum(first.unplayed.values())} recorded interactions were never asked for: {few}",
                    remedy="if a test was to ask for them, it does not; if not, a person takes them out",
                )
            )
        self.out.notes += _broken_experiments(challenge.broken)

    def _compiled(self) -> list[str]:
        """Source of compiled modules that differs between base and the merge tree."""
        return [path for path in self._changed_product() if path.endswith(COMPILED)]

    def _sources_of_builds(self) -> list[str]:
        """Product files of the patch that a build may read: a grammar, a table, its own script, not a plain module."""
        plain = Matcher(CODE_AND_DOCS)
        return [
            path
            for path in self._changed_product()
            if path.rpartition("/")[2] in _BUILD_SCRIPTS or not plain.matches(path)
        ]

    def _changed_product(self) -> list[str]:
        """Files that differ between base and the merge tree, and that do not judge."""
        sides = self.subject.sides
        paths = {*sides.base, *sides.merged}
        return sorted(p for p in paths if sides.base.get(p) != sides.merged.get(p) and not sides.is_judge(p))


def _broken_experiments(runs: Sequence[Run]) -> list[Problem]:
    """Return a note for each reason why experiments broke off."""
    alike: dict[str, list[Run]] = {}
    for run in runs:
        alike.setdefault(normalise(run.cut), []).append(run)
    notes = []
    for some in alike.values():
        names = list(dict.fromkeys(f"{run.world} {run.condition}" for run in some))
        few = ", ".join(names[:3]) + (f" and {plural(len(names) - 3, 'other')}" if len(names) > 3 else "")
        notes.append(
            Problem(
                code="experiment-broken",
                reason=f"without a result: {plural(len(some), 'experiment')} ({few}): {some[0].cut}",
            )
        )
    return notes


def _lost(challenge: Challenge) -> str:
    """Return why runs of base broke off, "" if none did."""
    cut = next((run for run in challenge.broken if run.world == "B"), None)
    if cut is None:
        return ""
    return f"it could not be compared with base, whose runs broke off: {cut.cut}"


def _is_unknown(row: Row, trials: Trials) -> bool:
    """Return whether a test is red, or does nothing, with the patch, and no run of base says anything of it."""
    if trials.everywhere(row.nodeid, "B"):
        return False
    if row.bucket in BLOCKING:
        return row.introduced is None and not row.state  # a frozen one has its state
    return bool(_OFF.intersection(trials.outcomes(row.nodeid, "H")))


def _has_reason(trials: Trials, name: str) -> bool:
    """True if the test is missing because its file could not be imported."""
    return any(t.message for t in trials.tests(name, "H"))
