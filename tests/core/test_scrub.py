"""Values of variables taken out of a text."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.scrub import scrubbed

SECRET = "s3cr3t-Qx7/9'\\z+kk41 end"


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        repr(SECRET),
        json.dumps({"k": SECRET}),
        base64.b64encode(SECRET.encode()).decode(),
        "https://x/?k=s3cr3t-Qx7%2F9%27%5Cz%2Bkk41%20end",
        f"{SECRET[:10]}...{SECRET[-9:]}",
    ],
)
def test_no_form_of_a_value_is_left(shown: str) -> None:
    clean = scrubbed(f"AssertionError: {shown} is wrong", {"API_KEY": SECRET})
    assert "API_KEY" in clean and clean.startswith("AssertionError: ")
    assert "is wrong" in clean
    assert not [n for n in range(len(SECRET) - 7) if SECRET[n : n + 8] in clean]


def test_short_values_and_other_text_stay() -> None:
    assert scrubbed("assert 1 == 2 in production", {"N": "1", "MODE": "dev"}) == "assert 1 == 2 in production"


@given(st.text(min_size=4, max_size=40), st.text(max_size=60), st.text(max_size=60))
def test_whatever_the_value_it_is_gone(value: str, before: str, after: str) -> None:
    clean = scrubbed(f"{before}{value}{after}", {"K": value})
    assert value not in clean or value in "<part of K>"
