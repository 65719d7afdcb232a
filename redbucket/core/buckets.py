"""The buckets, and the evidence from which a test is put into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from redbucket.core.records import Outcome


class Bucket(str, Enum):
    """The class of a test after all its runs."""

    INVARIANT_MISS = "invariant_miss"
    FIXTURE_DRIFT = "fixture_drift"
    NOISE = "noise"
    UNCLASSIFIED = "unclassified"
    STABLE_PASS = "stable_pass"  # noqa: S105 (not a password)
    SKIPPED = "skipped"
    UNTRUSTED = "untrusted"


class FixtureState(str, Enum):
    """What is known of the fixtures that a test read."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"  # differs from its lock, in base already
    EXPLAINS = "explains"  # fails with the patch's bytes, passes with the base's
    MOVED = "moved"  # moved between runs, or written by a test
    UNKNOWN = "unknown"


class Cause(str, Enum):
    """What an experiment flipped the outcome with."""

    ORDER = "order"
    HASH_ORDER = "hash order"
    SEED = "seed"
    CLOCK = "clock"
    CONCURRENCY = "concurrency"
    NETWORK = "network"
    LEFTOVERS = "leftover files"
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Evidence:
    """All that the table looks at, for one test.

    ``outcomes`` are those of the plain runs of H (or of the given records), in
    order; ``others`` those of other worlds and conditions, by name, for the
    report ("B", "F", "H alone", ...). ``asked`` is how many plain runs were
    asked for. ``broken`` says why the records can't be trusted, "" if they can.
    ``fingerprints`` are those of the failing plain runs. ``inconsistent`` is a
    framework's own report of inconsistency (Hypothesis ``Flaky``) or a rerun
    inside the process that disagreed. ``cause`` is a confirmed flip.
    ``base_passes`` is True if base passed every time under the conditions of
    the plain runs, False if it failed every time, None if mixed or unknown.
    ``ran_in_base`` is True if the test ran (passed or failed) in base: then
    skipped, missing and xfailed count as failed.
    ``seed_base_passes`` is True if base passes with the very seeds that made
    head fail.
    ``revealed_by`` is the condition in which ``outcomes`` were seen where the plain runs, ``pinned``, hide the failure.
    """

    nodeid: str
    outcomes: tuple[Outcome, ...]
    seeds: tuple[str, ...]
    asked: int
    broken: str = ""
    fingerprints: tuple[str, ...] = ()
    inconsistent: bool = False
    fixture: FixtureState = FixtureState.UNKNOWN
    moved_fixtures: tuple[str, ...] = ()
    cause: Cause | None = None
    base_passes: bool | None = None
    ran_in_base: bool = False
    seed_base_passes: bool | None = None
    others: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    tried: tuple[str, ...] = ()
    message: str = ""
    revealed_by: str = ""
    pinned: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class Decision:
    """The bucket, the number of the table's line that matched, why, and the spend."""

    bucket: Bucket
    line: int
    why: str
    spend: str
