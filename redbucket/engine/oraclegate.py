"""weak-oracle: trusted tests run the changed lines, and would not notice their faults."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.core.errors import Undecided
from redbucket.core.findings import Finding, Severity
from redbucket.core.oracled import OracleReport
from redbucket.core.report import Problem
from redbucket.engine.oracle import Oracle
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject

RULE = "weak-oracle"


def weak_oracle(
    subject: Subject,
    objects: Objects,
    specs: Specs,
    bench: Bench,
    say: Callable[[str], None],
    over: Callable[[], bool],
) -> tuple[OracleReport | None, list[Finding], list[Problem]]:
    """Return what was seen of a green patch, what the policy says of it, and why it could not be looked at."""
    gate = subject.policy.gate
    if gate.oracle == "off" or not specs.lines:
        return None, [], []
    look = Oracle(subject, objects, specs, bench, gate.oracle_mutants, say, over, own=False)
    try:
        report = look.run()
    except Undecided as error:
        return None, [], [Problem(code="oracle-broken", reason=error.reason, remedy=error.remedy)]
    share = report.trusted.share
    if share is None or share >= gate.oracle_threshold:
        return report, [], []
    first = report.survivors[0] if report.survivors else None
    example = f"; `{first.operator}` on line {first.line} of {first.path} goes unnoticed" if first else ""
    finding = Finding(
        rule=RULE,
        severity=Severity(gate.oracle),
        path=first.path if first else min(specs.lines),
        line=first.line if first else None,
        reason=f"trusted tests run {report.trusted.executed} of {report.trusted.lines} changed lines, and notice a "
        f"fault on {report.trusted.noticed} of {report.trusted.mutable} "
        f"(the policy asks for {gate.oracle_threshold:.0%}){example}",
        remedy="have a person add a property that fails on these faults: `redbucket oracle` lists them",
    )
    return report, [finding], []
