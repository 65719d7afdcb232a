"""The report as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from redbucket import __version__
from redbucket.core.findings import Severity
from redbucket.core.report import GateReport, Problem, Row, Verdict
from redbucket.formats import phrases
from redbucket.formats.clean import line
from redbucket.formats.excerpt import excerpt
from redbucket.formats.rules import RULES

_LEVELS = {Severity.REFUSE: "error", Severity.WARN: "warning", Severity.NOTE: "note"}
_EXCERPT, _LINE = 3, 400
_ROOT = "%SRCROOT%"
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(
    report: GateReport,
    *,
    width: int = 80,
    color: bool = False,
    verbose: bool = False,
    rules: Mapping[str, str] = RULES,
    help_uri: str = "",
) -> str:
    """Return ``report`` as SARIF. Every one of ``rules`` is declared, found or not.

    ``help_uri`` is the address of redbucket's ``docs`` folder, "" if none is known.
    The other options change nothing.
    """
    results = [*_findings(report), *_tests(report), *_undecided(report)]
    known = dict(sorted({**{result["ruleId"]: "" for result in results}, **rules}.items()))
    index = {rule: number for number, rule in enumerate(known)}
    seen: Counter[str] = Counter()
    for result in results:
        result["ruleIndex"] = index[result["ruleId"]]
        key = result.pop("key")
        seen[key] += 1
        digest = sha256(f"{key}\0{seen[key]}".encode("utf-8", "backslashreplace")).hexdigest()
        result["partialFingerprints"] = {"redbucket/v1": digest}
    run = {
        "tool": {
            "driver": {
                "name": "redbucket",
                "version": __version__,
                **({"informationUri": help_uri} if help_uri else {}),
                "rules": [_rule(rule, says, help_uri) for rule, says in known.items()],
            }
        },
        "automationDetails": {"id": "redbucket/gate"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.verdict is not Verdict.UNDECIDED,
                "exitCode": report.exit_code,
                "toolExecutionNotifications": [_notification(note) for note in report.notes],
            }
        ],
        "results": results,
        "properties": {
            "verdict": report.verdict.value,
            "base": line(report.base),
            "head": line(report.head),
            "seed": line(report.seed),
            "untrustedGreen": report.untrusted_green,
            "doubt": phrases.unseen(report),
        },
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: str, says: str, help_uri: str) -> dict[str, Any]:
    says = says or rule
    described: dict[str, Any] = {
        "id": line(rule),
        "name": "".join(part.capitalize() for part in line(rule).split("-")),
        "shortDescription": {"text": _plain(says)},
        "fullDescription": {"text": _plain(says)},
        "help": {"text": _plain(f"{says} The result names the place, the reason and the remedy.")},
    }
    if help_uri:
        described["helpUri"] = f"{help_uri.rstrip('/')}/{_page(rule)}"
    return described


def _page(rule: str) -> str:
    """Return the page that explains ``rule``, from the folder of the documentation."""
    if rule == "undecided":
        return "errors.md"
    return "buckets.md" if rule.startswith("bucket-") else f"rules/{quote(line(rule))}.md"


def _findings(report: GateReport) -> Iterator[dict[str, Any]]:
    for finding in phrases.ranked(report.findings):
        text = f"{finding.reason} Remedy: {finding.remedy}" if finding.remedy else finding.reason
        yield _result(
            finding.rule, _LEVELS[finding.severity], text, finding.path, finding.nodeid, finding.line
        )


def _tests(report: GateReport) -> Iterator[dict[str, Any]]:
    for rows in phrases.grouped(report.tests).values():
        for row in rows:
            if _tells(row):
                rule = f"bucket-{row.bucket.value.replace('_', '-')}"
                yield _result(rule, "error", _about(row), None, row.nodeid, row.line, at_path=row.path)
    if report.untrusted_green and all(f.rule != "untrusted-green" for f in report.findings):
        level = "error" if report.verdict is Verdict.REFUSE else "warning"
        yield _result("untrusted-green", level, phrases.UNTRUSTED_GREEN.capitalize(), None, None, None)


def _tells(row: Row) -> bool:
    return phrases.group_of(row) in (
        phrases.Group.MISS,
        phrases.Group.DRIFT,
        phrases.Group.NOISE,
        phrases.Group.BLOCKS,
        phrases.Group.UNCLASSIFIED,
    )


def _undecided(report: GateReport) -> Iterator[dict[str, Any]]:
    for problem in report.undecided:
        result = _result("undecided", "error", _said(problem), problem.path or None, None, None)
        yield {**result, "key": f"undecided\0{problem.code}"}


def _about(row: Row) -> str:
    parts = [row.nodeid, phrases.state(row), row.why, phrases.outcomes(row), row.spend]
    return ". ".join(filter(None, [*parts, *excerpt(row.message, _LINE, _EXCERPT).lines]))


def _said(problem: Problem) -> str:
    remedy = f" Remedy: {problem.remedy}" if problem.remedy else ""
    return f"{problem.code}: {problem.reason}{remedy}"


def _notification(note: Problem) -> dict[str, Any]:
    return {"level": "note", "message": {"text": _plain(_said(note))}}


def _result(
    rule: str,
    level: str,
    text: str,
    path: str | None,
    nodeid: str | None,
    at: int | None,
    *,
    at_path: str | None = None,
) -> dict[str, Any]:
    """Return one result. ``at_path`` is where a test was looked up: it moves, and identifies nothing."""
    place = path or at_path or phrases.file_in(nodeid or "")
    location: dict[str, Any] = {
        "physicalLocation": {
            # Code scanning shows nothing that has no file and line: the root stands for the whole.
            "artifactLocation": {"uri": _uri(place) or ".", "uriBaseId": _ROOT},
            "region": {"startLine": max(1, at or 1)},
        }
    }
    if nodeid:
        location["logicalLocations"] = [{"fullyQualifiedName": line(nodeid), "kind": "function"}]
    return {
        "ruleId": line(rule),
        "level": level,
        "message": {"text": _plain(text) or line(rule)},
        "locations": [location],
        "key": f"{rule}\0{path or ''}\0{nodeid or ''}",
    }


def _uri(path: str) -> str:
    try:
        return quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return quote(path.encode("utf-8", "backslashreplace"))


def _plain(text: str) -> str:
    # "[text](target)" is a link in a SARIF message; no escape of it is understood everywhere.
    return line(text).replace("](", "] (")
