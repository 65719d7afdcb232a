"""pytest-reportlog: JSON Lines, one report a phase, told apart by ``$report_type``."""

from __future__ import annotations

from typing import Any

import msgspec

from redbucket.core.fingerprint import Aligner
from redbucket.core.readers.common import Given, Place, bound, events
from redbucket.core.records import Outcome, Run, Session, Test

# Worst first: the outcome of a test is the worst of its phases and subtests.
_WORST = (
    Outcome.CRASHED,
    Outcome.ERROR,
    Outcome.FAILED,
    Outcome.XPASSED,
    Outcome.SKIPPED,
    Outcome.XFAILED,
    Outcome.PASSED,
)
# pytest's exit codes after which every test has had its turn: all passed, some failed, none found.
_WHOLE = (0, 1, 5)


class _Line(msgspec.Struct, frozen=True, gc=False):
    kind: str | None = msgspec.field(default=None, name="$report_type")
    subkind: str | None = msgspec.field(default=None, name="_report_type")
    nodeid: str = ""
    outcome: str = ""
    when: str | None = None
    longrepr: Any = None
    duration: float = 0.0
    wasxfail: Any = None
    exitstatus: int | None = None
    pytest_version: str = ""
    user_properties: tuple[Any, ...] = ()


_DECODER = msgspec.json.Decoder(_Line)


class _Case:
    """One test while its phases come."""

    def __init__(self) -> None:
        self.outcome = Outcome.PASSED
        self.message = ""
        self.duration = 0.0
        self.attempts: list[str] = []
        self.properties: dict[str, str] = {}
        self.done = False


def read(raw: bytes, place: Place, given: Given) -> Run:
    """Return the run; it is broken at the first damaged line, or without a sound SessionFinish."""
    cases: dict[str, _Case] = {}
    current: dict[str, str] = {}
    errors: dict[str, str] = {}
    names = Aligner()
    status, version = None, ""
    reports, damage = events(raw, place, _DECODER, _Line)
    for report in reports:
        version = version or report.pytest_version
        if report.exitstatus is not None:
            status = report.exitstatus
        elif report.kind == "CollectReport":
            if report.outcome == "failed":
                errors[report.nodeid] = bound(_message(report.longrepr))
        elif report.when in ("setup", "call", "teardown"):
            _take(report, cases, current, names)
    return Run(
        run_id=0,
        source=place.source,
        seed=given.seed_or(None),
        tests={name: _test(name, case, given) for name, case in cases.items()},
        errors=errors,
        session=Session(runner=f"pytest {version}" if version else "pytest"),
        broken=damage or _incomplete(status, place.source) or _unfinished(cases, place.source),
    )


def _take(report: _Line, cases: dict[str, _Case], current: dict[str, str], names: Aligner) -> None:
    name = current.get(report.nodeid)
    # A second setup after a teardown: a rerun plugin's next attempt, or an id that stands twice.
    if name is None or (report.when == "setup" and cases[name].done and "rerun" not in cases[name].attempts):
        name = current[report.nodeid] = names.name(report.nodeid)
        cases[name] = _Case()
    case = cases[name]
    case.duration += report.duration
    for pair in report.user_properties:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str):
            case.properties[pair[0]] = str(pair[1])
    if report.outcome == "rerun":
        case.attempts.append("rerun")
    outcome = _outcome(report)
    if outcome is not Outcome.PASSED and _WORST.index(outcome) < _WORST.index(case.outcome):
        case.outcome = outcome
        case.message = bound(_message(report.longrepr))
    case.done = report.when == "teardown"


def _outcome(report: _Line) -> Outcome:
    if report.outcome == "passed":
        return Outcome.PASSED
    if report.outcome == "failed":
        if _message(report.longrepr).startswith("[XPASS(strict)]"):
            return Outcome.XPASSED
        return Outcome.FAILED if report.when == "call" else Outcome.ERROR
    if report.outcome == "skipped":
        return Outcome.SKIPPED if report.wasxfail is None else Outcome.XFAILED
    # "rerun" is pytest-rerunfailures' word for a failed attempt; the attempts say so.
    return Outcome.PASSED


def _message(longrepr: Any) -> str:
    """Return what a report says: a string, [path, line, reason], or the crash of a traceback."""
    if isinstance(longrepr, str):
        return longrepr
    if isinstance(longrepr, list) and longrepr:
        return str(longrepr[-1])
    if isinstance(longrepr, dict):
        crash = longrepr.get("reprcrash")
        if isinstance(crash, dict):
            return str(crash.get("message", ""))
    return ""


def _test(name: str, case: _Case, given: Given) -> Test:
    attempts = (*case.attempts, case.outcome.value) if case.attempts else ()
    return Test(
        nodeid=name,
        outcome=case.outcome,
        seed=given.seed_or(case.properties.get("TEST_SEED")),
        fixture_hash=given.hash_or(case.properties.get("fixture_hash")),
        message=case.message,
        duration=case.duration,
        attempts=attempts,
    )


def _incomplete(status: int | None, source: str) -> str:
    if status is None:
        return f"{source}: it has no SessionFinish, so the session did not end"
    if status not in _WHOLE:
        return f"{source}: pytest ended with exit status {status}, so not every test had its turn"
    return ""


def _unfinished(cases: dict[str, _Case], source: str) -> str:
    for name, case in cases.items():
        if not case.done:
            return f"{source}: {name} has no teardown report, so it did not end"
    return ""
