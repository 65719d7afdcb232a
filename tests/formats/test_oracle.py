"""The oracle's and the draft's text, and their published schemas."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from redbucket.core import drafted, oracled
from redbucket.core.drafted import DraftReport, MissDraft, Proposal
from redbucket.core.oracled import OracleReport, Strength, Survivor
from redbucket.formats.draft import draft_text
from redbucket.formats.oracle import oracle_text

DOCS = Path(__file__).parents[2] / "docs"
SURVIVOR = Survivor(
    path="a.py",
    line=3,
    operator="< to <=",
    diff="--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-a < b\n+a <= b",
    tests=["t::a"],
)
REPORT = OracleReport(
    trusted=Strength(tests=2, lines=9, executed=8, mutable=5, noticed=2, mutants=7, killed=3, hung=1),
    own=Strength(tests=1, lines=9, executed=9, mutable=5, noticed=0, mutants=7),
    survivors=[SURVIVOR] * 12,
    possible=20,
    sampled=7,
    untried=2,
    resumed=1,
    notes=["a note"],
)
DRAFT = DraftReport(
    exit_code=0,
    folder=".redbucket-drafts",
    misses=[
        MissDraft(nodeid="t::a", refused="its bucket is noise, not invariant_miss"),
        MissDraft(
            nodeid="t::b",
            functions=["f"],
            candidates=9,
            held=3,
            proposals=[
                Proposal(file="test_f.py", says="twice is as good as once", source="", by="law", tried=True)
            ],
        ),
    ],
)


def test_the_two_numbers_stand_side_by_side() -> None:
    text = oracle_text(REPORT)
    trusted, own = text.splitlines()[1:3]
    assert trusted.split()[2:] == ["8", "of", "9", "2", "of", "5", "3", "of", "7", "(1", "by", "a", "hang)"]
    assert own.split()[4:] == ["9", "of", "9", "0", "of", "5", "0", "of", "7"]
    for part in (
        "-a < b",
        "+a <= b",
        "ran it: t::a",
        "2 more survivors",
        "7 of 20 mutants",
        "--resume",
        "a note",
    ):
        assert part in text, part
    assert "more survivors" not in oracle_text(REPORT, verbose=True)


def test_tests_that_fail_are_said_since_nobody_can_ask_them() -> None:
    assert "can't be asked" not in oracle_text(REPORT)
    one = OracleReport(trusted=Strength(lines=1, failing=["t::x"], failing_there=1), own=Strength(lines=1))
    assert oracle_text(one).splitlines()[3:5] == [
        "1 trusted test fails, and a failing test can't be asked; it ran a changed line:",
        "  t::x",
    ]
    many = Strength(lines=1, failing=[f"t::{n}" for n in range(5)], failing_there=2)
    text = oracle_text(OracleReport(trusted=Strength(lines=1), own=many))
    assert "5 tests of the patch's own fail, and a failing test can't be asked; 2 of them ran" in text
    assert "t::2" in text and "t::3" not in text and "... and 2 more" in text
    assert "t::4" in oracle_text(OracleReport(trusted=Strength(lines=1), own=many), verbose=True)


def test_drafts_are_listed_with_what_comes_next() -> None:
    text = draft_text(DRAFT)
    for part in (
        "its bucket is noise",
        "9 candidates, 3 hold on base",
        "redbucket review .redbucket-drafts/test_f.py",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("name", "schema", "given", "kind"),
    [
        ("oracle", oracled.schema(), REPORT, "OracleReport"),
        ("draft", drafted.schema(), DRAFT, "DraftReport"),
    ],
)
def test_the_published_schemas_are_those_of_the_code(
    name: str, schema: object, given: object, kind: str
) -> None:
    text = json.dumps(schema, indent=2) + "\n"
    file = DOCS / f"{name}.schema.json"
    if os.environ.get("REDBUCKET_REGENERATE"):
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text, (
        f"docs/{name}.schema.json is stale: run REDBUCKET_REGENERATE=1 pytest tests/formats"
    )
    assert set(msgspec.to_builtins(given)) == set(json.loads(text)["$defs"][kind]["properties"])
