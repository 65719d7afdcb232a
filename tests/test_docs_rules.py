"""Every rule that a report can name has a page, and every page a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.guards.registry import GUARDS

PAGES = Path(__file__).parents[1] / "docs" / "rules"
# Rules of the runs: no static guard reports them.
RUNS = (
    "behaves-for-the-gate",
    "differs-as-landed",
    "fixture-unread",
    "fixture-written",
    "judge-rewritten",
    "leans-on-data",
    "machinery-patched",
    "merge-conflict",
    "passes-either-way",
    "untrusted-green",
    "vanished-test",
    "weak-oracle",
)


def test_every_rule_has_its_page_and_every_page_its_rule() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*GUARDS, *RUNS}


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_names_its_rule_and_the_remedy_and_is_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {page.stem}\n")
    assert "Remedy" in text
    assert len(text.splitlines()) < 60
