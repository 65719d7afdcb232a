"""The report as JUnit XML: what blocks is a failure, what is undecided an error, the rest never red."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from redbucket.core.findings import Finding, Severity
from redbucket.core.report import GateReport, Problem, Row
from redbucket.formats import phrases
from redbucket.formats.clean import line, lines
from redbucket.formats.phrases import Group

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class _Case(NamedTuple):
    kind: str  # "", "failure", "error" or "skipped"
    classname: str
    name: str
    attributes: str
    inner: tuple[str, ...]

    @property
    def xml(self) -> str:
        """The element."""
        names = f'classname="{_text(self.classname)}" name="{_text(self.name)}"'
        opened = f'    <testcase {names}{self.attributes} time="0.000">'
        return "\n".join([opened, *self.inner, "    </testcase>"])


def _distinct(cases: list[_Case]) -> list[_Case]:
    """Viewers merge cases of one name, so that a failure may vanish: each further one gets a number."""
    own = {(case.classname, case.name) for case in cases}
    used: set[tuple[str, str]] = set()
    last: dict[tuple[str, str], int] = {}
    found = []
    for case in cases:
        key = chosen = case.classname, case.name
        while chosen in used or (chosen != key and chosen in own):
            last[key] = last.get(key, 1) + 1
            chosen = case.classname, f"{case.name} ({last[key]})"
        used.add(chosen)
        found.append(case._replace(name=chosen[1]))
    return found


def render(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as JUnit XML; the options change nothing."""
    suites = [
        ("redbucket.tests", [_row(row) for row in report.tests], report.duration),
        ("redbucket.guards", [_finding(f) for f in phrases.ranked(report.findings)], 0.0),
        ("redbucket.gate", [_problem(p) for p in report.undecided], 0.0),
    ]
    suites = [(name, _distinct(cases), time) for name, cases, time in suites]
    everything = [case for _, cases, _ in suites for case in cases]
    out = ['<?xml version="1.0" encoding="UTF-8"?>']
    out.append(f'<testsuites name="redbucket" {_totals(everything)} time="{report.duration:.3f}">')
    for name, cases, time in suites:
        out.append(f'  <testsuite name="{name}" {_totals(cases)} time="{time:.3f}">')
        if name == "redbucket.gate":
            out += [f"    {part}" for part in _properties(_about(report))]
        out += [case.xml for case in cases]
        out.append("  </testsuite>")
    return "\n".join([*out, "</testsuites>"]) + "\n"


def _totals(cases: list[_Case]) -> str:
    kinds = [case.kind for case in cases]
    count = {kind: kinds.count(kind) for kind in ("failure", "error", "skipped")}
    return (
        f'tests="{len(cases)}" failures="{count["failure"]}" '
        f'errors="{count["error"]}" skipped="{count["skipped"]}"'
    )


def _row(row: Row) -> _Case:
    group = phrases.group_of(row)
    state = phrases.state(row)
    path, _, inside = row.nodeid.partition("::")
    scope, _, name = inside.partition("[")[0].rpartition("::")
    module = path.removesuffix(".py").replace("/", ".")
    classname = ".".join(filter(None, (module, scope.replace("::", "."))))
    name = inside[len(scope) + 2 :] if scope else inside
    kind = _kind(row, group)
    label = ": ".join(filter(None, (state, row.why))) or group.value
    body = "\n".join(lines(row.message)) if kind in ("failure", "error") else ""
    properties = {
        "nodeid": row.nodeid,
        "bucket": row.bucket.value,
        "state": state,
        "introduced": "" if row.introduced is None else str(row.introduced).lower(),
        "cause": row.cause or "",
        "spend": row.spend,
        "doubt": "" if row.doubt is None else f"{row.doubt:.6g}",
        "outcomes": phrases.outcomes(row),
        "fixtures": ", ".join(row.fixtures),
    }
    return _case(
        (classname, name or row.nodeid, path), kind, row.bucket.value, label, body, properties.items()
    )


def _kind(row: Row, group: Group) -> str:
    if group is Group.UNCLASSIFIED:
        return "error"
    if row.blocks or (row.introduced is True and group in (Group.MISS, Group.DRIFT, Group.NOISE)):
        return "failure"
    return "" if group is Group.PASSED else "skipped"


def _finding(finding: Finding) -> _Case:
    place = finding.path or finding.nodeid or ""
    kind = "failure" if finding.severity is Severity.REFUSE else ""
    properties = {
        "severity": finding.severity.value,
        "reason": finding.reason,
        "remedy": finding.remedy,
        "path": finding.path or "",
        "nodeid": finding.nodeid or "",
        "line": "" if finding.line is None else str(finding.line),
    }
    name = f"{finding.rule} {place}".rstrip()
    names = ("redbucket.guards", name, finding.path or "")
    return _case(names, kind, finding.rule, finding.reason, finding.remedy, properties.items())


def _problem(problem: Problem) -> _Case:
    names = ("redbucket.gate", problem.code, "")
    return _case(names, "error", problem.code, problem.reason, problem.remedy, ())


def _about(report: GateReport) -> Iterable[tuple[str, str]]:
    yield "verdict", report.verdict.value
    yield "exit_code", str(report.exit_code)
    yield from (("base", report.base), ("head", report.head), ("seed", report.seed))
    yield "untrusted_green", str(report.untrusted_green).lower()
    yield "doubt", phrases.unseen(report)


def _case(
    names: tuple[str, str, str],
    kind: str,
    type_: str,
    label: str,
    body: str,
    properties: Iterable[tuple[str, str]],
) -> _Case:
    classname, name, path = names
    file = f' file="{_text(path)}"' if path else ""
    out = [f"      {part}" for part in _properties(properties)]
    if kind == "skipped":
        out.append(f'      <skipped message="{_text(label)}"/>')
    elif kind:
        inner = "\n".join(_text(part) for part in body.split("\n"))
        out.append(f'      <{kind} type="{_text(type_)}" message="{_text(label)}">{inner}</{kind}>')
    return _Case(kind, classname, name, file, tuple(out))


def _properties(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    said = [(name, value) for name, value in pairs if value]
    if not said:
        return
    yield "<properties>"
    yield from (f'  <property name="{name}" value="{_text(value)}"/>' for name, value in said)
    yield "</properties>"


def _text(text: str) -> str:
    # What XML 1.0 forbids (controls, surrogates, U+FFFE) does not print either, so it is escaped already.
    return line(text).translate(_MARKUP)
