"""``broken-policy``: what would land has a policy that redbucket can't read.

Whoever wrote it: once it is on the protected branch every judgement ends with an
error, the repair's too.
"""

from __future__ import annotations

from redbucket.core.errors import Misused
from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import POLICY_NAME, parse
from redbucket.guards.context import Context

RULE = "broken-policy"


def check(context: Context, judge: JudgeSide) -> list[Finding]:
    """Return a refusal if the patch brings a policy that does not parse."""
    entry = context.head.entries.get(POLICY_NAME)
    if entry is None or entry == context.base.entries.get(POLICY_NAME):
        return []
    if not entry.is_file:
        return [_finding(f"{POLICY_NAME} would be a link or a submodule", "make it a regular file")]
    try:
        parse(context.head.read(POLICY_NAME), POLICY_NAME)
    except Misused as error:
        return [_finding(error.reason, error.remedy)]
    return []


def _finding(reason: str, remedy: str) -> Finding:
    return Finding(rule=RULE, severity=Severity.REFUSE, path=POLICY_NAME, reason=reason, remedy=remedy)
