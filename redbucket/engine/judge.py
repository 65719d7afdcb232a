"""Runs the worlds of one subject and gives rows, findings and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redbucket.core import worlds
from redbucket.core.align import unstable_functions
from redbucket.core.buckets import Bucket, Cause
from redbucket.core.classification import FAILING
from redbucket.core.evidence import SUITE_LEAST, SUITE_RED
from redbucket.core.findings import Finding, Severity
from redbucket.core.fingerprint import normalise
from redbucket.core.frozen import Frozen, frozen_row
from redbucket.core.manifests import Scope
from redbucket.core.records import Outcome, Run
from redbucket.core.report import Problem, Row
from redbucket.core.rows import Facts, row_of
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.trials import Trials, all_failed, all_passed
from redbucket.engine.challenge import Challenge, is_clean, is_noisy
from redbucket.engine.contraries import Contraries
from redbucket.engine.masked import Masked
from redbucket.engine.offlock import off_lock
from redbucket.engine.polluters import search_of, sentence
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.scout import choose_scouted
from redbucket.engine.specs import Specs, add_world
from redbucket.engine.subject import Subject

# What extension modules are built from: C, C++, Cython, Rust, Fortran.
COMPILED = (
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"),
    *(".pyx", ".pxd", ".pxi", ".rs", ".f", ".f90", ".pyf"),
)


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


@dataclass
class Judge:
    """One gate's runs, from the first to the last.

    ``limited`` starts the time for the search of what an order depends on, and returns what says
    that it is over; None: no search.
    """

    subject: Subject
    objects: Objects
    specs: Specs
    bench: Bench
    reruns: int
    scope: str
    doubt: float | None
    say: Callable[[str], None]
    over: Callable[[], bool]
    freezes: Mapping[str, Frozen] = field(default_factory=dict)
    unscouted: str = ""
    limited: Callable[[], Callable[[], bool]] | None = None

    def judge(self) -> Judged:
        """Run, compare, challenge and classify."""
        out = Judged()
        first = [self.specs.make("H", lines=self.specs.lines)]
        full = self.reruns if self.scope == "all" else 1
        first += [self.specs.make("H") for _ in range(full - 1)]
        self.say(f"running the tests {'once' if full == 1 else f'{full} times'} with the patch")
        *head, collected = self.bench.run([*first, self.specs.make("B", "collect", collect_only=True)])
        out.session = head[0].session.interpreter
        trials = out.trials = self._aligned(head, collected)
        for run in head:
            trials.add(run)
        troubles = troubles_of(head, collected)
        expected = self._expected(collected, trials)
        self._note_missing(head, expected, collected, trials)
        names = list(trials.results)
        if not troubles and not collected.collected and not any(run.tests for run in head):
            out.problems.append(_no_tests(head[0]))
            return out
        if self.scope != "all":
            self._rerun_failed(names, trials)
        challenge = Challenge(self.specs, self.bench, trials, self.say, self.over)
        suspects = [n for n in names if not is_clean(trials, n)]
        suspects += self._woken(names, trials, challenge)
        rewritten = sorted({p for run in head for p in run.tampered})
        patched = sorted({p for run in head for p in run.patched} - set(collected.patched))
        base: Run | None = None
        if suspects or rewritten or patched:
            self.say(f"{len(suspects)} tests not clean: running base under the same seed and order")
            (base,) = self.bench.run([self.specs.make("B")])
            renamed = trials.learn([collected.collected, base.collected], head[0].collected)
            names, suspects, expected = (
                list(dict.fromkeys(renamed.get(n, n) for n in some)) for some in (names, suspects, expected)
            )
            challenge.take([base])
        self._rewritten(rewritten, base, out)
        self._patched(patched, base, out)
        environment = _environment(head, base)
        if troubles or environment:
            out.problems += troubles + ([environment] if environment else [])
        elif not self.over():
            self._look_at_contraries(names, trials, out)
            self._challenge(suspects, names, trials, challenge, head[0])
        if self.over():
            out.problems.append(_out_of_time(challenge.untried))
        broken = troubles[0].reason if troubles else environment.reason if environment else ""
        self._rows(out, trials, challenge, expected, collected, base, broken)
        self._notes(out, head[0], challenge)
        return out

    # -- which tests there must be ----------------------------------------------------------------

    def _aligned(self, head: Sequence[Run], collected: Run) -> Trials:
        """Ids that differ between the worlds: by the patch, or by the clock? Base alone tells."""
        trials = Trials.of(head)
        if unstable_functions([head[0].collected, collected.collected]) - trials.unstable:
            self.say("some ids differ between base and head: listing base's tests once more")
            (again,) = self.bench.run([self.specs.make("B", "collect", collect_only=True)])
            trials.learn([collected.collected, again.collected], ())
        return trials

    def _trusted_change(self, name: str) -> bool:
        """True if the file of a test was changed or removed by a trusted hand."""
        path = file_of(name, self.subject.sides.base)
        return (
            path is not None
            and self.subject.sides.base.get(path) != self.subject.sides.merged.get(path)
            and path not in self.subject.distrusted
        )

    def _expected(self, collected: Run, trials: Trials) -> list[str]:
        """Base's tests that head must have: those of files that no trusted hand changed."""
        return [n for n in trials.names(collected).values() if not self._trusted_change(n)]

    def _note_missing(
        self, head: Sequence[Run], expected: Iterable[str], collected: Run, trials: Trials
    ) -> None:
        for run in head:
            if run.broken:
                continue
            present = set(trials.names(run).values())
            for name in expected:
                if name not in present:
                    trials.missing(name, ("H", "plain"), _why_missing(name, run), run.seed)
            known_files = {n.partition("::")[0] for n in expected}
            for path, reason in run.errors.items():
                if path not in known_files and path not in present:
                    trials.missing(path, ("H", "plain"), reason, run.seed)
                    if path in collected.errors:
                        trials.missing(path, ("B", "plain"), collected.errors[path], run.seed)

    def _woken(self, names: Sequence[str], trials: Trials, challenge: Challenge) -> list[str]:
        """Tests that are skipped or expected to fail in head, and did their work in base."""
        absent = [
            n
            for n in names
            if is_clean(trials, n) and trials.outcomes(n, "H")[0] in (Outcome.SKIPPED, Outcome.XFAILED)
        ]
        if not absent or self.over():
            return []
        only = tuple(n for n in absent if "[#" not in n)
        self.say(f"{len(absent)} skipped or expected to fail: are they in base, too?")
        challenge.run([self.specs.make("B", "absent", only=only, order="given")])
        kinds = {n: trials.outcomes(n, "B", "absent") for n in absent}
        return [
            n
            for n, seen in kinds.items()
            if any(o is Outcome.PASSED or (o in FAILING and o is not Outcome.MISSING) for o in seen)
        ]

    def _rerun_failed(self, names: Sequence[str], trials: Trials) -> None:
        failed = tuple(n for n in names if not is_clean(trials, n) and "[#" not in n)
        if failed:
            self.say(f"{len(failed)} failed: running them again")
            runs = self.bench.run(
                [self.specs.make("H", only=failed, order="given") for _ in range(self.reruns - 1)]
            )
            for run in runs:
                trials.add(run)

    def _look_at_contraries(self, names: Sequence[str], trials: Trials, out: Judged) -> None:
        """An agent's code runs in the process that says whether tests passed: could they fail at all?

        Before the scout: a patch that counts runs and turns honest is red there.
        """
        changed = sorted({*self.specs.lines, *self.specs.modules})
        if not self.subject.identity.agent or not changed:
            return
        passed = [t for n in names if "[#" not in n and is_clean(trials, n) for t in trials.tests(n, "H")[:1]]
        passed = [t for t in passed if t.outcome is Outcome.PASSED]
        if not passed:
            return
        self.say("looking whether the tests can fail with the patch")
        look = Contraries(self.specs, self.objects, self.bench, self.over)
        look.look(passed)
        out.findings += look.findings
        out.problems += look.problems
        masked = Masked(self.specs, self.objects, self.bench, self.over)
        if masked.wanted(changed):
            self.say("looking whether they pass where nothing tells that this is a gate")
            masked.look(passed)
            out.findings += masked.findings

    # -- the challenge ------------------------------------------------------------------------------

    def _challenge(
        self, suspects: Sequence[str], names: Sequence[str], trials: Trials, challenge: Challenge, first: Run
    ) -> None:
        challenge.settle_base(suspects)
        failing = [n for n in suspects if not is_noisy(trials, n)]
        fresh = [n for n in failing if not any(o in FAILING for o in trials.everywhere(n, "B"))]
        moved = worlds.moved_fixtures(self.subject.sides)
        if moved:
            distrusted = moved & self.subject.distrusted
            failing_now = set(fresh)
            readers = [n for n in names if n in failing_now or self._reads(trials, n, distrusted)]
            tree = self.objects.write_tree(
                self.subject.merged_tree, worlds.other_fixtures(self.subject.sides, moved)
            )
            add_world(self.specs, self.subject, self.objects, "F", tree)
            present = [n for n in readers if set(trials.outcomes(n, "H")) != {Outcome.MISSING}]
            challenge.other_fixtures(present, self.reruns, moved - distrusted, distrusted)
        challenge.settle_noise([n for n in suspects if is_noisy(trials, n)])
        present = [n for n in fresh if Outcome.MISSING not in trials.outcomes(n, "H")]
        challenge.try_conditions(present)
        challenge.settle_noise(
            [n for n in present if challenge.of(n).wavers and challenge.of(n).cause is None]
        )
        self._polluters(present, trials, challenge, first)
        if self.subject.policy.run.scout and not self.over():
            self._scout(names, trials, challenge, first)
        if self.doubt is not None:
            challenge.reduce_doubt([n for n in present if challenge.of(n).cause is None], self.doubt)

    def _polluters(self, names: Sequence[str], trials: Trials, challenge: Challenge, first: Run) -> None:
        """Name the test that breaks another, within a time of its own."""
        ordered = [n for n in names if challenge.of(n).cause is Cause.ORDER and "[#" not in n]
        if not ordered or self.limited is None:
            return
        over = self.limited()
        for name in ordered:
            if self.over() or over():
                challenge.untried.append(f"which test does it to {name}")
                continue
            search = search_of(name, tuple(first.tests), trials, self.specs, self.bench, self.say, over)
            culprits = search.find()
            challenge.of(name).notes.append(sentence(culprits, search.alone_fails))

    def _reads(self, trials: Trials, name: str, moved: frozenset[str]) -> bool:
        return any(path in moved for test in trials.tests(name, "H") for path in test.fixtures)

    def _scout(self, names: Sequence[str], trials: Trials, challenge: Challenge, first: Run) -> None:
        scouted, left_out = choose_scouted(
            [t for n in names for t in trials.tests(n, "H")[:1] if is_clean(trials, n)], self.specs.seed
        )
        if not scouted:
            return
        if left_out:
            self.unscouted = f"{left_out} of the {left_out + len(scouted)} tests that run changed lines"
        self.say(f"scouting {len(scouted)} tests that run changed lines, with other seeds and a used HOME")
        other = self.specs.other_seed("scout")
        plain = next(iter(self.first_homes()), "")
        spec = self.specs.make(
            "H",
            "scout",
            only=tuple(scouted),
            order="shuffled",
            shuffle=other,
            seed=other,
            hash_seed=other,
            used_home=plain,
        )
        challenge.run([spec])
        differing = [
            n
            for n in scouted
            if all_passed(trials.outcomes(n, "H")) and all_failed(trials.outcomes(n, "H", "scout"))
        ]
        challenge.follow_scout(differing, plain)

    def first_homes(self) -> Iterable[str]:
        """Names of the runs whose HOME may be used again: the first of head."""
        return ("H-plain-1",)

    def _compiled(self) -> list[str]:
        """Source of compiled modules that differs between base and the merge tree."""
        sides = self.subject.sides
        paths = {p for p in (*sides.base, *sides.merged) if p.endswith(COMPILED)}
        return sorted(p for p in paths if sides.base.get(p) != sides.merged.get(p) and not sides.is_judge(p))

    # -- rows -----------------------------------------------------------------------------------------

    def _rows(
        self,
        out: Judged,
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
        must = set(expected)
        for name in trials.order:
            known = challenge.of(name)
            outcomes = trials.outcomes(name, "H")
            if not outcomes and name not in must:
                continue  # base's alone: a trusted hand took the test out of its file
            gone = bool(outcomes) and set(outcomes) == {Outcome.MISSING} and name in must
            read = {p for t in trials.tests(name, "H") for p in t.fixtures}
            facts = Facts(
                asked=len(outcomes) if self.scope != "all" and len(outcomes) == 1 else self.reruns,
                broken=broken,
                cause=known.cause,
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
                wrote_in_base=any(t.wrote for t in trials.tests(name, "B")),
            )
            row = row_of(name, trials, facts)
            if self.freezes and (freeze := self.freezes.get(pytest_id(name, self.subject.sides.base))):
                row = frozen_row(row, freeze, new=facts.new)
            if gone and not broken:
                out.findings.append(self._vanished(name, trials, row))
                if not self.subject.identity.agent and not _has_reason(trials, name):
                    continue  # a person's patch may take rows out of a table: said, not counted
            out.rows.append(row)
        out.touching = sum(
            bool(t.touched) and t.outcome is Outcome.PASSED
            for n in trials.order
            for t in trials.tests(n, "H")[:1]
        )

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

    def _vanished(self, name: str, trials: Trials, row: Row) -> Finding:
        agent = self.subject.identity.agent or _has_reason(trials, name)
        reason = next((t.message for t in trials.tests(name, "H") if t.message), "")
        return Finding(
            rule="vanished-test",
            severity=Severity.REFUSE if agent else Severity.WARN,
            path=file_of(name, self.subject.sides.base),
            nodeid=name,
            reason="base collects this test and head does not"
            + (f": {_first_line(reason)}" if reason else ""),
            remedy="bring the test back, or let a human remove it in a commit of their own or endorse the change",
        )

    def _rewritten(self, paths: Sequence[str], base: Run | None, out: Judged) -> None:
        before = set(base.tampered) if base is not None else set()
        for path in paths:
            if path in before or self.subject.judge.is_fixture(path):
                continue
            out.findings.append(
                Finding(
                    rule="judge-rewritten",
                    severity=Severity.REFUSE,
                    path=path,
                    reason="this file judges the patch and was rewritten while the tests ran",
                    remedy="find what writes it: tests and test configuration must not change during a run",
                )
            )

    def _patched(self, parts: Sequence[str], base: Run | None, out: Judged) -> None:
        """What decides outcomes was replaced in head's process, and not in base's."""
        parts = [p for p in parts if base is None or p not in base.patched]
        if not parts:
            return
        few = ", ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")
        out.findings.append(
            Finding(
                rule="machinery-patched",
                severity=Severity.REFUSE if self.subject.identity.agent else Severity.WARN,
                path=min((*self.specs.lines, *self.specs.modules), default=None),
                reason=f"with the patch, code under test replaces what decides the outcome of tests: {few}",
                remedy="product code must leave the test framework, the recorder and builtins as they are",
            )
        )

    def _notes(self, out: Judged, first: Run, challenge: Challenge) -> None:
        if challenge.untried:
            out.notes.append(
                Problem(
                    code="not-tried",
                    reason=f"not tried for lack of time: {', '.join(dict.fromkeys(challenge.untried))}",
                    remedy="raise [run] budget, or run redbucket explain on one test",
                )
            )
        if self.unscouted:
            out.notes.append(
                Problem(
                    code="scout-in-part",
                    reason=f"{self.unscouted} were not run with other seeds: the scout takes a tenth of the "
                    "suite's time, or a few seconds",
                    remedy="",
                )
            )
        few = ", ".join(sorted(first.parts)[:3])
        compiled = self._compiled() if first.parts else []
        if compiled:
            out.problems.append(
                Problem(
                    code="stale-build",
                    reason=f"the patch changes {', '.join(compiled[:3])}, but the tests ran with what the installed "
                    f"copy has built: {few}",
                    remedy="build in the judged tree: [run] prepare, for instance "
                    '[["python", "setup.py", "build_ext", "--inplace"]]',
                )
            )
        elif first.parts:
            out.notes.append(
                Problem(
                    code="built-parts",
                    reason=f"{len(first.parts)} built or generated modules come from the installed copy: {few}",
                    remedy="if the patch changes what they are built from, build them in [run] prepare",
                )
            )
        for run in challenge.broken:
            out.notes.append(
                Problem(
                    code="experiment-broken",
                    reason=f"one experiment ({run.world} {run.condition}): {run.broken}",
                )
            )


def troubles_of(head: Sequence[Run], collected: Run) -> list[Problem]:
    """Return why the runs can't be counted on; what several runs have in common is said once."""
    said: dict[tuple[str, str], tuple[str, str, str]] = {}
    ids: dict[tuple[str, str], list[int]] = {}
    for run in head:
        fault = _fault(run)
        if fault is not None:
            key = (fault[0], normalise(fault[1]))  # "no tests ran in 4.75s"
            said.setdefault(key, fault)
            ids.setdefault(key, []).append(run.run_id)
    troubles = []
    for key, (code, reason, remedy) in said.items():
        which = f"run{'s' if len(ids[key]) > 1 else ''} {', '.join(map(str, ids[key]))}"
        troubles.append(Problem(code=code, reason=f"{which}: {reason}", remedy=remedy))
    if collected.broken:
        # without base's list of tests nobody knows which of them are gone
        troubles.append(
            Problem(
                code="record-incomplete",
                reason=f"base's tests could not be listed: {_without_source(collected)}",
                remedy="fix what ends the collection early, at base",
            )
        )
    return troubles


# A runner's own dependency (pluggy) is loaded before the tree is on the path, but not before PYTHONPATH.
_IMPORTABLE = (
    '[run] env, for instance { PYTHONPATH = "src" }, pythonpath in pytest\'s configuration, or [run] prepare'
)


def _fault(run: Run) -> tuple[str, str, str] | None:
    """Return code, reason and remedy if a run can't be counted on."""
    if run.broken:
        return (
            "record-incomplete",
            _without_source(run),
            "fix what ends the run early; a test that hangs or crashes alone costs only itself",
        )
    if run.sentinels:
        return (
            "sentinel-misbehaved",
            run.sentinels,
            "something in the process rewrites test results: look at conftest hooks and at what the patch imports",
        )
    outside = {**run.foreign, **run.elsewhere}
    if outside:
        module = min(outside)
        return (
            "code-from-elsewhere",
            f"code from outside the judged tree was tested: {module} came from {outside[module]}",
            f"make the tree's own copy importable with {run.session.interpreter}: {_IMPORTABLE}",
        )
    return None


def _without_source(run: Run) -> str:
    """What broke the run, without the record's path: that is gone when the report is read."""
    return run.broken.removeprefix(f"{run.source}: ")


def _environment(head: Sequence[Run], base: Run | None) -> Problem | None:
    """Four fifths of the suite red in both worlds: the environment, not the patch."""
    if base is None or base.broken or len(base.tests) < SUITE_LEAST:
        return None
    for run in (*head, base):
        red = sum(t.outcome in FAILING for t in run.tests.values())
        if not run.tests or red / len(run.tests) < SUITE_RED:
            return None
    example = next((t.message for t in base.tests.values() if t.outcome in FAILING), "")
    return Problem(
        code="environment-failed",
        reason=f"four fifths of the suite are red with and without the patch, for instance: {_first_line(example)}",
        remedy=f"make the suite pass at base first, with {base.session.interpreter}: missing packages, services "
        "or built parts ([run] prepare)",
    )


def _no_tests(run: Run) -> Problem:
    if run.errors:
        path = min(run.errors)
        return Problem(
            code="no-tests",
            reason=f"no test could be collected: {path}: {_last_line(run.errors[path])}",
            remedy=f"make the tests importable with {run.session.interpreter}",
        )
    return Problem(
        code="no-tests",
        reason="no tests were collected, with the patch or without it",
        remedy="set [run] command in redbucket.toml to the command that runs the tests",
    )


def _out_of_time(untried: Sequence[str]) -> Problem:
    return Problem(
        code="out-of-time",
        reason="the time budget ran out before all runs were done",
        remedy="raise [run] budget, or use --scope failed",
    )


def _why_missing(name: str, run: Run) -> str:
    path = name.partition("::")[0]
    for place in (path, name):
        if place in run.errors:
            return run.errors[place]
    dotted = [e for e in run.errors if name.startswith(e + ".")]
    return run.errors[dotted[0]] if dotted else ""


def _has_reason(trials: Trials, name: str) -> bool:
    """True if the test is missing because its file could not be imported."""
    return any(t.message for t in trials.tests(name, "H"))


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:300]


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:300]


UNTRUSTED = Bucket.UNTRUSTED
