"""The budget as text: a week a line, with small bars."""

from __future__ import annotations

from collections.abc import Iterator

from redbucket.core.budget import BUCKETS, BudgetReport, Week
from redbucket.core.plural import plural
from redbucket.formats.clean import line

SHORT = {"invariant_miss": "miss", "fixture_drift": "drift", "noise": "noise", "unclassified": "unclass."}
_BAR = 12
_MOST = 30


def budget_text(report: BudgetReport) -> str:
    """Return the report in words and bars."""
    return "\n".join(_lines(report))


def _lines(report: BudgetReport) -> Iterator[str]:
    most = max((sum(week.failures.values()) for week in report.weeks), default=0)
    heads = "".join(f"{SHORT[bucket]:>9}" for bucket in BUCKETS)
    yield f"{'week of':<11}{heads}  {'failures':<{_BAR}}  became"
    for week in report.weeks:
        counts = "".join(f"{week.failures[bucket] or '.':>9}" for bucket in BUCKETS)
        yield f"{week.monday:<11}{counts}  {_bar(week, most):<{_BAR}}  {became(week)}".rstrip()
    yield ""
    yield headline(report) + ("." if report.rate is None else "; # converted, - open.")
    yield from _open(report)
    yield from _freezes(report)
    for note in report.notes:
        yield f"note: {line(note)}"


def headline(report: BudgetReport) -> str:
    """Return the rate in words."""
    if report.rate is None:
        return f"No gate saw a failure in {plural(len(report.weeks), 'week')}"
    return f"{report.converted} of {plural(report.failures, 'failure')} became something that lasts ({report.rate:.0%})"


def _bar(week: Week, most: int) -> str:
    """Converted and open failures as # and -, to one scale for all weeks; what is there is seen."""
    total = sum(week.failures.values())
    if not total:
        return ""
    length = max(1, round(_BAR * total / most)) if most > _BAR else total
    left = max(1, round(length * week.open / total)) if week.open else 0
    if week.open < total:
        left = min(left, length - 1) if length > 1 else 0
    return "#" * (length - left) + "-" * left


def became(week: Week) -> str:
    """Return what the failures of a week became, and how many are open."""
    said = [f"{kind} {count}" for kind, count in week.converted.items()]
    return ", ".join([*said, *([f"{week.open} open"] if week.open else [])])


def _open(report: BudgetReport) -> Iterator[str]:
    owner = None
    for one in report.open[:_MOST]:
        if one.owner != owner:
            owner = one.owner
            yield ""
            yield f"Open, {line(owner)}"
        yield f"  {one.age:>4} d  {one.bucket:<14}  {line(one.nodeid)}  ({plural(one.gates, 'gate')})"
    if len(report.open) > _MOST:
        yield f"  and {plural(len(report.open) - _MOST, 'more failure')}: --format json lists them all"
    if report.open:
        yield "  -> redbucket budget spend NODEID... --into KIND records what became of some;"
        yield "     with --head REV instead of tests, of all that failed in that commit"


def _freezes(report: BudgetReport) -> Iterator[str]:
    expired = [one for one in report.freezes if one.expired]
    running = [one for one in report.freezes if not one.expired]
    for title, some in (("Freezes that have expired", expired), ("Freezes", running)):
        if not some:
            continue
        yield ""
        yield title
        for one in some:
            age = "" if one.age is None else f", made {plural(one.age, 'day')} ago"
            yield f"  {one.expires or '(no date)':<10}  {line(one.nodeid)}  {line(one.owner) or 'no owner'}{age}"
