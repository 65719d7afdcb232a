"""From a report to text, JSON, SARIF, JUnit XML, Markdown, annotations or HTML; pure: a report in, one string out."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.core.report import GateReport
from redbucket.formats import as_json, github, junit, markdown, sarif, text


def _html(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as HTML; the template engine is imported by whoever asks for it."""
    from redbucket.formats.html import render

    return render(report, width=width, color=color, verbose=verbose)


FORMATS: dict[str, Callable[..., str]] = {
    "text": text.render,
    "json": as_json.render,
    "sarif": sarif.render,
    "junit": junit.render,
    "markdown": markdown.render,
    "html": _html,
    "github": github.render,
}
