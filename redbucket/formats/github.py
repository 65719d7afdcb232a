"""The report as GitHub's workflow commands: annotations at the lines of a pull request, from a job's log.

A command begins a line with "::", so every line of what the patch controls is escaped into one: no test's message can
give a command of its own. The service shows ten of each level for a step; what is over is counted in the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redbucket.core.findings import Severity
from redbucket.core.plural import plural
from redbucket.core.report import GateReport, Problem, Row, Verdict
from redbucket.formats import phrases
from redbucket.formats.clean import cut, line
from redbucket.formats.excerpt import excerpt
from redbucket.formats.phrases import Group

_SHOWN = 10
_EXCERPT, _WIDTH = 3, 200
_LONGEST = 2_000  # characters of one message
_LEVELS = {Severity.REFUSE: "error", Severity.WARN: "warning", Severity.NOTE: "notice"}
_URGENT = (Group.MISS, Group.DRIFT, Group.NOISE, Group.BLOCKS, Group.UNCLASSIFIED)


class _Annotation(NamedTuple):
    """One remark; ``path`` "" is the job itself, ``at`` a line of the file, ``message`` a test's own."""

    level: str
    title: str
    said: Sequence[str]
    path: str = ""
    at: int | None = None
    message: str = ""


def render(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as workflow commands, a line each, the verdict first; the options change nothing."""
    groups = phrases.grouped(report.tests)
    verdict = _Annotation(
        "notice" if report.verdict is Verdict.ACCEPT else "error",
        f"redbucket: {phrases.verdict_word(report.verdict)}",
        [", ".join(phrases.reasons(report, groups))],
    )
    by: dict[str, list[_Annotation]] = {}
    for each in (verdict, *_all(report, groups)):
        by.setdefault(each.level, []).append(each)
    out: list[str] = []
    for level, found in by.items():
        if len(found) > _SHOWN:
            more = f"{plural(len(found) - _SHOWN + 1, f'more {level}')}: the summary of the job has them"
            found = [*found[: _SHOWN - 1], _Annotation(level, "redbucket", [more])]
        out += map(_command, found)
    return "\n".join(out) + "\n"


def _all(report: GateReport, groups: dict[Group, list[Row]]) -> Iterator[_Annotation]:
    yield from map(_undecided, report.undecided)
    for finding in phrases.ranked(report.findings):
        path = finding.path or phrases.file_in(finding.nodeid or "")
        said = [finding.nodeid or "", finding.reason, f"Remedy: {finding.remedy}" if finding.remedy else ""]
        yield _Annotation(_LEVELS[finding.severity], f"redbucket {finding.rule}", said, path, finding.line)
    for group in _URGENT:
        for row in groups[group]:
            path, title = row.path or phrases.file_in(row.nodeid), f"redbucket: {group.value.lower()}"
            yield _Annotation("error", title, [row.nodeid, row.why], path, row.line, row.message)
    if report.untrusted_green and all(f.rule != "untrusted-green" for f in report.findings):
        yield _Annotation("warning", "redbucket untrusted-green", [phrases.UNTRUSTED_GREEN.capitalize()])


def _undecided(problem: Problem) -> _Annotation:
    said = [problem.reason, f"Remedy: {problem.remedy}" if problem.remedy else ""]
    path = problem.path if isinstance(problem.path, str) else ""
    return _Annotation("error", f"redbucket {problem.code}", said, path)


def _command(each: _Annotation) -> str:
    words = [f"file={_property(each.path)}"] if each.path else []
    words += [f"line={max(1, each.at)}"] if each.path and each.at is not None else []
    words.append(f"title={_property(each.title)}")
    told = excerpt(each.message, _WIDTH, _EXCERPT).lines
    text = "\n".join(line(part) for part in (*each.said, *told) if part)
    return f"::{each.level} {','.join(words)}::{_data(cut(text, _LONGEST)) or 'redbucket'}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(line(text)).replace(":", "%3A").replace(",", "%2C")
