"""Freezes: ``flakes.toml`` as frozen values. ``today`` is always an argument, a date in UTC.

One bad entry counts as expired and says why; the others stay in force. A file
that can't be read leaves no freeze in force at all, and says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from redbucket.core.freezefields import bad_id, one_line, read_expiry, replay_trouble

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

NAMED_TWICE = "named twice"
FIELDS = ("owner", "ticket", "expires", "replay", "reason")
_MOST_BYTES = 256 * 1024  # a thousand freezes
_MOST_ENTRIES = 5_000
# tomllib walks a header's parts again for each line below it: without a limit, a
# file of this size keeps it busy for minutes.
_MOST_DOTS = 40
_LONGEST_ID = 4096


@dataclass(frozen=True)
class Freeze:
    """One entry. ``keys`` are the keys of the tables that name it, ``faults`` why it counts as expired."""

    nodeid: str
    keys: tuple[str, ...]
    owner: str = ""
    ticket: str = ""
    expires: date | None = None
    replay: str = ""
    reason: str = ""
    faults: tuple[str, ...] = ()

    def days_left(self, today: date) -> int | None:
        """Return the days until the last day in force (0 on it), None without a date."""
        return None if self.expires is None else (self.expires - today).days

    def lapsed(self, today: date, max_days: int) -> str:
        """Return why this freeze is not in force, "" if it is. The day of expiry is its last day."""
        if self.faults:
            return f"counts as expired: {'; '.join(self.faults)}"
        assert self.expires is not None
        if self.expires < today:
            return f"expired on {self.expires.isoformat()}"
        if self.expires > latest(today, max_days):
            # An entry has no first day, so the cap is on what is left of it.
            return f"counts as expired: it runs until {self.expires.isoformat()}, more than {max_days} days ahead"
        return ""


@dataclass(frozen=True)
class Flakes:
    """The file. ``broken`` says why it can't be read ("" if it can); then nothing is in force."""

    entries: tuple[Freeze, ...] = ()
    broken: str = ""


def latest(today: date, max_days: int) -> date:
    """Return the last day that a freeze may be given today."""
    return today + timedelta(days=min(max_days, (date.max - today).days))


def parse(raw: bytes, name: str) -> Flakes:
    """Return the freezes in ``raw``; ``name`` is the file's name for messages. Never raises."""
    broken = _unreadable(raw)
    if broken:
        return Flakes(broken=f"{name}: {broken}")
    try:
        data = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError, OverflowError) as problem:
        # ValueError: a date such as 2026-02-30, a number of more digits than Python takes
        return Flakes(broken=f"{name}: not TOML: {one_line(str(problem))}")
    entries: list[Freeze] = []
    for keys, value in _tables(data):
        if len(entries) == _MOST_ENTRIES:
            return Flakes(broken=f"{name}: more than {_MOST_ENTRIES:,} freezes")
        entries.append(_entry(keys, value))
    return Flakes(entries=_each_once(entries))


def _unreadable(raw: bytes) -> str:
    if len(raw) > _MOST_BYTES:
        return f"larger than {_MOST_BYTES // 1024:,} KiB"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        return f"byte {problem.start} is not UTF-8"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "starts with a byte order mark"
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.count(b".") > _MOST_DOTS:
            return f"line {number} has more than {_MOST_DOTS} dots"
    return ""


def _tables(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each entry: a table that holds a field, or nothing but the names of tables that hold none."""
    stack: list[tuple[tuple[str, ...], Any]] = [((key,), data[key]) for key in [*data][::-1]]
    while stack:
        keys, value = stack.pop()
        children = (
            [(k, v) for k, v in value.items() if isinstance(v, dict) and k not in FIELDS]
            if isinstance(value, dict)
            else []
        )
        if not isinstance(value, dict) or len(children) < len(value) or not value:
            yield keys, value
        if children and sum(map(len, keys)) > _LONGEST_ID:
            yield (*keys, "..."), None
            continue
        stack.extend(((*keys, key), child) for key, child in children[::-1])


def _entry(keys: tuple[str, ...], value: Any) -> Freeze:
    nodeid = one_line(".".join(keys)[:_LONGEST_ID])
    if not isinstance(value, dict):
        return Freeze(
            nodeid=nodeid, keys=keys, faults=("it is not a table of owner, ticket, expires, replay",)
        )
    faults = [fault for fault in (bad_id(".".join(keys)),) if fault]
    words = {}
    for field in ("owner", "ticket", "replay", "reason"):
        given = value.get(field)
        text = one_line(given).strip() if isinstance(given, str) else ""
        words[field] = text
        if text or (field == "reason" and field not in value):
            continue
        faults.append(f"{field} is {'missing' if field not in value else 'not a text that says something'}")
    expires, fault = read_expiry(value.get("expires"))
    faults += [f for f in (fault, words["replay"] and replay_trouble(words["replay"])) if f]
    return Freeze(nodeid=nodeid, keys=keys, expires=expires, faults=tuple(faults), **words)


def _each_once(entries: list[Freeze]) -> tuple[Freeze, ...]:
    """An id may be written quoted and as nested tables: two entries for one test count as none."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.nodeid] = counts.get(entry.nodeid, 0) + 1
    return tuple(replace(e, faults=(*e.faults, NAMED_TWICE)) if counts[e.nodeid] > 1 else e for e in entries)
