"""One more look at tests that passed with an agent's patch: run them in another way, and confirm what is odd."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from redbucket.core.findings import Finding, Severity
from redbucket.core.records import Run, Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.engine.confirming import Confirming, failed
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs


@dataclass
class Look(ABC):
    """A run of head's that is planned and taken, and what it gave.

    ``condition`` names the run, ``rule`` the finding on a test that is odd in head and not in base, with ``reason``
    and ``remedy``.
    """

    specs: Specs
    bench: Bench
    over: Callable[[], bool]
    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    condition: ClassVar[str]
    rule: ClassVar[str]
    severity: ClassVar[Severity] = Severity.REFUSE
    reason: ClassVar[str]
    remedy: ClassVar[str]

    @abstractmethod
    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Choose among ``passed`` and return head's run of them; None if there is nothing to look at."""

    @abstractmethod
    def spec(self, world: str, names: Sequence[str]) -> RunSpec:
        """Return the run of ``names`` in head ("H"), or in what head is compared with ("B")."""

    @abstractmethod
    def path_of(self, name: str) -> str | None:
        """Return the file that a finding on a test points to."""

    def odd(self, run: Run, name: str) -> bool:
        """Return whether a run shows of a test what must not be."""
        return failed(run, name)

    def broken(self, why: str) -> Problem | None:
        """Return what it means that head's run breaks off and base's does not; None: nothing."""
        return None

    def take(self, run: Run) -> None:
        """Look closer at what is odd in the planned run, or at why it broke: is it so in base, and again?"""
        confirmed = Confirming(self.bench, self.spec, self.odd, self.over).look(run, self.names)
        self.findings += [
            Finding(
                rule=self.rule,
                severity=self.severity,
                path=self.path_of(name),
                nodeid=name,
                reason=self.reason,
                remedy=self.remedy,
            )
            for name in confirmed.names
        ]
        if confirmed.unsure:
            self.problems.append(
                Problem(
                    code="not-compared",
                    reason=f"a run of head ({self.condition}) shows what must not be, and base's runs to compare it"
                    f" with broke off: {confirmed.unsure[:300]}",
                    remedy="find what ends base's runs there (code of the patch that runs beside them, a full"
                    " machine), and run the gate again",
                )
            )
        problem = self.broken(confirmed.broken[:300]) if confirmed.broken else None
        if problem is not None:
            self.problems.append(problem)
