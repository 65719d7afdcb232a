"""Changes of refs, as git tells its hooks, and what they mean for a protected branch."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from redbucket.core.errors import Misused
from redbucket.core.marks import marks_of_branch
from redbucket.core.policy import Policy

_BRANCH = "refs/heads/"


@dataclass(frozen=True)
class Update:
    """One ref that is about to change; an id of zeros means that there is none."""

    ref: str
    old: str
    new: str

    @property
    def branch(self) -> str:
        """The short name of a branch, "" for any other ref."""
        return self.ref.removeprefix(_BRANCH) if self.ref.startswith(_BRANCH) else ""

    @property
    def creates(self) -> bool:
        """True if there was no such ref."""
        return set(self.old) == {"0"}

    @property
    def deletes(self) -> bool:
        """True if the ref goes away."""
        return set(self.new) == {"0"}


def parse(lines: Iterable[str]) -> list[Update]:
    """Return the updates in the input of pre-receive or reference-transaction: old, new, ref.

    Raises Misused "bad-hook-input".
    """
    updates = []
    for line in lines:
        fields = line.split(" ", 2)
        if len(fields) != 3 or not all(fields):
            raise Misused(
                "bad-hook-input", f"this is no change of a ref: {line[:200]!r}", "let git call the hook"
            )
        old, new, ref = fields
        updates.append(Update(ref, old, new))
    return updates


def source_branch(pointing: Collection[str], update: Update, policy: Policy) -> str:
    """Return the branch whose name marks the update as an agent's, "" if that is open.

    ``pointing`` are the refs at the tip that comes in. A person's branch at the
    same commit leaves it open: an agent's branch that has just been made there says nothing.
    """
    own = {update.ref, f"refs/remotes/origin/{update.branch}"}
    others = [ref for ref in pointing if ref not in own and not ref.endswith("/HEAD")]
    if others and all(marks_of_branch(ref, policy) for ref in others):
        return others[0]
    return ""


@dataclass(frozen=True)
class Refusal:
    """A change of a protected branch that is refused whatever it holds."""

    rule: str
    reason: str
    remedy: str


def refusal(update: Update, *, forward: bool, server: bool, marks: Collection[str]) -> Refusal | None:
    """Return why an update is refused before anything is judged, ``None`` if it is not.

    ``forward`` says whether the new tip holds the old one; ``marks`` are those
    of the environment of whoever runs the command here.
    """
    if update.deletes:
        return Refusal(
            "protected-branch-deleted",
            f"{update.branch} is a protected branch, and without it there is no base to judge by",
            "take it out of gate.protected_branches first, or remove the hook: redbucket uninstall",
        )
    if forward or update.creates:
        return None
    if server:
        return Refusal(
            "protected-branch-rewound",
            f"{update.branch} would lose commits that it has, and what they protect with them",
            "bring a commit that reverts them; whoever runs the server can move the branch there",
        )
    if marks:
        return Refusal(
            "protected-branch-rewound",
            f"{update.branch} would lose commits, in a coding agent's environment ({', '.join(marks)})",
            "bring a commit that reverts them",
        )
    return None
