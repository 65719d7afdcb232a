"""git-trap: names, attributes, links, submodules and merges that show people another patch than the one that lands."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from redbucket.core.findings import Finding, Severity
from redbucket.core.patch import Change
from redbucket.core.paths import JudgeSide
from redbucket.core.submodules import SUBMODULES, Submodule, submodules
from redbucket.guards.context import Context, TreeView
from redbucket.guards.git_attributes import attributes
from redbucket.guards.git_names import names
from redbucket.guards.git_text import reordered_text

RULE = "git-trap"
_BACK = "put {path} back to base's, or have a person make the change"
_LOOK = "a person looks at where it leads"


def check(context: Context, judge: JudgeSide) -> list[Finding]:
    """Return every trap that an agent's paths lay, and what in this repository hides history."""
    return [
        *names(context, judge),
        *reordered_text(context, judge),
        *attributes(context, judge),
        *_links(context, judge),
        *_moved_submodules(context, judge),
        *_evil_merges(context, judge),
        *_rewritten(context),
    ]


def _finding(
    path: str | None, severity: Severity, reason: str, remedy: str, line: int | None = None
) -> Finding:
    return Finding(
        rule=RULE,
        severity=severity,
        path=path,
        line=line,
        reason=reason,
        remedy=remedy.format(path=path),
    )


def _changed(context: Context, judge: JudgeSide) -> Iterator[Change]:
    """The agent's changes that the merge keeps and that protected-path does not refuse already."""
    for change in context.patch.changes:
        path = change.path
        if path in context.agent_paths and not judge.is_protected(path):
            yield Change(path, context.base.entries.get(path), context.head.entries.get(path))


def _judges(path: str, context: Context, judge: JudgeSide) -> bool:
    """Return whether ``path`` or anything that base has below it judges."""
    if judge.is_judge(path) or judge.is_shared_config(path):
        return True
    return any(other.startswith(f"{path}/") and judge.is_judge(other) for other in context.base.entries)


def _links(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    for change in _changed(context, judge):
        path, new = change.path, change.new
        if new is None or not new.is_symlink or new == change.old:
            continue
        target = context.head.read(path).decode("utf-8", "surrogateescape")
        outside = _leaves(path, target)
        where = f"to {target!r}" + (", outside the tree" if outside else "")
        if _judges(path, context, judge):
            yield _finding(path, Severity.REFUSE, f"an agent put a link {where} among what judges", _BACK)
        elif outside:
            yield _finding(path, Severity.WARN, f"an agent put a link {where}", _LOOK)


def _leaves(path: str, target: str) -> bool:
    if target.startswith(("/", "~")) or "\\" in target or target[1:2] == ":":
        return True
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target)).startswith("..")


def _moved_submodules(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    for change in _changed(context, judge):
        path = change.path
        sides = (change.old, change.new)
        if change.old != change.new and any(entry is not None and entry.is_gitlink for entry in sides):
            was, now = (entry is not None and entry.is_gitlink for entry in sides)
            what = "moved" if was and now else "added" if now else "removed"
            if _judges(path, context, judge):
                reason = f"an agent {what} a submodule among what judges"
                yield _finding(path, Severity.REFUSE, reason, _BACK)
            else:
                reason = f"an agent {what} a submodule: its content is not in the patch"
                yield _finding(path, Severity.WARN, reason, _LOOK)
        if path == SUBMODULES and change.old != change.new:
            yield from _registered(context, judge)


def _registered(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    old, new = _submodules(context.base), _submodules(context.head)
    for name, module in new.items():
        before = old.get(name, Submodule())
        if module == before:
            continue
        if module.update.startswith("!") and module.update != before.update:
            reason = f"an agent has the submodule {name!r} run a command when it is updated"
            yield _finding(SUBMODULES, Severity.REFUSE, reason, _BACK, module.line)
        elif module.path and _judges(module.path, context, judge):
            reason = f"an agent redirected the submodule {name!r} ({module.path}), which judges"
            yield _finding(SUBMODULES, Severity.REFUSE, reason, _BACK, module.line)
        elif before.url and module.url != before.url:
            reason = f"an agent redirected the submodule {name!r} to {module.url!r}"
            yield _finding(SUBMODULES, Severity.WARN, reason, _LOOK, module.line)


def _submodules(tree: TreeView) -> dict[str, Submodule]:
    entry = tree.entries.get(SUBMODULES)
    return submodules(tree.read(SUBMODULES)) if entry is not None and entry.is_file else {}


def _evil_merges(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    if not context.agent_paths and not context.marks:
        return
    for commit, paths in context.evil_merges().items():
        for path in paths:
            reason = f"the merge commit {commit[:12]} holds what neither parent's merge gives"
            if path not in context.agent_paths:
                severity, remedy = Severity.NOTE, ""
            elif judge.is_judge(path):
                severity, remedy = Severity.REFUSE, "make the change in a commit of its own, and " + _BACK
            else:
                severity, remedy = (
                    Severity.WARN,
                    "look at this file in the merge commit: `git show -m` shows it",
                )
            yield _finding(path, severity, reason, remedy)


def _rewritten(context: Context) -> Iterator[Finding]:
    for what in context.rewrites():
        yield _finding(
            None,
            Severity.WARN,
            f"this repository has {what}: git shows another history than the one that is judged here",
            "look at it and delete it: `git replace -d OBJECT`, or remove the file info/grafts",
        )
