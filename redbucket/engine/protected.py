"""The protected branch that a patch is offered to, the policy at its tip, and the branch that a patch comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from redbucket.core.errors import Misused
from redbucket.core.identity import marks_of_branch
from redbucket.core.policy import POLICY_NAME, Policy, parse
from redbucket.engine.ports import Branches, History, Objects


def find_base(history: Branches, branches: tuple[str, ...], current: str | None = None) -> str:
    """Return the tip of the first protected branch that exists. Raises Misused "no-base"."""
    return base_branch(history, branches, current)[0]


def base_branch(history: Branches, branches: tuple[str, ...], current: str | None = None) -> tuple[str, str]:
    """Return the tip and the short name of the first protected branch that exists.

    On that branch itself its remote twin is meant: what is local is the patch. ``current`` is the
    branch of HEAD for a caller who knows it. Raises Misused "no-base".
    """
    if current is None:
        current = history.current_branch()
    for name in branches:
        local, remote = f"refs/heads/{name}", f"refs/remotes/origin/{name}"
        for ref in (remote, local) if current == name else (local, remote):
            try:
                return history.resolve(ref), ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
            except Misused:
                continue
    raise no_base(history, branches, current)


def no_base(history: Branches, branches: tuple[str, ...], current: str) -> Misused:
    """Return the error for a repository that has none of the protected branches; it names the key to set."""
    likely = "master"
    try:
        history.resolve(f"refs/heads/{likely}")
    except Misused:
        likely = current or "BRANCH"
    return Misused(
        "no-base",
        f"none of the protected branches ({', '.join(branches)}) exists here",
        f'if patches land on {likely}, say so in {POLICY_NAME}: [gate] protected_branches = ["{likely}"];'
        " or name the commit that receives the patch: redbucket gate --base REV",
    )


def policy_at(objects: Objects, commit: str) -> Policy:
    """Return the policy at a commit, the documented defaults where it has none."""
    entry = objects.entry(objects.tree_of(commit), POLICY_NAME)
    if entry is None:
        return Policy()
    if not entry.is_file:
        raise Misused(
            "policy-not-a-file",
            f"{POLICY_NAME} at {commit[:12]} is a link or a submodule",
            "make it a regular file",
        )
    return parse(objects.read(entry.oid), f"{POLICY_NAME} at {commit[:12]}")


def policy_or_defaults(objects: Objects, commit: str) -> Policy:
    """Return the policy at a commit for a look at what it names; the defaults where it can't be read.

    No judgement is made by this: that ends with the policy's own error.
    """
    try:
        return policy_at(objects, commit)
    except Misused:
        return Policy()


def policy_for(objects: Objects, base: str, tree: str) -> Policy:
    """Return the policy that judges what ``tree`` brings to ``base``.

    A policy that can't be read judges nothing; the patch that repairs it, and does nothing else, is judged
    by the documented defaults: a person may land it, an agent may not.
    """
    try:
        return policy_at(objects, base)
    except Misused:
        if {change.path for change in objects.diff(objects.tree_of(base), tree)} != {POLICY_NAME}:
            raise
        view = objects.tree_view(tree)
        entry = view.entries.get(POLICY_NAME)
        if entry is not None:
            if not entry.is_file:
                raise
            parse(view.read(POLICY_NAME), POLICY_NAME)
        return Policy()


def protected_branches(history: History, objects: Objects) -> tuple[str, ...]:
    """The protected branches as the policy of the default ones (or of HEAD's own commit) names them."""
    try:
        base = find_base(history, Policy().gate.protected_branches)
        return policy_or_defaults(objects, base).gate.protected_branches
    except Misused as error:
        if error.code != "no-base":
            raise
    return policy_or_defaults(objects, history.resolve("HEAD")).gate.protected_branches


def marked_branch(name: str, head: str, refs_at: Callable[[str], Sequence[str]], policy: Policy) -> str:
    """Return the branch whose name counts.

    A branch that was named counts as it is: an agent may start a branch at a person's
    commit. A detached HEAD, an id or a tag is whose branches point at that commit, if
    all of them are agents'.
    """
    if marks_of_branch(name, policy):
        return name
    pointing = refs_at(head)
    others = [ref for ref in pointing if ref not in policy.gate.protected_branches]
    if name not in pointing and others and all(marks_of_branch(ref, policy) for ref in others):
        return others[0]
    return name


def branch_of(head: str | None, history: History) -> str:
    """The branch whose name counts: the current one, or the one that was named."""
    if head is None or head == "HEAD":
        return history.current_branch()
    name = head.removeprefix("refs/").removeprefix("heads/").removeprefix("remotes/")
    remote = head.startswith(("origin/", "remotes/origin/", "refs/remotes/origin/"))
    return name.removeprefix("origin/") if remote else name
