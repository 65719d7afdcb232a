"""A report without what another hook has said: nothing is lost, and the verdict stays."""

from __future__ import annotations

from redbucket.core.findings import Finding, Severity
from redbucket.core.repeats import mark, without_repeats
from redbucket.core.report import GateReport, Problem, Verdict

BENT = Finding(
    rule="altered-test", severity=Severity.REFUSE, path="tests/test_a.py", reason="removes an assertion"
)
MOVED = Finding(
    rule="protected-path", severity=Severity.REFUSE, path="redbucket.toml", reason="an agent changes it"
)
NOTED = Finding(rule="untrusted-test", severity=Severity.NOTE, path="tests/test_a.py", reason="altered")


def report(*findings: Finding, **more: object) -> GateReport:
    return GateReport(verdict=Verdict.REFUSE, exit_code=1, findings=list(findings), **more)  # type: ignore[arg-type]


def test_what_nobody_said_stays_as_it_is() -> None:
    given = report(BENT, NOTED)
    assert without_repeats(given, {}) is given
    assert without_repeats(given, {mark(MOVED): "redbucket-gate"}) is given


def test_a_repeat_becomes_one_note_that_names_rule_and_hook() -> None:
    left = without_repeats(report(BENT, MOVED), {mark(BENT): "redbucket-untrusted-tests"})
    assert left.findings == [MOVED]
    assert (left.verdict, left.exit_code, left.summary) == (Verdict.REFUSE, 1, "")
    assert "1 finding (altered-test)" in left.notes[0].reason
    assert "redbucket-untrusted-tests" in left.notes[0].reason


def test_where_all_was_said_the_headline_names_the_hooks() -> None:
    said = {mark(BENT): "redbucket-untrusted-tests", mark(MOVED): "redbucket-protected-paths"}
    left = without_repeats(report(BENT, MOVED, NOTED), said)
    assert left.findings == [NOTED]
    assert left.summary == "also refused by redbucket-untrusted-tests, redbucket-protected-paths"


def test_what_is_undecided_besides_keeps_its_own_headline() -> None:
    left = without_repeats(
        report(BENT, undecided=[Problem(code="x", reason="y")]), {mark(BENT): "redbucket-gate"}
    )
    assert left.summary == ""


def test_every_word_of_a_finding_counts() -> None:
    others = [
        Finding(
            rule=rule, severity=severity, path=path, nodeid=nodeid, line=line, reason=reason, remedy=remedy
        )
        for rule, severity, path, nodeid, line, reason, remedy in (
            ("weakened-test", Severity.REFUSE, "tests/test_a.py", None, None, "removes an assertion", ""),
            ("altered-test", Severity.WARN, "tests/test_a.py", None, None, "removes an assertion", ""),
            ("altered-test", Severity.REFUSE, "tests/test_b.py", None, None, "removes an assertion", ""),
            ("altered-test", Severity.REFUSE, "tests/test_a.py", "t", None, "removes an assertion", ""),
            ("altered-test", Severity.REFUSE, "tests/test_a.py", None, 3, "removes an assertion", ""),
            ("altered-test", Severity.REFUSE, "tests/test_a.py", None, None, "removes a test", ""),
            (
                "altered-test",
                Severity.REFUSE,
                "tests/test_a.py",
                None,
                None,
                "removes an assertion",
                "put it back",
            ),
        )
    ]
    assert len({mark(one) for one in (BENT, *others)}) == 8
