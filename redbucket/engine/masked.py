"""Runs what passed once more without the signs of a gate, for which a patch may look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redbucket.core.records import Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import file_of
from redbucket.engine.contraries import choose
from redbucket.engine.look import Look
from redbucket.engine.ports import Objects


@dataclass(kw_only=True)
class Masked(Look):
    """The tests without the signs of a gate."""

    objects: Objects

    condition = "masked"
    rule = "behaves-for-the-gate"
    reason = (
        "with the patch this test passes here, and fails in a run that does not look like a gate's"
        " (another environment, an ordinary parent, a .git folder); base passes both"
    )
    remedy = (
        "look for what in the patch asks where it runs: the environment, the parent, the folder, the clock"
    )

    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Return a masked run of those among ``passed`` that run changed lines, and of some others; None without any.

        Whatever the patch looks like: what looks at its surroundings may be a function of base's that it calls.
        """
        self.names = choose(passed, self.specs.seed)
        return self.spec("H", self.names) if self.names else None

    def spec(self, world: str, names: Sequence[str]) -> RunSpec:
        """Return a masked run of ``names``."""
        return self.specs.make(world, self.condition, only=tuple(names), order="given", masked=True)

    def broken(self, why: str) -> Problem:
        """Return that head's run breaks off, and base's does not."""
        return Problem(
            code="masked-broken",
            reason=f"in a run that does not look like a gate's base runs to its end and head does not: {why}",
            remedy="look for what in the patch asks where it runs, and ends the run there",
        )

    def path_of(self, name: str) -> str | None:
        """Return the file of a test in head."""
        return file_of(name, self.objects.entries(self.specs.trees["H"]))
