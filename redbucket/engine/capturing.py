"""Gives each noisy row of the gate a capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from redbucket import __version__
from redbucket.core.buckets import Bucket
from redbucket.core.noisecapture import NoiseCapture, Seen, captured
from redbucket.core.report import Row
from redbucket.core.scrub import scrubbed, values_of
from redbucket.core.trials import Trials
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Request, Subject


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
        safe = hidden(capture, subject.policy.run.env) if capture is not None else None
        if safe is not None:
            row = msgspec.structs.replace(row, capture=put(safe))
        out.append(row)
    return out


def hidden(capture: NoiseCapture, env: Mapping[str, str]) -> NoiseCapture | None:
    """Return the capture with the values of ``[run] env`` taken out of its messages.

    None where one is left: in an id, say, which can't be changed in a capture that is to replay.
    """

    def clean(seen: Seen | None) -> Seen | None:
        return seen and msgspec.structs.replace(seen, message=scrubbed(seen.message, env))

    safe = msgspec.structs.replace(capture, failing=clean(capture.failing), passing=clean(capture.passing))
    text = "\0".join([safe.nodeid, *safe.order, safe.hypothesis, *safe.command])
    return None if any(value in text for value, _ in values_of(env)) else safe
