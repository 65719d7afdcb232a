"""Annotations: workflow commands that GitHub reads, and none that a patch gives."""

from __future__ import annotations

import re

import msgspec
import pytest

from redbucket.core.report import GateReport
from redbucket.formats.github import render
from tests.formats import reports as r

# As the service's runner reads a line: "::name key=value,key=value::text", escaped.
COMMAND = re.compile(r"::(?P<level>error|warning|notice) (?P<words>[^:]*)::(?P<text>.+)")


def unescaped(text: str) -> str:
    for mark, character in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(mark, character)
    return text


def read(report: GateReport) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for row in render(report).splitlines():
        match = COMMAND.fullmatch(row)
        assert match, row
        words = dict(pair.split("=", 1) for pair in match["words"].split(","))
        assert words.keys() <= {"file", "line", "title"}
        found.append((match["level"], {k: unescaped(v) for k, v in words.items()}, unescaped(match["text"])))
    return found


def test_the_verdict_comes_first_and_what_blocks_stands_at_its_line() -> None:
    miss = msgspec.structs.replace(r.MISS, path="tests/test_edge.py", line=7)
    found = read(msgspec.structs.replace(r.FULL, tests=[miss, *r.PASSES], untrusted_green=False))
    assert found[0][:2] == ("error", {"title": "redbucket: REFUSE"})
    (said,) = [one for one in found if "broken by this patch" in one[1]["title"]]
    assert (said[0], said[1]["file"], said[1]["line"]) == ("error", "tests/test_edge.py", "7")
    assert said[2].startswith(f"{miss.nodeid}\n{miss.why}")
    (protected,) = [one for one in found if "protected-path" in one[1]["title"]]
    assert protected[1]["file"] == r.PROTECTED.path
    assert {one[0] for one in found} == {"error", "warning", "notice"}


def test_a_green_gate_is_one_notice() -> None:
    assert [one[:2] for one in read(r.GREEN)] == [("notice", {"title": "redbucket: ACCEPT"})]


@pytest.mark.parametrize("report", [r.FULL, r.BROKEN, r.EMPTY, r.hostile(), r.large(2_000)])
def test_each_line_is_one_command_and_no_more_than_the_service_shows(report: GateReport) -> None:
    found = read(report)
    for level in ("error", "warning", "notice"):
        assert sum(one[0] == level for one in found) <= 10


def test_what_does_not_fit_is_counted() -> None:
    report = r.large(2_000)
    errors = [one for one in read(report) if one[0] == "error"]
    blocking = 1 + sum(row.blocks or bool(row.introduced) for row in report.tests)
    assert errors[-1][2] == f"{blocking - 9:,} more errors: the summary of the job has them"
