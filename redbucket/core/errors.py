"""Errors that a user sees: each has an id, a reason, a remedy and an exit code.

A red test or a refused patch is a result, not an error. These are for the
cases in which there is no result: exit codes 2, 3 and 4 of the contract.
"""

from __future__ import annotations

ACCEPTED = 0
REFUSED = 1
UNDECIDED = 2
MISUSED = 3
WORLD_FAILED = 4
BUG = 70
INTERRUPTED = 130

EXIT_CODES: dict[int, str] = {
    ACCEPTED: "accepted, or nothing to report",
    REFUSED: "refused: a finding that refuses, or a bucket that blocks",
    UNDECIDED: "cannot decide: something is unclassified, unpinned or incomplete",
    MISUSED: "misused: bad policy, bad arguments, unknown revision",
    WORLD_FAILED: "the world failed: no git, no interpreter, disk full, runner unreachable",
    BUG: "a bug in redbucket; a log is written and named",
    INTERRUPTED: "interrupted",
}


class RedbucketError(Exception):
    """A condition that ends a command with one clear line and a remedy.

    ``code`` is a stable kebab-case id that the documentation explains.
    """

    exit_code: int = BUG

    def __init__(self, code: str, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.remedy = remedy


class Undecided(RedbucketError):
    """Something is unpinned, incomplete or unknown: never green (exit 2)."""

    exit_code = UNDECIDED


class Misused(RedbucketError):
    """Bad policy file, bad arguments, unknown revision (exit 3)."""

    exit_code = MISUSED


class WorldFailed(RedbucketError):
    """No git, no interpreter, disk full, runner unreachable (exit 4)."""

    exit_code = WORLD_FAILED
