"""What ``redbucket draft`` proposes: schema ``redbucket.draft/1``."""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA = "redbucket.draft/1"


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One file: what it says, who proposes it ("law", "base", "ghostwriter", "model"), and its text.

    ``tried``: it was run, passes on base and fails on the patch. A model's text is never run. ``drawn``: what it draws
    fails on the patch, and not its explicit examples alone.
    """

    file: str
    says: str
    source: str
    by: str
    tried: bool = False
    drawn: bool = False


class MissDraft(msgspec.Struct, frozen=True, kw_only=True):
    """One miss. ``refused`` says why nothing is drafted for it, "" otherwise; ``also`` are other rows of the test."""

    nodeid: str
    also: list[str] = []
    refused: str = ""
    functions: list[str] = []
    candidates: int = 0
    held: int = 0
    proposals: list[Proposal] = []
    notes: list[str] = []


class DraftReport(msgspec.Struct, frozen=True, kw_only=True):
    """``folder`` is where the files were written."""

    schema: str = SCHEMA
    exit_code: int
    folder: str
    base: str = ""
    head: str = ""
    misses: list[MissDraft] = []
    notes: list[str] = []
    seconds: float = 0.0


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    made = msgspec.json.schema(DraftReport)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
