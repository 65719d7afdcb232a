"""Addresses of dask clusters: what is taken, and what is not."""

from __future__ import annotations

import pytest

from redbucket.core.daskaddress import DaskAddress, parse_dask
from redbucket.core.errors import Misused


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("dask://box", DaskAddress("box", 8786)),
        ("dask://box:99/", DaskAddress("box", 99)),
        ("dask://[::1]:99/a%20b", DaskAddress("[::1]", 99, "/a b")),
        ("dask://box/x?python=/v/bin/python", DaskAddress("box", folder="/x", python="/v/bin/python")),
    ],
)
def test_what_is_taken(text: str, address: DaskAddress) -> None:
    assert parse_dask(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "dask:box",
        "dask://",
        "dask:///x",
        "dask://box:0",
        "dask://box:99999",
        "dask://a@box",
        "dask://box?python=",
        "dask://box?python=a&python=b",
        "dask://box?repo=/x",
        "dask://box/x#y",
        "dask://tcp://box:1",
    ],
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(Misused) as error:
        parse_dask(text)
    assert error.value.code == "bad-runner"
    assert "dask://HOST" in error.value.remedy
