"""What landed on a branch since a day, commit by commit along its first parents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone

from redbucket.edges.repository import Repository

_HEAD = re.compile(r"\n?\x01([0-9a-f]{40}|[0-9a-f]{64}) (\d+)")


@dataclass
class Landed:
    """One commit of the branch: when (UTC, ISO 8601), and the paths that it changed there."""

    oid: str
    at: str
    read: Callable[[], str]
    paths: set[str] = field(default_factory=set)

    @property
    def message(self) -> str:
        """The commit's message, read where it is needed."""
        return self.read()


def landed(repository: Repository, tip: str, since: str) -> Iterator[Landed]:
    """Yield the commits since a date, newest first; a merge counts with all that it brought."""
    listed = repository.git.run(
        *("log", "--first-parent", "--diff-merges=first-parent", "--name-only", "--no-renames", "-z"),
        *("--format=%x01%H %ct", f"--since={since}", "--end-of-options", tip, "--"),
    )
    current: Landed | None = None
    for token in os.fsdecode(listed.out).split("\0"):
        head = _HEAD.fullmatch(token)
        if head is not None:
            if current is not None:
                yield current
            when = datetime.fromtimestamp(int(head[2]), timezone.utc)
            current = Landed(head[1], when.strftime("%Y-%m-%dT%H:%M:%SZ"), _reader(repository, head[1]))
        elif current is not None and token.strip("\n"):
            current.paths.add(token.lstrip("\n"))
    if current is not None:
        yield current


def _reader(repository: Repository, oid: str) -> Callable[[], str]:
    return lambda: os.fsdecode(
        repository.git.run("log", "-1", "--format=%B", "--end-of-options", oid, "--").out
    )
