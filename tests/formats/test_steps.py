"""What to do next: commands that can be pasted, each once, and enough to get through."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.calling import Calling
from redbucket.core.findings import DOCTESTS, MEND, Finding, Severity
from redbucket.core.report import GateReport, IdentityReport, Problem, Row, Verdict
from redbucket.formats.phrases import grouped, summary
from redbucket.formats.steps import Step, steps
from redbucket.formats.text import render
from tests.formats import reports as r


def refused(*paths: str, rule: str = "protected-path", **more: Any) -> list[Step]:
    findings = [
        Finding(rule=rule, severity=Severity.REFUSE, path=path, reason="changed", remedy=f"look at {path}")
        for path in paths
    ]
    report = GateReport(
        verdict=Verdict.REFUSE, exit_code=1, base="b" * 40, head="c" * 40, findings=findings, **more
    )
    return steps(report, grouped(report.tests))


def commands(found: list[Step]) -> list[str]:
    return [command for step in found for command in step.commands]


def test_all_paths_are_put_back_and_the_result_is_committed() -> None:
    paths = [f"tests/test_{n}.py" for n in range(9)]
    found = commands(refused(*paths, command="redbucket gate --base main"))
    assert found == [
        f"git checkout {'b' * 12} -- {' '.join(paths)}",
        "git commit -m 'Put back what judges'",
        "redbucket gate --base main",
    ]


def test_who_names_a_head_is_told_on_which_branch_to_put_it_right() -> None:
    """Whoever judges another branch stands on main: there the commands would find nothing to commit."""
    named = refused("flakes.toml", command="redbucket gate --head agent/x")
    assert named[0].text.startswith("on the patch's branch put back what judges")
    assert refused("flakes.toml", command="git commit")[0].text.startswith("put back what judges")


def test_nothing_is_put_back_where_the_patch_changes_nothing() -> None:
    """`git checkout` of a file that is as in base leaves nothing to commit: the finding's own remedy is said."""
    found = refused("tests/test_a.py", "tests/test_b.py", rule="vanished-test", untouched=["tests/test_a.py"])
    assert [c for c in commands(found) if "git checkout" in c] == [
        f"git checkout {'b' * 12} -- tests/test_b.py"
    ]
    assert "look at tests/test_a.py" in [step.text for step in found]
    alone = refused("tests/test_a.py", rule="vanished-test", untouched=["tests/test_a.py"])
    assert not any("git" in command for command in commands(alone)[:-1])


@pytest.mark.parametrize("remedy", [f"{DOCTESTS} as they are in base", f"{MEND}; if a newer Python reads it"])
def test_a_file_that_is_source_as_well_is_not_thrown_back(remedy: str) -> None:
    part = Finding(
        rule="altered-test", severity=Severity.REFUSE, path="pkg/m.py", reason="changed", remedy=remedy
    )
    whole = Finding(
        rule="altered-test", severity=Severity.REFUSE, path="tests/test_m.py", reason="changed", remedy="x"
    )
    report = GateReport(
        verdict=Verdict.REFUSE, exit_code=1, base="b" * 40, head="c" * 40, findings=[part, whole]
    )
    found = steps(report, grouped(report.tests))
    assert [c for c in commands(found) if "checkout" in c] == [f"git checkout {'b' * 12} -- tests/test_m.py"]
    assert remedy in [step.text for step in found]


def _gone(name: str, message: str) -> Row:
    return Row(
        nodeid=f"tests/test_m.py::{name}",
        bucket=Bucket.INVARIANT_MISS,
        introduced=True,
        blocks=True,
        outcomes={"H": ["missing"] * 3, "B": ["passed"]},
        message=message,
    )


def _lost(*rows: Row) -> GateReport:
    findings = [
        Finding(
            rule="vanished-test",
            severity=Severity.REFUSE,
            path="tests/test_m.py",
            nodeid=row.nodeid,
            reason="gone",
            remedy="bring it back",
        )
        for row in rows
        if row.outcomes["H"][0] == "missing"
    ]
    return GateReport(
        verdict=Verdict.REFUSE,
        exit_code=1,
        base="b" * 40,
        head="c" * 40,
        tests=list(rows),
        findings=findings,
        untouched=["tests/test_m.py"],
    )


def test_a_product_that_does_not_import_is_named_by_its_error() -> None:
    error = "SyntaxError: invalid syntax (m.py:6)"
    report = _lost(_gone("test_a", f"{error}\n  m.py:6: def ("), _gone("test_b", error))
    assert summary(report) == f"REFUSE: 2 tests broken by this patch: {error}"
    first, *rest = steps(report, grouped(report.tests))
    assert (error in first.text, len(first.subjects)) == (True, 2)
    # no property can be drafted over it, and nothing is put back
    assert [command for step in rest for command in step.commands] == ["redbucket gate"]
    assert "bring it back" not in [step.text for step in rest]


def test_what_else_is_broken_is_said_beside_it() -> None:
    failed = msgspec.structs.replace(_gone("test_c", "assert 1 == 2"), outcomes={"H": ["failed"] * 3})
    report = _lost(_gone("test_a", "E: x (m.py:1)"), _gone("test_b[1]", ""), failed)
    assert summary(report) == "REFUSE: 3 tests broken by this patch (1 by E: x (m.py:1)), 1 test of base gone"
    found = steps(report, grouped(report.tests))
    assert found[0].subjects == ("tests/test_m.py::test_a",)
    assert found[1].subjects == ("tests/test_m.py::test_b[1]", "tests/test_m.py::test_c")
    assert any("property" in step.text for step in found)
    assert "bring it back" in [step.text for step in found]
    gone = _lost(_gone("test_b[1]", ""))
    assert not any("property" in step.text for step in steps(gone, grouped(gone.tests)))


def test_a_miss_that_another_condition_shows_is_not_said_to_pass() -> None:
    row = Row(
        nodeid="t.py::test_a",
        bucket=Bucket.INVARIANT_MISS,
        introduced=True,
        blocks=True,
        outcomes={
            "B": ["passed"],
            "H": ["passed"] * 3,
            "H scout": ["failed"],
            "H scout seed": ["failed"] * 3,
        },
    )
    (first, *_) = steps(_lost(row), grouped([row]))
    assert (
        "(passed 3 of 3 with the patch, failed 3 of 3 with the patch under scout seed, passed 1" in first.text
    )
    plain = msgspec.structs.replace(
        row, outcomes={"H": ["failed"] * 3, "H alone": ["failed"], "B": ["passed"]}
    )
    (first, *_) = steps(_lost(plain), grouped([plain]))
    assert "(failed 3 of 3 with the patch, passed 1 of 1 without it)" in first.text


def test_what_is_staged_is_committed_by_the_command_that_was_refused() -> None:
    found = refused("flakes.toml", command="git commit")
    assert commands(found)[-1] == "git commit"
    assert "git commit -m 'Put back what judges'" not in commands(found)
    assert found[-1].text == "then try again:"


def test_a_file_that_is_source_as_well_is_not_thrown_back_whole() -> None:
    found = refused("pyproject.toml", "tests/conftest.py", added=["pyproject.toml"], rule="runner-tamper")
    assert not any("pyproject.toml" in command for command in commands(found))
    assert "look at pyproject.toml" in [step.text for step in found]


def test_no_command_is_given_twice() -> None:
    found = commands(refused("a/fixtures.sha256", "a/fixtures.sha256"))
    assert len(found) == len(set(found))


def test_a_freeze_that_a_person_did_not_finish_is_finished_and_an_agents_is_put_back() -> None:
    person = refused("flakes.toml", rule="flake-expiry")
    assert person[0].text == "look at flakes.toml"
    assert not any("git" in command for command in commands(person))
    agent = refused("flakes.toml", rule="flake-expiry", identity=IdentityReport(agent=True))
    assert commands(agent)[0].startswith("git checkout")


def test_a_miss_is_answered_by_a_property_and_how_is_said() -> None:
    """ "Strengthen a property over a domain" names no command: who has never written one stops there."""
    found = steps(r.BROKEN, grouped(r.BROKEN.tests))
    (law,) = [step for step in found if "property" in step.text]
    assert "docs/properties.md" in law.text
    assert law.commands == (
        f"redbucket gate --base {r.BASE[:12]} --head {r.HEAD[:12]} --format json --output REPORT.json",
        "redbucket draft REPORT.json",
    )
    typed = msgspec.structs.replace(r.BROKEN, command="redbucket gate -C x --head a --policy p.toml")
    assert "redbucket gate -C x --head a --policy p.toml --format json --output REPORT.json" in commands(
        steps(typed, grouped(typed.tests))
    )
    foreign = msgspec.structs.replace(r.BROKEN, notes=[Problem(code="own-report", reason="")])
    (alone,) = [step for step in steps(foreign, grouped(foreign.tests)) if "property" in step.text]
    assert alone.commands == ()  # nothing is drafted for another language
    skipped = msgspec.structs.replace(r.MISS, outcomes={"H": ["skipped"] * 3, "B": ["passed"]})
    silent = msgspec.structs.replace(r.BROKEN, tests=[skipped])
    assert not any("property" in step.text for step in steps(silent, grouped(silent.tests)))
    away = render(typed, calling=Calling(folder="x"))
    assert "$ redbucket gate -C x --head a --policy p.toml --format json --output x/REPORT.json\n" in away
    assert "$ redbucket -C x draft REPORT.json\n" in away
    assert not any("property" in step.text for step in steps(r.GREEN, grouped(r.GREEN.tests)))


def test_what_to_do_about_a_broken_run_is_said_once() -> None:
    """By the reason's own remedy, whose rows have nothing to add; another row's spend stays."""
    rows = [
        Row(nodeid=name, bucket=Bucket.UNCLASSIFIED, why=why, spend="fix the runner", outcomes={})
        for name, why in (("a", "runs 1, 2: it broke"), ("b", "runs 1, 2: it broke"), ("c", "no seed"))
    ]
    problem = Problem(code="report-incomplete", reason="runs 1, 2: it broke", remedy="see its output")
    for some, said in ((rows[:2], ["see its output"]), (rows, ["see its output", "fix the runner"])):
        report = msgspec.structs.replace(
            _lost(), verdict=Verdict.UNDECIDED, tests=some, undecided=[problem], findings=[]
        )
        assert [step.text for step in steps(report, grouped(some))][:-1] == said


def drifted(reason: str, *, agent: bool) -> list[Step]:
    path = "tests/data/edges.json"
    found = (
        [Finding(rule="fixture-checksum", severity=Severity.REFUSE, path=path, reason=reason)]
        if reason
        else []
    )
    report = GateReport(
        verdict=Verdict.REFUSE,
        exit_code=1,
        base="b" * 40,
        head="c" * 40,
        command="redbucket gate --head agent/x",
        findings=found,
        tests=[r.DRIFT],
        identity=IdentityReport(agent=agent),
    )
    return steps(report, grouped(report.tests))


def test_a_drift_is_looked_at_first_and_an_agents_bytes_are_taken_over_by_a_person() -> None:
    """On an agent's branch `fixtures refresh` is refused, and on main there is nothing to refresh."""
    found = commands(drifted("mismatch: its bytes are others", agent=True))
    assert found[0].startswith("redbucket fixtures diff")
    assert f"git checkout {'c' * 12} -- tests/data/edges.json" in found
    assert "redbucket fixtures refresh tests/data/edges.json" in found
    assert "redbucket fixtures lock tests/data/edges.json" in commands(
        drifted("unlocked: nothing holds it", agent=True)
    )


def test_who_has_refreshed_the_lock_is_not_sent_to_refresh_it_again() -> None:
    assert not any("fixtures refresh" in command for command in commands(drifted("", agent=False)))
    assert any(
        "fixtures refresh" in command for command in commands(drifted("mismatch: others", agent=False))
    )
