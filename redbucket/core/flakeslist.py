"""The list of freezes, for a terminal and as JSON (schema ``redbucket.flakes/1``)."""

from __future__ import annotations

import json
from datetime import date

import msgspec

from redbucket.core.flakes import Flakes, Freeze

SCHEMA = "redbucket.flakes/1"
_SOON = 7
_RED, _YELLOW, _GREEN = "1;31", "1;33", "1;32"


class FreezeReport(msgspec.Struct, frozen=True, kw_only=True):
    """One freeze. ``lapsed`` says why it does not count any more, "" while it is ``in_force``."""

    nodeid: str
    owner: str
    ticket: str
    expires: str | None
    replay: str
    reason: str
    days_left: int | None
    in_force: bool
    lapsed: str


class FlakesReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``redbucket flakes list --format json`` prints, the most urgent freeze first.

    ``broken`` says why the file can't be read: then every freeze counts as expired.
    """

    schema: str = SCHEMA
    today: str
    max_days: int
    broken: str
    freezes: list[FreezeReport]


def as_json(flakes: Flakes, today: date, max_days: int) -> str:
    """Return the list as JSON, the most urgent first."""
    report = FlakesReport(
        today=today.isoformat(),
        max_days=max_days,
        broken=flakes.broken,
        freezes=[_reported(e, today, max_days) for e in _urgent(flakes, today, max_days)],
    )
    return json.dumps(msgspec.to_builtins(report), indent=2)


def as_text(flakes: Flakes, today: date, max_days: int, *, color: bool) -> str:
    """Return the list as lines, the most urgent first."""
    if flakes.broken:
        return _paint(_RED, f"{flakes.broken}: every freeze counts as expired", color)
    if not flakes.entries:
        return "no test is frozen"
    lines = []
    for entry in _urgent(flakes, today, max_days):
        lapsed, days = entry.lapsed(today, max_days), entry.days_left(today)
        left = "over" if lapsed or days is None else "last day" if days == 0 else f"{days} d"
        style = _RED if lapsed else _YELLOW if days is not None and days <= _SOON else _GREEN
        lines.append(f"{_paint(style, f'{left:>8}', color)}  {entry.nodeid}")
        said = [entry.owner or "no owner", entry.ticket or "no ticket", f"until {entry.expires or '?'}"]
        lines.append(f"{'':10}{', '.join(said)}; {lapsed or entry.reason or entry.replay}")
    return "\n".join(lines)


def _urgent(flakes: Flakes, today: date, max_days: int) -> list[Freeze]:
    return sorted(
        flakes.entries,
        key=lambda e: (not e.lapsed(today, max_days), e.expires or date.min, e.nodeid),
    )


def _reported(entry: Freeze, today: date, max_days: int) -> FreezeReport:
    lapsed = entry.lapsed(today, max_days)
    return FreezeReport(
        nodeid=entry.nodeid,
        owner=entry.owner,
        ticket=entry.ticket,
        expires=entry.expires.isoformat() if entry.expires else None,
        replay=entry.replay,
        reason=entry.reason,
        days_left=entry.days_left(today),
        in_force=not lapsed,
        lapsed=lapsed,
    )


def _paint(style: str, text: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color else text
