"""What ``redbucket oracle`` found: schema ``redbucket.oracle/1``."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

SCHEMA = "redbucket.oracle/1"


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """How strong some tests are on the changed lines.

    ``executed`` of ``lines`` are run by tests that pass; ``noticed`` of ``mutable`` lines (those with a mutant that was
    tried) have one that a test kills. ``killed`` of ``mutants`` that were tried; ``hung`` of the killed by running out
    of time. Mutants on lines that no test runs are not killed, and cost nothing. ``failing`` tests are not asked: what
    fails without a fault can't notice one. The first ``failing_there`` of them ran a changed line.
    """

    tests: int = 0
    lines: int = 0
    executed: int = 0
    mutable: int = 0
    noticed: int = 0
    mutants: int = 0
    killed: int = 0
    hung: int = 0
    failing: list[str] = []
    failing_there: int = 0

    @property
    def share(self) -> float | None:
        """Return the share of lines whose fault is noticed, ``None`` where no mutant was tried."""
        return self.noticed / self.mutable if self.mutable else None


class Survivor(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant that the trusted tests let live, as a diff, with those of them that ran its line."""

    path: str
    line: int
    operator: str
    diff: str
    tests: list[str] = []


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One mutant against one set of tests, as it is kept to go on later. ``by``: the first test that killed it."""

    key: str
    world: str
    tree: str
    killed: bool
    hung: bool = False
    by: str = ""


class Fate(str, Enum):
    """What became of a mutant in the hands of some tests; ``hung`` is killed by running out of time."""

    KILLED = "killed"
    HUNG = "hung"
    SURVIVED = "survived"
    NOT_RUN = "not run"
    UNTRIED = "untried"


class ChangedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A changed line of the merge tree; how many passing trusted tests run it, and how many of the patch's own."""

    path: str
    line: int
    code: str
    trusted: int = 0
    own: int = 0


class SampledMutant(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant of a changed line, and its fate; ``trusted_by`` and ``own_by`` are the first tests that killed it.

    ``own`` is None where no test of the patch's own was asked. ``diff`` is there where it survived some tests.
    """

    path: str
    line: int
    operator: str
    diff: str = ""
    trusted: Fate = Fate.UNTRIED
    trusted_by: str = ""
    own: Fate | None = None
    own_by: str = ""


class OracleReport(msgspec.Struct, frozen=True, kw_only=True):
    """``own`` is the same for the patch's own tests. ``untried`` mutants were left for want of time.

    ``lines`` are all changed lines that count, and ``mutants`` all that were sampled, in the order of the source.
    """

    schema: str = SCHEMA
    exit_code: int = 0
    base: str = ""
    head: str = ""
    seed: str = ""
    trusted: Strength
    own: Strength
    survivors: list[Survivor] = []
    lines: list[ChangedLine] = []
    mutants: list[SampledMutant] = []
    possible: int = 0
    sampled: int = 0
    untried: int = 0
    resumed: int = 0
    notes: list[str] = []
    seconds: float = 0.0


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    made = msgspec.json.schema(OracleReport)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
