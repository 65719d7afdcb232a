"""The oracle's view of the source: what each changed line says, and that nothing in it is markup."""

from __future__ import annotations

import re

import msgspec
import pytest

from redbucket.core.oracled import OracleReport, Strength
from redbucket.formats import oraclehtml
from redbucket.formats.clean import line
from redbucket.formats.html import render
from redbucket.formats.oraclehtml import oracle_html
from tests.formats import reports as r
from tests.formats.test_html import ATTACKS, Page


def rows(report: OracleReport) -> list[list[str]]:
    """The words of each row of the tables of lines."""
    bodies = re.findall(r'<table class="lines">.*?<tbody>(.*?)</tbody>', oracle_html(report), re.S)
    found = [Page(row + "</tr>").text for body in bodies for row in body.split("</tr>") if row.strip()]
    return [[text.strip() for text in row if text.strip()] for row in found]


def test_each_changed_line_says_who_runs_it_and_what_survived() -> None:
    first, second, third = rows(r.oracle())
    assert first[:2] == ["2", "share = amount // parts"]
    assert first[-4:] == ["run by 2 tests", "1 killed, 1 survived", "run by 1 test", "1 killed"]
    told = " ".join(first)
    assert "1 of 2 faults survives" in told
    assert (
        "// to * : trusted tests: killed by tests/test_m.py::test_split ; own tests: killed by a hang" in told
    )
    assert "return None : trusted tests: survived; own tests: not tried for want of time" in told
    assert "ran it, and passed: tests/test_m.py::test_split" in told
    assert "-    share = amount // parts +    share = amount // parts" in told
    assert second == ["3", "rest = amount % parts", "run by 1 test", "no fault tried", "not run"]
    assert third[:4] == ["9", "return None", "1 fault", "drop the return"]
    assert third[-2:] == ["not run", "not run"]


def test_the_two_numbers_stand_on_top_and_what_they_leave_out_below() -> None:
    text = " ".join(" ".join(Page(oracle_html(r.oracle())).text).split())
    assert (
        "Trusted tests run 2 of 3 changed lines, and notice a fault on 1 of the 2 on which one was tried"
        in text
    )
    assert "trusted tests 2 of 3 1 of 2 1 of 3" in text
    assert "the patch's own tests 1 of 3 1 of 2 1 of 3 (1 by a hang)" in text
    assert (
        "1 trusted test fails, and a failing test can't be asked (0 ran a changed line): tests/test_m.py"
        in text
    )
    assert "3 of 7 possible faults were tried" in text
    assert "1 fault was not tried for want of time." in text
    assert "a note." in text


def test_without_tests_of_the_patch_there_is_no_column_for_them() -> None:
    alone = [msgspec.structs.replace(one, own=None, own_by="") for one in r.oracle().mutants]
    report = msgspec.structs.replace(r.oracle(), own=Strength(lines=3), mutants=alone)
    assert [row[-1] for row in rows(report)] == ["1 killed, 1 survived", "no fault tried", "not run"]
    text = "".join(Page(oracle_html(report)).text)
    assert "No test of the patch's own was asked" in text
    assert "own tests:" not in text
    none = OracleReport(trusted=Strength(), own=Strength(), notes=["the patch changes no line"])
    assert "The patch changes no line of Python that runs" in oracle_html(none)


def test_the_gate_shows_the_same_view() -> None:
    assert r.FULL.oracle is not None
    whole, alone = render(r.FULL), oracle_html(r.FULL.oracle)
    table = re.compile(r'<div class="sheet".*?</table></div>', re.S)
    assert table.findall(alone) != []
    assert all(part in whole for part in table.findall(alone))
    assert 'id="oracle"' not in render(msgspec.structs.replace(r.FULL, oracle=None))


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_stays_text(text: str) -> None:
    page, plain = Page(oracle_html(r.oracle(text))), Page(oracle_html(r.oracle("plain")))
    assert [(tag, sorted(a)) for tag, a in page.elements] == [(tag, sorted(a)) for tag, a in plain.elements]
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "img", "link", "iframe", "form"})
    assert not any(name.startswith("on") or name in ("style", "src") for _, a in page.elements for name in a)
    assert all(c.isprintable() or c == "\n" for c in oracle_html(r.oracle(text)))
    assert line(text)[:900] in "".join(page.text)


def test_a_long_file_stands_in_parts_and_few_are_open() -> None:
    (file,) = oraclehtml.view(r.long_oracle(20_000))["files"]
    assert sum(len(part["rows"]) for part in file["parts"]) == 20_000
    assert max(len(part["rows"]) for part in file["parts"]) == 100
    assert [part["open"] for part in file["parts"]] == [True] * 12 + [False] * 188


def test_lines_that_do_not_follow_each_other_are_told_apart() -> None:
    (part,) = oraclehtml.view(r.oracle())["files"][0]["parts"]
    assert [row["jump"] for row in part["rows"]] == [False, False, True]


def test_a_tab_is_no_escape_and_a_line_without_end_is_cut() -> None:
    first = msgspec.structs.replace(r.oracle().lines[0], code="\tx = 1")
    endless = msgspec.structs.replace(first, code="y" * 5000)
    report = msgspec.structs.replace(r.oracle(), lines=[first, endless], mutants=[])
    (part,) = oraclehtml.view(report)["files"][0]["parts"]
    assert part["rows"][0]["code"] == "    x = 1"
    assert (len(part["rows"][1]["code"]), part["rows"][1]["code"][-3:]) == (1000, "...")
