"""What ``redbucket review`` found: schema ``redbucket.review/1``."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

SCHEMA = "redbucket.review/1"
Decision = Literal["keep", "discard", "undecided"]

QUESTIONS = (
    "Does it quantify over a domain, or replay the failing literal?",
    "Could the patch edit it?",
    "Does it fail on the current patch, and pass on base?",
    "Does it depend on wall time, directory order, network, or unpinned entropy?",
)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One of the four questions. ``good`` is False where the answer speaks against the property."""

    number: int
    question: str
    good: bool
    answer: str
    evidence: list[str] = []


class Survivor(msgspec.Struct, frozen=True, kw_only=True):
    """A small fault that the property does not notice, as a diff."""

    path: str
    line: int
    operator: str
    diff: str


class PropertyReview(msgspec.Struct, frozen=True, kw_only=True):
    """One property. ``question`` is the number of the first answer that speaks against it.

    ``seeds_held`` of ``seeds_tried`` fresh seeds passed in base, ``seeds_found`` of ``seeds_patch`` failed with the
    patch; ``seconds`` is what it takes on base; ``killed`` of ``mutants`` small faults of base's changed lines failed.
    """

    nodeid: str
    verdict: Decision
    question: int | None = None
    reason: str = ""
    answers: list[Answer] = []
    seeds_held: int = 0
    seeds_tried: int = 0
    seeds_found: int = 0
    seeds_patch: int = 0
    seconds: float = 0.0
    killed: int = 0
    mutants: int = 0
    survivors: list[Survivor] = []
    message: str = ""


class ReviewReport(msgspec.Struct, frozen=True, kw_only=True):
    """``place`` is where the file must lie so that no patch can edit it; the file itself is not moved."""

    schema: str = SCHEMA
    verdict: Decision
    exit_code: int
    reason: str = ""
    file: str
    place: str = ""
    base: str = ""
    head: str = ""
    seed: str = ""
    properties: list[PropertyReview] = []
    notes: list[str] = []
    seconds: float = 0.0


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    made = msgspec.json.schema(ReviewReport)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
