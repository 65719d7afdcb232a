"""The steps that a report ends with: all but a gate that would judge a commit against itself."""

from __future__ import annotations

from redbucket.core.report import GateReport, Row, Verdict
from redbucket.formats.phrases import Group
from redbucket.formats.steps import Step, steps


def to_do(report: GateReport, groups: dict[Group, list[Row]]) -> list[Step]:
    """Return what to do next; nothing where an index or a work tree was judged over its commit, and passes."""
    # what was looked at is in no commit yet, so no gate could run its tests
    same = bool(report.base) and report.base == report.head
    told = any(note.code == "nothing-to-judge" for note in report.notes)
    if same and not told and report.verdict is Verdict.ACCEPT and not report.tests:
        return []
    return steps(report, groups)
