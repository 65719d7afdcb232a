"""Oracle strength in the changed source lines, as HTML: a page of its own, and a part of the gate's report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from redbucket.core.oracled import ChangedLine, Fate, OracleReport, SampledMutant, Strength
from redbucket.core.plural import plural
from redbucket.formats.clean import cut, line, lines
from redbucket.formats.page import page

_PART = 100  # lines of one table: the parts of a long file are closed, and cost nothing until they are opened
_OPEN = 1200  # lines that are laid out at once
_LONGEST = 1000  # characters of one line
_KILLED = frozenset({Fate.KILLED, Fate.HUNG})
_WORDS = {
    Fate.KILLED: "killed",
    Fate.HUNG: "killed by a hang",
    Fate.SURVIVED: "survived",
    Fate.NOT_RUN: "no test runs its line",
    Fate.UNTRIED: "not tried for want of time",
}


def oracle_html(report: OracleReport) -> str:
    """Return the page."""
    share = report.trusted.share
    weak = report.trusted.executed < report.trusted.lines or (share is not None and share < 1)
    return page(
        "oracle.html",
        styles=["lines.css"],
        tone="open" if weak else "good",
        headline=headline(report.trusted),
        facts=[line(f"base {report.base}"), line(f"head {report.head}"), f"{report.seconds:.0f} s"],
        oracle=view(report),
    )


def headline(strength: Strength) -> str:
    """Return the two numbers of the trusted tests in a sentence."""
    if not strength.lines:
        return "The patch changes no line of Python that runs"
    return (
        f"Trusted tests run {strength.executed:,} of {plural(strength.lines, 'changed line')}, and notice a fault on "
        f"{strength.noticed:,} of the {strength.mutable:,} on which one was tried"
    )


def view(report: OracleReport) -> dict[str, Any]:
    """Return what the view of the changed lines shows; every text is harmless, nothing is marked up."""
    own = bool(report.own.executed or report.own.mutants or report.own.failing)
    sides = ["trusted", "own"] if own else ["trusted"]
    survivors = {(s.path, s.line, s.operator, s.diff): s.tests for s in report.survivors}
    mutants: dict[tuple[str, int], list[SampledMutant]] = {}
    for mutant in report.mutants:
        mutants.setdefault((mutant.path, mutant.line), []).append(mutant)
    files = []
    room = _OPEN
    for path, group in groupby(report.lines, key=lambda one: one.path):
        rows = list(group)
        parts = []
        for part in _parts(rows):
            room -= len(part)
            says = f"lines {part[0].line:,} to {part[-1].line:,}"
            shown = _rows(part, mutants, sides, survivors)
            parts.append({"says": says, "open": room >= 0, "rows": shown})
        files.append({"path": line(path), "says": _summed(rows, mutants), "parts": parts})
    return {
        "numbers": [_numbers("trusted tests", report.trusted)]
        + ([_numbers("the patch's own tests", report.own)] if own else []),
        "sides": [{"trusted": "trusted tests", "own": "own tests"}[side] for side in sides],
        "files": files,
        "notes": list(_notes(report, own=own)),
    }


def _parts(rows: Sequence[ChangedLine]) -> Iterator[Sequence[ChangedLine]]:
    for start in range(0, len(rows), _PART):
        yield rows[start : start + _PART]


def _numbers(name: str, strength: Strength) -> dict[str, Any]:
    hung = f" ({strength.hung:,} by a hang)" if strength.hung else ""
    return {
        "name": name,
        "executed": f"{strength.executed:,} of {strength.lines:,}",
        "noticed": f"{strength.noticed:,} of {strength.mutable:,}",
        "killed": f"{strength.killed:,} of {strength.mutants:,}{hung}",
        "bars": [
            round(100 * part / whole, 1) if whole else 0
            for part, whole in ((strength.executed, strength.lines), (strength.noticed, strength.mutable))
        ],
    }


def _rows(
    part: Sequence[ChangedLine],
    mutants: Mapping[tuple[str, int], Sequence[SampledMutant]],
    sides: Sequence[str],
    survivors: Mapping[tuple[str, int, str, str], Sequence[str]],
) -> list[dict[str, Any]]:
    rows = []
    before = part[0].line
    for one in part:
        tried = mutants.get((one.path, one.line), ())
        lives = sum(Fate.SURVIVED in (m.trusted, m.own) for m in tried)
        rows.append(
            {
                "number": one.line,
                "jump": one.line > before + 1,
                "code": cut(line(one.code.expandtabs(4)), _LONGEST),
                "cells": [_cell(one, tried, side) for side in sides],
                "says": _says(len(tried), lives) if tried else "",
                "mutants": [
                    _mutant(m, survivors.get((m.path, m.line, m.operator, m.diff), ())) for m in tried
                ],
            }
        )
        before = one.line
    return rows


def _cell(one: ChangedLine, tried: Sequence[SampledMutant], side: str) -> dict[str, str]:
    """Return what one side's tests do with a line, in words, and the class of its colour."""
    tests = one.trusted if side == "trusted" else one.own
    if not tests:
        return {"run": "not run", "faults": "", "tone": "gone"}
    fates = [m.trusted if side == "trusted" else m.own for m in tried]
    killed, alive = sum(fate in _KILLED for fate in fates), sum(fate is Fate.SURVIVED for fate in fates)
    said = [f"{n:,} {word}" for n, word in ((killed, "killed"), (alive, "survived")) if n]
    tone = "bad" if alive else "good" if killed else "calm"
    return {
        "run": f"run by {plural(tests, 'test')}",
        "faults": ", ".join(said) or "no fault tried",
        "tone": tone,
    }


def _says(count: int, lives: int) -> str:
    """Return how many mutants of a line some tests let live."""
    faults = plural(count, "fault")
    return f"{lives:,} of {faults} {'survives' if lives == 1 else 'survive'}" if lives else faults


def _mutant(mutant: SampledMutant, ran: Iterable[str]) -> dict[str, Any]:
    said = [("trusted tests", _WORDS[mutant.trusted], mutant.trusted_by)]
    if mutant.own is not None:
        said.append(("own tests", _WORDS[mutant.own], mutant.own_by))
    return {
        "operator": line(mutant.operator),
        "said": [(name, word, line(by)) for name, word, by in said],
        "ran": [line(test) for test in ran],
        # the names of the files, and the place, are known already
        "diff": [
            {"text": text, "kind": {"-": "gone", "+": "added"}.get(text[:1], "")}
            for text in lines(mutant.diff)[3:]
        ],
    }


def _summed(rows: Sequence[ChangedLine], mutants: Mapping[tuple[str, int], Sequence[SampledMutant]]) -> str:
    run = sum(one.trusted > 0 for one in rows)
    tried = [found for one in rows if (found := mutants.get((one.path, one.line)))]
    noticed = sum(any(m.trusted in _KILLED for m in found) for found in tried)
    what = plural(len(rows), "line")
    return f"trusted tests run {run:,} of {what}, and notice a fault on {noticed:,} of {len(tried):,}"


def _notes(report: OracleReport, *, own: bool) -> Iterator[str]:
    if not own:
        yield "No test of the patch's own was asked, or none runs a changed line."
    for what, strength in (("trusted", report.trusted), ("own", report.own)):
        if strength.failing:
            few = ", ".join(line(name) for name in strength.failing[:5])
            more = f" and {len(strength.failing) - 5:,} more" if len(strength.failing) > 5 else ""
            yield (
                f"{plural(len(strength.failing), f'{what} test fails', f'{what} tests fail')}, and a failing test "
                f"can't be asked ({strength.failing_there:,} ran a changed line): {few}{more}."
            )
    if report.sampled < report.possible:
        yield f"{report.sampled:,} of {report.possible:,} possible faults were tried: one of each line comes first."
    if report.untried:
        yield f"{plural(report.untried, 'fault was', 'faults were')} not tried for want of time."
    yield from (f"{line(note)}." for note in report.notes)
