"""Where redbucket came from, and where its documentation is shown."""

from __future__ import annotations

import pytest

from redbucket.core.errors import Misused
from redbucket.core.sighting import Source
from redbucket.edges.ownsource import docs_address, parse_source


@pytest.mark.parametrize(
    ("text", "address", "revision"),
    [
        ("git+https://github.com/o/redbucket@v1.2", "https://github.com/o/redbucket", "v1.2"),
        ("https://host/o/r.git@0123abc", "https://host/o/r.git", "0123abc"),
        ("git+ssh://git@host/o/r@main", "ssh://git@host/o/r", "main"),
    ],
)
def test_sources(text: str, address: str, revision: str) -> None:
    assert parse_source(text) == Source(address, revision)
    assert parse_source(parse_source(text).requirement) == parse_source(text)


@pytest.mark.parametrize(
    "text", ["", "redbucket", "git+https://host/o/r", "https://h/o r@x", "git+https://h/r@a b"]
)
def test_no_sources(text: str) -> None:
    with pytest.raises(Misused) as caught:
        parse_source(text)
    assert caught.value.code == "bad-source"


@pytest.mark.parametrize(
    ("source", "docs"),
    [
        (Source("https://github.com/o/redbucket.git", "v1"), "https://github.com/o/redbucket/blob/v1/docs"),
        (Source("https://gitlab.com/o/redbucket", "v1"), "https://gitlab.com/o/redbucket/-/blob/v1/docs"),
        (Source("https://git.example.org/o/redbucket", "v1"), ""),
        (Source("ssh://git@github.com/o/redbucket", "v1"), ""),
        (None, ""),
    ],
)
def test_docs(source: Source | None, docs: str) -> None:
    assert docs_address(source) == docs
