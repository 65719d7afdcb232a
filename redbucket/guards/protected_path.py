"""``protected-path``: an agent changed a file that judges it.

Compared by object id and mode, on the names as git stores them and on their NFC,
case-folded form: a rename is a deletion and an addition, a link or a submodule in
the place of a file is a change. Putting a file back to its base bytes is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from redbucket.core.findings import Finding, Severity
from redbucket.core.patch import Change
from redbucket.core.paths import JudgeSide
from redbucket.guards.context import Context
from redbucket.guards.remedies import BACK_OR_ENDORSE

RULE = "protected-path"


def check(context: Context, judge: JudgeSide) -> list[Finding]:
    """Return a refusal for each protected path that the patch changes, a note for each put back."""
    return [*_changed(context, judge), *_links_above(context, judge), *_put_back(context, judge)]


def _changed(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    for change in context.patch.changes:
        path = change.path
        if path not in context.agent_paths or not judge.is_protected(path):
            continue
        if change.new == context.base.entries.get(path):
            continue  # back to base's bytes
        yield Finding(
            rule=RULE,
            severity=Severity.REFUSE,
            path=path,
            reason=f"an agent {_what(change)} a file that judges patches",
            remedy=BACK_OR_ENDORSE.format(path=path),
        )


def _what(change: Change) -> str:
    if change.added:
        return "added"
    if change.deleted:
        return "deleted"
    assert change.old is not None
    assert change.new is not None
    if change.type_changed:
        kind = "a link" if change.new.is_symlink else "a submodule" if change.new.is_gitlink else "a file"
        return f"put {kind} in the place of"
    if change.old.oid == change.new.oid:
        return "changed the mode of"
    return "changed"


def _links_above(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """A folder turned into a link or a submodule takes every protected file in it along."""
    for change in context.patch.changes:
        new = change.new
        if change.path not in context.agent_paths or new is None or new.is_file:
            continue
        prefix = change.path + "/"
        if any(path.startswith(prefix) and judge.is_protected(path) for path in context.base.entries):
            yield Finding(
                rule=RULE,
                severity=Severity.REFUSE,
                path=change.path,
                reason="an agent replaced a folder that holds protected files by a "
                + ("link" if new.is_symlink else "submodule"),
                remedy="put the folder back",
            )


def _put_back(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    for path in sorted(context.put_back):
        if judge.is_protected(path):
            yield Finding(
                rule=RULE,
                severity=Severity.NOTE,
                path=path,
                reason="changed and put back within the range: the net result counts",
            )
