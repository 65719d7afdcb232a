"""Every error has an id that the docs explain: docs/errors.md is made from the source."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests import errorids

PAGE = Path(__file__).resolve().parents[1] / "docs/errors.md"


def test_the_page_is_up_to_date() -> None:
    """REDBUCKET_REGENERATE=1 writes it."""
    page = errorids.page()
    if os.environ.get("REDBUCKET_REGENERATE"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def test_ids_are_words_with_dashes_and_each_error_has_one_exit_code() -> None:
    found = errorids.errors()
    assert len(found) > 80
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) for name, _ in found)


def test_each_error_says_what_to_do() -> None:
    silent = [name for (name, _), said in errorids.errors().items() if not any(text for text, _ in said)]
    assert silent == []
