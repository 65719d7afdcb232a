"""The review's text and its published schema."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec

from redbucket.core.reviewed import QUESTIONS, Answer, PropertyReview, ReviewReport, Survivor, schema
from redbucket.formats.review import review_text

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "review.schema.json"
KEPT = PropertyReview(
    nodeid="tests/properties/test_p.py::test_law",
    verdict="keep",
    reason="it fails on the patch and passes on base",
    answers=[
        Answer(number=n, question=q, good=True, answer="fine", evidence=["e"])
        for n, q in enumerate(QUESTIONS, 1)
    ],
    seeds_held=3,
    seeds_tried=3,
    seeds_found=1,
    seeds_patch=3,
    seconds=0.5,
    killed=1,
    mutants=2,
    survivors=[Survivor(path="a.py", line=3, operator="< to <=", diff="-a\n+b")],
    message="AssertionError: assert 1 == 2",
)
REPORT = ReviewReport(
    verdict="keep",
    exit_code=0,
    reason=KEPT.reason,
    file="drafts/test p.py",
    place="tests/properties/test_p.py",
    base="b" * 40,
    head="a" * 40,
    properties=[KEPT],
    notes=["a note"],
    seconds=12.3,
)


def test_the_text_says_the_decision_first_and_everything_that_is_known() -> None:
    text = review_text(REPORT)
    assert text.splitlines()[0] == "keep: drafts/test p.py: it fails on the patch and passes on base"
    for part in (
        *QUESTIONS,
        "3 of 3",
        "1 of 3",
        "@example",
        "kills 1 of 2",
        "a.py:3 < to <=",
        "a note",
        "'drafts/test p.py'",
    ):
        assert part in text, part


def test_a_discarded_property_is_not_to_be_moved() -> None:
    bad = msgspec.structs.replace(KEPT.answers[2], good=False)
    found = msgspec.structs.replace(KEPT, verdict="discard", question=3, answers=[*KEPT.answers[:2], bad])
    text = review_text(msgspec.structs.replace(REPORT, verdict="discard", exit_code=1, properties=[found]))
    assert text.startswith("discard: ")
    assert f"3 NO {QUESTIONS[2]}" in text
    assert "do this" not in text


def test_the_published_schema_is_that_of_the_code() -> None:
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("REDBUCKET_REGENERATE"):
        SCHEMA_FILE.write_text(text, encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == text, (
        "docs/review.schema.json is stale: run REDBUCKET_REGENERATE=1 pytest tests/formats"
    )
    given = msgspec.to_builtins(REPORT)
    known = json.loads(text)["$defs"]
    for name, value in (("ReviewReport", given), ("PropertyReview", given["properties"][0])):
        assert set(value) == set(known[name]["properties"])
