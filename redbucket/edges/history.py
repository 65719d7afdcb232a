"""Commits of a range, read in one pass of ``git log``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from redbucket.core.errors import Undecided
from redbucket.core.patch import Commit, Person
from redbucket.edges.git import Caller

_FIELDS = ("%H", "%P", "%an", "%ae", "%cn", "%ce", "%B")


def commits(git: Caller, merge_base: str, head: str) -> tuple[Commit, ...]:
    """Return the commits of ``merge_base..head``, newest first, with the paths that each touched.

    For a merge these are the paths that differ from all its parents. Raises
    Undecided if an object is missing.
    """
    done = git.run(
        "log",
        *("-z", "--raw", "-r", "--root", "--diff-merges=combined", "--no-renames", "--no-abbrev"),
        *("--ignore-submodules=none", "--no-relative", "-O/dev/null", "--no-notes", "--no-mailmap"),
        # Without an encoding header the message's own bytes come out; with one git converts them if it can.
        *("--encoding=UTF-8", "--topo-order", "--format=tformat:" + "%x00".join(_FIELDS) + "%x00"),
        *("--end-of-options", head, f"^{merge_base}"),
    )
    notes = _notes(git, merge_base, head)
    return tuple(_parse(done.out, notes))


def _parse(out: bytes, notes: dict[str, str]) -> Iterator[Commit]:
    tokens = out.split(b"\0")
    at, end, width = 0, len(tokens), len(_FIELDS)
    while at < end and tokens[at]:
        fields = tokens[at : at + width]
        if len(fields) < width:
            raise Undecided("git-output", "git log ended in the middle of a commit", "run the command again")
        at += width
        touched: list[str] = []
        while at < end and (not tokens[at] or tokens[at].lstrip(b"\n").startswith(b":")):
            if tokens[at]:
                touched.append(os.fsdecode(tokens[at + 1]))
                at += 1
            at += 1
        oid = fields[0].decode("ascii")
        author, email, committer, committer_email = (os.fsdecode(field) for field in fields[2:6])
        yield Commit(
            oid=oid,
            parents=tuple(fields[1].decode("ascii").split()),
            author=Person(author, email),
            committer=Person(committer, committer_email),
            message=fields[6].decode("utf-8", "surrogateescape"),
            touched=tuple(sorted(touched)),
            notes=notes.get(oid, ""),
        )


def _notes(git: Caller, merge_base: str, head: str) -> dict[str, str]:
    """Return the notes of the range from every notes ref, by commit."""
    if not git.run("for-each-ref", "--count=1", "refs/notes").out:
        return {}
    done = git.run(
        *("log", "-z", "--no-patch", "--notes=*", "--format=tformat:%H%x00%N"),
        *("--end-of-options", head, f"^{merge_base}"),
    )
    tokens = done.out.split(b"\0")
    return {
        oid.decode("ascii", "replace"): text.decode("utf-8", "surrogateescape")
        for oid, text in zip(tokens[::2], tokens[1::2], strict=False)
        if text
    }
