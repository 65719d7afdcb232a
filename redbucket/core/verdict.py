"""From rows, findings and problems to the one answer."""

from __future__ import annotations

from collections.abc import Sequence

from redbucket.core.buckets import Bucket
from redbucket.core.errors import ACCEPTED, REFUSED, UNDECIDED
from redbucket.core.findings import Finding, Severity
from redbucket.core.report import Problem, Row, Verdict

EXIT_CODES = {Verdict.ACCEPT: ACCEPTED, Verdict.REFUSE: REFUSED, Verdict.UNDECIDED: UNDECIDED}


def decide(rows: Sequence[Row], findings: Sequence[Finding], problems: Sequence[Problem]) -> Verdict:
    """Return refuse if anything refuses, else undecided if anything is unknown, else accept.

    A refusal comes first: it stands whatever the rest would have said.
    """
    if any(row.blocks for row in rows) or any(f.severity is Severity.REFUSE for f in findings):
        return Verdict.REFUSE
    if problems or any(row.bucket is Bucket.UNCLASSIFIED for row in rows):
        return Verdict.UNDECIDED
    return Verdict.ACCEPT


def count(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many tests each bucket holds, in the order of the buckets."""
    counts = {bucket.value: 0 for bucket in Bucket}
    for row in rows:
        counts[row.bucket.value] += 1
    return {name: number for name, number in counts.items() if number}
