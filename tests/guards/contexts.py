"""Contexts in memory for the pure guards."""

from __future__ import annotations

from collections.abc import Mapping

from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Gate, Policy
from redbucket.guards.context import Context
from tests.core.trees import MemoryTree, commit, patch


def context(
    base: Mapping[str, bytes | str],
    edits: Mapping[str, bytes | str | None],
    *,
    agent: bool = True,
    altered_tests: str = "refuse",
) -> Context:
    """A patch that makes ``edits`` to ``base``; ``None`` deletes a file."""
    after = {path: data for path, data in {**base, **edits}.items() if data is not None}
    old, new = MemoryTree(base), MemoryTree(after)
    made = patch(old, new, commit("c1", *edits))
    return Context(
        policy=Policy(gate=Gate(altered_tests=altered_tests)),  # type: ignore[arg-type]
        patch=made,
        base=old,
        head=new,
        ancestor=old,
        agent_paths=frozenset(change.path for change in made.changes) if agent else frozenset(),
    )


SIDE = JudgeSide(Policy())


def severities(findings: list[Finding]) -> set[str]:
    return {finding.severity.value for finding in findings}


def refused(findings: list[Finding]) -> bool:
    return any(finding.severity is Severity.REFUSE for finding in findings)
