"""Runs head's trusted tests with their contrary: what passes both ways asserts nothing.

The only control that the process of the tests can't see: the child gets an ordinary
tree, an ordinary run, and test files in which each test must fail. A patch that
swallows failures, replaces tests in memory, forges the record, or hands out objects
that are equal to everything lets them pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redbucket.core.contrary import contrary
from redbucket.core.patch import Entry
from redbucket.core.records import Outcome, Run, Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.seeds import derive
from redbucket.core.testpath import file_of
from redbucket.engine.look import Look
from redbucket.engine.ports import Objects
from redbucket.engine.scout import LEAST_SECONDS, SHARE

# Tests that were not seen to run a changed line are looked at, too: a patch may hide that they do.
_OTHERS_SHARE = 0.05
_OTHERS_SECONDS = 0.5
_MOST = 400


@dataclass(kw_only=True)
class Contraries(Look):
    """The tests turned round: each must fail."""

    objects: Objects
    _files: Mapping[str, str] = field(default_factory=dict)
    _turned: dict[str, Entry] = field(default_factory=dict)

    condition = "contrary"
    rule = "passes-either-way"
    reason = (
        "with the patch this test passes, and it passes as well with an assertion turned into its contrary,"
        " with which base fails: its result means nothing"
    )
    remedy = (
        "look for what the patch does to test results: swallowed failures, replaced tests, a rewritten record,"
        " or objects that are equal to everything"
    )

    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Return the run in which tests of ``passed`` have their contrary; None if none can be turned round."""
        view = self.objects.tree_view(self.specs.trees["H"])
        chosen = choose(passed, self.specs.seed)
        self._files = {n: path for n in chosen if (path := file_of(n, view.entries)) is not None}
        secret = derive(self.specs.trees["H"], self.condition)
        functions: dict[str, frozenset[str]] = {}
        for path in sorted(set(self._files.values())):
            entry = view.entries[path]
            made = contrary(view.read(path), secret) if entry.is_file and path.endswith(".py") else None
            if made is not None:
                self._turned[path] = Entry(entry.mode, self.objects.write_blob(made.source))
                functions[path] = made.functions
        self.names = [n for n in chosen if _bare(n) in functions.get(self._files.get(n, ""), ())]
        return self.spec("H", self.names) if self.names else None

    def spec(self, world: str, names: Sequence[str]) -> RunSpec:
        """Return a run of the contraries of ``names`` in a world."""
        tree = self.objects.write_tree(self.specs.trees[world], dict(self._turned))
        return self.specs.make(world, self.condition, tree=tree, only=tuple(names), order="given")

    def broken(self, why: str) -> Problem:
        """Return that head's run breaks off, and base's does not."""
        return Problem(
            code="contrary-broken",
            reason=f"with assertions turned into their contrary base runs to its end and head does not: {why}",
            remedy="look for what in the patch ends a run in which tests fail",
        )

    def path_of(self, name: str) -> str | None:
        """Return the file of a planned test."""
        return self._files[name]

    def odd(self, run: Run, name: str) -> bool:
        """Return whether the contrary of a test passed."""
        test = run.tests.get(name)
        return test is not None and test.outcome is Outcome.PASSED


def choose(passed: Sequence[Test], seed: str) -> list[str]:
    """Return the ids to look at: what runs changed lines first, a share of the rest, by a seed of the tree's."""
    total = sum(t.duration for t in passed)
    ordered = sorted(passed, key=lambda t: derive(seed, f"{Contraries.condition} {t.nodeid}"))
    touching = _within((t for t in ordered if t.touched), max(LEAST_SECONDS, SHARE * total))
    others = _within((t for t in ordered if not t.touched), max(_OTHERS_SECONDS, _OTHERS_SHARE * total))
    return [t.nodeid for t in (*touching, *others)][:_MOST]


def _within(tests: Iterable[Test], seconds: float) -> list[Test]:
    chosen = []
    for test in tests:
        if test.duration <= seconds:
            chosen.append(test)
            seconds -= test.duration
    return chosen


def _bare(nodeid: str) -> str:
    """Return the function's name of an id of pytest's or unittest's."""
    return nodeid.partition("[")[0].rpartition("::")[2].rpartition(".")[2]
