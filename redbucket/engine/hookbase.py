"""What a git hook knows of base and head: environment, standard input, merge heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redbucket.core.errors import Misused

_GITHEAD = "GITHEAD_"
_BRANCHES = "refs/heads/"
_NONE = frozenset({"", "0" * 40, "0" * 64})


@dataclass(frozen=True)
class Offer:
    """One pair to judge.

    ``base`` is None where the protected branch is to be looked up; ``head_ref``
    is the branch whose name counts, "" if unknown. ``lands`` is False for a push
    to a branch that is not protected: there a conflict with base is no refusal yet.
    """

    base: str | None
    head: str
    head_ref: str = ""
    lands: bool = True


def offers(
    environment: Mapping[str, str],
    pushed: Sequence[str],
    merge_heads: Sequence[str],
    exists: Callable[[str], bool],
    protected: Sequence[str],
    current: str = "",
) -> list[Offer]:
    """Return the pairs that this hook run is about, [] if there is nothing to judge.

    In this order: refs given on pre-push's standard input (``pushed`` lines:
    local ref, local id, remote ref, remote id), pre-commit's own pair for a push
    or for ``--from-ref --to-ref``, the heads of a merge under way (``GITHEAD_*``;
    git 2.39 leaves no MERGE_HEAD in pre-merge-commit), MERGE_HEAD, and otherwise
    HEAD against the policy's protected branch. Deletions and tags bring nothing
    to a branch. ``current`` is the branch that a pushed "HEAD" means.
    """
    if pushed:
        found = [_pushed(line, exists, protected, current) for line in pushed if line.strip()]
        return [offer for offer in found if offer is not None]
    if environment.get("PRE_COMMIT_TO_REF", "") not in _NONE:
        return _told(environment, exists, protected, current)
    if environment.get("GIT_REFLOG_ACTION", "").startswith(("merge", "pull")):
        heads = [
            Offer("HEAD", name[len(_GITHEAD) :], _typed(value))
            for name, value in sorted(environment.items())
            if name.startswith(_GITHEAD)
        ]
        if heads:
            return heads
    if merge_heads:
        return [Offer("HEAD", oid, _typed(environment.get(_GITHEAD + oid, ""))) for oid in merge_heads]
    return [Offer(None, "HEAD")]


def _told(
    environment: Mapping[str, str], exists: Callable[[str], bool], protected: Sequence[str], current: str
) -> list[Offer]:
    """pre-commit's pair. It judges the first of several pushed refs only (pre-commit/pre-commit#1940)."""
    head = environment["PRE_COMMIT_TO_REF"]
    branch = _local(environment.get("PRE_COMMIT_LOCAL_BRANCH", ""), current)
    remote = environment.get("PRE_COMMIT_REMOTE_BRANCH", "")
    if remote.startswith("refs/") and not remote.startswith(_BRANCHES):
        return []
    if remote and remote.removeprefix(_BRANCHES) not in protected:
        # the base is where it would land later
        return [Offer(None, head, branch, lands=False)]
    base = environment.get("PRE_COMMIT_FROM_REF", "")
    # on the command line it may be a name; one that is wrong is an error of the caller's
    usable = base not in _NONE and (not _is_oid(base) or exists(base))
    return [Offer(base if usable else None, head, branch)]


def _pushed(line: str, exists: Callable[[str], bool], protected: Sequence[str], current: str) -> Offer | None:
    fields = line.split(" ")
    if len(fields) != 4:
        raise Misused(
            "bad-hook-input",
            f"this is no line of a pre-push hook's input: {line[:200]!r}",
            "let git call the hook",
        )
    local_ref, local, remote_ref, remote = fields
    if local in _NONE or not remote_ref.startswith(_BRANCHES):
        return None
    branch = _local(local_ref, current)
    if remote_ref.removeprefix(_BRANCHES) not in protected:
        return Offer(None, local, branch, lands=False)
    return Offer(remote if remote not in _NONE and exists(remote) else None, local, branch)


def _local(ref: str, current: str) -> str:
    """The pushed branch: ``git push origin HEAD:main`` says "HEAD", and an expression has no name."""
    if ref == "HEAD":
        return current
    return ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else ""


def _typed(value: str) -> str:
    """GITHEAD's value is what the user typed; for a pull it is the bare id (seen with git 2.39)."""
    name = value.removeprefix(_BRANCHES).removeprefix("refs/remotes/").removeprefix("origin/")
    return "" if _is_oid(name) else name


def _is_oid(name: str) -> bool:
    return len(name) in (40, 64) and all(c in "0123456789abcdef" for c in name)
