"""What moved in recorded fixtures: schema ``redbucket.fixtures-diff/1``. Names here are a contract."""

from __future__ import annotations

import msgspec

from redbucket.core.drift import Drift

SCHEMA = "redbucket.fixtures-diff/1"


class SideReport(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a fixture, in short."""

    size: int
    sha256: str


class PlaceReport(msgspec.Struct, frozen=True, kw_only=True):
    """A place of a parsed document, by JSON pointer, with both values as text; None where there is none."""

    pointer: str
    old: str | None
    new: str | None


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """A fixture's change: its class, and where it changed.

    ``format`` names what was parsed, ``reason`` why nothing could be. ``members`` are those of an archive that
    changed. ``places_left_out`` counts places beyond those here; ``lines_cut`` says that more lines differ.
    """

    path: str
    drift: Drift = msgspec.field(name="class")
    format: str | None
    reason: str | None
    old: SideReport | None
    new: SideReport | None
    places: list[PlaceReport]
    places_left_out: int
    members: list[ChangeReport]
    lines: list[str]
    lines_cut: bool


class DriftReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``redbucket fixtures diff --format json`` prints."""

    schema: str = SCHEMA
    fixtures: list[ChangeReport]
