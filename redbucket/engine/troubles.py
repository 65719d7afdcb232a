"""Why runs can't be counted on, as problems that a report can show."""

from __future__ import annotations

from collections.abc import Sequence

from redbucket.core.answers import first_line
from redbucket.core.classification import FAILING
from redbucket.core.evidence import SUITE_LEAST, SUITE_RED
from redbucket.core.fingerprint import normalise
from redbucket.core.records import Run
from redbucket.core.report import Problem
from redbucket.core.reportcheck import PRINTED


def troubles_of(head: Sequence[Run], collected: Run) -> list[Problem]:
    """Return why the runs can't be counted on; what several runs have in common is said once."""
    said: dict[tuple[str, str], tuple[str, str, str]] = {}
    ids: dict[tuple[str, str], list[int]] = {}
    for run in head:
        fault = _fault(run)
        if fault is not None:
            # "no tests ran in 4.75s"; what a command prints comes in another order each time
            key = (fault[0], normalise(fault[1].partition(PRINTED)[0]))
            said.setdefault(key, fault)
            ids.setdefault(key, []).append(run.run_id)
    troubles = []
    for key, (code, reason, remedy) in said.items():
        if code == "report-incomplete" and not collected.broken:
            remedy = _OF_THE_PATCH
        elif code == "record-incomplete" and _BEFORE_ANY in reason and not collected.broken:
            remedy = _NOT_STARTED
        elif code == "record-incomplete" and _PREPARE in reason and not collected.broken:
            remedy = _NOT_BUILT
        which = f"run{'s' if len(ids[key]) > 1 else ''} {', '.join(map(str, ids[key]))}"
        troubles.append(Problem(code=code, reason=f"{which}: {reason}", remedy=remedy))
    if collected.broken and collected.session.runner == "junit":
        said_of_base = f"base's run: {collected.cut}"
        troubles.append(Problem(code="report-incomplete", reason=said_of_base, remedy=_REPORT))
    elif collected.broken:
        # without base's list of tests nobody knows which of them are gone
        troubles.append(
            Problem(
                code="record-incomplete",
                reason=f"base's tests could not be listed: {collected.cut}",
                remedy=_MORE_TIME if _OUT_OF_TIME in collected.broken else _EARLY_END_OF_BASE,
            )
        )
    return troubles


_OUT_OF_TIME = "the time budget ran out"
_MORE_TIME = "give it more time: --budget, or [run] budget in redbucket.toml"
_EARLY_END = "fix what ends the run early; a test that hangs or crashes alone costs only itself"
_EARLY_END_OF_BASE = "fix what ends the collection early, at base"
_OF_THE_PATCH = (
    "base's report is whole, so it is the patch that ends the run: see its output, for instance an "
    "error of the compiler"
)
_BEFORE_ANY = "before the first test"
_NOT_STARTED = (
    "base's tests can be collected, so the patch ends the run: fix the error that its output ends with"
)
_PREPARE = "the run is incomplete: prepare: "
_NOT_BUILT = (
    "base's tree passes [run] prepare, so the patch breaks it: fix the error that its output ends with"
)
_REPORT = (
    "make [run] command write a whole report where [run] report says, in a tree that has none, and end red only for "
    "failures that are in it"
)
# A runner's own dependency (pluggy) is loaded before the tree is on the path, but not before PYTHONPATH.
_IMPORTABLE = (
    '[run] env, for instance { PYTHONPATH = "src" }, pythonpath in pytest\'s configuration, or [run] prepare'
)


def _fault(run: Run) -> tuple[str, str, str] | None:
    """Return code, reason and remedy if a run can't be counted on."""
    if run.broken and run.session.runner == "junit":
        return ("report-incomplete", run.cut, _REPORT)
    if run.broken:
        return (
            "record-incomplete",
            run.cut,
            _MORE_TIME if _OUT_OF_TIME in run.broken else _EARLY_END,
        )
    if run.sentinels:
        return (
            "sentinel-misbehaved",
            run.sentinels,
            "something in the process rewrites test results: look at conftest hooks and at what the patch imports",
        )
    outside = {**run.foreign, **run.elsewhere}
    if outside:
        module = min(outside)
        return (
            "code-from-elsewhere",
            f"code from outside the judged tree was tested: {module} came from {outside[module]}",
            f"make the tree's own copy importable with {run.session.interpreter}: {_IMPORTABLE}",
        )
    return None


def environment_failed(head: Sequence[Run], base: Run | None) -> Problem | None:
    """Return a problem where four fifths of the suite are red in both worlds: the environment, not the patch."""
    if base is None or base.broken or len(base.tests) < SUITE_LEAST:
        return None
    for run in (*head, base):
        red = sum(t.outcome in FAILING for t in run.tests.values())
        if not run.tests or red / len(run.tests) < SUITE_RED:
            return None
    example = next((t.message for t in base.tests.values() if t.outcome in FAILING), "")
    return Problem(
        code="environment-failed",
        reason=f"four fifths of the suite are red with and without the patch, for instance: {first_line(example)}",
        remedy=f"make the suite pass at base first, with {base.session.interpreter}: missing packages, services "
        "or built parts ([run] prepare)",
    )


def no_tests(run: Run) -> Problem:
    """Return what to say of a run that collected nothing."""
    if run.errors:
        path = min(run.errors)
        return Problem(
            code="no-tests",
            reason=f"no test could be collected: {path}: {first_line(run.errors[path])}",
            remedy=f"make the tests importable with {run.session.interpreter}",
        )
    return Problem(
        code="no-tests",
        reason="no tests were collected, with the patch or without it",
        remedy="set [run] command in redbucket.toml to the command that runs the tests",
    )


def out_of_time() -> Problem:
    """Return what to say when the time budget ran out."""
    return Problem(
        code="out-of-time",
        reason=f"{_OUT_OF_TIME} before all runs were done",
        remedy="raise [run] budget, or use --scope failed",
    )
