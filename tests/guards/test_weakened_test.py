"""What an alteration does is said in plain words, a finding each."""

from __future__ import annotations

from redbucket.guards.weakened_test import check
from tests.guards.contexts import SIDE, context, severities

TEST = "tests/test_a.py"
BASE = {
    TEST: "import pytest\nfrom lib import f\n\ndef test_a():\n    x = f(1)\n    assert x == 2\n    assert x < 9\n"
}


def test_each_weakening_is_one_warning() -> None:
    new = (
        BASE[TEST]
        .replace("x == 2", "x")
        .replace("    assert x < 9\n", "")
        .replace("def test", "@pytest.mark.xfail\ndef test")
    )
    findings = check(context(BASE, {TEST: new}), SIDE)
    assert severities(findings) == {"warn"}
    assert [finding.nodeid for finding in findings] == [f"{TEST}::test_a"] * 3
    text = " ".join(finding.reason for finding in findings)
    for part in ("skips or excuses", "truth test", "removes the assertion"):
        assert part in text
    assert all("redbucket endorse" in finding.remedy for finding in findings)


def test_a_change_that_is_not_known_to_weaken_is_a_note() -> None:
    assert severities(check(context(BASE, {TEST: BASE[TEST].replace("f(1)", "f(-1)")}), SIDE)) == {"note"}


def test_additions_are_not_weakenings() -> None:
    assert check(context(BASE, {TEST: BASE[TEST] + "    assert x > 0\n"}), SIDE) == []


def test_a_deleted_suite_stays_bounded() -> None:
    many = {TEST: "".join(f"def test_{i}():\n    assert f({i})\n" for i in range(500))}
    assert len(check(context(many, {TEST: "x = 1\n"}), SIDE)) == 100
