"""What to do next: commands that can be pasted, each once, and enough to get through."""

from __future__ import annotations

from typing import Any

import msgspec

from redbucket.core.calling import Calling
from redbucket.core.findings import Finding, Severity
from redbucket.core.report import GateReport, IdentityReport, Problem, Verdict
from redbucket.formats.phrases import grouped
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
