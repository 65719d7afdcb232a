"""What a run wrote under the fixture paths: recordings must not change while they judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.core.plural import plural
from redbucket.core.records import Run

_RULE = "fixture-written"
_NAMED = 20


def touched(head: Sequence[Run]) -> list[str]:
    """Return the paths that differ after any of the runs, new ones too, and those that a test wrote."""
    left = {path for run in head for path in (*run.tampered, *run.prepared, *run.appeared)}
    return sorted(left | _opened(head))


def _opened(runs: Sequence[Run]) -> set[str]:
    return {path for run in runs for test in run.tests.values() for path in test.wrote}


def written(head: Sequence[Run], base: Run | None, judge: JudgeSide, *, agent: bool) -> list[Finding]:
    """Return a finding for each recording that head's runs changed, removed or made, and base's did not.

    One that a test wrote counts, too, where it is as it was afterwards: meanwhile it may have been another.
    """
    found = [*_changed(head, base, judge), *_new(head, base, agent), *_put_back(head, base, judge, agent)]
    return found[:_NAMED] + _more(len(found) - _NAMED, found)


def _changed(head: Sequence[Run], base: Run | None, judge: JudgeSide) -> Iterator[Finding]:
    before = set(base.tampered) if base is not None else set()
    for path in sorted({p for run in head for p in run.tampered} - before):
        if not judge.is_fixture(path):
            continue
        tests = _writers(head, path)
        who = f"; {tests[0]} wrote it" if tests else ", and no single test was seen to do it"
        yield Finding(
            rule=_RULE,
            severity=Severity.REFUSE,
            path=path,
            nodeid=tests[0] if tests else None,
            reason=f"this recorded fixture was rewritten while the tests ran{who}",
            remedy="find what writes it: a test that rewrites what it compares with passes whatever it gets",
        )


def _writers(head: Sequence[Run], path: str) -> list[str]:
    return [test.nodeid for run in head for test in run.tests.values() if path in test.wrote]


def _new(head: Sequence[Run], base: Run | None, agent: bool) -> Iterator[Finding]:
    known = set(base.appeared) if base is not None else set()
    folders = {path.rpartition("/")[0] for path in known}
    everywhere = set.intersection(*(set(run.appeared) for run in head))
    for path in sorted({p for run in head for p in run.appeared} - known):
        # a name of its own in each run, in a folder where base's tests leave such files too
        if path not in everywhere and path.rpartition("/")[0] in folders:
            continue
        yield Finding(
            rule=_RULE,
            severity=Severity.REFUSE if agent else Severity.WARN,
            path=path,
            reason="this file appeared under the fixture paths while the tests ran, and is not there in base's run",
            remedy="if a tool recorded it, a person records, looks and commits; what tests put down goes to tmp_path",
        )


def _put_back(head: Sequence[Run], base: Run | None, judge: JudgeSide, agent: bool) -> Iterator[Finding]:
    told = {path for run in head for path in (*run.tampered, *run.prepared, *run.appeared)}
    usual = _opened([base]) if base is not None else set()
    for path in sorted(_opened(head) - told - usual):
        if judge.is_fixture(path):
            yield Finding(
                rule=_RULE,
                severity=Severity.REFUSE if agent else Severity.WARN,
                path=path,
                nodeid=_writers(head, path)[0],
                reason="this recorded fixture was written during the test, and has its old bytes"
                " afterwards; no test of base does that",
                remedy="read it only; what a test puts down goes to tmp_path",
            )


def _more(left: int, found: Sequence[Finding]) -> list[Finding]:
    if left <= 0:
        return []
    worst = max((f.severity for f in found[_NAMED:]), key=lambda s: s is Severity.REFUSE)
    return [
        Finding(
            rule=_RULE,
            severity=worst,
            path=found[_NAMED].path,
            reason=f"and {plural(left, 'more file was', 'more files were')} written under the fixture paths"
            " while the tests ran",
            remedy="look at the first ones: it is often one tool or one folder",
        )
    ]
