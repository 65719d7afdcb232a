"""What an experiment on one test confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from redbucket.core.records import Run

CONFIRMED = 3


@dataclass
class Culprits:
    """``tests`` together flip it; ``others`` do, too, each group by itself. ``confirmed`` both ways.

    ``state`` is what they leave changed and what, put back, undoes the flip each time. ``complete`` says
    whether all others leave it unflipped, each time; None if that was not asked.
    """

    tests: list[str] = field(default_factory=list)
    others: list[list[str]] = field(default_factory=list)
    state: list[str] = field(default_factory=list)
    imported: bool = False
    confirmed: bool = False
    complete: bool | None = None
    why_not: str = ""
    failing: Run | None = None
    passing: Run | None = None

    @property
    def condition(self) -> str:
        """Return the name of the experiment that confirms it."""
        return f"{'with the file of' if self.imported else 'after'} {' and '.join(self.tests)}"


@dataclass
class Found:
    """What was confirmed. ``failing`` is a run that shows it, ``passing`` one that shows the other side.

    ``change`` are the fields of the spec that flip it.

    ``conditions`` are the names of the experiments that it rests on.
    ``plain`` and ``show`` are what a shell puts before a command to see both sides, "" where no shell can.
    """

    cause: str
    what: str
    evidence: list[str]
    fix: str
    show: str = ""
    plain: str = ""
    recorded: bool = False
    culprits: Culprits | None = None
    failing: Run | None = None
    passing: Run | None = None
    conditions: tuple[str, ...] = ()
    change: dict[str, Any] = field(default_factory=dict)
