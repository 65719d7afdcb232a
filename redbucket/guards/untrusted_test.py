"""untrusted-test: which tests the patch authored or altered, so that they decide nothing."""

from __future__ import annotations

from redbucket.core.findings import Finding, Severity
from redbucket.core.testtree import WHOLE
from redbucket.core.untrusted import Untrusted, untrusted_tests
from redbucket.guards.alterations import Sides
from redbucket.guards.context import MANY_FILES, Context
from redbucket.guards.remedies import ENDORSE

RULE = "untrusted-test"
_REMEDY = f"nothing to do: it is run and listed, and does not count; to make it count, {ENDORSE}"


def untrusted(context: Context, judge_side: Sides) -> dict[tuple[str, str], Untrusted]:
    """Return the tests that an agent's paths of the patch authored or altered."""
    paths = {path for path in context.agent_paths if not judge_side.is_fixture(path)}
    return untrusted_tests(context.base, context.head, paths, judge_side.is_judge)


def check(context: Context, judge_side: Sides) -> list[Finding]:
    """Note each untrusted test once, by node id; a file that is untrusted as a whole by path.

    A patch of very many files is listed by file: nobody reads 30,000 node ids, and working them out takes longer
    than all the rest of a hook.
    """
    mine = [path for path in context.agent_paths if judge_side.is_test(path) and path in context.head.entries]
    if len(mine) > MANY_FILES:
        return [_of_file(context, path) for path in sorted(mine)]
    found = []
    for (path, name), why in untrusted(context, judge_side).items():
        if not why.test_like or (name == WHOLE and not judge_side.is_test(path)):
            continue
        found.append(
            Finding(
                rule=RULE,
                severity=Severity.NOTE,
                path=path,
                line=why.line,
                nodeid=None if name == WHOLE else f"{path}::{name.replace('.', '::')}",
                reason=f"{why.how.value} by the patch: {why.reason}",
                remedy=_REMEDY.format(path=path),
            )
        )
    return found


def _of_file(context: Context, path: str) -> Finding:
    how = "altered" if path in context.base.entries else "authored"
    return Finding(
        rule=RULE,
        severity=Severity.NOTE,
        path=path,
        reason=f"{how} by the patch, which touches more than {MANY_FILES} test files: its tests are not listed one "
        "by one",
        remedy=_REMEDY.format(path=path),
    )
