"""Challenges whatever was not clean, in cheap extra runs of base and head alike.

Three pinned runs are the trigger, not the proof: pinning turns much noise into a
constant. Each condition is run in both worlds and interleaved in time, so that an
outage of the outside world hits both. A flip counts only if it is confirmed three
of three with the condition, against none without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from redbucket.core.buckets import Cause
from redbucket.core.classification import FAILING
from redbucket.core.compare import SIGNIFICANT, SURE, redder_in_strata
from redbucket.core.doubt import reruns_for
from redbucket.core.evidence import failure_print, is_inconsistent
from redbucket.core.experiments import Experiment
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.core.trials import Trials, all_failed, all_passed
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs

# Rerunning each of hundreds of failures alone would make the cost grow with the
# suite; failures of one cause share a fingerprint, so a few stand for them all.
MOST_ALONE = 8
MOST_SUSPECTS = 200
# Ten interleaved pairs tell a constant rate of 1 in 2 from none at 5 % (Fisher), thirty one of 1 in 6; where base
# is as noisy, it shows that after a few.
NOISE_ROUNDS = (3, 3, 4, 10, 10)
# Looking after each round makes a chance hit likelier, so an early end asks for more than the last look.
PLAIN = SIGNIFICANT / 5
CONFIRMATIONS = 2
# With the first, four of base without a failure against three failures of head: 1 in 35 by chance (Fisher).
WHOLE_RUNS = 3


@dataclass
class Known:
    """What the challenge found out of one test. ``explained`` is the cause of a mixed one, in words.

    ``flipped_by`` is the condition that names the cause; ``looks`` are experiments whose runs are not among the trials.
    """

    cause: Cause | None = None
    explained: str = ""
    explains: bool = False
    other_fixture_passes: bool = False
    tried: list[str] = field(default_factory=list)
    revealed_by: str = ""
    wavers: bool = False
    notes: list[str] = field(default_factory=list)
    flipped_by: str = ""
    looks: list[Experiment] = field(default_factory=list)


@dataclass(frozen=True)
class Condition:
    """One experiment: its name, the cause that a flip names, and what it changes."""

    name: str
    cause: Cause
    change: Callable[[Specs], dict[str, object]]


CONDITIONS = (
    Condition("reversed", Cause.ORDER, lambda s: {"order": "reversed"}),
    Condition("hash-seed 1", Cause.HASH_ORDER, lambda s: {"hash_seed": s.other_seed("hash 1")}),
    Condition("hash-seed 2", Cause.HASH_ORDER, lambda s: {"hash_seed": s.other_seed("hash 2")}),
    Condition("seed 1", Cause.SEED, lambda s: {"seed": s.other_seed("seed 1"), "hash_seed": s.seed}),
    Condition("seed 2", Cause.SEED, lambda s: {"seed": s.other_seed("seed 2"), "hash_seed": s.seed}),
)


@dataclass
class Challenge:
    """The round for one gate. ``say`` reports progress; ``over`` is True once time is up."""

    specs: Specs
    bench: Bench
    trials: Trials
    say: Callable[[str], None]
    over: Callable[[], bool]
    known: dict[str, Known] = field(default_factory=dict)
    untried: list[str] = field(default_factory=list)
    broken: list[Run] = field(default_factory=list)

    def of(self, name: str) -> Known:
        """Return what is known of a test."""
        return self.known.setdefault(name, Known())

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        """Run specs and add their results under common names."""
        runs = self.bench.run(specs)
        self.took(specs, runs)
        return runs

    def took(self, specs: Sequence[RunSpec], runs: Sequence[Run]) -> None:
        """Add the results of ``specs``, also that a test was not there."""
        self.take(runs)
        sound = [(spec, run) for spec, run in zip(specs, runs, strict=True) if not run.broken]
        absent = [(spec, set(spec.only or ()) - set(run.tests)) for spec, run in sound]
        # an id with the time in it is another one in each run: that is no failure of the test
        by_clock: set[str] = set()
        for spec, names in absent:
            if spec.world == "H":
                by_clock |= {n for n in names if self._there(n, "H")}
        for spec, names in absent:
            for name in names - by_clock:
                if not self._there(name, spec.world):
                    self.trials.missing(name, (spec.world, spec.condition), seed=spec.seed)

    def _there(self, name: str, world: str) -> bool:
        """True if a whole run of that world had the test."""
        return any(o is not Outcome.MISSING for o in self.trials.outcomes(name, world))

    def take(self, runs: Iterable[Run]) -> None:
        """Add the results of runs, under common names; keep broken ones apart."""
        for run in runs:
            if run.broken:
                self.broken.append(run)
            else:
                self.trials.add(run)

    def pair(self, condition: str, names: Sequence[str], **over: object) -> list[RunSpec]:
        """Return one spec for head and one for base, over the same tests in the same order."""
        only = tuple(self._ids(names))
        settings = {"order": "given", "only": only, **over}
        return [self.specs.make(world, condition, **settings) for world in ("H", "B")]

    def _ids(self, names: Iterable[str]) -> Iterable[str]:
        """The ids to ask for; a test whose id differs by process can't be asked for alone."""
        return (name for name in names if "[#" not in name)

    # -- what each kind of suspect gets -------------------------------------------------------

    def settle_base(self, names: Sequence[str]) -> None:
        """Already red or already noisy? Two more runs of base for what failed there once."""
        red = [n for n in names if any(o in FAILING for o in self.trials.outcomes(n, "B"))]
        if red and not self.over():
            self.say(f"{len(red)} already red in base: two more runs there")
            only = tuple(self._ids(red[:MOST_SUSPECTS]))
            self.run([self.specs.make("B", "again", only=only, order="given") for _ in range(2)])

    def settle_noise(self, names: Sequence[str]) -> None:
        """Did the patch bring the noise? Interleaved pairs until base shows it too, it is plain, or thirty pairs."""
        left = list(names)[:MOST_SUSPECTS]
        self._in_rounds(left, "noisy: is it so in base, too?", self._again, self._noise_is_settled)

    def _in_rounds(
        self,
        left: Sequence[str],
        what: str,
        run_pairs: Callable[[Sequence[str], int], object],
        is_settled: Callable[[str], bool],
    ) -> None:
        """Run pairs of what is ``left``, round by round, until it is settled or there were enough."""
        if left and not self.over():
            self.say(f"{len(left)} {what}")
        for pairs in NOISE_ROUNDS:
            if not left or self.over():
                return
            run_pairs(left, pairs)
            left = [n for n in left if not is_settled(n)]

    def _again(
        self,
        names: Sequence[str],
        pairs: int,
        condition: str = "again",
        change: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.run([spec for _ in range(pairs) for spec in self.pair(condition, names, **change)])

    def _noise_is_settled(self, name: str) -> bool:
        plain = self.trials.outcomes(name, "B") + self.trials.outcomes(name, "B", "again")
        if any(o in FAILING for o in plain) or self.trials.wavers(name, "B"):
            return True
        return redder_in_strata(self.trials.strata(name)) < PLAIN

    def settle_unsteady(self, names: Sequence[str]) -> None:
        """What fails each time in head, where base fails now and then or a condition wavers: more pairs decide.

        A test that both worlds fail by chance looks like the patch's doing if base happens to pass once.
        """
        self._while_open(names, self._again)
        self._whole_base([n for n in names if self._fails_in_subsets(n)])
        for name in names:
            again = self.trials.outcomes(name, "H", "again")
            if again and not all_failed(again) and not all_passed(again):
                self.of(name).cause, self.of(name).wavers = None, True
            elif self._is_of_the_order(name):
                self.of(name).cause, self.of(name).flipped_by = Cause.ORDER, "again"

    def _while_open(self, names: Sequence[str], run_pairs: Callable[[Sequence[str], int], object]) -> None:
        left = [n for n in list(names)[:MOST_SUSPECTS] if self._is_open(n)]
        what = "failing, and not steady: is it the patch's doing?"
        self._in_rounds(left, what, run_pairs, lambda name: not self._is_open(name))

    def _is_of_the_order(self, name: str) -> bool:
        """True if it fails in the suite and passes without the other tests, in base as in head."""
        return not self.specs.whole and self.trials.fails_among_others(name)

    def _is_open(self, name: str) -> bool:
        """True if it may be chance, and may be the patch's doing: base never passing it is neither."""
        # pairs without the others would pass for ever
        if all_failed(self.trials.everywhere(name, "B")) or self._is_of_the_order(name):
            return False
        enough = SURE if self.trials.base_shows(name) else PLAIN
        return self.trials.is_unsteady(name) and redder_in_strata(self.trials.strata(name)) >= enough

    def _whole_base(self, names: Sequence[str]) -> None:
        """A test that needs others fails in each run of few, in both worlds: only the whole suite tells."""
        if names and not self.over():
            self.say(f"{len(names)} fail in base by themselves: {WHOLE_RUNS} more whole runs there")
            self.run([self.specs.make("B") for _ in range(WHOLE_RUNS)])

    def _fails_in_subsets(self, name: str) -> bool:
        return self._is_open(name) and self.trials.needs_others(name)

    def try_conditions(self, names: Sequence[str]) -> None:
        """Alone, reversed, other hash seeds, other seeds: does anything make it pass?"""
        names = list(names)[:MOST_SUSPECTS]
        if not names:
            return
        specs: list[RunSpec] = []
        # a command without a recorder runs all its tests, in its own order
        alone = [] if self.specs.whole else self.representatives(names)
        conditions = [c for c in CONDITIONS if c.cause is Cause.SEED or not self.specs.whole]
        for name in alone:
            specs += self.pair("alone", [name])
        for condition in conditions:
            specs += self.pair(condition.name, names, **condition.change(self.specs))
        if self.over():
            self.untried += [*(["alone"] if alone else []), *(c.name for c in conditions)]
            return
        what = "other seeds" if self.specs.whole else "alone, reversed, other hash seeds, other seeds"
        self.say(f"{len(names)} failing: trying {what}")
        self.run(specs)
        for name in names:
            known = self.of(name)
            known.tried = [
                c for c in ("alone", *(c.name for c in CONDITIONS)) if self.trials.tests(name, "H", c)
            ]
        self._confirm(names)

    def representatives(self, names: Sequence[str]) -> list[str]:
        """Return a few failures that stand for all: one a file and fingerprint."""
        chosen: dict[tuple[str, ...], str] = {}
        for name in names:
            prints = tuple(failure_print(t) for t in self.trials.tests(name, "H")[:1])
            chosen.setdefault((name.partition("::")[0], *prints), name)
        return list(chosen.values())[:MOST_ALONE]

    def _confirm(self, names: Sequence[str]) -> None:
        """Give a cause only to a flip that holds each time."""
        by_name = {c.name: c for c in CONDITIONS}
        flips: dict[str, list[str]] = {}
        for name in names:
            for condition in ("alone", *by_name):
                if _did_pass(self.trials.outcomes(name, "H", condition)):
                    flips.setdefault(condition, []).append(name)
        specs: list[RunSpec] = []
        for condition, flipped in flips.items():
            for _ in range(CONFIRMATIONS):
                if condition == "alone":
                    for name in flipped:
                        specs += self.pair("alone", [name])
                else:
                    specs += self.pair(condition, flipped, **by_name[condition].change(self.specs))
        if specs and not self.over():
            self.say("confirming what flipped")
            self.run(specs)
        for condition, flipped in flips.items():
            cause = Cause.ORDER if condition == "alone" else by_name[condition].cause
            for name in flipped:
                outcomes = self.trials.outcomes(name, "H", condition)
                if self.of(name).cause is None and len(outcomes) > CONFIRMATIONS and _did_pass(outcomes):
                    self.of(name).cause, self.of(name).flipped_by = cause, condition
                # passed once and failed once under one condition: that is no cause, that is noise
                self.of(name).wavers |= any(o in FAILING for o in outcomes)
        for name in names:
            if self.of(name).wavers:
                self.of(name).cause = None

    # -- the other fixtures ---------------------------------------------------------------------

    def other_fixtures(
        self, readers: Sequence[str], reruns: int, trusted: frozenset[str], distrusted: frozenset[str]
    ) -> None:
        """F: the same tests with the other side's bytes of the moved fixtures.

        Head has base's bytes of a ``distrusted`` fixture, and F the patch's; of a
        ``trusted`` one head has the patch's, and F base's: there only a failure in
        head says anything, since a test that came with the fixture fails without it.
        """
        if not readers or self.over():
            return
        only = tuple(self._ids(readers))
        reading = plural(len(only), "test reads", "tests read")
        self.say(f"{reading} a fixture that the patch moved: running with the other bytes")
        self.run([self.specs.make("F", only=only, order="given") for _ in range(reruns)])
        differing = [
            n
            for n in readers
            if self.trials.outcomes(n, "F")
            and all_failed(self.trials.outcomes(n, "F")) != all_failed(self.trials.outcomes(n, "H"))
        ]
        if not differing or self.over():
            return
        # F ran a subset: head must agree with itself on that subset before it is compared
        self.run([self.specs.make("H", "subset", only=only, order="given")])
        for name in differing:
            plain, other = self.trials.outcomes(name, "H"), self.trials.outcomes(name, "F")
            subset = self.trials.outcomes(name, "H", "subset")
            read = {path for test in self.trials.tests(name, "H") for path in test.fixtures}
            if self.specs.whole:  # the two runs differ in these files alone
                read = {*trusted, *distrusted}
            if all_passed(plain) and all_passed(subset) and all_failed(other):
                self.of(name).explains = bool(read & distrusted)
            elif all_failed(plain) and all_failed(subset) and all_passed(other):
                if read & trusted:
                    self.of(name).explains = True
                else:
                    self.of(name).other_fixture_passes = True

    # -- the scout --------------------------------------------------------------------------------

    def follow_scout(self, names: Sequence[str], first_home: str) -> None:
        """A test that is clean three times and fails in the scout: which axis is it, and in base too?"""
        names = list(names)[:MOST_SUSPECTS]
        if not names or self.over():
            return
        self.say(f"{len(names)} failed in the scout only: looking for what does it")
        changed = self.specs.other_seed
        axes: dict[str, tuple[Cause, dict[str, object]]] = {
            "scout seed": (Cause.SEED, {"seed": changed("scout"), "hash_seed": self.specs.seed}),
            "scout hash-seed": (Cause.HASH_ORDER, {"hash_seed": changed("scout")}),
            "scout shuffled": (Cause.ORDER, {"order": "shuffled", "shuffle": changed("scout")}),
        }
        for _ in range(1 + CONFIRMATIONS):
            specs: list[RunSpec] = []
            for condition, (_, change) in axes.items():
                specs += self.pair(condition, names, **change)
            self.run(specs)
        self._used_homes(names, 1 + CONFIRMATIONS)
        for name in names:
            for condition, cause in [
                *((c, a[0]) for c, a in axes.items()),
                ("scout used HOME", Cause.LEFTOVERS),
            ]:
                head = self.trials.outcomes(name, "H", condition)
                if len(head) > CONFIRMATIONS and all_failed(head):
                    self.of(name).cause = cause
                    self.of(name).revealed_by = self.of(name).flipped_by = condition
                    break
            self.of(name).tried = [*axes, "scout used HOME"]
            # passed and failed under one condition, or never failed again: no axis does that
            if self.trials.wavers(name, "H") or not self.of(name).revealed_by:
                self.of(name).cause, self.of(name).revealed_by, self.of(name).wavers = None, "", True
        self.settle_noise([n for n in names if self.of(n).wavers])
        for condition in dict.fromkeys(self.of(n).revealed_by for n in names):
            revealed = [n for n in names if self.of(n).revealed_by == condition]
            if condition in axes:
                change = axes[condition][1]
                self._while_open(revealed, partial(self._again, condition=condition, change=change))
            elif condition:
                self._while_open(revealed, self._used_homes)

    def _used_homes(self, names: Sequence[str], rounds: int) -> None:
        """Each world once with a HOME and TMPDIR of its own, then again in what that left behind."""
        only = tuple(self._ids(names))
        for _ in range(rounds):
            first = [self.specs.make(w, "scout first", only=only, order="given") for w in ("H", "B")]
            self.run(first)
            self.run(
                [
                    self.specs.make(s.world, "scout used HOME", only=only, order="given", used_home=s.name)
                    for s in first
                ]
            )

    def reduce_doubt(self, names: Sequence[str], target: float) -> None:
        """Run both worlds until a flake of constant rate is less likely than ``target``."""
        if not names or self.over():
            return
        failed = min(len(self.trials.everywhere(n, "H")) for n in names)
        passed = min(len(self.trials.everywhere(n, "B")) for n in names)
        more = reruns_for(target, failed, passed)
        if more:
            self.say(f"{more} more runs of each world to bring the doubt to {target:g}")
            for _ in range(more):
                if self.over():
                    self.untried.append("reruns for --doubt")
                    return
                self.run(self.pair("again", names))


def _did_pass(outcomes: Sequence[Outcome]) -> bool:
    """True if it ran and passed each time: an expected failure may be the very thing that is challenged."""
    return bool(outcomes) and all(o is Outcome.PASSED for o in outcomes)


def is_clean(trials: Trials, name: str) -> bool:
    """True if head passed each time, or was skipped or expected to fail each time."""
    outcomes = trials.outcomes(name, "H")
    return (
        len(set(outcomes)) == 1
        and outcomes[0] in (Outcome.PASSED, Outcome.SKIPPED, Outcome.XFAILED)
        and not any(is_inconsistent(t) for t in trials.tests(name, "H"))
    )


def is_noisy(trials: Trials, name: str) -> bool:
    """True if head's plain runs disagree, in outcome or in the failure."""
    tests = trials.tests(name, "H")
    outcomes = {t.outcome for t in tests}
    if any(is_inconsistent(t) for t in tests) or (len(outcomes) > 1 and not outcomes <= FAILING):
        return True
    return len({failure_print(t) for t in tests if t.outcome in FAILING}) > 1
