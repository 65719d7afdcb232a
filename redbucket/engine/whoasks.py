"""Whether an agent gives a command that only a human may give, by a policy that its branch did not write."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redbucket.core.errors import Misused
from redbucket.core.marks import marks_of_branch, marks_of_environment
from redbucket.core.policy import Policy
from redbucket.engine.ports import History
from redbucket.engine.protected import find_base


def landing_policy(
    history: History, policy_at: Callable[[str], Policy], own: Callable[[], Policy]
) -> Policy | None:
    """Return the policy of the branch on which patches land here; None where only ``own``, HEAD's, could say which.

    A branch that HEAD's policy names counts, unless it is the current one.
    """
    try:
        policy: Policy | None = policy_at(find_base(history, Policy().gate.protected_branches))
        assert policy is not None
        named = policy.gate.protected_branches
    except Misused as error:
        if error.code != "no-base":
            raise
        policy = None
        current = history.current_branch()
        named = tuple(name for name in own().gate.protected_branches if name != current)
    if policy is not None and named == Policy().gate.protected_branches:
        return policy
    try:
        return policy_at(find_base(history, named))
    except Misused as error:
        if error.code != "no-base":
            raise
        return policy


def marks_here(
    branch: str, environment: Mapping[str, str], landing: Policy | None, own: Callable[[], Policy]
) -> list[str]:
    """Return why this looks like an agent's shell or branch.

    Without a landing policy an agent may have written ``own``, so the documented names of agents' branches count, too.
    """
    policies = (landing,) if landing is not None else (own(), Policy())
    found = [mark for policy in policies for mark in marks_of_branch(branch, policy)]
    return list(dict.fromkeys([*marks_of_environment(environment), *found]))
