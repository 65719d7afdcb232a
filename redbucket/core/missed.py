"""The invariant misses that a gate's JSON report lists."""

from __future__ import annotations

from typing import Any

import msgspec

from redbucket.core.buckets import Bucket
from redbucket.core.errors import Misused
from redbucket.core.report import SCHEMA


def rows_of(raw: bytes, name: str) -> list[dict[str, Any]]:
    """Return the rows of a gate's report, or of the JSON rows that ``classify`` prints; ``name`` is for messages.

    Raises Misused "not-a-report".
    """
    remedy = "give the output of `redbucket gate --format json`, or of `redbucket classify`"
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise Misused("not-a-report", f"{name}: not JSON: {problem}", remedy) from problem
    if isinstance(data, dict) and data.get("schema") == SCHEMA:
        data = data.get("tests")
    if not isinstance(data, list) or not all(isinstance(row, dict) and "nodeid" in row for row in data):
        raise Misused("not-a-report", f"{name}: holds no rows of tests with a nodeid", remedy)
    return data


def misses(raw: bytes, name: str) -> list[str]:
    """Return the node ids of the invariant misses that a report says the patch introduced."""
    wanted = Bucket.INVARIANT_MISS.value
    return [
        str(row["nodeid"])
        for row in rows_of(raw, name)
        if row.get("bucket") == wanted and row.get("introduced") is not False
    ]
