"""Gives each noisy row of the gate a capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from redbucket import __version__
from redbucket.core.buckets import Bucket
from redbucket.core.noisecapture import NoiseCapture, Seen, captured
from redbucket.core.report import Row
from redbucket.core.trials import Trials
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Request, Subject

_SHORTEST_SECRET = 4


def with_captures(
    rows: Sequence[Row],
    trials: Trials,
    subject: Subject,
    request: Request,
    branch: str,
    specs: Specs,
    put: Callable[[NoiseCapture], str],
) -> list[Row]:
    """Return the rows, the noisy ones with the name of their capture's file."""
    out = []
    for row in rows:
        capture = None
        if row.bucket is Bucket.NOISE and "[#" not in row.nodeid:
            capture = captured(
                row.nodeid,
                row.bucket.value,
                row.cause,
                trials,
                "H",
                base=subject.patch.base,
                head=subject.patch.head,
                base_tree=subject.base_tree,
                merged_tree=subject.merged_tree,
                agent=request.agent,
                head_ref=branch,
                roots=list(specs.roots),
                redbucket=__version__,
            )
        if capture is not None:
            name = put(hidden(capture, subject.policy.run.env))
            row = msgspec.structs.replace(row, capture=name)
        out.append(row)
    return out


def hidden(capture: NoiseCapture, env: Mapping[str, str]) -> NoiseCapture:
    """Return the capture with the values of ``[run] env`` taken out of its messages."""
    values = sorted(
        ((value, name) for name, value in env.items() if len(value) >= _SHORTEST_SECRET),
        key=lambda pair: -len(pair[0]),
    )
    if not values:
        return capture

    def clean(seen: Seen | None) -> Seen | None:
        if seen is None:
            return None
        text = seen.message
        for value, name in values:
            text = text.replace(value, f"<{name}>")
        return msgspec.structs.replace(seen, message=text)

    return msgspec.structs.replace(capture, failing=clean(capture.failing), passing=clean(capture.passing))
