"""Part of git-trap: names that collide, imitate or can't be seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from redbucket.core.bidi import odd_characters, skeleton
from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide, fold
from redbucket.guards.context import Context


def names(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """Yield the new names of an agent that collide with others, imitate them, or hold odd characters."""
    new = [
        change.path
        for change in context.patch.changes
        if change.path in context.agent_paths
        and change.path in context.head.entries
        and change.path not in context.base.entries
    ]
    if not new:
        return
    collisions = _Collisions(context)
    for path in new:
        other = collisions.of(path)
        if other:
            reason = (
                f"{_shown(path)} is the same name as {_shown(other)} where the disk folds case or accents"
            )
            yield _finding(path, Severity.REFUSE, reason)
        elif not (path.isascii() and path.isprintable()) or path.endswith((" ", ".")) or _drops(path):
            yield from _odd(path, collisions, judge)


def _drops(path: str) -> bool:
    return " /" in path or "./" in path


def _odd(path: str, collisions: _Collisions, judge: JudgeSide) -> Iterator[Finding]:
    looks = skeleton(path)
    judges = judge.is_judge(path) or judge.is_judge(looks)
    if looks != fold(path) and (other := collisions.at(looks)):
        yield _finding(path, Severity.REFUSE if judges else Severity.WARN, f"{_shown(path)} imitates {other}")
        return
    folder = path.rpartition("/")[0]
    if (plain := skeleton(folder)) != fold(folder) and collisions.has_folder(plain):
        yield _finding(
            path, Severity.REFUSE if judges else Severity.WARN, f"{_shown(folder)} imitates {plain}/"
        )
        return
    what = odd_characters(path)
    if what:
        firm = judges and "not UTF-8" not in what
        severity = Severity.REFUSE if firm else Severity.WARN
        yield _finding(path, severity, f"the name {_shown(path)} holds {what}")
    elif judge.is_judge(looks) and not judge.is_judge(path):
        yield _finding(path, Severity.REFUSE, f"{_shown(path)} imitates a name that judges: {looks}")


def _finding(path: str, severity: Severity, reason: str) -> Finding:
    return Finding(
        rule="git-trap", severity=severity, path=path, reason=reason, remedy="give the file another name"
    )


def _shown(path: str) -> str:
    return path if path.isascii() and path.isprintable() else ascii(path)


class _Collisions:
    """The names of head by their folded form, folders included."""

    def __init__(self, context: Context) -> None:
        self._by_key: dict[str, list[str]] = {}
        for path in context.head.entries:
            self._by_key.setdefault(fold(path), []).append(path)

    @cached_property
    def _folders(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in self._by_key:
            parent = path.rpartition("/")[0]
            while parent and parent not in found:
                found[parent] = path
                parent = parent.rpartition("/")[0]
        return found

    def has_folder(self, key: str) -> bool:
        """Return whether a folder's folded form is ``key``."""
        return key in self._folders

    def at(self, key: str) -> str:
        """Return a path whose folded form is ``key``, or ""."""
        return next(iter(self._by_key.get(key, ())), "")

    def of(self, path: str) -> str:
        """Return another path that a folding disk can't tell from ``path``, or a folder of its name."""
        key = fold(path)
        for other in self._by_key.get(key, ()):
            if other != path:
                return other
        if key in self._folders:
            return self._folders[key]
        # a new folder that differs from a file of base by case alone
        parent = key.rpartition("/")[0]
        while parent:
            if parent in self._by_key:
                return self._by_key[parent][0]
            parent = parent.rpartition("/")[0]
        return ""
