"""The report as one HTML file that needs nothing else: no network, no script but its own.

Names, messages and paths come from the patch's author. Three things stand between them and the reader: whatever
does not print is escaped before (``clean``), the template escapes all of it, and the policy in the page's head
lets no script or style run but the two whose hashes it names, and nothing be loaded.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from redbucket import __version__
from redbucket.core.report import GateReport, Verdict
from redbucket.formats import htmlview, phrases
from redbucket.formats.clean import line
from redbucket.formats.todo import to_do

# What a script element's text must not hold: its own end, a comment, and line ends of JavaScript.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_TONES = {Verdict.ACCEPT: "good", Verdict.REFUSE: "bad", Verdict.UNDECIDED: "open"}


def render(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as HTML; the options change nothing."""
    groups = phrases.grouped(report.tests)
    style, script = part("report.css"), part("report.js")
    layout = htmlview.columns(report.tests)
    text = _template().render(
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704 (redbucket's own files, not the report)
        script=Markup(script),  # noqa: S704
        data=Markup(_data(htmlview.matrix(report))),  # noqa: S704 (escaped for a script element)
        version=__version__,
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
    return text.rstrip("\n") + "\n"


def _step(step: Any) -> dict[str, Any]:
    return {
        "text": line(step.text),
        "subjects": [line(subject) for subject in step.subjects],
        "commands": [line(command) for command in step.commands],
    }


def _data(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def _policy(style: str, script: str) -> str:
    """Return the page's content security policy."""
    return (
        f"default-src 'none'; style-src {style_hash(style)}; script-src {style_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def style_hash(text: str) -> str:
    """Return what a content security policy calls an inline style or script that may count."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def part(name: str) -> str:
    """Return the text of a file beside this one."""
    return resources.files("redbucket.formats").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(part("report.html"))
