"""Part of runner-tamper: manifests and lock files that bring another pytest, pluggy or plugin."""

from __future__ import annotations

from collections.abc import Iterator

from redbucket.core.findings import Finding, Severity
from redbucket.core.locked import reader
from redbucket.core.packages import Package, Packages
from redbucket.guards.context import Context, TreeView
from redbucket.guards.remedies import ENDORSE

_WORDS = "pytest pluggy iniconfig hypothesis coverage execnet exceptiongroup tox nox nose nose2 redbucket"
_TOOLS = frozenset(_WORDS.split())
_WHOLE = ("pyproject.toml", "pipfile", "pipfile.lock")
_ENDORSE = f"take it back to base's, or {ENDORSE}"
_LOOK = "a person looks at what the new version is, before tests are run with it"


def packages(context: Context) -> Iterator[Finding]:
    """Yield what an agent's manifests and lock files change in the packages that judge."""
    for path in sorted(context.agent_paths):
        read = reader(path)
        new = _bytes(context.head, path)
        old = _bytes(context.base, path)
        if read is None or new is None or old == new:
            continue
        yield from _compare(path, read(old) if old is not None else Packages(), read(new), new)


def is_tool(name: str) -> bool:
    """Return whether a package, by its normalised name, is part of what judges."""
    return name in _TOOLS or name.startswith("pytest-")


def _bytes(tree: TreeView, path: str) -> bytes | None:
    entry = tree.entries.get(path)
    return tree.read(path) if entry is not None and entry.is_file else None


def _compare(path: str, old: Packages, new: Packages, raw: bytes) -> Iterator[Finding]:
    known = frozenset(package.source for package in old.named.values())
    for name in sorted({*old.named, *new.named}):
        if is_tool(name):
            before, after = old.named.get(name), new.named.get(name)
            if before != after:
                yield from _package(path, name, before, after, raw, known)
    tools = any(is_tool(name) for name in new.named) or path.rpartition("/")[2].lower() in _WHOLE
    for index in sorted(new.indexes - old.indexes):
        what = f"takes packages from another index: {_short(index)}"
        severity = Severity.REFUSE if tools else Severity.WARN
        yield _finding(path, severity, what, _line(raw, index))


def _package(
    path: str,
    name: str,
    before: Package | None,
    after: Package | None,
    raw: bytes,
    known: frozenset[str],
) -> Iterator[Finding]:
    """Yield what changes about one package; a new one may come from a source that base's file has (``known``)."""
    line = _line(raw, name)
    old, new = before or Package(), after or Package()
    usual = {old.source} if before is not None else known
    if after is not None and new.source and new.source not in usual:
        what = f"takes {name} from {_short(new.source)}"
        yield _finding(path, Severity.REFUSE, what, line)
    elif old.version == new.version and old.hashes and new.hashes and not old.hashes & new.hashes:
        what = f"locks other files as {name} {new.version}: no hash is the same"
        yield _finding(path, Severity.REFUSE, what, line)
    elif before is None:
        yield _finding(path, Severity.WARN, f"adds {name} {new.version}".rstrip(), line)
    elif after is None:
        yield _finding(path, Severity.WARN, f"takes {name} away", None)
    elif old.version != new.version:
        what = f"moves {name} from {old.version or 'any version'} to {new.version or 'any version'}"
        yield _finding(path, Severity.WARN, what, line)


def _finding(path: str, severity: Severity, what: str, line: int | None) -> Finding:
    return Finding(
        rule="runner-tamper",
        severity=severity,
        path=path,
        line=line,
        reason=f"an agent's change {what}; this decides what tests are run with",
        remedy=(_ENDORSE if severity is Severity.REFUSE else _LOOK).format(path=path),
    )


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def _line(raw: bytes, word: str) -> int | None:
    wanted = word.lower().encode("utf-8", "surrogateescape")
    lines = raw.lower().split(b"\n")
    return next((number for number, line in enumerate(lines, start=1) if wanted in line), None)
