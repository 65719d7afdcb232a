"""Runs what passed once more in the tree as it would land, with what the patch itself adds to the judge side.

The worlds that are judged hold base's tests, data and configuration. Product code that reads the patch's own (a
module among the tests, a file among the recordings, a comment) is right where it is not there, and wrong once it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redbucket.core.records import Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.untrusted import untrusted_nodeids
from redbucket.engine.contraries import choose
from redbucket.engine.look import Look
from redbucket.engine.subject import Subject
from redbucket.engine.untrusted import own_tests

# The two worlds of the comparison, by the letters that a look asks for: as it is judged, and as it would land.
_WORLDS = {"B": "H", "H": "P"}


@dataclass(kw_only=True)
class Landing(Look):
    """Base's tests beside what the patch adds to them."""

    subject: Subject

    condition = "landing"
    rule = "differs-as-landed"
    reason = (
        "this test of base passes beside base's tests and data, and fails in the tree as it would land, with"
        " what the patch adds to them"
    )
    remedy = (
        "look for what the patch's code reads among the tests and their data, and what its conftest changes"
    )

    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Return the run of base's tests among ``passed`` that run changed lines, and of a share of the others.

        None where the tree is judged as it would land.
        """
        if self.specs.trees["P"] == self.specs.trees["H"]:
            return None
        own = self._own([test.nodeid for test in passed])
        self.names = choose([test for test in passed if test.nodeid not in own], self.specs.seed)
        return self.spec("H", self.names) if self.names else None

    def spec(self, world: str, names: Sequence[str]) -> RunSpec:
        """Return a run of ``names`` as they are judged ("B") or as they would land ("H")."""
        return self.specs.make(_WORLDS[world], self.condition, only=tuple(names), order="given")

    def broken(self, why: str) -> Problem:
        """Return that head's run breaks off, and base's does not."""
        return Problem(
            code="landing-broken",
            reason="base's tests run to their end beside base's judge side, and not in the tree as it would land: "
            + why,
            remedy="look for what the patch adds to the tests, their configuration and their data",
        )

    def path_of(self, name: str) -> str | None:
        """Return the file of a test in the merged tree."""
        return file_of(name, self.subject.sides.merged)

    def _own(self, names: Sequence[str]) -> frozenset[str]:
        """Return those of ``names`` that the patch authored or altered: they are listed, and never count."""
        shown = {name: pytest_id(name, self.subject.sides.merged) for name in names}
        chosen = untrusted_nodeids(shown.values(), own_tests(self.subject))
        return frozenset(name for name, nodeid in shown.items() if nodeid in chosen)
