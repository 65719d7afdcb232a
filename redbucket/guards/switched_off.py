"""Skip and xfail markers that no freeze answers for: one part of ``flake-expiry``.

An agent that adds one is refused. What a person adds, and what base has
already, is one note each: a repository with ordinary skips is left in peace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from redbucket.core.findings import Finding, Severity
from redbucket.core.pytree import is_python
from redbucket.core.skipmarks import SkipMark, skip_marks
from redbucket.guards.context import Context, TreeView

_SHOWN = 3
_MOST_REFUSED = 10

Place = tuple[str, SkipMark]


class Tests(Protocol):
    """What a path is to the judge."""

    def is_test(self, path: str) -> bool:
        """Return whether ``path`` is a test, or code that tests use."""


def switched_off(context: Context, judge_side: Tests, frozen: frozenset[str], rule: str) -> Iterator[Finding]:
    """Yield the findings; ``frozen`` are the ids of the tests that have an entry.

    The files that the patch changes are read, and all test files where
    ``Context.extra["scope"]`` is "tree".
    """
    changed = {change.path for change in context.patch.changes}
    whole = context.extra.get("scope") == "tree"
    paths = sorted({*changed, *context.head.entries} if whole else changed)
    tests = [path for path in paths if is_python(path) and judge_side.is_test(path)]
    after = {path: marks for path in tests if (marks := _marks(context.head, path))}
    before = _before(context, [path for path in after if path in changed])
    old: list[Place] = []
    fresh: list[Place] = []
    gone: Counter[tuple[str, str]] = Counter()
    for path, marks in after.items():
        names = {mark.name for mark in before.get(path, marks)}
        for mark in marks:
            (old if mark.name in names else fresh).append((path, mark))
    if fresh:  # a test that moves takes its marker along
        before |= _before(context, [path for path in tests if path in changed and path not in before])
        for path, marks in before.items():
            gone += _count(marks) - _count(after.get(path, ()))
    added: list[Place] = []
    for path, mark in fresh:
        if gone[mark.name, mark.text] > 0:
            gone[mark.name, mark.text] -= 1
            old.append((path, mark))
        else:
            added.append((path, mark))
    yield from _refused([place for place in added if place[0] in context.agent_paths], rule)
    people = [p for p in added if p[0] not in context.agent_paths and not _has_entry(p, frozen)]
    yield from _note(people, "the patch adds", rule)
    yield from _note([place for place in old if not _has_entry(place, frozen)], "base has", rule)


def _count(marks: Iterable[SkipMark]) -> Counter[tuple[str, str]]:
    return Counter((mark.name, mark.text) for mark in marks)


def _before(context: Context, paths: Sequence[str]) -> dict[str, list[SkipMark]]:
    """Return the markers of base's files; few patches have a marker at all, so they are read for those alone."""
    context.base.prefetch(paths)
    return {path: _marks(context.base, path) for path in paths}


def _marks(tree: TreeView, path: str) -> list[SkipMark]:
    entry = tree.entries.get(path)
    return skip_marks(tree.read(path)) if entry is not None and entry.is_file else []


def _has_entry(place: Place, frozen: frozenset[str]) -> bool:
    path, mark = place
    test = mark.nodeid(path)
    return test in frozen or any(name.startswith((test + "[", test + "::")) for name in frozen)


def _refused(places: Sequence[Place], rule: str) -> Iterator[Finding]:
    for path, mark in places[:_MOST_REFUSED]:
        yield Finding(
            rule=rule,
            severity=Severity.REFUSE,
            path=path,
            nodeid=mark.nodeid(path) if mark.name else None,
            line=mark.line,
            reason=f"an agent switches {'a test' if mark.name else 'a whole file'} off with {mark.text}",
            remedy="take the marker out and mend the test; a noisy test keeps running, and only a person freezes "
            "one (redbucket flakes add)",
        )
    if len(places) > _MOST_REFUSED:
        yield Finding(
            rule=rule,
            severity=Severity.REFUSE,
            reason=f"an agent adds {len(places) - _MOST_REFUSED} more skip or xfail markers",
            remedy="take them out",
        )


def _note(places: Sequence[Place], who: str, rule: str) -> Iterator[Finding]:
    if not places:
        return
    path, first = places[0]
    shown = "; ".join(f"{p}:{mark.line} {mark.text}" for p, mark in places[:_SHOWN])
    more = f"; and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    number = "a skip or xfail marker" if len(places) == 1 else f"{len(places)} skip or xfail markers"
    yield Finding(
        rule=rule,
        severity=Severity.NOTE,
        path=path,
        line=first.line,
        reason=f"{who} {number} without a freeze, so nobody is asked to look again: {shown}{more}",
        remedy="",
    )
