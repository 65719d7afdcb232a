"""Every static guard, by rule id. A new guard is one module and one line here."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import cast

from redbucket.core.errors import Misused
from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.guards.context import MANY_FILES, Context
from redbucket.guards.remedies import fitted

# Modules are imported when they are asked for: a hook pays for its own guard only.
GUARDS: dict[str, str] = {
    "broken-policy": "redbucket.guards.broken_policy",
    "protected-path": "redbucket.guards.protected_path",
    "altered-test": "redbucket.guards.altered_test",
    "weakened-test": "redbucket.guards.weakened_test",
    "untrusted-test": "redbucket.guards.untrusted_test",
    "one-example": "redbucket.guards.one_example",
    "gate-evasion": "redbucket.guards.gate_evasion",
    "flake-expiry": "redbucket.guards.flake_expiry",
    "fixture-checksum": "redbucket.guards.fixture_checksum",
    "fixture-secret": "redbucket.guards.fixture_secret",
    "runner-tamper": "redbucket.guards.runner_tamper",
    "git-trap": "redbucket.guards.git_trap",
}

# Guards that read the changed files themselves.
_READERS = frozenset(
    {
        *("altered-test", "weakened-test", "untrusted-test", "gate-evasion"),
        *("flake-expiry", "runner-tamper", "git-trap", "one-example"),
    }
)
# Of these, those that read head's tests, and of the product, where that is large, what is worth it by what base has.
_TEST_READERS = frozenset({"altered-test", "weakened-test", "untrusted-test", "flake-expiry"})
_ORDER = {Severity.REFUSE: 0, Severity.WARN: 1, Severity.NOTE: 2}


def check(context: Context, judge: JudgeSide, names: Iterable[str] | None = None) -> list[Finding]:
    """Return the findings of the named guards (all by default), the gravest first."""
    found: list[Finding] = []
    wanted = list(names if names is not None else GUARDS)
    _prefetch(context, judge, _READERS.intersection(wanted))
    for name in wanted:
        if name not in GUARDS:
            raise Misused("unknown-guard", f"there is no guard {name!r}", f"known: {', '.join(GUARDS)}")
        module = import_module(GUARDS[name])
        found += [fitted(one, context) for one in cast("list[Finding]", module.check(context, judge))]
    return sorted(found, key=lambda f: (_ORDER[f.severity], f.rule, f.path or "", f.line or 0))


def _prefetch(context: Context, judge: JudgeSide, readers: frozenset[str]) -> None:
    """Read the changed sources in one go: one question to git for each of 10,000 files takes seconds."""
    if not readers:
        return
    from redbucket.core.pytree import is_python  # the guard for protected paths alone needs no syntax trees

    marks = (
        "flake-expiry" in readers
    )  # who reads the tests of people, too, but base's only where head has a marker
    mine = context.agent_paths if readers - {"flake-expiry"} else frozenset()
    sources = [change.path for change in context.patch.changes if is_python(change.path)]
    context.base.prefetch([path for path in sources if path in mine])
    all_mine = len(sources) <= MANY_FILES or bool(readers - _TEST_READERS)
    context.head.prefetch(
        [
            path
            for path in sources
            if (all_mine and path in mine) or ((marks or path in mine) and judge.is_test(path))
        ]
    )
