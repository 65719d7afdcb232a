"""Recordings that the patch makes obsolete: a test read them in base, and with the patch none does.

What makes a recording look obsolete and is not: a run of a part of the tests, a test that fails or is
skipped before it reads (jestjs/jest#1725, syrupy-project/syrupy#134). So the runs must be whole and
every reader either gone or passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redbucket.core.findings import Finding, Severity
from redbucket.core.manifests import Scope
from redbucket.core.records import Outcome, Run, Test
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject


def unread(subject: Subject, specs: Specs, bench: Bench, head: Sequence[Run]) -> list[Finding]:
    """Return a finding for each obsolete recording; base's changed test files are run once if there may be one."""
    changed = _changed_tests(subject)
    if not changed or any(run.errors for run in head):
        return []
    left = _left(subject, head)
    if not left:
        return []
    (base,) = bench.run([specs.make("B", "unread", files=changed)])
    return obsolete(left, base, head, Severity(subject.policy.fixtures.unread))


def _changed_tests(subject: Subject) -> tuple[str, ...]:
    """Base's test files that head has otherwise or no more, by a trusted hand; an agent's are taken from base."""
    base, merged = subject.sides.base, subject.sides.merged
    return tuple(
        path
        for path in base
        if base[path] != merged.get(path)
        and path not in subject.distrusted
        and path.endswith(".py")
        and subject.judge.is_test(path)
    )


def _left(subject: Subject, head: Sequence[Run]) -> frozenset[str]:
    scope = Scope(subject.judge)
    read = {path for run in head for test in run.tests.values() for path in test.fixtures}
    merged = subject.sides.merged
    return frozenset(p for p in merged if p not in read and p in subject.sides.base and scope.is_recorded(p))


def obsolete(left: frozenset[str], base: Run, head: Sequence[Run], severity: Severity) -> list[Finding]:
    """Return what base's tests read of ``left``, and head's whole runs do without."""
    if base.broken:
        return []
    readers: dict[str, list[str]] = {}
    for test in base.tests.values():
        for path in left.intersection(test.fixtures):
            readers.setdefault(path, []).append(test.nodeid)
    return [
        Finding(
            rule="fixture-unread",
            severity=severity,
            path=path,
            reason=f"no test reads this recording any more; in base {names[0]} did",
            remedy="delete it, and a human takes its line out of the lock; or keep a test that reads it",
        )
        for path, names in sorted(readers.items())
        if all(_settled(name, run.tests) for name in names for run in head)
    ]


def _settled(name: str, tests: Mapping[str, Test]) -> bool:
    """Return whether a reader is gone, or came to its end."""
    test = tests.get(name)
    return test is None or test.outcome is Outcome.PASSED
