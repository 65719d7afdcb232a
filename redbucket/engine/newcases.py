"""Tests that are made of a moved fixture: its new rows are tests that neither base nor head's runs know.

A suite that reads its cases from a file (``tests/fixtures/cases.txt``) has other tests with the patch's bytes of it.
Head has base's bytes, so they are run in F, and are red or green by the patch's recording alone.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from redbucket.core.buckets import Bucket
from redbucket.core.report import Row
from redbucket.core.rows import INTRODUCED
from redbucket.core.testpath import file_of
from redbucket.core.trials import Trials, all_failed
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs

_MOST = 500


def new_cases(
    trials: Trials,
    specs: Specs,
    bench: Bench,
    readers: Sequence[str],
    moved: frozenset[str],
    reruns: int,
    paths: Container[str],
) -> list[Row]:
    """Return a row for each test that only the ``moved`` fixtures make, and that fails each time with them.

    ``paths`` are those of head's tree, in which the files of ``readers`` are found.
    """
    reading = [n for n in readers if any(moved.intersection(t.fixtures) for t in trials.tests(n, "H"))]
    files = tuple(sorted({path for name in reading if (path := file_of(name, paths)) is not None}))
    if not files:
        return []
    (listed,) = bench.run([specs.make("F", "collect", collect_only=True, files=files)])
    known = set(trials.order)
    new = tuple(name for name in listed.collected if name not in known and "[#" not in name)[:_MOST]
    if listed.broken or not new:
        return []
    runs = bench.run([specs.make("F", "new", only=new, order="given") for _ in range(reruns)])
    rows = []
    for name in new:
        tests = [run.tests[name] for run in runs if not run.broken and name in run.tests]
        if tests and len(tests) == len(runs) and all_failed([test.outcome for test in tests]):
            rows.append(_row(name, [t.outcome.value for t in tests], moved, tests[0].message))
    return rows


def _row(name: str, outcomes: list[str], moved: frozenset[str], message: str) -> Row:
    return Row(
        nodeid=name,
        bucket=Bucket.FIXTURE_DRIFT,
        introduced=True,
        state=INTRODUCED,
        why=f"it failed {len(outcomes)} of {len(outcomes)} runs; the patch's bytes of a fixture make it, "
        "base has no such test",
        spend="diff the fixture; a human locks or refreshes it; no freeze",
        outcomes={"F": outcomes},
        fixtures=sorted(moved)[:3],
        message=message,
        blocks=True,
    )
