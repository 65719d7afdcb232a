"""Folders of runs look alike to whoever takes a path for a set of characters."""

from __future__ import annotations

import re

from redbucket.edges.names import PATTERN, shuffled


def test_names_differ_in_their_order_alone() -> None:
    found = {shuffled() for _ in range(50)}
    assert len(found) == 50
    assert {"".join(sorted(name)) for name in found} == {"abcdefghijkl"}
    assert all(re.fullmatch(PATTERN, name) for name in found)
