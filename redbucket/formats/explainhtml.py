"""What ``explain`` found as one HTML file, its experiments as a picture."""

from __future__ import annotations

from redbucket.core.entropy import kind_of
from redbucket.core.explanation import Explanation
from redbucket.formats.clean import line
from redbucket.formats.htmlview import message
from redbucket.formats.page import page
from redbucket.formats.trialsview import trials


def explain_html(report: Explanation) -> str:
    """Return the page."""
    facts = [
        f"tree {report.tree}" if report.tree else "",
        f"seed {report.seed}" if report.seed else "",
        f"{report.seconds:.0f} s",
        f"one run of the suite takes {report.suite_seconds:.1f} s",
    ]
    said = [
        ("tried, did not flip it", ", ".join(report.tried)),
        ("not tried", ", ".join(report.untried)),
        ("seen to touch", ", ".join(report.touched)),
        ("capture", report.capture or ""),
    ]
    return page(
        "explain.html",
        tone="good" if report.cause else "open",
        title=line(report.cause) if report.cause else "not found",
        what=line(report.what),
        nodeid=line(report.nodeid),
        facts=[line(fact) for fact in facts if fact],
        fix=line(report.fix),
        evidence=[line(one) for one in report.evidence],
        state=[line(one) for one in report.state],
        trials=trials(report.experiments, report.cause, head="patch" if report.base else "this tree"),
        commands=[line(command) for command in report.commands],
        message=message(report.message),
        said=[(name, line(value)) for name, value in said if value],
        sites=[(line(site), line(kind_of(site) or "")) for site in report.sites],
        notes=[line(note) for note in report.notes],
    )
