"""Classifies run records from any source: runs in, one row a test out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import msgspec

from redbucket.core.buckets import Bucket, Decision, Evidence
from redbucket.core.classification import FAILING, classify
from redbucket.core.doubt import doubt
from redbucket.core.errors import ACCEPTED, UNDECIDED
from redbucket.core.evidence import PASSING, Gatherer, distrust
from redbucket.core.readers.junit import TIMESTAMPS
from redbucket.core.records import Run
from redbucket.core.why import count

SCHEMA = "redbucket.classify/1"
LEAST_RUNS = 2
_INCOMPLETE = 2  # the line of the table for what is not enough


class TestRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What ``redbucket classify`` prints for one test.

    ``outcomes`` are those of the plain runs, in order; ``others`` those of other
    worlds and conditions. ``doubt`` is the probability, at most, that a flake
    looks like this (``None`` unless the test failed every time). ``line`` is the
    line of the design's table.
    """

    nodeid: str
    bucket: Bucket
    why: str
    spend: str
    outcomes: tuple[str, ...] = ()
    doubt: float | None = None
    introduced: bool | None = None
    state: str = ""
    cause: str | None = None
    line: int = 0
    seed: str = ""
    others: dict[str, tuple[str, ...]] = {}
    fixtures: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    message: str = ""
    schema: str = SCHEMA


def classify_records(runs: Sequence[Run], asked: int | None = None) -> list[TestRow]:
    """Return one row for each test of ``runs``, in the order of the first run.

    ``asked`` is how many plain runs were asked for. ``None`` means as many as
    the largest number given for one world, but at least two: nobody said that
    one is enough. A record given twice counts once, and still counts as asked.
    """
    lone = asked is None and _plain(runs) < LEAST_RUNS
    if asked is None:
        asked = max(LEAST_RUNS, _plain(runs))
    distinct, _ = distinct_runs(runs)
    gatherer = Gatherer(distinct, asked)
    rows: list[TestRow] = []
    known: dict[Hashable, TestRow] = {}
    for nodeid in gatherer.ids:
        # Nearly all tests of a suite are alike: passed everywhere, nothing to say.
        key = gatherer.key(nodeid)
        like = known.get(key)
        if like is None:
            evidence = gatherer.evidence(nodeid)
            decision = classify(evidence)
            if lone and decision.line == _INCOMPLETE and not evidence.broken:
                decision = _alone(evidence, decision)
            like = known[key] = row(evidence, decision)
        rows.append(msgspec.structs.replace(like, nodeid=nodeid))
    return rows


def _alone(evidence: Evidence, decision: Decision) -> Decision:
    """Return the decision on a test of one record in words that fit: nobody asked for more, and no runner failed."""
    return replace(
        decision,
        why=f"one run alone can't be classified: it {count(evidence.outcomes)}",
        spend="give the records of two or more runs of one seed (redbucket rerun)",
    )


def unusable(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for each record that can't be counted on, or that holds no tests."""
    said = []
    for run in runs:
        reason = distrust(run)
        if not reason and not run.tests and not run.errors:
            reason = f"{run.source or f'run {run.run_id}'}: it holds no tests"
        if reason:
            said.append(reason)
    return said


def distinct_runs(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return ``runs`` without records given twice, and a sentence for each that was, or that looks odd.

    Two records are one if number and nonce agree (redbucket's own), or, where the
    form has no nonce, if everything but the file name agrees. JUnit XML without
    a time stamp has no identity at all: there the same file name decides.
    """
    kept: list[Run] = []
    said: list[str] = []
    seen: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        key = (run.world, run.condition, run.run_id, run.nonce)
        earlier = seen.setdefault(key, [])
        twin = next((other for other in earlier if _same(run, other)), None)
        if twin is None:
            if earlier and run.run_id:
                said.append(f"{run.source} and {earlier[0].source} both call themselves run {run.run_id}")
            kept.append(run)
            earlier.append(run)
        else:
            said.append(f"{run.source} is the same record as {twin.source}: it counts once")
    return kept, said


def exit_code(rows: Sequence[TestRow], runs: Sequence[Run] = ()) -> int:
    """Return 2 if a row is unclassified, a run can't be counted on, or there is no row at all; else 0."""
    undecided = not rows or any(r.bucket is Bucket.UNCLASSIFIED for r in rows)
    return UNDECIDED if undecided or any(map(distrust, runs)) else ACCEPTED


def row(evidence: Evidence, decision: Decision) -> TestRow:
    """Return the row for one classified test."""
    introduced, state = _standing(evidence, decision.bucket)
    return TestRow(
        nodeid=evidence.nodeid,
        bucket=decision.bucket,
        why=decision.why,
        spend=decision.spend,
        outcomes=tuple(o.value for o in evidence.outcomes),
        doubt=_doubt(evidence),
        introduced=introduced,
        state=state,
        cause=evidence.cause.value if evidence.cause else None,
        line=decision.line,
        seed=evidence.seeds[0] if evidence.seeds else "",
        others={name: tuple(o.value for o in seen) for name, seen in evidence.others.items()},
        fixtures=evidence.moved_fixtures,
        tried=evidence.tried,
        message=evidence.message,
    )


def _plain(runs: Sequence[Run]) -> int:
    counts: dict[str, int] = {}
    for run in runs:
        if run.condition == "plain":
            counts[run.world] = counts.get(run.world, 0) + 1
    return counts.get("H", counts.get("", max(counts.values(), default=0)))


def _same(run: Run, other: Run) -> bool:
    if run.nonce and not run.nonce.startswith(TIMESTAMPS):
        return True
    if not run.run_id and not run.nonce and run.source != other.source:
        return False
    return run.tests == other.tests and run.broken == other.broken


def _doubt(evidence: Evidence) -> float | None:
    outcomes = evidence.outcomes
    if not outcomes or any(o not in FAILING for o in outcomes):
        return None
    passed = sum(o in PASSING for o in evidence.others.get("B", ()))
    return doubt(len(outcomes), passed if evidence.base_passes else 0)


def _standing(evidence: Evidence, bucket: Bucket) -> tuple[bool | None, str]:
    """Return (introduced, words): what base says of a test that is not clean."""
    if bucket not in (Bucket.INVARIANT_MISS, Bucket.NOISE, Bucket.FIXTURE_DRIFT):
        return None, ""
    base = evidence.others.get("B", ())
    if evidence.base_passes:
        return True, "introduced"
    if evidence.base_passes is False:
        return False, "already red"
    return (False, "already noisy") if len(set(base)) > 1 else (None, "")
