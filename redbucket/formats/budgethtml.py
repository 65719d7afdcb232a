"""The budget as one HTML file with a chart: no network, and no script at all."""

from __future__ import annotations

from typing import Any

from redbucket.core.budget import BUCKETS, BudgetReport, Week
from redbucket.formats.budget import SHORT, became, headline
from redbucket.formats.clean import line
from redbucket.formats.page import page

_WIDTH, _HEIGHT, _FOOT, _HEAD = 900, 220, 20, 16


def budget_html(report: BudgetReport) -> str:
    """Return the page."""
    return page(
        "budget.html",
        styles=["budget.css"],
        tone="good" if report.rate in (None, 1.0) else "open",
        headline=headline(report),
        report=report,
        base=line(report.base),
        chart=_chart(report.weeks),
        buckets=[SHORT[bucket] for bucket in BUCKETS],
        weeks=[
            {"monday": week.monday, "counts": [week.failures[b] for b in BUCKETS], "became": became(week)}
            for week in report.weeks
        ],
        tables=[table for table in _tables(report) if table[2]],
        notes=[line(note) for note in report.notes],
    )


def _chart(weeks: list[Week]) -> dict[str, Any]:
    """Return where each bar stands, in the units of the drawing."""
    most = max((sum(week.failures.values()) for week in weeks), default=0) or 1
    step = _WIDTH / max(1, len(weeks))
    full = _HEIGHT - _FOOT - _HEAD
    bars = []
    for number, week in enumerate(weeks):
        total = sum(week.failures.values())
        done = total - week.open
        done_height, open_height = (round(full * count / most, 1) for count in (done, week.open))
        bottom = _HEIGHT - _FOOT
        bars.append(
            {
                "x": round(number * step + step * 0.15, 1),
                "middle": round(number * step + step / 2, 1),
                "done": done_height,
                "done_y": round(bottom - done_height, 1),
                "open": open_height,
                "open_y": round(bottom - done_height - open_height, 1),
                "label_y": round(bottom - done_height - open_height - 4, 1),
                "total": total or "",
                "day": week.monday[5:] if len(weeks) <= 16 or number % (len(weeks) // 12 + 1) == 0 else "",
                "says": f"week of {week.monday}: {total} failures, {done} became something, {week.open} open",
            }
        )
    return {"width": _WIDTH, "height": _HEIGHT, "bar": round(step * 0.7, 1), "bars": bars}


def _tables(report: BudgetReport) -> list[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]:
    freezes = [
        (
            one.expires or "no date",
            line(one.nodeid),
            line(one.owner) or "no owner",
            "" if one.age is None else one.age,
        )
        for one in report.freezes
    ]
    expired = sum(one.expired for one in report.freezes)
    heads = ("until", "test", "owner", "made days ago")
    return [
        (
            "Open",
            ("owner", "days", "bucket", "test", "gates"),
            [(line(o.owner), o.age, o.bucket, line(o.nodeid), o.gates) for o in report.open],
        ),
        ("Freezes that have expired", heads, list(freezes[:expired])),
        ("Freezes", heads, list(freezes[expired:])),
        (
            "Converted",
            ("when", "into", "bucket", "test", "what"),
            [
                (c.at[:10], f"{c.kind} ({c.source})", c.bucket, line(c.nodeid), line(c.detail))
                for c in report.conversions
            ],
        ),
    ]
