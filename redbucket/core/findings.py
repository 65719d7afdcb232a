"""What a guard reports."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import msgspec

# What remedies begin with for files that are source as well: such a file is not thrown back whole.
DOCTESTS = "put its doctests back"
MEND = "mend it"
IN_PART = (DOCTESTS, MEND)


class Severity(str, Enum):
    """How much a finding weighs: only ``refuse`` turns a patch away."""

    REFUSE = "refuse"
    WARN = "warn"
    NOTE = "note"


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One thing a guard saw: the rule, the place, the reason and the remedy."""

    rule: str
    severity: Severity
    reason: str
    remedy: str = ""
    path: str | None = None
    nodeid: str | None = None
    line: int | None = None


def refusals(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that refuse."""
    return [f for f in findings if f.severity is Severity.REFUSE]
