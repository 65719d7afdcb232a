"""What a git hook knows of base and head: environment, standard input, MERGE_HEAD."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redbucket.core.errors import Misused

_GITHEAD = "GITHEAD_"
_NONE = frozenset({"", "0" * 40, "0" * 64})


@dataclass(frozen=True)
class Offer:
    """One pair to judge. ``head_ref`` is the branch whose name counts, "" if unknown."""

    base: str | None
    head: str
    head_ref: str = ""


def offers(
    environment: Mapping[str, str],
    pushed: Sequence[str],
    merge_heads: Sequence[str],
    exists: Callable[[str], bool],
    protected: Sequence[str],
) -> list[Offer]:
    """Return the pairs that this hook run is about, [] if there is nothing to judge.

    In this order: refs given on pre-push's standard input (``pushed`` lines:
    local ref, local id, remote ref, remote id), pre-commit's own pair for a push,
    the heads of a merge under way (``GITHEAD_*``; git 2.39 leaves no MERGE_HEAD
    in pre-merge-commit), MERGE_HEAD, and otherwise HEAD against the policy's
    protected branch. A push counts only where it lands on a protected branch, or
    where the hook can't know.
    """
    found = [_pushed(line, exists, protected) for line in pushed if line.strip()]
    if pushed:
        return [offer for offer in found if offer is not None]
    to_ref = environment.get("PRE_COMMIT_TO_REF", "")
    if to_ref and to_ref not in _NONE:
        remote = environment.get("PRE_COMMIT_REMOTE_BRANCH", "").removeprefix("refs/heads/")
        local = environment.get("PRE_COMMIT_LOCAL_BRANCH", "").removeprefix("refs/heads/")
        from_ref = environment.get("PRE_COMMIT_FROM_REF", "")
        if remote and remote not in protected:
            # the base is where it would land later
            return [Offer(None, to_ref, local)]
        usable = from_ref not in _NONE and exists(from_ref)
        return [Offer(from_ref if usable else None, to_ref, local)]
    if environment.get("GIT_REFLOG_ACTION", "").startswith(("merge", "pull")):
        heads = [
            Offer("HEAD", name[len(_GITHEAD) :], _branch(value))
            for name, value in sorted(environment.items())
            if name.startswith(_GITHEAD)
        ]
        if heads:
            return heads
    if merge_heads:
        return [Offer("HEAD", oid, _branch(environment.get(_GITHEAD + oid, ""))) for oid in merge_heads]
    return [Offer(None, "HEAD")]


def _branch(value: str) -> str:
    """GITHEAD's value is what the user typed; for a pull it is the bare id (seen with git 2.39)."""
    name = value.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("origin/")
    return "" if len(name) in (40, 64) and all(c in "0123456789abcdef" for c in name) else name


def _pushed(line: str, exists: Callable[[str], bool], protected: Sequence[str]) -> Offer | None:
    fields = line.split(" ")
    if len(fields) != 4:
        raise Misused(
            "bad-hook-input",
            f"this is no line of a pre-push hook's input: {line[:200]!r}",
            "let git call the hook",
        )
    local_ref, local, remote_ref, remote = fields
    if local in _NONE:
        return None  # a deletion brings nothing
    name = remote_ref.removeprefix("refs/heads/")
    branch = local_ref.removeprefix("refs/heads/")
    if name in protected and remote not in _NONE and exists(remote):
        return Offer(remote, local, branch)
    return Offer(None, local, branch)
