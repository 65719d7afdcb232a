"""Whether an agent gives a command that only a human may give, by a policy that its branch did not write."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redbucket.core.errors import Misused
from redbucket.core.marks import marks_of_branch, marks_of_commit, marks_of_environment
from redbucket.core.policy import Policy
from redbucket.engine.ports import Branches, History
from redbucket.engine.protected import find_base, marked_branch


def landing_tip(
    history: Branches, policy_at: Callable[[str], Policy], own: Callable[[], Policy]
) -> str | None:
    """Return the tip of the branch on which patches land here; None where only ``own``, HEAD's, could say which.

    A branch that HEAD's policy names counts, unless it is the current one.
    """
    tip: str | None
    try:
        tip = find_base(history, Policy().gate.protected_branches)
        named = policy_at(tip).gate.protected_branches
    except Misused as error:
        if error.code != "no-base":
            raise
        tip = None
        current = history.current_branch()
        named = tuple(name for name in own().gate.protected_branches if name != current)
    if tip is not None and named == Policy().gate.protected_branches:
        return tip
    try:
        return find_base(history, named)
    except Misused as error:
        if error.code != "no-base":
            raise
        return tip


def landing_policy(
    history: Branches, policy_at: Callable[[str], Policy], own: Callable[[], Policy]
) -> Policy | None:
    """Return the policy of the branch on which patches land here; None where only ``own``, HEAD's, could say which."""
    tip = landing_tip(history, policy_at, own)
    return None if tip is None else policy_at(tip)


def marks_here(
    history: History,
    environment: Mapping[str, str],
    policy_at: Callable[[str], Policy],
    own: Callable[[], Policy],
) -> list[str]:
    """Return why this looks like an agent's shell or branch, or, of a detached HEAD, like an agent's commit.

    Without a landing policy an agent may have written ``own``, so the documented names of agents' branches count, too.
    """
    tip = landing_tip(history, policy_at, own)
    policies = (own(), Policy()) if tip is None else (policy_at(tip),)
    branch = history.current_branch()
    marks = [*marks_of_environment(environment)]
    for policy in policies:
        marks += marks_of_branch(branch, policy) if branch else _detached(history, tip, policy)
    return list(dict.fromkeys(marks))


def _detached(history: History, tip: str | None, policy: Policy) -> list[str]:
    """Return the marks of a commit that no branch is checked out for; what has landed bears none."""
    head = history.resolve("HEAD")
    brought = history.commits(tip, head) if tip is not None else ()
    if tip is not None and not brought:
        return []
    name = marked_branch("", head, history.refs_at, policy)
    return [
        *marks_of_branch(name, policy),
        *(mark for last in brought[:1] for mark in marks_of_commit(last, policy)),
    ]
