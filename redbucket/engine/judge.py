"""Runs the worlds of one subject and gives rows, findings and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redbucket.core import worlds
from redbucket.core.align import unstable_functions
from redbucket.core.axes import Axis
from redbucket.core.buckets import Bucket, Cause
from redbucket.core.classification import FAILING
from redbucket.core.evidence import ran
from redbucket.core.frozen import Frozen
from redbucket.core.records import Outcome, Run
from redbucket.core.report import Row
from redbucket.core.runspec import RunSpec, full_runs
from redbucket.core.testpath import file_of, stands_for
from redbucket.core.trials import Trials, all_failed, all_passed
from redbucket.engine.aside import USED_HOME, Aside
from redbucket.engine.causes import Causes
from redbucket.engine.challenge import Challenge, is_clean, is_noisy
from redbucket.engine.judged import Judged, Said
from redbucket.engine.landing import Landing
from redbucket.engine.newcases import new_cases
from redbucket.engine.polluters import search_of, sentence
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs, add_world, opening
from redbucket.engine.subject import Subject
from redbucket.engine.troubles import environment_failed, no_tests, out_of_time, troubles_of
from redbucket.engine.unread import unread
from redbucket.engine.written import touched, written


@dataclass
class _Ids:
    """The ids of one gate, under common names: all of head's, and those that more is asked of.

    ``expected`` are base's that head must have, ``suspects`` are not clean, ``absent`` are skipped or expected to fail.
    """

    names: list[str]
    expected: list[str]
    suspects: list[str]
    absent: list[str]

    def rename(self, renamed: Mapping[str, str]) -> None:
        """Take over that ids turned out to have another name, {old: new}."""
        for which in ("names", "expected", "suspects", "absent"):
            setattr(self, which, list(dict.fromkeys(renamed.get(n, n) for n in getattr(self, which))))


@dataclass
class Judge:
    """One gate's runs, from the first to the last.

    ``limited`` starts the time for the search for causes, and returns what says that it is over;
    None: no search. ``axes`` are those along which it is searched. ``brought`` says that the first
    runs were made elsewhere. ``split`` is told which tests base has before anything is run; None: nobody asks.
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
    limited: Callable[[], Callable[[], bool]] | None = None
    axes: Sequence[Axis] = ()
    brought: bool = False
    split: Callable[[Run], None] | None = None

    def judge(self) -> Judged:
        """Run, compare, challenge and classify."""
        out = Judged()
        full = full_runs(self.reruns, self.scope)
        first = opening(self.specs, full)
        times = "once" if full == 1 else f"{full} times"
        running = f"running the tests {times} with the patch"
        listed_first = self.brought or self.split is not None
        self.say("listing base's tests" if listed_first else running)
        # where nothing but a run says which tests there are, base is run from the start
        whole = self.specs.whole
        listing = self.specs.make("B") if whole else self.specs.make("B", "collect", collect_only=True)
        if self.split is None:
            *head, collected = self.bench.run([*first, listing])
        else:
            (collected,) = self.bench.run([listing])
            self.split(collected)
            self.say(running)
            head = self.bench.run(first)
        out.session = head[0].session.interpreter
        out.unwatched = head[0].unwatched
        trials = out.trials = self._aligned(head, collected)
        for run in head:
            trials.add(run)
        troubles = troubles_of(head, collected)
        expected = self._expected(collected, trials)
        self._note_missing(head, expected, collected, trials)
        names = list(trials.results)
        ran = collected.collected or any(run.tests for run in head)
        # a runner that imports the code under test itself says nothing of tests that are not there
        if not ran and all(trouble.code == "code-from-elsewhere" for trouble in troubles):
            out.problems.append(no_tests(head[0]))
            return out
        if self.scope != "all":
            self._rerun_failed(names, trials)
        challenge = Challenge(self.specs, self.bench, trials, self.say, self.over)
        base: Run | None = None
        if whole:
            base = collected
            challenge.take([base])
        suspects = [n for n in names if not is_clean(trials, n)]
        ids = _Ids(names, expected, suspects, _absent(names, trials))
        rewritten = touched(head)
        patched = sorted({p for run in head for p in run.patched} - set(collected.patched))
        if base is None and (suspects or rewritten or patched):
            base = self._base(f"{len(suspects)} tests not clean", ids, challenge, head, collected)
        said = Said(self.subject, self.objects, self.specs, self.reruns, self.scope, self.freezes, out)
        said.rewritten(head, base)
        out.findings += written(head, base, self.subject.judge, agent=self.subject.identity.agent)
        said.patched(patched, base)
        environment = environment_failed(head, base)
        aside = Aside(self.subject, self.objects, self.specs, self.bench, self.say, self.over)
        if troubles or environment:
            out.problems += troubles + ([environment] if environment else [])
        elif not self.over():
            scouted: list[str] = []
            if not whole:
                out.findings += unread(self.subject, self.specs, self.bench, head)
                asleep = self._asleep(ids.absent) if base is None else None
                scouted = aside.look(ids.names, trials, challenge, out, head[0], asleep)
            woken = [n for n in ids.absent if _works_in_base(trials, n)]
            ids.suspects += woken
            if woken and base is None:
                why = f"{len(woken)} tests do their work in base alone"
                base = self._base(why, ids, challenge, head, collected)
            self._challenge(ids.suspects, ids.names, trials, challenge, head[0], scouted)
            if not whole:
                out.rows += self._new_cases(ids.names, trials)
        if self.over():
            out.problems.append(out_of_time())
        broken = troubles[0].reason if troubles else environment.reason if environment else ""
        said.rows(trials, challenge, ids.expected, collected, base, broken)
        drifted = {row.nodeid for row in out.rows if row.bucket is Bucket.FIXTURE_DRIFT}
        # the patch's bytes of a fixture are why: the row says so, and blocks
        out.findings = [f for f in out.findings if f.rule != Landing.rule or f.nodeid not in drifted]
        said.notes(head[0], challenge, aside.unscouted)
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
        self, head: Sequence[Run], expected: Sequence[str], collected: Run, trials: Trials
    ) -> None:
        for run in head:
            if run.broken:
                continue
            present = set(trials.names(run).values())
            for name in expected:
                if name not in present:
                    trials.missing(name, ("H", "plain"), _why_missing(name, run), run.seed)
            for path, reason in run.errors.items():
                if path not in present and not any(stands_for(path, name) for name in expected):
                    trials.missing(path, ("H", "plain"), reason, run.seed)
                    if path in collected.errors:
                        trials.missing(path, ("B", "plain"), collected.errors[path], run.seed)

    def _base(self, why: str, ids: _Ids, challenge: Challenge, head: Sequence[Run], collected: Run) -> Run:
        """Run the whole of base and take it into account; ``ids`` get the names that it shows."""
        self.say(f"{why}: running base under the same seed and order")
        (base,) = self.bench.run([self.specs.make("B")])
        ids.rename(challenge.trials.learn([collected.collected, base.collected], head[0].collected))
        challenge.take([base])
        return base

    def _asleep(self, absent: Sequence[str]) -> RunSpec | None:
        """Return the run of base that tells whether what head skips, or expects to fail, does its work there."""
        only = tuple(n for n in absent if "[#" not in n)
        return self.specs.make("B", "absent", only=only, order="given") if only else None

    def _rerun_failed(self, names: Sequence[str], trials: Trials) -> None:
        failed = tuple(n for n in names if not is_clean(trials, n) and "[#" not in n)
        if failed:
            self.say(f"{len(failed)} failed: running them again")
            runs = self.bench.run(
                [self.specs.make("H", only=failed, order="given") for _ in range(self.reruns - 1)]
            )
            for run in runs:
                trials.add(run)

    # -- the challenge ------------------------------------------------------------------------------

    def _new_cases(self, names: Sequence[str], trials: Trials) -> list[Row]:
        moved = worlds.moved_fixtures(self.subject.sides) & self.subject.distrusted
        if not moved or self.over():
            return []
        paths = self.subject.sides.merged
        return new_cases(trials, self.specs, self.bench, names, moved, self.reruns, paths)

    def _challenge(
        self,
        suspects: Sequence[str],
        names: Sequence[str],
        trials: Trials,
        challenge: Challenge,
        first: Run,
        scouted: Sequence[str],
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
        steady_in_head = [n for n in failing if Outcome.MISSING not in trials.outcomes(n, "H")]
        challenge.settle_unsteady([n for n in steady_in_head if not challenge.of(n).wavers])
        if self.limited is not None and not self.specs.whole:
            self._causes(present, [n for n in suspects if is_noisy(trials, n)], challenge, first)
        differing = [
            n
            for n in scouted
            if all_passed(trials.outcomes(n, "H")) and all_failed(trials.outcomes(n, "H", "scout"))
        ]
        challenge.follow_scout(differing, USED_HOME)
        if self.doubt is not None:
            challenge.reduce_doubt([n for n in present if challenge.of(n).cause is None], self.doubt)

    def _causes(self, failing: Sequence[str], noisy: Sequence[str], challenge: Challenge, first: Run) -> None:
        """Name the test that breaks another, and other causes, within a time of its own."""
        assert self.limited is not None
        trials, limit = challenge.trials, self.limited()

        def over() -> bool:
            return self.over() or limit()

        failing = [n for n in failing if "[#" not in n]
        for name in [n for n in failing if challenge.of(n).cause is Cause.ORDER]:
            if over():
                challenge.untried.append(f"which test does it to {name}")
                continue
            search = search_of(name, first.beside(name), trials, self.specs, self.bench, self.say, over)
            culprits = search.find()
            known = challenge.of(name)
            known.notes.append(sentence(culprits, search.alone_fails))
            known.looks += search.tally.experiments([culprits.condition] if culprits.confirmed else ())
        unknown = [n for n in failing if challenge.of(n).cause is None and not challenge.of(n).wavers]
        mixed = [n for n in noisy if "[#" not in n]
        search_all = Causes(self.specs, self.bench, trials, challenge, self.axes, self.say, over)
        search_all.look(challenge.representatives(unknown), mixed, first)

    def _reads(self, trials: Trials, name: str, moved: frozenset[str]) -> bool:
        if self.specs.whole:
            return bool(moved)  # whether it does is not known: a run with the other bytes tells
        return any(path in moved for test in trials.tests(name, "H") for path in test.fixtures)


def _absent(names: Iterable[str], trials: Trials) -> list[str]:
    """Return the tests that are skipped or expected to fail in head."""
    return [
        n
        for n in names
        if is_clean(trials, n) and trials.outcomes(n, "H")[0] in (Outcome.SKIPPED, Outcome.XFAILED)
    ]


def _works_in_base(trials: Trials, name: str) -> bool:
    return ran([*trials.outcomes(name, "B"), *trials.outcomes(name, "B", "absent")])


def _why_missing(name: str, run: Run) -> str:
    """Return why a test could not be collected, "" if it is just not there; the nearest place knows best."""
    places = [place for place in run.errors if stands_for(place, name)]
    return run.errors[max(places, key=len)] if places else ""
