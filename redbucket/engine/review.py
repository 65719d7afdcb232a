"""Reviews a property: four questions, in order, each with evidence, and one decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from redbucket.core import answers
from redbucket.core.answers import is_green
from redbucket.core.assertinglines import asserting_lines
from redbucket.core.conditions import Conditions
from redbucket.core.errors import Misused, Undecided
from redbucket.core.explicit import without_examples
from redbucket.core.filescope import FileScope
from redbucket.core.mutants import Mutant, mutants, sample
from redbucket.core.oneexample import Form, Reading, read_tests
from redbucket.core.patch import FILE_MODE, Entry
from redbucket.core.pytree import is_python, parse
from redbucket.core.records import Run, Test
from redbucket.core.reviewed import PropertyReview, Survivor
from redbucket.core.runspec import RunSpec
from redbucket.core.treescopes import TreeScopes
from redbucket.core.unsteady import unsteady
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs
from redbucket.engine.steadiness import Steadiness
from redbucket.engine.subject import Subject
from redbucket.engine.troubles import troubles_of

_SEEDS = 3
_COUNTING = 5


@dataclass
class Review:
    """One file of properties against one patch.

    ``path`` is the file's path in the repository ("" outside), ``place`` where it is laid in both trees, ``most``
    the mutants that are tried for each property. ``over`` is True once time is up.
    """

    subject: Subject
    objects: Objects
    specs: Specs
    bench: Bench
    source: bytes
    path: str
    place: str
    now: float
    say: Callable[[str], None]
    over: Callable[[], bool]
    most: int = 12
    notes: list[str] = field(default_factory=list)

    def run(self) -> list[PropertyReview]:
        """Return the review of each property of the file. Raises Misused or Undecided."""
        tree = parse(self.source)
        if tree is None:
            raise Misused("not-python", f"{self.path or self.place} can't be parsed", "correct its syntax")
        self._lay()
        scopes = TreeScopes(self.objects.tree_view(self._trees["H"]), self.subject.judge.is_judge)
        scope = scopes.scope(self.place)
        assert scope is not None
        readings = dict(read_tests(scope))
        if not readings:
            raise Misused(
                "no-property", f"{self.path or self.place} holds no test", "name its function test_..."
            )
        judges = [s for s in scopes.loaded() if s.judge]
        lines = {s.path: asserting_lines(s.tree) for s in judges if s.tree is not None}
        base, head, counted = self._first({p: found for p, found in lines.items() if found})
        reviews = []
        for name, reading in readings.items():
            reviews.append(self._property(name, reading, scope, judges, base, head, counted))
        return reviews

    # -- trees and runs -------------------------------------------------------------------------

    def _lay(self) -> None:
        self._trees = self._laid(self.source)
        # whether it finds faults is a question to what it draws: its explicit examples fail as they were written to
        drawing = without_examples(self.source)
        self._explicit = drawing != self.source
        self._drawing = self._laid(drawing) if self._explicit else self._trees

    def _laid(self, source: bytes) -> dict[str, str]:
        entry = Entry(FILE_MODE, self.objects.write_blob(source))
        return {
            world: self.objects.write_tree(self.specs.trees[world], {self.place: entry})
            for world in ("B", "H")
        }

    def spec(self, world: str, condition: str, *, drawing: bool = False, **over: object) -> RunSpec:
        """Return a run of the file alone in a world; ``drawing``: without its explicit examples."""
        trees = self._drawing if drawing else self._trees
        settings: dict[str, object] = {"tree": trees[world], "files": (self.place,), **over}
        return self.specs.make(world, condition, **settings)

    def _first(self, lines: dict[str, list[int]]) -> tuple[Run, Run, Run]:
        self.say("running it on base and on the patch, and counting its inputs")
        base, head, counted = self.bench.run(
            [
                self.spec("B", "review"),
                self.spec("H", "review"),
                # counting makes it slower, several times
                self.spec(
                    "B",
                    "review inputs",
                    conditions=Conditions(inputs=lines),
                    timeout=_COUNTING * self.specs.timeout,
                ),
            ]
        )
        troubles = troubles_of([base, head], base)
        if troubles:
            raise Undecided(troubles[0].code, troubles[0].reason, troubles[0].remedy)
        if counted.broken:
            self.notes.append("its inputs could not be counted: the run that counts them broke off")
        return base, head, counted

    # -- one property -----------------------------------------------------------------------------

    def _property(
        self,
        name: str,
        reading: Reading,
        scope: FileScope,
        judges: Sequence[FileScope],
        base: Run,
        head: Run,
        counted: Run,
    ) -> PropertyReview:
        mine = self.mine
        on_base, on_head = mine(name, base), mine(name, head)
        first = answers.domain(reading, mine(name, counted))
        second = answers.editable(
            self.path,
            self.place,
            protected=bool(self.path) and self.subject.judge.is_protected(self.path),
            written=self._written(judges),
        )
        third = answers.separates(on_base, on_head, self._error(base), self._error(head))
        named = self._named(name, reading, scope)
        rounds = Steadiness(self, name, _SEEDS)
        # the challenge costs ten runs: what is discarded already is not worth them
        if first.good and second.good and third.good and not named and not self.over():
            rounds.run()
        seen = sorted({e for run in (on_base, on_head) for t in run for e in t.entropy} - {"random"})
        fourth = answers.steady(named, seen, rounds.flips, [*on_base, *on_head, *rounds.tests], rounds.tried)
        given = [first, second, third, fourth]
        against = next((a for a in given if not a.good), None)
        killed, tried, survivors = self._mutants(name) if against is None and not self.over() else (0, 0, [])
        blind = self._explicit and rounds.fresh_patch and not rounds.found
        if against is None and blind and 2 * killed <= tried:
            against = given[0] = answers.only_explicit(first, rounds.fresh_patch, killed, tried)
        return PropertyReview(
            nodeid=f"{self.place}::{name.replace('.', '::')}",
            verdict="discard" if against else "keep",
            question=against.number if against else None,
            reason=against.answer if against else third.answer,
            answers=given,
            seeds_held=rounds.held,
            seeds_tried=rounds.fresh,
            seeds_found=rounds.found,
            seeds_patch=rounds.fresh_patch,
            seconds=round(sum(t.duration for t in on_base), 3),
            killed=killed,
            mutants=tried,
            survivors=survivors,
            message=next((t.message for t in on_head if t.message), "")[:4000],
        )

    def _named(self, name: str, reading: Reading, scope: FileScope) -> list[str]:
        """Return what the property's source, and what else is in its file but for other tests, names."""
        found = []
        for node in scope.tree.body if scope.tree is not None else []:
            other = getattr(node, "name", "")
            if other.startswith("test") and other != name:
                continue
            found += [f"{what} (line {line})" for what, line in unsteady(scope, node)]
        if reading.form is Form.UNPINNED:
            found.append(f"unpinned entropy: {reading.why} (line {reading.line})")
        return found

    def mine(self, name: str, run: Run) -> list[Test]:
        """Return the tests of one function in a run: its rows."""
        wanted = f"{self.place}::{name.replace('.', '::')}"
        alone = name.partition(".")[0]
        found = [t for i, t in run.tests.items() if i == wanted or i.startswith((f"{wanted}[", f"{wanted}#"))]
        return found or [
            t for i, t in run.tests.items() if i.startswith(f"{self.place}::{alone}::") and name == alone
        ]

    def _error(self, run: Run) -> str:
        """Return why the file could not be imported in a run, "" if it could."""
        return next((reason for path, reason in run.errors.items() if path.startswith(self.place)), "")

    def _written(self, judges: Iterable[FileScope]) -> list[str]:
        """Return what an agent's patch wrote among the property and the files of tests that it reads."""
        agent = self.subject.identity.agent_paths - self.subject.endorsed
        paths = {s.path for s in judges if s.path != self.place} | ({self.path} if self.path else set())
        return sorted(paths & agent)

    # -- small faults -----------------------------------------------------------------------------

    def _mutants(self, name: str) -> tuple[int, int, list[Survivor]]:
        """Return how many small faults of base's changed lines it kills, of how many, and those that it lets live."""
        chosen = sample(self._faults(), self.most, self.specs.seed)
        if not chosen:
            return 0, 0, []
        self.say(f"trying {len(chosen)} small faults of the changed lines on base")
        view = self.subject.base
        specs = []
        for mutant in chosen:
            entry = Entry(view.entries[mutant.path].mode, self.objects.write_blob(mutant.source))
            tree = self.objects.write_tree(self._drawing["B"], {mutant.path: entry})
            specs.append(self.specs.make("B", "review mutant", tree=tree, files=(self.place,)))
        runs = self.bench.run(specs)
        killed, tried, survivors = 0, 0, []
        for mutant, run in zip(chosen, runs, strict=True):
            if run.broken and not run.ended_early:
                continue  # broken off from outside: it says nothing of the fault
            tried += 1
            if is_green(self.mine(name, run)) and not run.broken:
                survivors.append(
                    Survivor(
                        path=mutant.path,
                        line=mutant.line,
                        operator=mutant.operator,
                        diff=mutant.diff(view.read(mutant.path)),
                    )
                )
            else:
                killed += 1
        return killed, tried, survivors

    def _faults(self) -> list[Mutant]:
        """Return the mutants of the lines of base that the patch changed; around a pure insertion, its neighbours."""
        base = self.subject.base
        changed = [
            c.path
            for c in self.subject.product_changes
            if is_python(c.path) and c.old is not None and c.old.is_file and c.new is not None
        ]
        hunks = (
            self.objects.hunks(self.subject.base_tree, self.subject.merged_tree, changed) if changed else {}
        )
        found: list[Mutant] = []
        for path in changed:
            lines: set[int] = set()
            for hunk in hunks.get(path, ()):
                if hunk.removed:
                    lines.update(range(hunk.old_start, hunk.old_start + len(hunk.removed)))
                else:
                    lines.update((hunk.old_start, hunk.old_start + 1))
            found += mutants(base.read(path), path, lines)
        return found


def decision(reviews: Sequence[PropertyReview]) -> tuple[str, str]:
    """Return (keep or discard, reason) of a file: one property that is discarded discards it."""
    bad = next((r for r in reviews if r.verdict != "keep"), None)
    if bad is None:
        return "keep", reviews[0].reason
    where = f"{bad.nodeid.rpartition('::')[2]}: " if len(reviews) > 1 else ""
    return "discard", f"{where}question {bad.question}: {bad.reason}"
