"""The table that puts a test into a bucket: section 6 of the design, as data.

``signs_of`` reduces the evidence to a few finite signs, ``TABLE`` maps signs to
buckets, and the first row that matches wins. It is total: each combination of
signs has a row (the tests enumerate them all against an independent oracle).

Where the table's words leave a choice:

- One run can't tell noise from a miss, so a failure seen once is line 2. A lone
  pass or skip is line 8 or 9 if one run is all that was asked for; ``why`` says so.
- Line 5 holds for tests that pass in head too: a fixture that *explains* failed
  them with the patch's bytes. One that differs from its lock counts on failure only.
- A flip by environment (zone, locale, width) is noise like the others of line 6.
- A flip by network is noise unless base passes under the same denial.
- A flip by seed is a miss if base passes with the seeds that failed, noise if it
  fails with them, and line 2 as long as base was not run with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from redbucket.core.buckets import Bucket, Cause, Decision, Evidence, FixtureState
from redbucket.core.records import Outcome
from redbucket.core.why import why


class Seed(Enum):
    """Whether one non-empty seed was pinned in every run."""

    PINNED = "pinned"
    MISSING = "missing"
    DIFFERS = "differs"


class Record(Enum):
    """Whether the records can be counted on."""

    SOUND = "sound"
    BROKEN = "broken"
    TOO_FEW = "too few"
    SINGLE = "single"  # all that was asked for, but only one


class Shape(Enum):
    """What the outcomes are, taken together."""

    PASSED = "all passed"
    FAILED = "all failed"
    SKIPPED = "all skipped"
    MIXED = "mixed"
    NONE = "none"


class Signs(NamedTuple):
    """All that the table distinguishes."""

    seed: Seed
    record: Record
    shape: Shape
    same_failure: bool
    inconsistent: bool
    fixture: FixtureState
    cause: Cause | None
    base_passes: bool | None
    seed_base_passes: bool | None


FAILING = frozenset(
    {Outcome.FAILED, Outcome.ERROR, Outcome.XPASSED, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.MISSING}
)
# What is a failure of a test that passed or failed in base: it does not do its work any more.
ABSENT = frozenset({Outcome.SKIPPED, Outcome.MISSING, Outcome.XFAILED})

_ISOLATION = frozenset(
    {Cause.ORDER, Cause.HASH_ORDER, Cause.CLOCK, Cause.CONCURRENCY, Cause.LEFTOVERS, Cause.ENVIRONMENT}
)


class Row(NamedTuple):
    """One row: the number of the design's line, its condition, and what follows."""

    line: int
    when: Callable[[Signs], bool]
    bucket: Bucket
    spend: str


_FREEZE = "capture the input; fix isolation; freeze only with owner, ticket, expiry, replay"
_RUNNER = "fix the runner"


def _undecided_single(s: Signs) -> bool:
    clean = s.shape in (Shape.PASSED, Shape.SKIPPED) and not s.inconsistent
    return s.record is Record.SINGLE and not (
        clean and s.fixture not in (FixtureState.MOVED, FixtureState.EXPLAINS)
    )


def _flipped(s: Signs) -> bool:
    if s.shape is not Shape.FAILED:
        return False
    if s.cause is Cause.NETWORK:
        return s.base_passes is not True
    return s.cause in _ISOLATION or (s.cause is Cause.SEED and s.seed_base_passes is False)


def _drifted(s: Signs) -> bool:
    if s.fixture is FixtureState.EXPLAINS:
        return s.shape in (Shape.PASSED, Shape.FAILED)
    return s.fixture is FixtureState.CHANGED and s.shape is Shape.FAILED


TABLE: tuple[Row, ...] = (
    Row(
        1, lambda s: s.seed is not Seed.PINNED, Bucket.UNCLASSIFIED, "pin TEST_SEED and rerun; write nothing"
    ),
    Row(
        2,
        lambda s: (
            s.record in (Record.BROKEN, Record.TOO_FEW) or s.shape is Shape.NONE or _undecided_single(s)
        ),
        Bucket.UNCLASSIFIED,
        _RUNNER,
    ),
    Row(
        3,
        lambda s: (
            s.shape is Shape.MIXED or s.inconsistent or (s.shape is Shape.FAILED and not s.same_failure)
        ),
        Bucket.NOISE,
        _FREEZE,
    ),
    Row(
        4,
        lambda s: s.fixture is FixtureState.MOVED and s.shape is Shape.FAILED,
        Bucket.FIXTURE_DRIFT,
        "diff it; lock or refresh",
    ),
    Row(4, lambda s: s.fixture is FixtureState.MOVED, Bucket.NOISE, "diff it; lock or refresh"),
    Row(5, _drifted, Bucket.FIXTURE_DRIFT, "diff the fixture; a human locks or refreshes; no freeze"),
    Row(6, _flipped, Bucket.NOISE, f"{_FREEZE}; if introduced by the patch, it blocks"),
    # Late, because only here does it matter that base was never run with the seeds that failed.
    Row(
        2,
        lambda s: s.shape is Shape.FAILED and s.cause is Cause.SEED and s.seed_base_passes is None,
        Bucket.UNCLASSIFIED,
        _RUNNER,
    ),
    Row(
        7,
        lambda s: s.shape is Shape.FAILED,
        Bucket.INVARIANT_MISS,
        "strengthen a property over a domain; a single equality is rejected; keep the revealing seed",
    ),
    Row(8, lambda s: s.shape is Shape.PASSED, Bucket.STABLE_PASS, "none; not a merge signal by itself"),
    Row(9, lambda s: s.shape is Shape.SKIPPED, Bucket.SKIPPED, "none"),
)


def classify(evidence: Evidence) -> Decision:
    """Return the bucket of one test, the line that put it there, why, and the spend. Total."""
    row = decide(signs_of(evidence))
    return Decision(row.bucket, row.line, why(evidence, row.line), row.spend)


def decide(signs: Signs) -> Row:
    """Return the first row of the table that matches; there always is one."""
    for row in TABLE:
        if row.when(signs):
            return row
    raise AssertionError(f"the table has a hole: {signs}")


def signs_of(evidence: Evidence) -> Signs:
    """Return the signs of ``evidence``."""
    return Signs(
        seed=_seed(evidence.seeds, len(evidence.outcomes)),
        record=_record(evidence),
        shape=_shape(evidence.outcomes, evidence.ran_in_base),
        # No fingerprint at all: the record form has none, so the failures count as one.
        same_failure=len(set(evidence.fingerprints)) <= 1,
        inconsistent=evidence.inconsistent,
        fixture=evidence.fixture,
        cause=evidence.cause,
        base_passes=evidence.base_passes,
        seed_base_passes=evidence.seed_base_passes,
    )


def _seed(seeds: Sequence[str], runs: int) -> Seed:
    values = {seed.strip() for seed in seeds}
    if "" in values or len(seeds) < runs:
        return Seed.MISSING
    return Seed.DIFFERS if len(values) > 1 else Seed.PINNED


def _record(evidence: Evidence) -> Record:
    if evidence.broken:
        return Record.BROKEN
    runs = len(evidence.outcomes)
    if runs < max(1, evidence.asked):
        return Record.TOO_FEW
    return Record.SINGLE if runs == 1 else Record.SOUND


def _shape(outcomes: Sequence[Outcome], ran_in_base: bool) -> Shape:
    kinds = set(outcomes)
    if not kinds:
        return Shape.NONE
    if kinds <= (FAILING | ABSENT if ran_in_base else FAILING):
        return Shape.FAILED
    if len(kinds) > 1:
        # Passed and xfailed both count as passed, but a change of kind is a change (box/flaky#184).
        return Shape.MIXED
    return Shape.SKIPPED if kinds == {Outcome.SKIPPED} else Shape.PASSED
