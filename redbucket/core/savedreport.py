"""A gate's JSON report, read back."""

from __future__ import annotations

import msgspec

from redbucket.core.errors import Misused
from redbucket.core.report import SCHEMA, GateReport


def saved_report(raw: bytes, name: str) -> GateReport:
    """Return the report in ``raw``; ``name`` is for messages. Raises Misused "not-a-report"."""
    remedy = "give the output of `redbucket gate --format json`"
    try:
        report = msgspec.json.decode(raw, type=GateReport)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise Misused("not-a-report", f"{name}: {problem}", remedy) from problem
    if report.schema != SCHEMA:
        raise Misused("not-a-report", f"{name}: its schema is not {SCHEMA}", remedy)
    return report
