"""Which commits are an earlier state of a range: in it, or what one of it was before it was amended or rebased."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from redbucket.core.patch import Commit
from redbucket.edges.git import Caller

_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def earlier(git: Caller, oids: Iterable[str], commits: Sequence[Commit]) -> set[str]:
    """Return those of ``oids`` that are an earlier state of ``commits``, as far as the repository has them.

    Amending and rebasing keep the author and the second at which they wrote. A script commits to several branches
    within one second: what a branch still holds under another subject is a patch of its own.
    """
    known = {commit.oid for commit in commits}
    asked = {oid for oid in oids if _OID.fullmatch(oid)}  # whoever wrote them: they go to git as words
    found = asked & known
    others = asked - known
    if not others or not commits:
        return found
    written = _written(git, [*known, *others])
    mine = [written[oid] for oid in known if oid in written]
    subjects, whens = set(mine), {when for when, _ in mine}
    for oid in others & written.keys():
        if written[oid] in subjects or (written[oid][0] in whens and not _is_held(git, oid)):
            found.add(oid)
    return found


def _written(git: Caller, oids: Iterable[str]) -> dict[str, tuple[bytes, bytes]]:
    """Return {commit: (author and time, subject)} of those that are there."""
    done = git.run(
        *("log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--no-mailmap", "--no-notes"),
        *("-z", "--format=tformat:%H%x00%an <%ae> %at%x00%s"),
        stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"),
    )
    tokens = done.out.split(b"\0")
    return {
        oid.strip().decode("ascii"): (when, subject)
        for oid, when, subject in zip(tokens[::3], tokens[1::3], tokens[2::3], strict=False)
        if oid
    }


def _is_held(git: Caller, oid: str) -> bool:
    """Return whether a branch, here or of a remote, holds the commit."""
    held = git.run("for-each-ref", "--count=1", "--contains", oid, "refs/heads", "refs/remotes")
    return bool(held.out.strip())
