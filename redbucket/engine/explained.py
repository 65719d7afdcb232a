"""From what the experiments found to the report, with commands that show it."""

from __future__ import annotations

from shlex import quote

from redbucket.core.errors import ACCEPTED, UNDECIDED
from redbucket.core.explanation import Explanation
from redbucket.engine.explain import Explain
from redbucket.engine.found import Found

NOT_FOUND_FAILS = (
    "it fails every time in the same way and nothing that was tried changes that: read it as a real failure"
)
NOT_FOUND_PASSES = "it passed every time, whatever was tried"
NOT_FOUND_ORDER = "its outcome goes with the order of the tests, but which test does it was not confirmed"
NOT_FOUND_MIXED = "it passes and fails under equal conditions, and nothing that was tried holds it still"


def explained(
    done: Explain, found: Found | None, *, tree: str, runner: str, base: list[str], capture: str | None
) -> Explanation:
    """Return the report."""
    if found is None:
        what = NOT_FOUND_MIXED if not done.steady else NOT_FOUND_FAILS if done.fails else NOT_FOUND_PASSES
        if len({outcome for seen in done.outcomes.values() for outcome in seen}) > 1 and done.steady:
            what = NOT_FOUND_ORDER
    else:
        what = found.what
    return Explanation(
        nodeid=done.nodeid,
        exit_code=ACCEPTED if found else UNDECIDED,
        cause=found.cause if found else None,
        what=what,
        tests=found.culprits.tests if found and found.culprits else [],
        state=found.culprits.state if found and found.culprits else [],
        evidence=found.evidence if found else [],
        commands=commands(done, found, runner, capture) if found else [],
        tried=list(dict.fromkeys(done.tried)),
        untried=list(dict.fromkeys(done.untried)),
        fix=found.fix if found else "",
        outcomes=done.outcomes,
        touched=done.touched,
        sites=done.sites,
        message=done.message[:4000],
        base=base,
        notes=done.notes,
        capture=capture,
        tree=tree,
        seed=done.specs.seed,
        suite_seconds=round(done.suite_seconds, 3),
        seconds=round(done.clock() - done._began, 3),
    )


def commands(done: Explain, found: Found, runner: str, capture: str | None) -> list[str]:
    """Return commands that show the cause: first as it is, then with the cause."""
    test = quote(done.nodeid)
    plain = f"python -m {runner}"
    out = []
    if found.culprits is not None:
        before = " ".join(map(quote, found.culprits.tests))
        quiet = " -p no:randomly -p no:xdist" if runner == "pytest" else ""
        out = [f"{plain}{quiet} {before} {test}", f"{plain}{quiet} {test}"]
        if found.culprits.imported:
            out = []
    elif found.show:
        out = [f"{plain} {test}", f"({found.show} {plain} {test})"]
    if capture:
        out.append(f"redbucket replay {quote(capture)}")
    return out
