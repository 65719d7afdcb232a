"""What ``redbucket replay`` found: schema ``redbucket.replay/1``."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from redbucket.core.classification import FAILING
from redbucket.core.doubt import clopper_pearson_lower, clopper_pearson_upper
from redbucket.core.records import Outcome

SCHEMA = "redbucket.replay/1"
CONFIDENCE = 0.95


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How often it failed, and the Clopper-Pearson interval at 95 %."""

    runs: int
    failed: int
    rate: float
    low: float
    high: float


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True):
    """``same_failure`` counts the failures that are the captured one. ``smallest`` is the order that is left
    by --shrink, without the test itself (None: not asked for); ``smallest_rate`` what it gives.
    """

    schema: str = SCHEMA
    nodeid: str
    capture: str
    exit_code: int
    replays: bool
    tree: str
    order: int
    rate: Rate
    same_failure: int
    outcomes: dict[str, int]
    message: str = ""
    smallest: list[str] | None = None
    smallest_rate: Rate | None = None
    notes: list[str] = []


def rate_of(outcomes: Sequence[Outcome]) -> Rate:
    """Return the rate of failures."""
    runs = len(outcomes)
    failed = sum(o in FAILING for o in outcomes)
    one_sided = 1 - (1 - CONFIDENCE) / 2
    return Rate(
        runs=runs,
        failed=failed,
        rate=round(failed / runs, 4) if runs else 0.0,
        low=round(clopper_pearson_lower(failed, runs, one_sided), 4) if runs else 0.0,
        high=round(clopper_pearson_upper(failed, runs, one_sided), 4) if runs else 1.0,
    )
