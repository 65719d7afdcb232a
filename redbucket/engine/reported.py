"""What a gate on a runner's own report does differently: it says so, and lists the patch's own tests."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.core import worlds
from redbucket.core.buckets import Bucket
from redbucket.core.classification import FAILING
from redbucket.core.findings import Finding
from redbucket.core.proof import proof
from redbucket.core.records import Run, Test
from redbucket.core.report import Problem, Row
from redbucket.core.trials import Trials
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs, add_world
from redbucket.engine.subject import Subject

OWN_REPORT = Problem(
    code="own-report",
    reason="judged by the runner's own JUnit XML: no sentinel, no look at what tests read or execute, no test run "
    "alone or in another order; code under test could have written the report",
    remedy="see docs/limits.md for what that leaves open",
)


def reported_rows(
    subject: Subject,
    objects: Objects,
    specs: Specs,
    bench: Bench,
    say: Callable[[str], None],
    trials: Trials,
) -> tuple[list[Row], list[Finding]]:
    """Return a row for each test that only the patch's own test files have, run with and without the patch.

    Which file a test comes from is not known, so that one that the patch altered under its old name can't be
    told from base's: its row is base's.
    """
    mine = {
        path for path in subject.distrusted if subject.judge.is_test(path) and path in subject.sides.merged
    }
    if not mine:
        return [], []
    say("running the patch's own tests, with and without the patch (never counted)")
    add_world(
        specs, subject, objects, "R", objects.write_tree(subject.base_tree, worlds.reverted(subject.sides))
    )
    with_patch, without = bench.run([specs.make("P"), specs.make("R")])
    names = trials.names(with_patch)
    return [
        _row(names.get(nodeid, nodeid), test, without)
        for nodeid, test in with_patch.tests.items()
        if names.get(nodeid, nodeid) not in trials.results
    ], []


def _row(name: str, here: Test, without: Run) -> Row:
    there = without.tests.get(here.nodeid)
    return Row(
        nodeid=name,
        bucket=Bucket.UNTRUSTED,
        why=f"Only the patch's own tests have it; {proof(here, there)}.",
        spend="ignored for merge",
        outcomes={"P": [here.outcome.value], "R": [there.outcome.value if there else "missing"]},
        message=here.message if here.outcome in FAILING else "",
    )
