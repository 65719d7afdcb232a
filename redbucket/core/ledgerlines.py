"""The lines that ``redbucket ledger export`` prints, a kind a table. Schema ``redbucket.ledger/1``.

They are what other tools may count on; nothing here reads them. Times are UTC in ISO 8601, durations seconds.
"""

from __future__ import annotations

import msgspec

SCHEMA = "redbucket.ledger/1"


class _Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="table"):
    schema: str


class GateLine(_Line, frozen=True, kw_only=True, tag="gate"):
    """One gate; ``tests`` is how many it judged."""

    id: int
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
    tests: int


class RowLine(_Line, frozen=True, kw_only=True, tag="row"):
    """One test of the gate whose ``id`` is ``gate``: runs that failed and runs in all, with the patch and in base."""

    gate: int
    nodeid: str
    bucket: str
    introduced: bool | None
    state: str
    cause: str
    blocks: bool
    frozen_until: str
    failed: int
    runs: int
    base_failed: int
    base_runs: int
    fixtures: list[str]


class TimeLine(_Line, frozen=True, kw_only=True, tag="test"):
    """How long a test took when it was last run; None where that is not known."""

    nodeid: str
    seconds: float | None


class CaptureLine(_Line, frozen=True, kw_only=True, tag="capture"):
    """A capture that was written."""

    at: str
    nodeid: str
    path: str


class FreezeLine(_Line, frozen=True, kw_only=True, tag="freeze"):
    """A freeze that a command made ("add") or ended ("remove")."""

    at: str
    nodeid: str
    action: str
    owner: str
    ticket: str
    expires: str
    replay: str


class ConversionLine(_Line, frozen=True, kw_only=True, tag="conversion"):
    """What a failure was turned into."""

    at: str
    nodeid: str
    kind: str
    owner: str
    detail: str


Line = GateLine | RowLine | TimeLine | CaptureLine | FreezeLine | ConversionLine
