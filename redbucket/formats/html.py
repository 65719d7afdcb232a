"""The gate's report as one HTML file, made of what ``htmlview`` gives."""

from __future__ import annotations

from typing import Any

from redbucket.core.report import GateReport, Verdict
from redbucket.formats import htmlview, oraclehtml, phrases
from redbucket.formats.clean import line
from redbucket.formats.page import page
from redbucket.formats.todo import to_do

_TONES = {Verdict.ACCEPT: "good", Verdict.REFUSE: "bad", Verdict.UNDECIDED: "open"}


def render(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as HTML; the options change nothing."""
    groups = phrases.grouped(report.tests)
    layout = htmlview.columns(report.tests)
    return page(
        "report.html",
        styles=["lines.css"],
        script="report.js",
        data=htmlview.matrix(report),
        verdict=phrases.verdict_word(report.verdict),
        tone=_TONES[report.verdict],
        reasons=[line(part) for part in phrases.reasons(report, groups)],
        untrusted_green=phrases.UNTRUSTED_GREEN.capitalize() if report.untrusted_green else "",
        steps=[_step(step) for step in to_do(report, groups)],
        undecided=htmlview.problems(report.undecided),
        notes=htmlview.problems(report.notes),
        findings=htmlview.findings(report),
        sections=htmlview.sections(groups),
        moved=[htmlview.moved(fixture) for fixture in report.moved],
        oracle=oraclehtml.view(report.oracle) if report.oracle else None,
        oracle_says=oraclehtml.headline(report.oracle.trusted) if report.oracle else "",
        heads=htmlview.heads(layout),
        count=len(report.tests),
        counts=[(htmlview.KEYS[group], group.value, len(rows)) for group, rows in groups.items() if rows],
        legend=[
            htmlview.cell(kind)
            for kind in dict.fromkeys(k for row in report.tests for ks in row.outcomes.values() for k in ks)
        ],
        unseen=phrases.unseen(report),
        facts=[line(part) for part in phrases.judged(report, full=True)],
        agent=report.identity.agent,
        marks=[line(mark) for mark in report.identity.marks],
        kept=line(report.kept or ""),
        disclaimer=phrases.DISCLAIMER,
    )


def _step(step: Any) -> dict[str, Any]:
    return {
        "text": line(step.text),
        "subjects": [line(subject) for subject in step.subjects],
        "commands": [line(command) for command in step.commands],
    }
