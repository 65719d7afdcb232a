"""Part of git-trap: source text that reads otherwise than it runs."""

from __future__ import annotations

from collections.abc import Iterator

from redbucket.core.bidi import CONTROL_BYTES, CONTROLS, overrides, reorders
from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.guards.context import Context

# Prose and translations, where text in both directions is at home.
_PROSE = (
    ".md",
    ".rst",
    ".txt",
    ".adoc",
    ".html",
    ".htm",
    ".po",
    ".pot",
    ".xml",
    ".xlf",
    ".svg",
    ".csv",
    ".srt",
)
_DATA = (".json", ".yml", ".yaml", ".properties", ".strings", ".arb", ".ftl")


def reordered_text(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """Yield the first changed line of each kind that holds characters which turn the reading direction."""
    for path in sorted(context.agent_paths):
        entry, old = context.head.entries.get(path), context.base.entries.get(path)
        if entry is None or not entry.is_file or entry == old or path.endswith(_PROSE):
            continue
        raw = context.head.read(path)
        if not CONTROL_BYTES.search(raw) or b"\0" in raw[:8000]:
            continue
        known = set(context.base.read(path).split(b"\n")) if old is not None and old.is_file else set()
        reported: set[Severity] = set()
        for number, line in enumerate(raw.split(b"\n"), start=1):
            if line in known or not CONTROL_BYTES.search(line):
                continue
            text = line.decode("utf-8", "replace")
            severity = _severity(path, text, judge) if CONTROLS.search(text) else None
            if severity is not None and severity not in reported:
                reported.add(severity)
                yield _finding(path, number, severity)


def _severity(path: str, line: str, judge: JudgeSide) -> Severity:
    if path.endswith(_DATA) or judge.is_fixture(path):
        return Severity.NOTE
    if reorders(line) or (overrides(line) and judge.is_judge(path)):
        return Severity.REFUSE
    return Severity.WARN if overrides(line) else Severity.NOTE


def _finding(path: str, line: int, severity: Severity) -> Finding:
    reasons = {
        Severity.REFUSE: "the line reads otherwise than it runs: it turns the reading direction and leaves it open",
        Severity.WARN: "the line forces a reading direction, which written language does not need",
        Severity.NOTE: "the line holds characters that turn the reading direction, in pairs",
    }
    return Finding(
        rule="git-trap",
        severity=severity,
        path=path,
        line=line,
        reason=reasons[severity],
        remedy=""
        if severity is Severity.NOTE
        else "write the character as an escape (\\u202e), or close it in place",
    )
