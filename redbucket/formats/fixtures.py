"""What the ``fixtures`` commands say on a terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from redbucket.core.drift import Change, Drift, Side
from redbucket.core.driftreport import ChangeReport, DriftReport, PlaceReport, SideReport
from redbucket.core.findings import Finding, Severity
from redbucket.core.nodediff import ABSENT, shown, written
from redbucket.core.plural import plural
from redbucket.core.report import GateReport
from redbucket.formats.clean import cut, line, utf8

_SHOWN = 20
_WORDS = {0: "ACCEPTED", 1: "REFUSED", 2: "UNDECIDED"}


def verified_text(report: GateReport, *, verbose: bool = False) -> str:
    """Return a report of ``fixtures verify``: a line for the verdict, two for each finding."""
    return "\n".join(_verified(report, verbose)) + "\n"


def _verified(report: GateReport, verbose: bool) -> Iterator[str]:
    refused = sum(f.severity is Severity.REFUSE for f in report.findings)
    fresh = sum(problem.code == "lock-not-staged" for problem in report.undecided)
    absent = len(report.undecided) - fresh
    warned = len(report.findings) - refused
    said = [
        plural(refused, "disagreement") if refused else "",
        plural(warned, "warning") if warned else "",
        f"{plural(absent, 'fixture')} not materialised" if absent else "",
        f"{plural(fresh, 'lock')} not staged" if fresh else "",
    ]
    notes = [line(note.reason) for note in report.notes]
    yield f"{_WORDS[report.exit_code]}  {', '.join(filter(None, said)) or notes.pop(0)}"
    yield from (f"  {note}" for note in notes)
    shown = report.findings if verbose else report.findings[:_SHOWN]
    for finding in shown:
        yield from _finding(finding)
    if len(shown) < len(report.findings):
        yield f"  ... and {plural(len(report.findings) - len(shown), 'more finding')} (--verbose shows all)"
    for problem in report.undecided if verbose else report.undecided[:_SHOWN]:
        yield f"  {line(problem.reason)}"
        yield f"      -> {line(problem.remedy)}"


def _finding(finding: Finding) -> Iterator[str]:
    place = line(finding.path or "") + (f":{finding.line}" if finding.line else "")
    yield f"  {place}"
    yield f"      {line(finding.reason)}"
    if finding.remedy:
        yield f"      -> {line(finding.remedy)}"


_PLACES = 10
WHOLE = "the whole document"
_WIDEST = 200


class Lines(Protocol):
    """Lines that differ, and whether there are more."""

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The lines."""

    @property
    def cut(self) -> bool:
        """True if there are more."""


class Shown(Protocol):
    """One change, and its lines where it is text."""

    @property
    def change(self) -> Change:
        """The change."""

    @property
    def lines(self) -> Lines | None:
        """The lines."""


def diff_text(changes: Sequence[Shown], *, verbose: bool = False) -> str:
    """Return what moved: a line for each fixture with its class, then the places or lines."""
    if not changes:
        return "no fixture moved\n"
    counts = Counter(each.change.drift for each in changes)
    said = ", ".join(f"{drift.value}: {counts[drift]}" for drift in Drift if counts[drift])
    out = [f"{plural(len(changes), 'fixture')} moved ({said})"]
    for each in changes:
        out += _change(each.change, "  ", _WIDEST if verbose else _PLACES)
        if each.lines is not None:
            out += [f"      {cut(_visible(text), _WIDEST)}" for text in each.lines.lines]
            if each.lines.cut:
                out.append("      ... more lines differ (--lines N shows more)")
    return "\n".join(out) + "\n"


def _change(change: Change, indent: str, most: int) -> Iterator[str]:
    form = f", {change.form}" if change.form else ""
    said = f" ({line(change.said)})" if change.said else ""
    yield f"{indent}{line(change.path)}: {change.drift.value}{form}{said}"
    if change.old or change.new or any(change.instead):
        old, new = map(_side, (change.old, change.new), change.instead)
        yield f"{indent}    {old} -> {new}"
    for moved in change.moved[:most]:
        old, new = (line(cut(shown(value), 80)) for value in (moved.old, moved.new))
        yield f"{indent}    {line(written(moved.pointer)) or WHOLE}: {old} -> {new}"
    left = len(change.moved) + change.more - most
    if left > 0:
        yield f"{indent}    ... and {plural(left, 'more place')}"
    for inner in change.inside[:most]:
        yield from _change(inner, indent + "    ", most)
    if len(change.inside) > most:
        yield f"{indent}    ... and {plural(len(change.inside) - most, 'more member')}"


def _side(side: Side | None, instead: str) -> str:
    return f"{side.size:,} bytes {side.sha256[:16]}" if side else line(instead) or "nothing"


def _instead(change: Change) -> str:
    if not any(change.instead):
        return ""
    sides = zip(change.instead, (change.old, change.new), strict=True)
    return " -> ".join(what or ("a file" if side else "nothing") for what, side in sides)


def _visible(text: bytes) -> str:
    return line(text.decode("utf-8", "backslashreplace"))


def diff_json(changes: Sequence[Shown]) -> str:
    """Return what moved as JSON, schema ``redbucket.fixtures-diff/1``."""
    found = DriftReport(fixtures=[_reported(each.change, each.lines) for each in changes])
    return json.dumps(msgspec.to_builtins(found), indent=2) + "\n"


def _reported(change: Change, lines: Lines | None = None) -> ChangeReport:
    return ChangeReport(
        path=utf8(change.path),
        drift=change.drift,
        format=change.form or None,
        reason=utf8(change.said or _instead(change)) or None,
        old=SideReport(size=change.old.size, sha256=change.old.sha256) if change.old else None,
        new=SideReport(size=change.new.size, sha256=change.new.sha256) if change.new else None,
        places=[
            PlaceReport(
                pointer=utf8(written(moved.pointer)),
                old=None if moved.old is ABSENT else utf8(shown(moved.old)),
                new=None if moved.new is ABSENT else utf8(shown(moved.new)),
            )
            for moved in change.moved
        ],
        places_left_out=change.more,
        members=[_reported(inner) for inner in change.inside],
        lines=[_visible(text) for text in lines.lines] if lines else [],
        lines_cut=lines.cut if lines else False,
    )
