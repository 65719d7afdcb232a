"""Findings that another hook of the same git command has said in full: named once more, not repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from redbucket.core.findings import Finding, refusals
from redbucket.core.report import GateReport, Problem


def mark(finding: Finding) -> str:
    """Return a short hash of everything that a finding says."""
    return hashlib.sha256(msgspec.json.encode(finding)).hexdigest()[:24]


def without_repeats(report: GateReport, said: Mapping[str, str]) -> GateReport:
    """Return the report without the findings that ``said`` has, {mark: hook that said it}, and one note instead.

    Verdict and exit code stay: what is left out here still refuses.
    """
    repeats = [finding for finding in report.findings if mark(finding) in said]
    if not repeats:
        return report
    hooks = ", ".join(dict.fromkeys(said[mark(finding)] for finding in repeats))
    counted = f"{len(repeats)} finding{'' if len(repeats) == 1 else 's'}"
    rules = ", ".join(dict.fromkeys(finding.rule for finding in repeats))
    left = [finding for finding in report.findings if mark(finding) not in said]
    note = Problem(
        code="said-already",
        reason=f"{counted} ({rules}) said in full by {hooks}, for the same patch",
        remedy="look there for the places and what to do",
    )
    says_more = refusals(left) or report.undecided or report.untrusted_green
    summary = report.summary
    if not summary and not says_more and not any(row.blocks for row in report.tests):
        summary = f"also refused by {hooks}"
    return msgspec.structs.replace(report, findings=left, notes=[*report.notes, note], summary=summary)
