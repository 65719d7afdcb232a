"""Which commits are an earlier state of a range: in it, or what one of it was before it was amended or rebased."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from redbucket.core.patch import Commit
from redbucket.edges.git import Caller

_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def earlier(git: Caller, oids: Iterable[str], commits: Sequence[Commit]) -> set[str]:
    """Return those of ``oids`` that are an earlier state of ``commits``, as far as the repository has them.

    Amending and rebasing keep the author and the second at which they wrote.
    """
    known = {commit.oid for commit in commits}
    asked = {oid for oid in oids if _OID.fullmatch(oid)}  # whoever wrote them: they go to git as words
    found = asked & known
    others = asked - known
    if not others or not commits:
        return found
    written = _written(git, [*known, *others])
    mine = {written[oid] for oid in known if oid in written}
    return found | {oid for oid in others if written.get(oid) in mine}


def _written(git: Caller, oids: Iterable[str]) -> dict[str, bytes]:
    """Return {commit: author and time} of those that are there."""
    done = git.run(
        *("log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--no-mailmap", "--no-notes"),
        *("-z", "--format=tformat:%H%x00%an <%ae> %at"),
        stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"),
    )
    tokens = done.out.split(b"\0")
    return {
        oid.strip().decode("ascii"): who for oid, who in zip(tokens[::2], tokens[1::2], strict=False) if oid
    }
