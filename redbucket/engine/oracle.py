"""How strong the tests are on the changed lines: executed by them, and faults of them noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redbucket.core.classification import FAILING
from redbucket.core.errors import Undecided
from redbucket.core.mutants import Mutant, mutants, sample
from redbucket.core.oracled import (
    ChangedLine,
    Fate,
    OracleReport,
    SampledMutant,
    Strength,
    Survivor,
    Tried,
)
from redbucket.core.patch import Entry
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import pytest_id
from redbucket.core.untrusted import untrusted_nodeids, untrusted_tests
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject
from redbucket.engine.troubles import troubles_of

_MOST_TESTS = 200
_BATCH = 8
_SHOWN_TESTS = 5


@dataclass
class Oracle:
    """One look at a patch. ``most`` mutants are sampled; ``known`` are results of a look before.

    ``keep`` is told each new result; ``over`` is True once time is up.
    """

    subject: Subject
    objects: Objects
    specs: Specs
    bench: Bench
    most: int
    say: Callable[[str], None]
    over: Callable[[], bool]
    known: Mapping[tuple[str, str, str], Tried] = field(default_factory=dict)
    keep: Callable[[Tried], None] = lambda tried: None
    own: bool = True
    untried: int = 0
    resumed: int = 0

    def run(self) -> OracleReport:
        """Return the two numbers for the trusted tests and for the patch's own. Raises Undecided."""
        lines = {(path, n) for path, numbers in self.specs.lines.items() for n in numbers}
        possible = [m for path, numbers in self.specs.lines.items() for m in self._of(path, numbers)]
        chosen = sample(possible, self.most, self.specs.seed)
        runs = self._first()
        asked = {world: self._asked(run, own=world == "P") for world, run in runs.items()}
        sides = {world: _touching(tests) for world, tests in asked.items()}
        survivors: list[Survivor] = []
        strengths = {}
        fates: dict[str, dict[Mutant, tuple[Fate, str]]] = {}
        ran = {world: _ran(touching) for world, touching in sides.items()}
        for world, touching in sides.items():
            tried = self._try(world, touching, chosen)
            strengths[world] = _strength(asked[world], touching, lines, tried)
            fates[world] = {m: _fate(ran[world][f"{m.path}:{m.line}"], tried.get(m)) for m in chosen}
            if world == "H":
                survivors = self._survivors(tried, touching)
        subject = self.subject
        return OracleReport(
            base=subject.patch.base,
            head=subject.patch.head,
            seed=self.specs.seed,
            trusted=strengths["H"],
            own=strengths.get("P") or Strength(lines=len(lines)),
            survivors=survivors,
            lines=self._lines(ran),
            mutants=[self._sampled(m, fates["H"][m], fates.get("P", {}).get(m)) for m in chosen],
            possible=len(possible),
            sampled=len(chosen),
            untried=self.untried,
            resumed=self.resumed,
            notes=[] if lines else ["the patch changes no line of Python that runs"],
        )

    def _of(self, path: str, numbers: Iterable[int]) -> list[Mutant]:
        return mutants(self.subject.merged.read(path), path, list(numbers))

    # -- what was seen, line by line ---------------------------------------------------------------

    def _lines(self, ran: Mapping[str, Counter[str]]) -> list[ChangedLine]:
        found = []
        for path, numbers in sorted(self.specs.lines.items()):
            # bytes: the lines of Python's parser, which a form feed does not end
            source = [one.decode("utf-8", "replace") for one in self.subject.merged.read(path).splitlines()]
            for n in numbers:
                trusted, own = (ran[w][f"{path}:{n}"] if w in ran else 0 for w in ("H", "P"))
                code = source[n - 1] if n <= len(source) else ""
                found.append(ChangedLine(path=path, line=n, code=code, trusted=trusted, own=own))
        return found

    def _sampled(
        self, mutant: Mutant, trusted: tuple[Fate, str], own: tuple[Fate, str] | None
    ) -> SampledMutant:
        lives = Fate.SURVIVED in (trusted[0], own[0] if own else None)
        return SampledMutant(
            path=mutant.path,
            line=mutant.line,
            operator=mutant.operator,
            diff=mutant.diff(self.subject.merged.read(mutant.path)) if lives else "",
            trusted=trusted[0],
            trusted_by=trusted[1],
            own=own[0] if own else None,
            own_by=own[1] if own else "",
        )

    # -- which tests run which lines --------------------------------------------------------------

    def _first(self) -> dict[str, Run]:
        """Run the trusted tests, and the patch's own, watching the changed lines."""
        self.say("running the tests, and watching the changed lines")
        specs = [self.specs.make("H", "oracle", lines=self.specs.lines)]
        files = self._own_files() if self.own else ()
        if files:
            specs.append(self.specs.make("P", "oracle", lines=self.specs.lines, files=files))
        runs = self.bench.run(specs)
        troubles = troubles_of(runs[:1], runs[0])
        if troubles:
            raise Undecided(troubles[0].code, troubles[0].reason, troubles[0].remedy)
        return {run.world: run for run in runs if not run.broken}

    def _own_files(self) -> tuple[str, ...]:
        subject = self.subject
        changed = {path for path in subject.distrusted if path.endswith(".py")}
        self._own = (
            untrusted_tests(subject.base, subject.merged, changed, subject.judge.is_judge) if changed else {}
        )
        return tuple(sorted({path for path, _ in self._own if path in subject.sides.merged}))

    def _asked(self, run: Run, *, own: bool) -> dict[str, Test]:
        """Return the tests of a side: of the patch's world those that it wrote or changed."""
        tests = {n: t for n, t in run.tests.items() if "[#" not in n}
        if not own:
            return tests
        shown = {n: pytest_id(n, self.subject.sides.merged) for n in tests}
        mine = untrusted_nodeids(shown.values(), self._own)
        return {n: t for n, t in tests.items() if shown[n] in mine}

    # -- mutants ----------------------------------------------------------------------------------

    def _try(self, world: str, touching: Mapping[str, Test], chosen: Sequence[Mutant]) -> dict[Mutant, Tried]:
        by_line: dict[str, list[Test]] = {}
        for test in touching.values():
            for place in test.touched:
                by_line.setdefault(place, []).append(test)
        tree = self.specs.trees[world]
        found: dict[Mutant, Tried] = {}
        todo: list[tuple[Mutant, RunSpec]] = []
        for mutant in chosen:
            tests = sorted(by_line.get(f"{mutant.path}:{mutant.line}", ()), key=lambda t: t.duration)[
                :_MOST_TESTS
            ]
            before = self.known.get((mutant.key, world, tree))
            if not tests:
                found[mutant] = Tried(key=mutant.key, world=world, tree=tree, killed=False)
            elif before is not None:
                found[mutant] = before
                self.resumed += 1
            else:
                todo.append((mutant, self._spec(world, tree, mutant, tests)))
        if todo:
            self.say(f"trying {plural(len(todo), 'mutant')} of the changed lines")
        for start in range(0, len(todo), _BATCH):
            batch = todo[start : start + _BATCH]
            if self.over():
                self.untried += len(todo) - start
                break
            for (mutant, _), run in zip(batch, self.bench.run([spec for _, spec in batch]), strict=True):
                tried = _judged(mutant, world, tree, run)
                if tried is None:
                    self.untried += 1
                    continue
                found[mutant] = tried
                self.keep(tried)
        return found

    def _spec(self, world: str, tree: str, mutant: Mutant, tests: Sequence[Test]) -> RunSpec:
        entry = self.objects.entries(tree)[mutant.path]
        blob = Entry(entry.mode, self.objects.write_blob(mutant.source))
        slowest = max(t.duration for t in tests)
        return self.specs.make(
            world,
            "oracle mutant",
            tree=self.objects.write_tree(tree, {mutant.path: blob}),
            only=tuple(t.nodeid for t in tests),
            order="natural",
            # ten times what the slowest takes: a loop without an end must not cost a minute each
            timeout=min(self.specs.timeout, max(5.0, 10 * slowest)),
        )

    def _survivors(self, tried: Mapping[Mutant, Tried], touching: Mapping[str, Test]) -> list[Survivor]:
        found = []
        for mutant, result in tried.items():
            ran = [n for n, t in touching.items() if f"{mutant.path}:{mutant.line}" in t.touched]
            if result.killed or not ran:
                continue
            diff = mutant.diff(self.subject.merged.read(mutant.path))
            found.append(
                Survivor(
                    path=mutant.path,
                    line=mutant.line,
                    operator=mutant.operator,
                    diff=diff,
                    tests=ran[:_SHOWN_TESTS],
                )
            )
        return found


def _judged(mutant: Mutant, world: str, tree: str, run: Run) -> Tried | None:
    """Return what a run says of a mutant; None where it was broken off from outside: that is not the mutant's doing."""
    red = [t for t in run.tests.values() if t.outcome in FAILING]
    missing = not run.tests and bool(run.errors)
    if run.broken and not run.ended_early and not red:
        return None
    hung = bool(red) and all(t.outcome is Outcome.TIMEOUT for t in red)
    by = (
        red[0].nodeid
        if red
        else next(iter(run.errors), "")
        if missing
        else "the whole run"
        if run.broken
        else ""
    )
    return Tried(key=mutant.key, world=world, tree=tree, killed=bool(by), hung=hung, by=by)


def _touching(tests: Mapping[str, Test]) -> dict[str, Test]:
    """Return the tests that passed and ran a changed line: they can notice a fault on it."""
    return {n: t for n, t in tests.items() if t.outcome is Outcome.PASSED and t.touched}


def _ran(touching: Mapping[str, Test]) -> Counter[str]:
    """Return how many tests ran each place."""
    return Counter(place for test in touching.values() for place in set(test.touched))


def _fate(tests: int, result: Tried | None) -> tuple[Fate, str]:
    """Return what became of a mutant whose line ``tests`` ran, and the test that killed it."""
    if not tests:
        return Fate.NOT_RUN, ""
    if result is None:
        return Fate.UNTRIED, ""
    if result.killed:
        return Fate.HUNG if result.hung else Fate.KILLED, result.by
    return Fate.SURVIVED, ""


def _strength(
    asked: Mapping[str, Test],
    touching: Mapping[str, Test],
    lines: set[tuple[str, int]],
    tried: Mapping[Mutant, Tried],
) -> Strength:
    failing = sorted((t for t in asked.values() if t.outcome in FAILING), key=lambda t: not t.touched)
    executed = {place for t in touching.values() for place in t.touched}
    mutable = {(m.path, m.line) for m in tried}
    noticed = {(m.path, m.line) for m, result in tried.items() if result.killed}
    return Strength(
        tests=len(touching),
        lines=len(lines),
        executed=sum(f"{path}:{line}" in executed for path, line in lines),
        mutable=len(mutable),
        noticed=len(noticed),
        mutants=len(tried),
        killed=sum(result.killed for result in tried.values()),
        hung=sum(result.hung for result in tried.values()),
        failing=[t.nodeid for t in failing],
        failing_there=sum(bool(t.touched) for t in failing),
    )
