"""What the HTML report shows, as plain values: every text is harmless already, nothing is marked up yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from redbucket.core.plural import plural
from redbucket.core.report import GateReport, MovedFixture, Problem, Row
from redbucket.formats import phrases
from redbucket.formats.clean import line, lines
from redbucket.formats.phrases import Group
from redbucket.formats.trialsview import trials

_SHOWN = 300  # tests that are shown with their evidence; the matrix has all
_RUNS = 10  # columns of one world; further runs are summed up in one
_MESSAGE = 200  # lines of one message
_WHERE = re.compile(
    r"\+ {2,}(?:where|and  ) .* = "
)  # pytest's own blanks, so that a diff of such words is still one
_SIGNS = {"+": "added", "-": "gone", "?": "hint", "E": "raised"}
KEYS = {
    Group.MISS: "miss",
    Group.DRIFT: "drift",
    Group.NOISE: "noise",
    Group.BLOCKS: "blocks",
    Group.UNCLASSIFIED: "unclassified",
    Group.UNTRUSTED: "untrusted",
    Group.ALREADY: "already",
    Group.SKIPPED: "skipped",
    Group.PASSED: "passed",
}
_URGENT = frozenset({Group.MISS, Group.DRIFT, Group.NOISE, Group.BLOCKS, Group.UNCLASSIFIED})


class Cell(NamedTuple):
    """The outcome of one run: a letter for the eye, a word for the ear, a class for the colour."""

    letter: str
    word: str
    kind: str


class Line(NamedTuple):
    """A line of a message or a diff, and what it is: "added", "gone", "hint", "raised", "place" or ""."""

    text: str
    kind: str


class Pair(NamedTuple):
    """A line of a diff, old and new side by side; "" where one side has none."""

    old: str
    new: str
    kind: str


_KINDS = {
    "passed": "good",
    "xfailed": "good",
    "failed": "bad",
    "error": "bad",
    "crashed": "bad",
    "timeout": "bad",
    "xpassed": "bad",
    "missing": "gone",
    "skipped": "calm",
}


def cell(outcome: str) -> Cell:
    """Return the cell of one outcome."""
    return Cell(line(phrases.letter(outcome)), line(outcome), _KINDS.get(outcome, "other"))


def columns(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Return (world, how many columns) of the plain runs in ``rows``; one more where runs are summed up."""
    most: dict[str, int] = {}
    for row in rows:
        for world, seen in row.outcomes.items():
            if " " not in world and seen:
                most[world] = max(most.get(world, 0), len(seen))
    known = [world for world in phrases.WORLDS if world in most]
    others = sorted(world for world in most if world not in phrases.WORLDS)
    return [(world, min(most[world], _RUNS + 1)) for world in [*known, *others]]


def cells(row: Row, layout: Sequence[tuple[str, int]]) -> Iterator[Cell | None]:
    """Yield one cell for each column, None where the test did not run."""
    for world, count in layout:
        seen = row.outcomes.get(world, [])
        for number in range(count):
            if number >= len(seen):
                yield None
            elif number == _RUNS:
                rest = seen[_RUNS:]
                words = ", ".join(f"{n} {kind}" for kind, n in _counted(rest))
                bad = any(_KINDS.get(kind) == "bad" for kind in rest)
                yield Cell(f"+{len(rest)}", line(words), "bad" if bad else cell(rest[0]).kind)
            else:
                yield cell(seen[number])


def _counted(kinds: Sequence[str]) -> list[tuple[str, int]]:
    return [(kind, kinds.count(kind)) for kind in dict.fromkeys(kinds)]


def heads(layout: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """Return the heading of each world, and those of its runs."""
    return [
        {
            "name": line(phrases.WORLD_NAMES.get(world, world)),
            "says": line(phrases.WORLDS.get(world, world)),
            "runs": [str(number + 1) if number < _RUNS else "more" for number in range(count)],
        }
        for world, count in layout
    ]


def evidence(row: Row) -> dict[str, Any]:
    """Return all that is known of one test."""
    said = [
        ("doubt", phrases.doubt(row.doubt)),
        ("cause", row.cause or ""),
        ("to do", row.spend),
        ("tried", ", ".join(row.tried)),
        ("fixtures", ", ".join(row.fixtures)),
        ("frozen until", row.frozen_until or ""),
        ("capture", row.capture or ""),
        ("defined in", f"{row.path}:{row.line}" if row.path and row.line else row.path or ""),
    ]
    return {
        "nodeid": line(row.nodeid),
        "state": line(phrases.state(row)),
        "why": line(row.why),
        "facts": [(name, line(value)) for name, value in said if value],
        "worlds": [
            (line(phrases.world(world)), [cell(kind) for kind in kinds])
            for world, kinds in row.outcomes.items()
            if kinds and not (row.experiments and " " in world)  # the picture has them
        ],
        "trials": trials(row.experiments, row.cause),
        "message": message(row.message),
        "key": KEYS[phrases.group_of(row)],
    }


def message(text: str) -> list[Line]:
    """Return the lines of a failure, those that differ marked: pytest's "- expected", "+ found", "? where".

    Its "+  where x = f(y)" tells how a value came about, and differs from nothing.
    """
    found = []
    for one in lines(text)[:_MESSAGE]:
        bare = one.removeprefix("E").lstrip() if one.startswith("E ") else one.lstrip()
        sign = bare[:2]
        marked = len(sign) == 2 and sign[1] == " " and sign[0] in _SIGNS and not _WHERE.match(bare)
        kind = _SIGNS[sign[0]] if marked else ""
        found.append(Line(one, kind or ("raised" if one.startswith("E ") else "")))
    return found


def moved(fixture: MovedFixture) -> dict[str, Any]:
    """Return one fixture's change: places of a document, or lines side by side."""
    return {
        "path": line(fixture.path),
        "kind": line(fixture.kind),
        "said": line(fixture.said),
        "places": [[line(part) for part in place] for place in fixture.places],
        "pairs": list(_pairs(fixture.lines)),
        "more": fixture.more,
    }


def _pairs(diff: Sequence[str]) -> Iterator[Pair]:
    """Yield a unified diff side by side: what is gone beside what came in its place."""
    gone: list[str] = []
    added: list[str] = []

    def flush() -> Iterator[Pair]:
        for number in range(max(len(gone), len(added))):
            old = gone[number] if number < len(gone) else None
            new = added[number] if number < len(added) else None
            kind = "changed" if old is not None and new is not None else "gone" if new is None else "added"
            yield Pair(old or "", new or "", kind)
        gone.clear()
        added.clear()

    for text in diff:
        sign, rest = text[:1], line(text[1:])
        if sign == "-":
            gone.append(rest)
        elif sign == "+":
            added.append(rest)
        elif sign == "\\":
            continue  # git's remark on a missing line end
        else:
            yield from flush()
            yield Pair(line(text), "", "place") if sign == "@" else Pair(rest, rest, "")
    yield from flush()


def sections(groups: dict[Group, list[Row]]) -> list[dict[str, Any]]:
    """Return the groups that a person must look at, with the evidence of their tests."""
    room = _SHOWN
    found = []
    for group, rows in groups.items():
        if not rows or group in (Group.PASSED, Group.SKIPPED):
            continue
        shown = rows[: max(room, 0)]
        room -= len(shown)
        found.append(
            {
                "title": f"{group.value}: {plural(len(rows), 'test')}",
                "key": KEYS[group],
                "open": group in _URGENT and len(rows) <= 20,
                "tests": [evidence(row) for row in shown],
                "left": len(rows) - len(shown),
            }
        )
    return found


def problems(found: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return what is undecided, or noted."""
    return [
        {
            "code": line(each.code),
            "reason": [Line(t, "") for t in lines(each.reason)],
            "remedy": line(each.remedy),
        }
        for each in found
    ]


def findings(report: GateReport) -> list[dict[str, Any]]:
    """Return the findings, refusals first."""
    return [
        {
            "severity": each.severity.value,
            "rule": line(each.rule),
            "place": line(each.path or each.nodeid or "")
            + (f":{each.line}" if each.path and each.line else ""),
            "nodeid": line(each.nodeid or "") if each.path else "",
            "reason": line(each.reason),
            "remedy": line(each.remedy),
        }
        for each in phrases.ranked(report.findings)
    ]


def matrix(report: GateReport) -> dict[str, Any]:
    """Return every test in short, for the script: ids, groups, and the cells by their place in a list of kinds."""
    layout = columns(report.tests)
    kinds: dict[Cell | None, int] = {None: 0}
    urgent = list(KEYS.values())
    whys: dict[str, int] = {}
    rows = []
    for row in sorted(report.tests, key=lambda each: urgent.index(KEYS[phrases.group_of(each)])):
        numbers = [kinds.setdefault(each, len(kinds)) for each in cells(row, layout)]
        why = whys.setdefault(line(row.why), len(whys))
        rows.append([line(row.nodeid), urgent.index(KEYS[phrases.group_of(row)]), numbers, why])
    return {
        "groups": [[KEYS[group], group.value] for group in Group],
        "worlds": [count for _, count in layout],
        "kinds": [list(kind) if kind else ["", "not run", "none"] for kind in kinds],
        "whys": list(whys),
        "rows": rows,
    }
