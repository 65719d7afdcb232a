"""The gate's report: schema ``redbucket.gate/1``. Names here are a contract."""

from __future__ import annotations

from enum import Enum

import msgspec

from redbucket.core.buckets import Bucket
from redbucket.core.experiments import Experiment
from redbucket.core.findings import Finding
from redbucket.core.oracled import OracleReport

SCHEMA = "redbucket.gate/1"


class Verdict(str, Enum):
    """The gate's one answer."""

    ACCEPT = "accept"
    REFUSE = "refuse"
    UNDECIDED = "undecided"


class IdentityReport(msgspec.Struct, frozen=True, kw_only=True):
    """Whose patch it is, and the marks that say so."""

    agent: bool
    marks: list[str] = []


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One test. ``path`` and ``line`` say where the merge tree defines it, where that is known.

    ``switched_off`` is the marker of the patch, with its place, by which the test is skipped or expected to fail.
    ``experiments`` are there where it fails or is noisy and more was tried than to run it as it is.
    """

    nodeid: str
    bucket: Bucket
    introduced: bool | None = None
    cause: str | None = None
    why: str = ""
    spend: str = ""
    doubt: float | None = None
    state: str = ""
    outcomes: dict[str, list[str]] = {}
    fixtures: list[str] = []
    message: str = ""
    tried: list[str] = []
    blocks: bool = False
    frozen_until: str | None = None
    capture: str | None = None
    experiments: list[Experiment] = []
    switched_off: str | None = None
    path: str | None = None
    line: int | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why the gate can't decide, or what a reader must know: an id, a reason, a remedy; ``path`` if one file's."""

    code: str
    reason: str
    remedy: str = ""
    path: str | msgspec.UnsetType = msgspec.UNSET


class MovedFixture(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded fixture that the patch moves: the class of the change, its places or the lines that differ.

    ``places`` are (JSON pointer, old, new), ``lines`` a unified diff without header; ``more`` says that
    there is more than is here, ``said`` what there is to say of it in words.
    """

    path: str
    kind: str
    said: str = ""
    places: list[tuple[str, str, str]] = []
    lines: list[str] = []
    more: bool = False


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``redbucket gate --format json`` prints.

    ``added`` are the paths of findings that the base does not have, ``untouched`` those that the patch leaves as
    they are, so that there is nothing to put back; ``signatures`` says whether base's policy
    names signers, so that a person can endorse. ``offered`` is what was judged over HEAD where it is in no
    commit yet ("the index"), and "" for a range. ``shards`` is how many parts each whole run was split into, within
    which the order of the suite was kept. ``oracle`` is what the policy's ``oracle`` saw, if it looked.
    """

    schema: str = SCHEMA
    verdict: Verdict
    exit_code: int
    summary: str = ""
    command: str = ""
    base: str = ""
    base_name: str = ""
    head: str = ""
    offered: str = ""
    merge_base: str = ""
    merge_tree: str = ""
    seed: str = ""
    identity: IdentityReport = IdentityReport(agent=False)
    tests: list[Row] = []
    findings: list[Finding] = []
    undecided: list[Problem] = []
    notes: list[Problem] = []
    counts: dict[str, int] = {}
    added: list[str] = []
    untouched: list[str] = []
    signatures: bool = False
    untrusted_green: bool = False
    reruns: int = 0
    shards: int = 1
    interpreter: str = ""
    duration: float = 0.0
    kept: str | None = None
    moved: list[MovedFixture] = []
    oracle: OracleReport | None = None
