"""The budget: what failures were turned into, by week. Schema ``redbucket.budget/1``.

A failure is a test in one bucket, from the first gate that saw it until something was made of it; when it comes
back after that, it is another failure. While a freeze covers it, it is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import msgspec

SCHEMA = "redbucket.budget/1"
BUCKETS = ("invariant_miss", "fixture_drift", "noise", "unclassified")
KINDS = ("property", "lock", "replay", "freeze", "other")
# What answers a failure of each bucket; what a person records answers any.
_FITS = {
    "invariant_miss": ("property",),
    "fixture_drift": ("lock",),
    "noise": ("replay", "freeze"),
    "unclassified": (),
}
# What continues an id; a full stop or a colon may end a sentence instead.
_BEFORE = r"(?<![\w./:\[-])"
_AFTER = r"(?![\w\[/-]|[.:]\w|::)"


@dataclass(frozen=True)
class Seen:
    """A gate's row that calls for work; ``at`` is UTC in ISO 8601."""

    at: str
    nodeid: str
    bucket: str
    frozen: bool = False
    fixtures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spent:
    """Something that answers a failure of ``nodeid``, or every drift of ``fixture``; ``recorded`` by a person."""

    at: str
    kind: str
    nodeid: str = ""
    fixture: str = ""
    owner: str = ""
    detail: str = ""
    recorded: bool = False


class Week(msgspec.Struct, frozen=True, kw_only=True):
    """One week, from its Monday: failures first seen in it by bucket, and what they became by kind."""

    monday: str
    failures: dict[str, int]
    converted: dict[str, int]
    open: int


class OpenFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure that nothing was made of yet; ``age`` in days, ``gates`` how many saw it."""

    nodeid: str
    bucket: str
    owner: str
    since: str
    age: int
    gates: int


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """What one failure became; ``source`` is "recognised" (in the repository) or "recorded" (by a person)."""

    nodeid: str
    bucket: str
    kind: str
    at: str
    source: str
    owner: str = ""
    detail: str = ""


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """A freeze in base; ``age`` in days since it was made, None where that is not known."""

    nodeid: str
    owner: str
    expires: str
    expired: bool
    age: int | None = None


class BudgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``redbucket budget --format json`` prints; ``rate`` is None where there was no failure."""

    schema: str = SCHEMA
    exit_code: int = 0
    today: str
    base: str = ""
    weeks: list[Week] = []
    failures: int = 0
    converted: int = 0
    rate: float | None = None
    open: list[OpenFailure] = []
    conversions: list[Conversion] = []
    freezes: list[Frozen] = []
    notes: list[str] = []


@dataclass
class _Failure:
    nodeid: str
    bucket: str
    since: str
    gates: int = 1
    last: str = ""
    fixtures: set[str] = field(default_factory=set)
    answer: Spent | None = None


def budget(
    seen: Iterable[Seen],
    spent: Sequence[Spent],
    freezes: Sequence[Frozen],
    *,
    today: date,
    weeks: int,
    owner_of: Callable[[str], str],
    base: str = "",
    notes: Sequence[str] = (),
) -> BudgetReport:
    """Return the report on the ``weeks`` that end with the one of ``today``."""
    mondays = [_monday(today) - timedelta(weeks=n) for n in reversed(range(weeks))]
    failures = [f for f in _failures(seen, spent) if f.since[:10] >= mondays[0].isoformat()]
    done = [f for f in failures if f.answer is not None]
    waiting = [f for f in failures if f.answer is None]
    return BudgetReport(
        today=today.isoformat(),
        base=base,
        weeks=[_week(monday, failures) for monday in mondays],
        failures=len(failures),
        converted=len(done),
        rate=round(len(done) / len(failures), 3) if failures else None,
        open=sorted((_open(f, today, owner_of) for f in waiting), key=lambda o: (o.owner, -o.age, o.nodeid)),
        conversions=[_conversion(f) for f in done],
        freezes=sorted(freezes, key=lambda f: (not f.expired, f.expires, f.nodeid)),
        notes=list(notes),
    )


def named(text: str, nodeids: Iterable[str]) -> list[str]:
    """Return those of ``nodeids`` that ``text`` names: whole, not as the beginning or the end of another's id."""
    longest_first = sorted(filter(None, nodeids), key=len, reverse=True)
    if not longest_first:
        return []
    one = "|".join(map(re.escape, longest_first))
    return list(dict.fromkeys(found[0] for found in re.finditer(rf"{_BEFORE}(?:{one}){_AFTER}", text)))


def _failures(seen: Iterable[Seen], spent: Sequence[Spent]) -> list[_Failure]:
    """Return the failures in the order in which they were first seen, each with what answered it first."""
    answers = sorted(spent, key=lambda one: one.at)
    by_test: dict[str, list[Spent]] = {}
    for answer in answers:
        by_test.setdefault(answer.nodeid, []).append(answer)
    of_fixtures = [answer for answer in answers if answer.fixture]
    running: dict[tuple[str, str], _Failure] = {}
    found: list[_Failure] = []
    for one in sorted(seen, key=lambda row: row.at):
        if one.frozen:
            continue
        key = (one.nodeid, one.bucket)
        failure = running.get(key)
        if failure is not None:
            failure.fixtures.update(one.fixtures)
            failure.answer = failure.answer or _answer(failure, by_test, of_fixtures)
            if failure.answer is None or failure.answer.at >= one.at:
                failure.gates += 1
                continue
        running[key] = _Failure(one.nodeid, one.bucket, one.at, fixtures=set(one.fixtures))
        found.append(running[key])
    for failure in found:
        failure.answer = failure.answer or _answer(failure, by_test, of_fixtures)
    return found


def _answer(failure: _Failure, by_test: dict[str, list[Spent]], of_fixtures: Sequence[Spent]) -> Spent | None:
    fits = _FITS.get(failure.bucket, ())
    candidates = [
        *(one for one in by_test.get(failure.nodeid, ()) if one.recorded or one.kind in fits),
        *(one for one in of_fixtures if one.kind in fits and one.fixture in failure.fixtures),
    ]
    later = [one for one in candidates if one.at >= failure.since]
    return min(later, key=lambda one: one.at, default=None)


def _week(monday: date, failures: Sequence[_Failure]) -> Week:
    end = monday + timedelta(weeks=1)
    mine = [f for f in failures if monday.isoformat() <= f.since[:10] < end.isoformat()]
    kinds = [f.answer.kind for f in mine if f.answer is not None]
    return Week(
        monday=monday.isoformat(),
        failures={bucket: sum(f.bucket == bucket for f in mine) for bucket in BUCKETS},
        converted={kind: kinds.count(kind) for kind in KINDS if kind in kinds},
        open=sum(f.answer is None for f in mine),
    )


def _open(failure: _Failure, today: date, owner_of: Callable[[str], str]) -> OpenFailure:
    return OpenFailure(
        nodeid=failure.nodeid,
        bucket=failure.bucket,
        owner=owner_of(failure.nodeid) or "nobody",
        since=failure.since,
        age=max(0, (today - _day(failure.since, today)).days),
        gates=failure.gates,
    )


def _conversion(failure: _Failure) -> Conversion:
    answer = failure.answer
    assert answer is not None
    return Conversion(
        nodeid=failure.nodeid,
        bucket=failure.bucket,
        kind=answer.kind,
        at=answer.at,
        source="recorded" if answer.recorded else "recognised",
        owner=answer.owner,
        detail=answer.detail,
    )


def _day(text: str, otherwise: date) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return otherwise  # whoever wrote the ledger


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(BudgetReport)}
