"""The date that freezes are held against, where the caller names none."""

from __future__ import annotations

from datetime import date, datetime, timezone


def utc_today() -> date:
    """Return today's date in UTC: the same for everyone, wherever the gate runs."""
    return datetime.now(timezone.utc).date()
