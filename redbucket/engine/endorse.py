"""What a human endorses: the exact bytes of paths that a patch changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redbucket.core.errors import Misused
from redbucket.core.identity import endorsement_trailer, marks_of_commit
from redbucket.core.patch import Change, Commit, Entry
from redbucket.engine.ports import Objects
from redbucket.engine.subject import Subject
from redbucket.guards import registry


@dataclass(frozen=True)
class Item:
    """One path to endorse: what base has there, and what the patch brings."""

    path: str
    old: Entry | None
    new: Entry | None

    @property
    def oid(self) -> str:
        """The id that the trailer names; zeros stand for a deletion."""
        if self.new is not None:
            return self.new.oid
        return "0" * len(self.old.oid if self.old is not None else "0" * 40)


def items(subject: Subject, objects: Objects, wanted: Sequence[str]) -> list[Item]:
    """Return what the wanted paths stand for, sorted; a folder stands for what is suspect in it.

    What is endorsed already is left out. Raises Misused "no-allowed-signers",
    "merge-conflict", "nothing-to-endorse" or "base-moved".
    """
    signers = subject.policy.identity.allowed_signers
    if not signers:
        raise Misused(
            "no-allowed-signers",
            "base's policy names no allowed signers, so no endorsement would count",
            "set identity.allowed_signers in redbucket.toml on the protected branch",
        )
    if subject.conflicts:
        raise Misused(
            "merge-conflict",
            f"head and base conflict in {subject.conflicts[0]}",
            "merge base into the branch first: what is endorsed are the bytes that land",
        )
    net = {change.path: change for change in subject.net}
    head = objects.entries(objects.tree_of(subject.patch.head))
    chosen: dict[str, Change] = {}
    for path in wanted:
        matching = [net[path]] if path in net else _below(subject, path)
        if not matching:
            raise Misused(
                "nothing-to-endorse",
                f"{path or 'the repository'}: the patch changes nothing here that asks for an endorsement",
                "name a path that `redbucket guard` refuses",
            )
        chosen.update({change.path: change for change in matching})
    for change in chosen.values():
        if change.new != head.get(change.path):
            raise Misused(
                "base-moved",
                f"{change.path}: base changed it as well, so other bytes would land than those of head",
                "merge base into the branch first",
            )
    return [
        Item(change.path, change.old, change.new)
        for path, change in sorted(chosen.items())
        if path not in subject.endorsed
    ]


def _below(subject: Subject, folder: str) -> list[Change]:
    prefix = f"{folder}/" if folder else ""
    return [
        change
        for change in subject.net
        if change.path.startswith(prefix)
        and change.path in subject.identity.agent_paths
        and (
            subject.judge.is_judge(change.path)
            or subject.judge.is_protected(change.path)
            or subject.judge.is_shared_config(change.path)
        )
    ]


def hints(subject: Subject, chosen: Sequence[Item]) -> dict[str, list[str]]:
    """Return what the static guards say of each path."""
    said: dict[str, list[str]] = {item.path: [] for item in chosen}
    for finding in registry.check(subject.context(), subject.judge):
        if finding.path in said:
            said[finding.path].append(f"{finding.rule}: {finding.reason}")
    return said


def accepted(chosen: Sequence[Item], pairs: Sequence[tuple[str, str]]) -> None:
    """Raise Misused "not-accepted" unless ``pairs`` (path, id) name every item with its own bytes."""
    given = dict(pairs)
    for item in chosen:
        if given.get(item.path) != item.oid:
            told = given.get(item.path)
            raise Misused(
                "not-accepted",
                f"{item.path}: the patch's bytes are {item.oid}"
                + (f", not {told}" if told else ", and nobody accepted them"),
                f"look at them, then: redbucket endorse --accept '{item.path}={item.oid}'",
            )


def message(chosen: Sequence[Item], text: str = "") -> str:
    """Return the message of the endorsing commit."""
    subject = text.strip() or (
        f"Endorse {len(chosen)} files" if len(chosen) > 1 else f"Endorse {ascii(chosen[0].path)[1:-1]}"
    )
    trailers = "\n".join(endorsement_trailer(item.oid, item.path) for item in chosen)
    return f"{subject}\n\n{trailers}\n"


def check(
    subject: Subject, commit: Commit, chosen: Sequence[Item], letter: str, key: str, principal: str
) -> None:
    """Raise Misused unless the new ``commit``, judged as head in ``subject``, endorses every item.

    ``letter``, ``key`` and ``principal`` are git's answer about its signature.
    """
    if all(item.path in subject.endorsed for item in chosen):
        return
    listed = subject.policy.identity.allowed_signers
    marks = marks_of_commit(commit, subject.policy)
    if marks:
        reason, remedy = f"the commit carries an agent's mark ({marks[0]})", "endorse under your own name"
    elif letter == "U" and key.startswith("SHA256:"):
        reason = f"the key {key} is not in base's {listed}, or is not valid there today"
        remedy = f"have a listed signer add the key to {listed} on the protected branch, or use --key"
    elif letter != "G":
        reason = f"the signature does not verify against base's {listed} (git says {letter!r})"
        remedy = 'check the line of your key there: namespaces must include "git"'
    else:
        reason = f"the commit signed by {principal} does not endorse every path"
        remedy = "leave paths out until it works, and report this"
    raise Misused("endorsement-does-not-count", f"{reason}; no branch was moved", remedy)
