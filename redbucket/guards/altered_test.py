"""altered-test: an agent's patch changes tests that base already has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from msgspec.structs import replace

from redbucket.core.details import Detail, Effect
from redbucket.core.doctests import doctest_change
from redbucket.core.findings import DOCTESTS, MEND, Finding, Severity
from redbucket.core.pytree import UNREADABLE, is_python, syntax_error
from redbucket.guards.alterations import REMEDY, Sides, altered_files
from redbucket.guards.context import MANY_FILES, Context
from redbucket.guards.remedies import ENDORSE

RULE = "altered-test"
_SHOWN = 3
_CONFIGS = (
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "conftest.py",
)


_TEXTS = (".rst", ".md", ".txt")
# pytest's option, on a command line and in each kind of configuration
_GLOB = re.compile(r"""doctest[-_]glob(?:=|["']?\s*[=,]?\s*)\[?\s*["']?([^\s"',\]]+)""")


def check(context: Context, judge_side: Sides) -> list[Finding]:
    """Report every test file and every doctest of base that an agent altered, unendorsed.

    Pure additions are notes; anything else is what the policy's
    ``altered_tests`` says.
    """
    level = Severity(context.policy.gate.altered_tests)
    found = []
    for path, alteration in altered_files(context, judge_side):
        if alteration.effect is Effect.CHANGED:
            one = _finding(path, level, "alters the judge", alteration.changes)
            found.append(_mended(one, one.remedy) if alteration.unreadable else one)
        else:
            found.append(_finding(path, Severity.NOTE, "only adds to the tests", alteration.additions))
    found += _doctests(context, judge_side, level)
    return found


def _finding(path: str, severity: Severity, what: str, details: Iterable[Detail]) -> Finding:
    shown = list(details)
    text = "; ".join(d.text if d.unit in d.text else f"{d.text} ({d.unit})" for d in shown[:_SHOWN])
    more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return Finding(
        rule=RULE,
        severity=severity,
        path=path,
        line=shown[0].line if shown else None,
        reason=f"an agent's change {what}: {text}{more}" if shown else f"an agent's change {what}",
        remedy="" if severity is Severity.NOTE else REMEDY.format(path=path),
    )


def _doctests(context: Context, judge_side: Sides, level: Severity) -> Iterator[Finding]:
    """Doctests in product files count in full only where base runs doctests at all; texts where it names them."""
    runs: bool | None = None
    globs: list[str] | None = None
    for path in _documented(context, judge_side):
        new = context.head.entries.get(path)
        if path.endswith(_TEXTS):
            globs = _globs(context) if globs is None else globs
            if not any(_matches(path, glob) for glob in globs):
                continue
        after = context.head.read(path) if new and new.is_file else None
        change = doctest_change(context.base.read(path), after, path)
        if change.effect is Effect.CHANGED:
            runs = _runs_doctests(context, judge_side) if runs is None else runs
            severity = level if runs else Severity.NOTE
            what = "alters doctests of the product" if runs else "alters doctests, which base does not run,"
            broken = syntax_error(after) if is_python(path) and after is not None else None
            found = _finding(path, severity, what, change.changes)
            if broken is not None:
                words = f"the file {UNREADABLE} any more, nor its doctests: {broken[1]}"
                found = _mended(replace(found, line=broken[0], reason=words), ENDORSE.format(path=path))
            elif found.remedy and after is not None:
                person = ENDORSE.format(path=path)
                found = replace(
                    found, remedy=f"{DOCTESTS} as they are in base (git diff shows them), or {person}"
                )
            yield found
        elif change.effect is Effect.ADDITIVE:
            yield _finding(path, Severity.NOTE, "only adds doctests", change.additions)


def _documented(context: Context, judge_side: Sides) -> list[str]:
    """Return the paths of the product that may hold doctests, in order.

    Of very many, those that hold one in base: that others gain one is a note at most, and to read them all takes longer
    than all the rest of a hook.
    """
    entries = context.base.entries
    paths = [
        path
        for path in sorted(context.agent_paths)
        if (is_python(path) or path.endswith(_TEXTS))
        and (old := entries.get(path)) is not None
        and old.is_file
        and not judge_side.is_judge(path)
    ]
    if len(paths) > MANY_FILES:
        context.base.prefetch(paths)
        paths = [path for path in paths if b">>>" in context.base.read(path)]
        context.head.prefetch(paths)
    return paths


def _mended(found: Finding, others: str) -> Finding:
    """The finding with what helps where a file can't be read: to mend it, or ``others``."""
    words = f"{MEND}, or have a newer Python that can read it on PATH, too, or {others}"
    return replace(found, remedy=words) if found.remedy else found


def _globs(context: Context) -> list[str]:
    """Return the patterns of text files whose doctests base runs."""
    texts = [" ".join(context.policy.run.command)]
    for path, entry in context.base.entries.items():
        if path.rsplit("/", 1)[-1] in _CONFIGS and entry.is_file:
            texts.append(context.base.read(path).decode("utf-8", "replace"))
    return [glob for text in texts for glob in _GLOB.findall(text)]


def _matches(path: str, glob: str) -> bool:
    """As pytest does it: a pattern without a slash is for the name, any other for the end of the path."""
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    return fnmatchcase(f"/{path}", f"*/{glob}")


def _runs_doctests(context: Context, judge_side: Sides) -> bool:
    if any("doctest" in word for word in context.policy.run.command):
        return True
    for path, entry in context.base.entries.items():
        name = path.rsplit("/", 1)[-1]
        reads = name in _CONFIGS or (is_python(path) and judge_side.is_test(path))
        if reads and entry.is_file and b"doctest" in context.base.read(path):
            return True
    return False
