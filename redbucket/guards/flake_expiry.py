"""``flake-expiry``: a freeze has an owner, a ticket, a replay, a future date, and a test that is there.

Judged is the ``flakes.toml`` that would land, base's where an agent changed it.
The date comes in ``Context.extra["today"]``; without one no freeze is in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from posixpath import normpath
from shlex import quote

from redbucket.core.captures import capture_trouble
from redbucket.core.findings import Finding, Severity
from redbucket.core.flakes import Flakes, Freeze, parse
from redbucket.core.frozen import by_test
from redbucket.core.policy import FLAKES_NAME
from redbucket.core.skipmarks import skip_marks
from redbucket.core.testlookup import Found, find_test
from redbucket.core.testpath import pytest_id
from redbucket.guards.context import Context, TreeView
from redbucket.guards.switched_off import Tests, switched_off

RULE = "flake-expiry"
_SHOWN = 3


def check(context: Context, judge_side: Tests) -> list[Finding]:
    """Return what is wrong with the freezes, with what the patch does to them, and with markers in the code."""
    base, head = read_flakes(context.base), read_flakes(context.head)
    changed = context.base.entries.get(FLAKES_NAME) != context.head.entries.get(FLAKES_NAME)
    by_agent = changed and FLAKES_NAME in context.agent_paths
    current = base if by_agent else head
    frozen = frozenset(by_test(current, context.head.entries)) if current.entries else frozenset[str]()
    found = list(_widened(context, base, head, by_agent=by_agent)) if changed else []
    if current.broken:
        found.append(
            _finding(
                f"every freeze counts as expired: {current.broken}",
                f"correct {FLAKES_NAME}; `redbucket flakes check` says when it can be read",
            )
        )
    stood = by_test(base, context.head.entries) if current.entries else {}
    for entry in current.entries:
        was = stood.get(pytest_id(entry.nodeid, context.head.entries))
        found += _entry(context, entry, added=was is None or was.replay != entry.replay)
    return found + list(switched_off(context, judge_side, frozen, RULE))


def read_flakes(tree: TreeView) -> Flakes:
    """Return a tree's freezes; none where it has no such file."""
    entry = tree.entries.get(FLAKES_NAME)
    if entry is None:
        return Flakes()
    if not entry.is_file:
        return Flakes(broken=f"{FLAKES_NAME}: it is a link or a submodule, not a file")
    return parse(tree.read(FLAKES_NAME), FLAKES_NAME)


def _finding(
    reason: str, remedy: str, severity: Severity = Severity.REFUSE, nodeid: str | None = None
) -> Finding:
    return Finding(
        rule=RULE, severity=severity, path=FLAKES_NAME, nodeid=nodeid, reason=reason, remedy=remedy
    )


def _today(context: Context) -> date | None:
    given = context.extra.get("today", "")
    return date.fromisoformat(given) if given else None


def _entry(context: Context, entry: Freeze, *, added: bool) -> Iterator[Finding]:
    """``added``: the patch brings this entry, or names another capture in it."""
    today = _today(context)
    if today is None:
        lapsed = "counts as expired: there is no date to hold it against"
    else:
        lapsed = entry.lapsed(today, context.policy.freeze.max_days)
    tree = context.head
    found = find_test(entry.nodeid, tree.entries, reader(tree))
    remove = f"redbucket flakes remove {quote(entry.nodeid)}"
    if lapsed:
        owned = f" (owner {entry.owner or 'unknown'}, {entry.ticket or 'no ticket'})"
        yield _finding(
            f"the freeze of this test {lapsed}{owned}{_still(tree, entry, found)}",
            f"mend the test and take the entry out ({remove}); whoever still needs it adds it anew, "
            "with a capture that replays",
            nodeid=entry.nodeid,
        )
    if found.absent:
        yield _finding(
            f"it freezes a test that does not exist: {found.absent}",
            f"correct the id, or take the entry out ({remove})"
            if added
            else f"take the entry out ({remove}); a test that was renamed is frozen anew under its new name, with a "
            "capture of its own (redbucket explain NODEID --captures runs/)",
            nodeid=entry.nodeid,
        )
    elif found.parametrised and "[" not in entry.nodeid:
        yield _finding(
            "it covers nothing: the test has parameters, and a freeze names one row",
            f"name the row that is noisy: {entry.nodeid}[...]",
            Severity.WARN,
            entry.nodeid,
        )
    if not lapsed:
        yield from _replay(tree, entry, added=added)


def _replay(tree: TreeView, entry: Freeze, *, added: bool) -> Iterator[Finding]:
    path = entry.replay if entry.replay in tree.entries else normpath(entry.replay.replace("\\", "/"))
    capture = tree.entries.get(path)
    if capture is None or not capture.is_file:
        what = "is not in the tree" if capture is None else "is a link or a submodule, not a file"
        yield _finding(
            f"its replay {entry.replay} {what}: nobody else can see the noise again",
            f"commit the capture together with {FLAKES_NAME} (git add {quote(entry.replay)}); "
            "if it is lost, take the entry out and add it anew with one that replays",
            Severity.REFUSE if added else Severity.WARN,
            entry.nodeid,
        )
        return
    trouble = capture_trouble(tree.read(path), entry.nodeid, lambda test: pytest_id(test, tree.entries))
    if trouble:
        yield _finding(
            f"its replay {entry.replay} is not what it should be: {trouble}",
            "record the noise again and name that capture",
            nodeid=entry.nodeid,
        )


def reader(tree: TreeView) -> Callable[[str], bytes]:
    """Return a function that reads the tree's files; a link or a submodule has no source."""
    return lambda path: tree.read(path) if tree.entries[path].is_file else b""


def _still(tree: TreeView, entry: Freeze, found: Found) -> str:
    """Say so where an expired test is switched off in the code as well."""
    if found.path is None or found.absent or not tree.entries[found.path].is_file:
        return ""
    test = pytest_id(entry.nodeid, tree.entries).partition("[")[0]
    for mark in skip_marks(tree.read(found.path)):
        if (test + "::").startswith(mark.nodeid(found.path) + "::"):
            return f", and {found.path} still skips it (line {mark.line})"
    return ""


def _widened(context: Context, base: Flakes, head: Flakes, *, by_agent: bool) -> Iterator[Finding]:
    """One finding says all that the patch adds or extends; ending a freeze early is always right."""
    before, after = by_test(base, context.head.entries), by_test(head, context.head.entries)
    said = []
    for test, entry in after.items():
        was = before.get(test)
        if was is None:
            said.append(f"adds a freeze of {test}" + (f" until {entry.expires}" if entry.expires else ""))
        elif _end(entry) > _end(was):
            said.append(f"extends the freeze of {test} from {was.expires or 'nothing'} to {entry.expires}")
    if by_agent and head.broken and not base.broken:
        said.append("makes the file unreadable")
    if not said:
        return
    more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    what = "; ".join(said[:_SHOWN]) + more
    if by_agent:
        yield _finding(
            f"an agent {what}: it counts for nothing, freezes are read from base",
            f"put {FLAKES_NAME} back to base's bytes; only a person freezes a test (redbucket flakes add)",
        )
    else:
        yield _finding(f"the patch {what}", "", Severity.NOTE)


def _end(entry: Freeze) -> date:
    return date.min if entry.faults or entry.expires is None else entry.expires
