"""Runs what passed once more with base's bytes of the data that the tests themselves read.

What judges is known by its path, and expected values may lie anywhere: ``examples/``, ``docs/usage.txt`` as a doctest.
A changed file that is no code, and that test files alone open, is looked at as if it were a fixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from redbucket.core.findings import Severity
from redbucket.core.patch import Entry
from redbucket.core.records import Run, Test
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import file_of
from redbucket.engine.contraries import choose
from redbucket.engine.look import Look
from redbucket.engine.ports import Objects
from redbucket.engine.subject import Subject


@dataclass(kw_only=True)
class Leaning(Look):
    """The tests beside base's data; ``first`` is the run of head that watched who opens what."""

    subject: Subject
    objects: Objects
    first: Run
    _opened: dict[str, list[str]] = field(default_factory=dict)

    condition = "data"
    rule = "leans-on-data"
    severity = Severity.WARN
    reason = "this test reads that file itself; it passes with the patch's bytes of it, and fails with base's"
    remedy = (
        "look at what moved in it: did the product get better, or the expectation softer? Name such data under"
        " [fixtures] paths, and only a person moves it"
    )

    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Return the run of the test files' tests that opened changed data, of all where a helper did.

        None where the product opens the data, too: what tests and product read alike is the product's.
        """
        is_test = self.subject.judge.is_test
        self._opened = {
            path: files
            for path, files in sorted(self.first.openers.items())
            if files and all(map(is_test, files))
        }
        if not self._opened:
            return None
        readers = {file for files in self._opened.values() for file in files}
        holders = {test.nodeid: self._file(test.nodeid) for test in passed}
        if readers <= set(holders.values()):
            passed = [test for test in passed if holders[test.nodeid] in readers]
        self.names = choose(passed, self.specs.seed)
        return self.spec("H", self.names) if self.names else None

    def spec(self, world: str, names: Sequence[str]) -> RunSpec:
        """Return a run of ``names`` in head ("B"), or in head with base's data ("H")."""
        tree = self.specs.trees["H"]
        if world == "H":
            before: dict[str, Entry | None] = {
                path: self.subject.sides.base.get(path) for path in self._opened
            }
            tree = self.objects.write_tree(tree, before)
        return self.specs.make("H", self.condition, tree=tree, only=tuple(names), order="given")

    def path_of(self, name: str) -> str | None:
        """Return the data that the file of a test opened, or a helper of its."""
        file = self._file(name)
        return next((path for path, files in self._opened.items() if file in files), next(iter(self._opened)))

    def _file(self, name: str) -> str | None:
        return file_of(name, self.subject.sides.merged)
