"""What a run wrote under the fixture paths is a finding, unless base's run does the same."""

from __future__ import annotations

from redbucket.core.findings import Finding
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.core.records import Outcome, Run
from redbucket.core.records import Test as Ran
from redbucket.engine.written import touched, written

DATA, CASSETTE = "tests/data/x.json", "tests/cassettes/new.yaml"


def run(*, tampered: tuple[str, ...] = (), appeared: tuple[str, ...] = (), wrote: str = "") -> Run:
    test = Ran(nodeid="t.py::test_a", outcome=Outcome.PASSED, wrote=(wrote,) if wrote else ())
    return Run(run_id=1, tests={test.nodeid: test}, tampered=tampered, appeared=appeared)


def found(head: list[Run], base: Run | None = None, *, agent: bool = True) -> list[Finding]:
    return written(head, base, JudgeSide(Policy()), agent=agent)


def said(findings: list[Finding]) -> list[tuple[str | None, str]]:
    return [(f.path, f.severity.value) for f in findings]


def test_a_fixture_that_a_test_rewrites() -> None:
    for agent in (True, False):
        (finding,) = found([run(tampered=(DATA,), wrote=DATA)], run(), agent=agent)
        assert (finding.path, finding.nodeid) == (DATA, "t.py::test_a")
        assert finding.severity.value == "refuse" and finding.remedy


def test_one_that_is_rewritten_at_the_end_of_the_session() -> None:
    (finding,) = found([run(), run(tampered=(DATA,))], run())
    assert finding.nodeid is None and "no single test" in finding.reason


def test_a_new_recording() -> None:
    assert said(found([run(appeared=(CASSETTE,))], run())) == [(CASSETTE, "refuse")]
    assert said(found([run(appeared=(CASSETTE,))], run(), agent=False)) == [(CASSETTE, "warn")]


def test_what_base_does_too_is_not_the_patchs_doing() -> None:
    assert found([run(tampered=(DATA,))], run(tampered=(DATA,))) == []
    assert found([run(appeared=(CASSETTE,))], run(appeared=(CASSETTE,))) == []
    # a name of its own in each run, in a folder where base leaves such files
    other = [run(appeared=(f"tests/data/tmp{n}",)) for n in range(3)]
    assert found(other, run(appeared=("tests/data/tmp9",))) == []
    assert len(found(other, run())) == 3
    assert said(found([run(appeared=("tests/data/new",))] * 3, run(appeared=("tests/data/tmp9",)))) == [
        ("tests/data/new", "refuse")
    ]


def test_tests_that_are_rewritten_are_another_rules_business() -> None:
    assert found([run(tampered=("tests/test_a.py",))], run()) == []


def test_many_are_cut() -> None:
    findings = found([run(appeared=tuple(f"tests/data/{n:03}" for n in range(50)))], run())
    assert len(findings) == 21 and "30 more" in findings[-1].reason


def test_what_was_touched_at_all() -> None:
    assert touched([run(tampered=("b",)), run(appeared=("a",))]) == ["a", "b"]
