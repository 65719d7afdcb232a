"""``fixture-checksum``: a recorded fixture and the lock that a human made disagree.

What the patch brings is judged, whoever wrote it: a lock that is wrong in base
already is ``fixtures verify``'s business, and would refuse every patch here. By an
agent's hand the lock may not move at all, not even in step with its fixture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from redbucket.core.discrepancies import Discrepancy, Kind, Tree, discrepancies, flaws, twins, unlisted
from redbucket.core.findings import Finding, Severity
from redbucket.core.lfs import Filter
from redbucket.core.manifests import Locks, Scope, locks_of
from redbucket.core.paths import JudgeSide
from redbucket.core.plural import plural
from redbucket.guards.context import Context, TreeView

RULE = "fixture-checksum"
LARGEST_READ = 16 * 1024 * 1024  # beyond this the reason of a mismatch is not looked for
_SHOWN = 20
_HUMAN = "let a human lock or refresh it (redbucket fixtures refresh), or put the lock back"


def check(context: Context, judge: JudgeSide) -> list[Finding]:
    """Return a refusal for each new disagreement of lock and tree, and for each lock line that an agent moved."""
    scope = Scope(judge)
    modes = {path: entry.mode for path, entry in context.head.entries.items()}
    old_modes = {path: entry.mode for path, entry in context.base.entries.items()}
    locks = locks_of(scope, modes, context.head.read)
    base = locks_of(scope, old_modes, context.base.read)
    loose = list(_unlocked(context, judge, base, locks))
    if not locks.locks and not base.locks:
        return loose
    filtered = Filter(modes, context.head.read)
    tree = Tree(modes, context.head.sha256s, lambda path: _content(context.head, path), filtered)
    moved_links = [
        f"{path}/"
        for path, entry in context.head.entries.items()
        if entry.is_gitlink and context.base.entries.get(path) != entry
    ]
    before = {*flaws(base), *twins([*base.shas, *unlisted(old_modes, base, scope)])}
    wrong = [
        each
        for each in discrepancies(
            tree, locks, scope, lambda path: _moved(context, path, base, locks, moved_links)
        )
        if each not in before
    ]
    found = [
        tell(each, Severity.WARN if _bound(context, each) else Severity.REFUSE)
        for each in _by_submodule(wrong)
    ]
    return [*found, *_relocked(context, base, locks), *loose]


def _by_submodule(wrong: Iterable[Discrepancy]) -> Iterator[Discrepancy]:
    """Say once of a submodule what holds for each of its files."""
    inside: dict[str, list[Discrepancy]] = defaultdict(list)
    for each in wrong:
        if each.above is None:
            yield each
        else:
            inside[each.above].append(each)
    for path, files in inside.items():
        yield replace(
            files[0],
            path=path,
            reason=f"{plural(len(files), 'locked file')} of this submodule, whose objects are not here",
            remedy="verify where it is checked out: git submodule update --init, redbucket fixtures verify",
        )


def _bound(context: Context, each: Discrepancy) -> bool:
    """Return whether the content, though not in these objects, is the one that the lock or a person's commit binds."""
    if each.kind is Kind.POINTER:
        return True
    return (
        each.kind is Kind.ABSENT
        and each.above is not None
        and not {each.above, each.lock} & context.agent_paths
    )


def _unlocked(context: Context, judge: JudgeSide, base: Locks, head: Locks) -> Iterator[Finding]:
    """Recorded fixtures that no lock holds and that an agent changed: nothing else here would say so."""
    paths = [
        path
        for path in sorted(context.agent_paths & context.base.entries.keys())
        if path not in base.listed
        and path not in head.listed
        and context.base.entries[path] != context.head.entries.get(path)
        and judge.is_fixture(path)
        # of a submodule the lock lists the files
        and not (context.base.entries[path].is_gitlink and any(p.startswith(f"{path}/") for p in base.listed))
    ]
    for path in paths[:_SHOWN]:
        gone = path not in context.head.entries
        yield _finding(
            path,
            f"unlocked: an agent {'deleted' if gone else 'changed'} a recorded fixture that no lock holds",
            "a person looks at it (redbucket fixtures diff), and locks what must not move (redbucket fixtures lock)",
            Severity.NOTE,
        )
    if len(paths) > _SHOWN:
        yield Finding(
            rule=RULE,
            severity=Severity.NOTE,
            reason=f"unlocked: an agent changed {len(paths) - _SHOWN} more recorded fixtures that no lock holds",
        )


def tell(each: Discrepancy, severity: Severity) -> Finding:
    """Return the finding for a disagreement."""
    here = each.path == each.lock
    where = f" ({each.lock}:{each.line})" if each.lock and each.line and not here else ""
    return Finding(
        rule=RULE,
        severity=severity,
        path=each.path,
        line=each.line if here else None,
        reason=f"{each.kind.value}: {each.reason}{where}",
        remedy=each.remedy,
    )


def _content(tree: TreeView, path: str) -> bytes | None:
    return tree.read(path) if tree.size(path) <= LARGEST_READ else None


def _moved(context: Context, path: str, base: Locks, head: Locks, moved_links: Sequence[str]) -> bool:
    """Return whether the patch touches the path, its line in a lock, or the reach of a lock."""
    if context.base.entries.get(path) != context.head.entries.get(path):
        return True
    if any(path.startswith(link) for link in moved_links):
        return True
    before, after = base.listed.get(path), head.listed.get(path)
    if before is None or after is None:
        return before is not after or not path.startswith(base.folders)
    return before.sha256 != after.sha256


def _relocked(context: Context, base: Locks, head: Locks) -> Iterator[Finding]:
    """The lock itself: what an agent's hand changed in it, and what it lost."""
    added: dict[str, list[str]] = defaultdict(list)
    kept = {lock.path for lock in head.locks}
    for lock in base.locks:
        if lock.path not in kept and not context.head.entries.get(lock.path):
            yield _lost(context, lock.path)
    for path, new in head.listed.items():
        old = base.listed.get(path)
        if new.lock not in context.agent_paths or (old is not None and old.sha256 == new.sha256):
            continue
        if old is None:
            added[new.lock].append(path)
        else:
            yield _finding(path, "relocked: an agent changed the lock together with its fixture", _HUMAN)
    for lock_path, paths in added.items():
        few = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        yield _finding(lock_path, f"relocked: an agent locked {few}", _HUMAN)
    for path, old in base.listed.items():
        if path in head.listed or old.lock not in kept:
            continue
        there = path in context.head.entries
        agent = old.lock in context.agent_paths
        reason = "shrunk: its line is gone from the lock, and the file is " + (
            "still there" if there else "gone too"
        )
        severity = Severity.REFUSE if agent else Severity.WARN if there else Severity.NOTE
        yield _finding(path, f"{reason} ({old.lock})", "put the line back", severity)


def _lost(context: Context, path: str) -> Finding:
    agent = path in context.agent_paths
    severity = Severity.REFUSE if agent else Severity.WARN
    return _finding(
        path, "shrunk: the lock is deleted, and nothing is verified", "put the lock back", severity
    )


def _finding(path: str, reason: str, remedy: str, severity: Severity = Severity.REFUSE) -> Finding:
    return Finding(rule=RULE, severity=severity, path=path, reason=reason, remedy=remedy)
