"""weakened-test: what an agent's alteration of a test does, for people who review it."""

from __future__ import annotations

from redbucket.core.findings import Finding, Severity
from redbucket.guards.alterations import REMEDY, Sides, altered_files
from redbucket.guards.context import Context

RULE = "weakened-test"
# A deleted suite is one fact, not ten thousand.
_MOST = 100


def check(context: Context, judge_side: Sides) -> list[Finding]:
    """Warn of each known weakening, with its place, and note each other change of a test.

    Whether the patch may do so is altered-test's to say.
    """
    found = []
    for path, alteration in altered_files(context, judge_side):
        # altered-test says what is wrong with a file that can't be read; what it does is not known
        for detail in () if alteration.unreadable else alteration.changes[:_MOST]:
            where = f"{detail.unit}: " if detail.unit and detail.unit not in detail.text else ""
            found.append(
                Finding(
                    rule=RULE,
                    severity=Severity.WARN if detail.weakens else Severity.NOTE,
                    path=path,
                    line=detail.line,
                    nodeid=f"{path}::{detail.unit.replace('.', '::')}" if detail.unit else None,
                    reason=f"{where}the patch {detail.text}",
                    remedy=REMEDY.format(path=path),
                )
            )
    return found
