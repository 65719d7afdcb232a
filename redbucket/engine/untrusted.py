"""The patch's own tests: listed, run once with and once without the patch, never counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from redbucket.core import worlds
from redbucket.core.buckets import Bucket
from redbucket.core.classification import FAILING
from redbucket.core.findings import Finding, Severity
from redbucket.core.grownrows import grown
from redbucket.core.plural import plural
from redbucket.core.proof import proof
from redbucket.core.records import Run
from redbucket.core.report import Row
from redbucket.core.testpath import pytest_id
from redbucket.core.trials import Trials
from redbucket.core.untrusted import How, Untrusted, untrusted_nodeids, untrusted_tests
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs, add_world
from redbucket.engine.subject import Subject


def own_tests(subject: Subject) -> dict[tuple[str, str], Untrusted]:
    """Return the tests in Python that an agent's patch authored or altered, by (path, qualified name)."""
    changed = {path for path in subject.distrusted if path.endswith(".py")}
    if not changed:
        return {}
    return untrusted_tests(subject.base, subject.merged, changed, subject.judge.is_judge)


def untrusted_rows(
    subject: Subject,
    objects: Objects,
    specs: Specs,
    bench: Bench,
    say: Callable[[str], None],
    trials: Trials,
) -> tuple[list[Row], list[Finding]]:
    """Return a row for each test that the patch authored or altered, and what their runs say."""
    found = own_tests(subject)
    files = tuple(sorted({path for path, _ in found if path in subject.sides.merged}))
    if not files:
        return [], []
    say(
        f"running the patch's own tests in {plural(len(files), 'file')}, with and without the patch (never counted)"
    )
    tree = objects.write_tree(subject.base_tree, worlds.reverted(subject.sides))
    add_world(specs, subject, objects, "R", tree)
    with_patch, without = bench.run([specs.make("P", files=files), specs.make("R", files=files)])
    ids = list(dict.fromkeys([*with_patch.collected, *with_patch.tests]))
    shown = {nodeid: pytest_id(nodeid, subject.sides.merged) for nodeid in ids}
    chosen = _patches(ids, shown, found, subject, trials)
    rows = [
        _row(nodeid, chosen[shown[nodeid]].reason, with_patch, without)
        for nodeid in ids
        if shown[nodeid] in chosen
    ]
    rows += [
        Row(
            nodeid=path,
            bucket=Bucket.UNTRUSTED,
            why="The patch's file can't be collected with the patch.",
            spend="ignored for merge",
            message=reason,
        )
        for path, reason in with_patch.errors.items()
    ]
    return rows, _idle(rows, with_patch, without)


def _patches(
    ids: Sequence[str],
    shown: Mapping[str, str],
    found: Mapping[tuple[str, str], Untrusted],
    subject: Subject,
    trials: Trials,
) -> dict[str, Untrusted]:
    """Return which ids are the patch's: of a table that it only added rows to, the new ones."""
    known = set(trials.order)
    chosen = untrusted_nodeids((shown[i] for i in ids), found)
    if not any(i in known and "[" in i for i in ids if shown[i] in chosen):
        return chosen
    changed = [path for path in subject.distrusted if path.endswith(".py")]
    kept = grown(
        (k for k, why in found.items() if why.how is How.ALTERED), subject.base, subject.merged, changed
    )
    others = {key: why for key, why in found.items() if key not in kept}
    own = untrusted_nodeids((shown[i] for i in ids if i in known), others)
    added = {key: replace(found[key], reason="the patch added this row") for key in kept}
    return {**own, **untrusted_nodeids((shown[i] for i in ids if i not in known), {**found, **added})}


def _row(nodeid: str, reason: str, with_patch: Run, without: Run) -> Row:
    here, there = with_patch.tests.get(nodeid), without.tests.get(nodeid)
    return Row(
        nodeid=nodeid,
        bucket=Bucket.UNTRUSTED,
        why=f"{reason[:1].upper()}{reason[1:]}; {proof(here, there)}.",
        spend="ignored for merge",
        outcomes={
            "P": [here.outcome.value] if here else ["missing"],
            "R": [there.outcome.value] if there else ["missing"],
        },
        message=here.message if here is not None and here.outcome in FAILING else "",
    )


def _idle(rows: Sequence[Row], with_patch: Run, without: Run) -> list[Finding]:
    """One note if new tests pass with and without the patch."""
    idle = [
        row.nodeid
        for row in rows
        if row.outcomes.get("P") == ["passed"] and row.outcomes.get("R") == ["passed"]
    ]
    if not idle:
        return []
    says = "passes without the patch too, so it proves nothing"
    if len(idle) > 1:
        says = "pass without the patch too, so they prove nothing"
    few = ", ".join(idle[:3]) + (f" and {plural(len(idle) - 3, 'more test')}" if len(idle) > 3 else "")
    return [
        Finding(
            rule="untrusted-test",
            severity=Severity.NOTE,
            nodeid=idle[0],
            reason=f"{len(idle)} of the patch's own tests {says}: {few}",
        )
    ]
