"""A suite that is skipped in good part says so, and a few tests for another platform do not."""

from __future__ import annotations

import pytest

from redbucket.core import records
from redbucket.core.records import Outcome
from redbucket.core.skips import many_skipped


def suite(passed: int, *reasons: str) -> list[records.Test]:
    ran = [records.Test(nodeid=f"t::p{n}", outcome=Outcome.PASSED) for n in range(passed)]
    return ran + [
        records.Test(nodeid=f"t::s{n}", outcome=Outcome.SKIPPED, message=why) for n, why in enumerate(reasons)
    ]


@pytest.mark.parametrize("tests", [[], suite(5), suite(1, "windows"), suite(91, *["windows"] * 10)])
def test_few_are_not_worth_a_word(tests: list[records.Test]) -> None:
    assert many_skipped(tests) == ""


def test_the_reason_that_most_have_is_said() -> None:
    said = many_skipped(suite(20, "windows", *["Skipped: make the catalogues first\nmore"] * 3))
    assert said == (
        "4 of 24 tests are skipped here, and say nothing of a patch; 3 of them: make the catalogues first"
    )
    assert many_skipped(suite(2, "", "")).endswith("say nothing of a patch")
