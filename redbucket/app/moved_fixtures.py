"""The recorded fixtures that a patch moves, for its report: what changed in each, in short."""

from __future__ import annotations

from collections.abc import Collection

from redbucket.app.fixture_diff import show
from redbucket.core.drift import Change, Content, Drift, Side
from redbucket.core.errors import RedbucketError
from redbucket.core.lfs import Filter, pointer
from redbucket.core.nodediff import shown, written
from redbucket.core.patch import Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.report import GateReport, MovedFixture
from redbucket.edges.scratch import Scratch

_MOST = 50  # fixtures whose change is shown; a report is no archive
_PLACES, _LINES, _WIDEST = 40, 80, 400
_LARGEST = 2 << 20  # bytes of one side


def moved_fixtures(report: GateReport, scratch: Scratch, judge: JudgeSide) -> list[MovedFixture]:
    """Return what the patch moves between base and the merge tree; first the fixtures of tests that block.

    A fixture in which a secret was found is named, and its content is not shown.
    """
    if not (report.base and report.merge_tree):
        return []
    urgent = {path: None for row in report.tests if row.blocks for path in row.fixtures}
    secret = {f.path for f in report.findings if f.rule == "fixture-secret" and f.path}
    changes = {
        change.path: (change.old, change.new)
        for change in scratch.diff(scratch.tree_of(report.base), report.merge_tree)
        if judge.is_fixture(change.path)
    }
    order = [*(path for path in urgent if path in changes), *(path for path in changes if path not in urgent)]
    filters = (_filter(scratch, scratch.tree_of(report.base)), _filter(scratch, report.merge_tree))
    return [_moved(path, *changes[path], scratch, judge, secret, filters) for path in order[:_MOST]]


def _filter(scratch: Scratch, tree: str) -> Filter:
    entries = scratch.entries(tree)
    return Filter(
        {path: entry.mode for path, entry in entries.items()}, lambda path: scratch.read(entries[path].oid)
    )


def _moved(
    path: str,
    old: Entry | None,
    new: Entry | None,
    scratch: Scratch,
    judge: JudgeSide,
    secret: Collection[str],
    filters: tuple[Filter, Filter],
) -> MovedFixture:
    if path in secret:
        return MovedFixture(path=path, kind="not shown", said="a secret was found in it")
    sides = [entry for entry in (old, new) if entry is not None]
    if any(not entry.is_file for entry in sides):
        return MovedFixture(path=path, kind="not shown", said="a link or a submodule")
    try:
        sizes = scratch.objects.sizes(entry.oid for entry in sides)
        if any(size > _LARGEST for size in sizes.values()):
            return MovedFixture(path=path, kind="not shown", said="too large to be shown")
        before, after = (
            _content(scratch, path, entry, filtered)
            for entry, filtered in zip((old, new), filters, strict=True)
        )
        seen = show(path, before, after, judge.policy.fixtures.volatile, _LINES)
    except RedbucketError as error:  # a report of the verdict must not end in what is an extra
        return MovedFixture(path=path, kind="not shown", said=error.reason)
    change = seen.change
    lines = [
        text.decode("utf-8", "backslashreplace")[:_WIDEST]
        for text in (seen.lines.lines if seen.lines else ())
    ]
    cut = change.more > 0 or len(change.moved) > _PLACES or bool(seen.lines and seen.lines.cut)
    return MovedFixture(
        path=path, kind=change.drift.value, said=_said(change), places=_places(change), lines=lines, more=cut
    )


def _content(scratch: Scratch, path: str, entry: Entry | None, filtered: Filter) -> Content:
    """Return the bytes; of an LFS pointer what it says, as no content of LFS is here."""
    if entry is None:
        return None
    raw = scratch.read(entry.oid)
    stands_for = pointer(raw)
    if stands_for is None or not filtered(path):
        return raw
    return Side(stands_for.size, stands_for.sha256, here=False)


def _places(change: Change) -> list[tuple[str, str, str]]:
    return [
        (written(each.pointer) or "the whole document", shown(each.old)[:_WIDEST], shown(each.new)[:_WIDEST])
        for each in change.moved[:_PLACES]
    ]


def _said(change: Change) -> str:
    if change.drift in (Drift.ADDED, Drift.GONE):
        side = change.new or change.old
        return f"{side.size:,} bytes" if side else ""
    inside = ", ".join(inner.path for inner in change.inside[:3])
    return "; ".join(filter(None, [change.said, f"changed inside: {inside}" if inside else ""]))
