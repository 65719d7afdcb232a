"""What a freeze does to a row, and which freezes count for a patch."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from datetime import date

import msgspec

from redbucket.core.buckets import Bucket
from redbucket.core.classification import FAILING
from redbucket.core.flakes import Flakes, Freeze
from redbucket.core.report import Row
from redbucket.core.testpath import pytest_id

_RED = frozenset(outcome.value for outcome in FAILING)
_SAME = ("", " again")  # the plain runs, and the same once more


@dataclass(frozen=True)
class Frozen:
    """A freeze, and why it is not in force ("" if it is)."""

    freeze: Freeze
    lapsed: str


def freezes_for(
    base: Flakes, head: Flakes | None, paths: Container[str], today: date, max_days: int
) -> dict[str, Frozen]:
    """Return the freezes that count for a patch, by the test's id in pytest's form.

    They are base's. ``head`` is given where a person's patch changes the file:
    it may end or shorten a freeze for itself, never start or extend one. One
    test named in two forms is frozen until the earlier date.
    """
    kept = None if head is None else by_test(head, paths)
    found: dict[str, Frozen] = {}
    for entry in base.entries:
        test = pytest_id(entry.nodeid, paths)
        lapsed = entry.lapsed(today, max_days)
        if kept is not None and not lapsed:
            after = kept.get(test)
            if after is None:
                continue
            lapsed = after.lapsed(today, max_days)
            if after.expires and entry.expires and after.expires < entry.expires:
                entry = replace(entry, expires=after.expires)
        known = found.get(test)
        if known is None or (not known.lapsed and (lapsed or _earlier(entry, known.freeze))):
            found[test] = Frozen(entry, lapsed)
    return found


def by_test(flakes: Flakes, paths: Container[str]) -> dict[str, Freeze]:
    """Return the entries by the test's id in pytest's form; of two for one test the earlier expiry."""
    found: dict[str, Freeze] = {}
    for entry in flakes.entries:
        test = pytest_id(entry.nodeid, paths)
        if test not in found or _earlier(entry, found[test]):
            found[test] = entry
    return found


def _earlier(one: Freeze, other: Freeze) -> bool:
    return (one.expires or date.min) < (other.expires or date.min)


def frozen_row(row: Row, frozen: Frozen, *, new: bool) -> Row:
    """Return the row of a frozen test: its noise is shown and does not block.

    Noise alone is covered. What fails every time with the patch and never
    without it is no noise that anybody froze, whatever its messages say; and a
    test that base does not have was not frozen for what it does now (``new``).
    """
    freeze = frozen.freeze
    if frozen.lapsed:
        return _saying(row, f"Its freeze {frozen.lapsed}, so it excuses nothing.")
    assert freeze.expires is not None
    until = freeze.expires.isoformat()
    row = msgspec.structs.replace(row, frozen_until=until)
    if row.bucket is not Bucket.NOISE:
        return _saying(row, f"It is frozen until {until}, and a freeze covers noise only.")
    if new:
        return _saying(row, "A freeze of that name is older than the test, and does not cover it.")
    if row.introduced and row.cause is None and _breaks(row):
        return _saying(
            row, f"It is frozen until {until}, but fails every time with the patch and never without it."
        )
    return msgspec.structs.replace(
        row,
        state=f"frozen until {until} by {freeze.owner}",
        # a known flake is the reason not to say whose doing it is
        introduced=False if row.introduced is False else None,
        blocks=False,
        why=_sentences(row.why, f"Frozen: {freeze.ticket}{f', {freeze.reason}' if freeze.reason else ''}."),
        spend="mend it before the freeze ends",
    )


def _saying(row: Row, sentence: str) -> Row:
    """A test that passes has nothing to say about its freeze."""
    if row.bucket in (Bucket.STABLE_PASS, Bucket.SKIPPED):
        return row
    return msgspec.structs.replace(row, why=_sentences(row.why, sentence))


def _sentences(one: str, other: str) -> str:
    return f"{one.rstrip('.')}. {other}" if one else other


def _breaks(row: Row) -> bool:
    head = [o for more in _SAME for o in row.outcomes.get(f"H{more}", [])]
    base = [o for more in _SAME for o in row.outcomes.get(f"B{more}", [])]
    return bool(base) and all(o in _RED for o in head) and not any(o in _RED for o in base)
