"""What the ledger keeps of a gate, of a capture, of a freeze and of a conversion: plain values.

Nothing that decides a verdict is ever read from it: code under test runs as the user who owns the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redbucket.core.classification import FAILING
from redbucket.core.records import Outcome
from redbucket.core.report import GateReport, Row

_FAILING = frozenset(outcome.value for outcome in FAILING) - {Outcome.MISSING.value}
# Longer ids and lists are no use to a reader, and a hostile patch chooses them.
_LONGEST = 1_000
_MOST_FIXTURES = 20


@dataclass(frozen=True)
class LedgerRow:
    """One test of one gate: runs that failed and runs in all, with the patch and in base."""

    nodeid: str
    bucket: str
    introduced: bool | None = None
    state: str = ""
    cause: str = ""
    blocks: bool = False
    frozen_until: str = ""
    failed: int = 0
    runs: int = 0
    base_failed: int = 0
    base_runs: int = 0
    fixtures: tuple[str, ...] = ()
    capture: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class LedgerGate:
    """One gate; ``at`` is UTC in ISO 8601."""

    at: str
    base: str
    base_name: str
    head: str
    merge_tree: str
    verdict: str
    exit_code: int
    agent: bool
    seed: str
    reruns: int
    duration: float
    rows: tuple[LedgerRow, ...] = ()


@dataclass(frozen=True)
class LedgerFreeze:
    """A freeze that was made ("add") or ended ("remove") by a command."""

    at: str
    nodeid: str
    action: str
    owner: str = ""
    ticket: str = ""
    expires: str = ""
    replay: str = ""


@dataclass(frozen=True)
class Conversion:
    """What a failure was turned into: "property", "lock", "replay", "freeze" or "other"."""

    at: str
    nodeid: str
    kind: str
    owner: str = ""
    detail: str = ""


def entry_of(report: GateReport, at: str, seconds: Mapping[str, float]) -> LedgerGate:
    """Return what the ledger keeps of a report; ``seconds`` is how long a test took in the first run."""
    return LedgerGate(
        at=at,
        base=report.base,
        base_name=report.base_name[:_LONGEST],
        head=report.head,
        merge_tree=report.merge_tree,
        verdict=report.verdict.value,
        exit_code=report.exit_code,
        agent=report.identity.agent,
        seed=report.seed,
        reruns=report.reruns,
        duration=report.duration,
        rows=tuple(_row(row, seconds.get(row.nodeid)) for row in report.tests),
    )


def _row(row: Row, seconds: float | None) -> LedgerRow:
    head = row.outcomes.get("H", row.outcomes.get("P", []))
    base = row.outcomes.get("B", [])
    return LedgerRow(
        nodeid=row.nodeid[:_LONGEST],
        bucket=row.bucket.value,
        introduced=row.introduced,
        state=row.state,
        cause=(row.cause or "")[:_LONGEST],
        blocks=row.blocks,
        frozen_until=row.frozen_until or "",
        failed=sum(outcome in _FAILING for outcome in head),
        runs=len(head),
        base_failed=sum(outcome in _FAILING for outcome in base),
        base_runs=len(base),
        fixtures=tuple(path[:_LONGEST] for path in row.fixtures[:_MOST_FIXTURES]),
        capture=(row.capture or "")[:_LONGEST],
        seconds=seconds,
    )
