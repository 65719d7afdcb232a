"""Freezes in the order of things: which count for a patch, and what a new one must show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from redbucket.core.captures import NOT_NOISE, capture_trouble, read_capture
from redbucket.core.errors import Misused, Undecided
from redbucket.core.frozen import Frozen, freezes_for
from redbucket.core.plural import plural
from redbucket.core.policy import FLAKES_NAME
from redbucket.core.testlookup import find_test
from redbucket.core.testpath import pytest_id
from redbucket.engine.subject import Subject
from redbucket.guards.context import TreeView
from redbucket.guards.flake_expiry import RULE, read_flakes, reader

__all__ = ["RULE", "Replayed", "Replayer", "freezes", "require_capture", "require_replay", "require_test"]


@dataclass(frozen=True)
class Replayed:
    """What running a capture again gave: how many runs failed, and the bucket that they make."""

    runs: int
    failed: int
    bucket: str
    why: str = ""


class Replayer(Protocol):
    """Runs a capture again in its recorded conditions, now."""

    def replay(self, capture: Mapping[str, Any], nodeid: str) -> Replayed:
        """Return what came of it; raise RedbucketError if it can't be run."""


def freezes(subject: Subject, today: date) -> dict[str, Frozen]:
    """Return the freezes that count for a patch: base's, or an endorsed file's.

    A person's own change of the file can only end or shorten one.
    """
    base, head = read_flakes(subject.base), None
    if subject.base.entries.get(FLAKES_NAME) != subject.merged.entries.get(FLAKES_NAME):
        after = read_flakes(subject.merged)
        if FLAKES_NAME in subject.endorsed:
            base = after
        elif FLAKES_NAME not in subject.identity.agent_paths:
            head = after
    return freezes_for(base, head, subject.sides.base, today, subject.policy.freeze.max_days)


def require_test(nodeid: str, tree: TreeView) -> None:
    """Raise Misused "no-such-test" where the tree has no test of that id, or no single one."""
    found = find_test(nodeid, tree.entries, reader(tree))
    if found.absent:
        raise Misused("no-such-test", f"{nodeid}: {found.absent}", "copy the id from a report of redbucket")
    if found.parametrised and "[" not in nodeid:
        raise Misused(
            "no-such-test",
            f"{nodeid} has parameters, and a freeze names one row",
            f"name the row that is noisy: {nodeid}[...]",
        )


def require_capture(raw: bytes, path: str, nodeid: str, tree: TreeView) -> str:
    """Return why a capture forbids the freeze, "" if it does not.

    Raises Misused "bad-capture" for what is no capture of this test.
    """
    trouble = capture_trouble(raw, nodeid, lambda test: pytest_id(test, tree.entries))
    if trouble and read_capture(raw).bucket not in NOT_NOISE:
        raise Misused(
            "bad-capture", f"{path}: {trouble}", "record the noise of this test and name that capture"
        )
    return trouble


def require_replay(raw: bytes, nodeid: str, replayer: Replayer | None) -> str:
    """Return why a capture that replays now does not show noise, "" if it does.

    Raises Undecided "cannot-replay": nothing is taken on trust.
    """
    if replayer is None:
        raise Undecided(
            "cannot-replay",
            "the capture is in order, but nothing here can replay it, and a freeze needs a replay of today",
            "freeze the test with a redbucket that has the replay command",
        )
    seen = replayer.replay(read_capture(raw).data, nodeid)
    why = f" ({seen.why})" if seen.why else ""
    if seen.bucket in NOT_NOISE:
        return f"replayed now, the test is {seen.bucket}{why}: that is no noise, and can't be frozen"
    if seen.failed == 0:
        return f"the capture does not replay: {plural(seen.runs, 'run')}, no failure{why}"
    if seen.bucket != "noise":
        return f"replayed now, the test is {seen.bucket or 'not classified'}{why}"
    return ""
