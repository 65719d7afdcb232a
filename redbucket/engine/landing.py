"""Runs what passed once more in the tree as it would land, with what the patch itself adds to the judge side.

The worlds that are judged hold base's tests, data and configuration. Product code that reads the patch's own (a
module among the tests, a file among the recordings, a comment) is right where it is not there, and wrong once it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redbucket.core.findings import Finding, Severity
from redbucket.core.records import Run, Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.untrusted import untrusted_nodeids
from redbucket.engine.confirming import Confirming, failed
from redbucket.engine.contraries import choose
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject
from redbucket.engine.untrusted import own_tests

CONDITION = "landing"
RULE = "differs-as-landed"
# The two worlds of a comparison, by the letters that ``Confirming`` asks for: as it is judged, and as it would land.
_WORLDS = {"B": "H", "H": "P"}


@dataclass
class Landing:
    """One look at the tests that passed in head."""

    subject: Subject
    specs: Specs
    bench: Bench
    over: Callable[[], bool]
    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)

    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Return the run of base's tests among ``passed`` that run changed lines, and of a share of the others.

        None where the tree is judged as it would land.
        """
        if self.specs.trees["P"] == self.specs.trees["H"]:
            return None
        own = self._own([test.nodeid for test in passed])
        self._names = choose([test for test in passed if test.nodeid not in own], self.specs.seed)
        return self._spec("H", self._names) if self._names else None

    def take(self, run: Run) -> None:
        """Look closer at what is red in the planned run, or at why it broke: is it so without the patch's own, too?"""
        confirmed = Confirming(self.bench, self._spec, failed, self.over).look(run, self._names)
        self.findings += [
            _finding(name, file_of(name, self.subject.sides.merged)) for name in confirmed.names
        ]
        if confirmed.broken:
            self.problems.append(_broken(confirmed.broken))

    def _own(self, names: Sequence[str]) -> frozenset[str]:
        """Return those of ``names`` that the patch authored or altered: they are listed, and never count."""
        shown = {name: pytest_id(name, self.subject.sides.merged) for name in names}
        chosen = untrusted_nodeids(shown.values(), own_tests(self.subject))
        return frozenset(name for name, nodeid in shown.items() if nodeid in chosen)

    def _spec(self, world: str, names: Sequence[str]) -> RunSpec:
        return self.specs.make(_WORLDS[world], CONDITION, only=tuple(names), order="given")


def _finding(name: str, path: str | None) -> Finding:
    return Finding(
        rule=RULE,
        severity=Severity.REFUSE,
        path=path,
        nodeid=name,
        reason="this test of base passes beside base's tests and data, and fails in the tree as it would land, with"
        " what the patch adds to them",
        remedy="look for what the patch's code reads among the tests and their data, and what its conftest changes",
    )


def _broken(reason: str) -> Problem:
    return Problem(
        code="landing-broken",
        reason="base's tests run to their end beside base's judge side, and not in the tree as it would land: "
        + reason[:300],
        remedy="look for what the patch adds to the tests, their configuration and their data",
    )
