"""``fixture-secret``: a recorded fixture that the patch adds or changes holds a secret that base does not have.

A recorder stores what was on the wire; a filter that was configured for other names lets a token through
(kevin1024/vcrpy#961, andrew-blake/melcloudhome#223).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.guards.context import Context, TreeView

if TYPE_CHECKING:
    from redbucket.core.secrets import Secret

RULE = "fixture-secret"
_LARGEST = 64 * 1024 * 1024
_NAMED = 5
_REMEDY = "revoke it, record again with it filtered (or put REDACTED there), and keep it out of the history"


def check(context: Context, judge: JudgeSide) -> list[Finding]:
    """Return a finding for each fixture with new secrets: where and of what kind, never what."""
    level = context.policy.fixtures.secrets
    if level == "off":
        return []
    changed = [
        change
        for change in context.patch.changes
        if change.new is not None and change.new.is_file and judge.is_fixture(change.path)
    ]
    context.head.prefetch([change.path for change in changed])
    found = []
    known: set[str] | None = None
    for change in changed:
        entry = context.head.entries.get(change.path)
        if entry is None or entry == context.base.entries.get(change.path):
            continue
        new = _secrets(context.head, change.path)
        if new and known is None:
            known = _known(context, [each.path for each in context.patch.changes if each.old is not None])
        fresh = [each for each in new if known is None or each.digest not in known]
        if fresh:
            found.append(_finding(change.path, fresh, Severity(level)))
    return found


def _known(context: Context, paths: Iterable[str]) -> set[str]:
    """Return what base's versions of the changed files hold already, under whatever name."""
    paths = list(paths)
    context.base.prefetch(paths)
    return {each.digest for path in paths for each in _secrets(context.base, path)}


def _secrets(tree: TreeView, path: str) -> list[Secret]:
    from redbucket.core.secrets import secrets

    entry = tree.entries.get(path)
    if entry is None or not entry.is_file or tree.size(path) > _LARGEST:
        return []
    return secrets(path, tree.read(path))


def _finding(path: str, fresh: list[Secret], level: Severity) -> Finding:
    said = [f"a {each.kind} at {each.place}" for each in fresh[:_NAMED]]
    more = f" and {len(fresh) - _NAMED} more" if len(fresh) > _NAMED else ""
    sure = any(each.sure for each in fresh)
    return Finding(
        rule=RULE,
        severity=level if sure else Severity.WARN,
        path=path,
        reason=f"it holds what looks like {', '.join(said)}{more}",
        remedy=_REMEDY,
    )
