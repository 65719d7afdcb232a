"""A recording is obsolete only if its readers are gone or passed, in whole runs."""

from __future__ import annotations

from redbucket.core.findings import Severity
from redbucket.core.records import Outcome, Run
from redbucket.core.records import Test as Ran
from redbucket.engine.unread import obsolete

DATA = "tests/data/x.json"
LEFT = frozenset({DATA})


def run(*tests: tuple[str, Outcome], reads: str = "", broken: str = "") -> Run:
    made = {
        name: Ran(nodeid=name, outcome=outcome, fixtures=(reads,) if reads else ()) for name, outcome in tests
    }
    return Run(run_id=1, tests=made, broken=broken)


def found(base: Run, *head: Run) -> list[str | None]:
    return [finding.path for finding in obsolete(LEFT, base, head, Severity.WARN)]


BASE = run(("t.py::a", Outcome.PASSED), reads=DATA)


def test_its_reader_is_gone_or_reads_something_else() -> None:
    assert found(BASE, run(("t.py::b", Outcome.PASSED))) == [DATA]
    assert found(BASE, run(("t.py::a", Outcome.PASSED))) == [DATA]


def test_a_reader_that_fails_or_is_skipped_may_not_have_come_that_far() -> None:
    for outcome in (Outcome.FAILED, Outcome.SKIPPED, Outcome.ERROR, Outcome.CRASHED):
        assert found(BASE, run(("t.py::a", outcome))) == []
        assert found(BASE, run(("t.py::a", Outcome.PASSED)), run(("t.py::a", outcome))) == []


def test_what_base_did_not_read_either_is_no_news() -> None:
    assert found(run(("t.py::a", Outcome.PASSED)), run()) == []
    assert found(run(("t.py::a", Outcome.PASSED), reads="tests/data/other"), run()) == []
    assert found(run(("t.py::a", Outcome.PASSED), reads=DATA, broken="cut off"), run()) == []
