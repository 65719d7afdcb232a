"""Whose patch it is, decided for each changed path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from redbucket.core.marks import (
    marks_of_branch,
    marks_of_commit,
    marks_of_environment,
    suspicions_of_environment,
)
from redbucket.core.patch import Commit, Patch
from redbucket.core.plural import plural
from redbucket.core.policy import Policy
from redbucket.core.trailers import endorsed, endorsement_trailer, endorsements_of

__all__ = [
    "Identity",
    "decide",
    "endorsed",
    "endorsement_trailer",
    "endorsements",
    "marks_of_branch",
    "marks_of_commit",
    "marks_of_environment",
    "suspicions_of_environment",
]


@dataclass(frozen=True)
class Identity:
    """The answer: who, why, which changed paths are an agent's, which were put back.

    ``agent_paths`` does not look at endorsements; the caller takes those away.
    """

    agent: bool
    marks: tuple[str, ...]
    agent_paths: frozenset[str]
    put_back: frozenset[str]


def decide(
    patch: Patch,
    policy: Policy,
    *,
    environment: Mapping[str, str] | None,
    agent_flag: bool,
    signers_known: bool,
) -> Identity:
    """Decide a patch's identity.

    ``environment`` is given only where the patch is the local index: it says
    who runs the command. With ``signers_known`` a commit without a verified
    signature counts as an agent's. A mark makes a signed commit an agent's
    too: agents run on machines that hold people's keys.
    """
    whole: list[str] = ["option --agent"] if agent_flag else []
    whole += marks_of_branch(patch.branch, policy)
    if environment is not None:
        whole += marks_of_environment(environment)

    agents: set[str] = set()
    seen: dict[str, list[str]] = {}
    for commit in patch.commits:
        marks = marks_of_commit(commit, policy)
        if signers_known and commit.signed_by is None:
            marks = (*marks, "no signature of an allowed signer")
        if marks:
            agents.add(commit.oid)
        for mark in marks:
            seen.setdefault(mark, []).append(commit.oid)

    changed = {change.path for change in patch.changes}
    touched = {path for commit in patch.commits for path in commit.touched}
    if whole:
        paths = changed
    elif not agents:
        paths = set()
    else:
        paths = (changed - touched) | _last_written_by(patch.commits, agents, changed)
    return Identity(
        agent=bool(whole or agents),
        marks=(*whole, *(_with_commits(mark, oids) for mark, oids in seen.items())),
        agent_paths=frozenset(paths),
        put_back=frozenset(touched - changed),
    )


def endorsements(commits: Iterable[Commit], policy: Policy | None = None) -> frozenset[tuple[str, str]]:
    """Return the (blob id, path) pairs that signed commits endorse; an id of zeros is a deletion.

    A commit that carries an agent's mark endorses nothing, signed or not.
    """
    rules = policy or Policy()
    found: set[tuple[str, str]] = set()
    for commit in commits:
        if commit.signed_by is None:
            continue
        pairs = endorsements_of(commit)
        if pairs and not marks_of_commit(commit, rules):
            found |= pairs
    return frozenset(found)


def _with_commits(mark: str, oids: Sequence[str]) -> str:
    more = f" and {plural(len(oids) - 1, 'more commit')}" if len(oids) > 1 else ""
    return f"{mark} (commit {oids[0][:10]}{more})"


def _last_written_by(commits: Sequence[Commit], agents: set[str], changed: set[str]) -> set[str]:
    """Return the changed paths for which a last touching commit is one of ``agents``.

    In a range with merges several commits may be last: those that no other
    commit touching the path descends from. One agent among them suffices, so
    that a commit's date can't put a person's work on a parallel branch on top.
    """
    touching: dict[str, list[int]] = {}
    for index, commit in enumerate(commits):
        for path in commit.touched:
            if path in changed:
                touching.setdefault(path, []).append(index)
    linear = all(commit.parents == (after.oid,) for commit, after in pairwise(commits))
    reach: list[int] = []
    found = set()
    for path, indexes in touching.items():
        agent = [commits[index].oid in agents for index in indexes]
        if linear or all(agent) or not any(agent):
            last = agent[0]
        else:
            reach = reach or _reach(commits)
            older = 0
            for index in indexes:
                older |= reach[index]
            last = any(mark and not older >> index & 1 for index, mark in zip(indexes, agent, strict=True))
        if last:
            found.add(path)
    return found


def _reach(commits: Sequence[Commit]) -> list[int]:
    """Return for each commit the set of its ancestors in the range, as bits."""
    position = {commit.oid: index for index, commit in enumerate(commits)}
    reach = [0] * len(commits)
    for index in range(len(commits) - 1, -1, -1):
        for parent in commits[index].parents:
            at = position.get(parent)
            if at is not None:
                reach[index] |= reach[at] | 1 << at
    return reach
