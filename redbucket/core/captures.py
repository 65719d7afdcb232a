"""The head of a capture: that it is one, and of which test. The rest is for whatever replays it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

CAPTURE_SCHEMA = "redbucket.capture/1"
NOT_NOISE = frozenset({"invariant_miss", "fixture_drift"})


@dataclass(frozen=True)
class Capture:
    """A capture as far as a freeze needs it. ``fault`` says why it is none, "" if it is."""

    nodeid: str = ""
    bucket: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""


def read_capture(raw: bytes) -> Capture:
    """Return the capture in ``raw``. Never raises."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return Capture(fault="it is not JSON")
    if not isinstance(data, dict) or data.get("schema") != CAPTURE_SCHEMA:
        return Capture(fault=f"it is no capture: its schema is not {CAPTURE_SCHEMA}")
    nodeid, bucket = data.get("nodeid"), data.get("bucket", "")
    if not isinstance(nodeid, str) or not nodeid or not isinstance(bucket, str):
        return Capture(fault="it names no test")
    return Capture(nodeid, bucket, data)


def capture_trouble(raw: bytes, test: str, same: Callable[[str], str]) -> str:
    """Return why ``raw`` can't back a freeze of ``test``, "" if it can.

    ``same`` brings two forms of one id to one form.
    """
    capture = read_capture(raw)
    if capture.fault:
        return capture.fault
    if same(capture.nodeid) != same(test):
        return f"it is of another test: {capture.nodeid}"
    if capture.bucket in NOT_NOISE:
        return f"its test is {capture.bucket}: that is no noise, and can't be frozen"
    return ""
