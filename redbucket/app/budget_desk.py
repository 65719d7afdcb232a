"""Puts the budget together: the ledger's failures, and what the protected branch and the ledger have of answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path, PurePosixPath

from redbucket.app.flakes_desk import policy_of
from redbucket.app.remember import now
from redbucket.app.session import Session, UserHistory
from redbucket.core.budget import BudgetReport, Frozen, Seen, Spent, budget, named
from redbucket.core.codeowners import PLACES, CodeOwners
from redbucket.core.errors import Misused
from redbucket.core.flakes import parse
from redbucket.core.ledgered import Conversion
from redbucket.core.patch import Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import FLAKES_NAME, Policy
from redbucket.core.testpath import file_of
from redbucket.core.trailers import trailers, unquote_path
from redbucket.edges.landed import Landed, landed
from redbucket.edges.ledger import VARIABLE, Ledger, fixtures_of, opened, place_of
from redbucket.edges.repository import Repository
from redbucket.engine.protected import base_branch
from redbucket.engine.today import utc_today
from redbucket.guards.context import TreeView

_ENDORSE = "Redbucket-Endorse"
# What failed before the first week that is shown may have been answered in it.
_BEFORE = 26


def report(session: Session, weeks: int, base: str | None) -> BudgetReport:
    """Return the budget of a repository. Raises Misused where the ledger is off, WorldFailed where there is none."""
    today = utc_today()
    policy = policy_of(session)
    history = UserHistory(session.repository)
    tip, name = (
        (session.repository.resolve(base), base)
        if base is not None
        else base_branch(history, policy.gate.protected_branches)
    )
    view = session.scratch.tree_view(session.scratch.tree_of(tip))
    since = (today - timedelta(weeks=weeks + _BEFORE)).isoformat()
    place = _place(session.repository)
    session.progress.say("looking at what landed")
    commits = list(landed(session.repository, tip, since))
    with opened(place, create=False) as ledger:
        seen = list(_seen(ledger, since))
        base_side = _Base(session, policy, view, commits, today)
        spent = [*_recorded(ledger, view, base_side.judge), *base_side.recognised(seen)]
    owners = _owners(view)
    frozen = {one.nodeid: one.owner for one in base_side.freezes if one.owner}

    def owner_of(nodeid: str) -> str:
        path = file_of(nodeid, view.entries) or nodeid.partition("::")[0]
        return frozen.get(nodeid) or owners.of(path)

    return budget(
        seen,
        spent,
        base_side.freezes,
        today=today,
        weeks=weeks,
        owner_of=owner_of,
        base=name,
        notes=base_side.notes,
    )


def spend(
    repository: Repository, nodeids: Sequence[str], head: str | None, kind: str, owner: str, detail: str
) -> tuple[list[str], list[str]]:
    """Keep what failures became: of these tests, and of all that gates of ``head`` saw fail.

    Returns the tests, and those of them that no gate saw fail. Raises Misused where the ledger is off, or where no
    gate saw a failure of ``head``.
    """
    with opened(_place(repository)) as ledger:
        seen: dict[str, set[str]] = {}
        for row in ledger.failures(""):
            seen.setdefault(str(row["nodeid"]), set()).add(str(row["head"]))
        wanted = dict.fromkeys(nodeids)
        if head is not None:
            oid = repository.resolve(head)
            of_head = [nodeid for nodeid, heads in seen.items() if oid in heads]
            if not of_head:
                raise Misused(
                    "no-failure",
                    f"no gate in the ledger saw a test fail in {head} ({oid[:12]})",
                    "redbucket ledger export lists the gates and what each saw; name the tests instead",
                )
            wanted.update(dict.fromkeys(of_head))
        ledger.add_conversions([Conversion(now(), nodeid, kind, owner, detail) for nodeid in wanted])
    return list(wanted), [nodeid for nodeid in wanted if nodeid not in seen]


def _place(repository: Repository) -> Path:
    place = place_of(os.environ, repository.common_dir)
    if place is None:
        raise Misused(
            "no-ledger", f"{VARIABLE} switches the ledger off", f"unset {VARIABLE}, or name a file with it"
        )
    return place


def _seen(ledger: Ledger, since: str) -> Iterator[Seen]:
    for row in ledger.failures(since):
        yield Seen(
            at=str(row["at"]),
            nodeid=str(row["nodeid"]),
            bucket=str(row["bucket"]),
            frozen=bool(row["frozen_until"]),
            fixtures=tuple(fixtures_of(row["fixtures"])),
        )


def _recorded(ledger: Ledger, view: TreeView, judge: JudgeSide) -> Iterator[Spent]:
    """What the ledger has: a person's word, captures, and reviews of properties that lie in base by now."""
    blobs = {entry.oid: path for path, entry in view.entries.items() if judge.is_protected(path)}
    for one in ledger.every("conversion"):
        at, nodeid, kind = str(one["at"]), str(one["nodeid"]), str(one["kind"])
        if kind == "reviewed":
            path = blobs.get(str(one["detail"]))
            if path is not None:
                yield Spent(
                    at, "property", nodeid, detail=f"{path}, which fails on the patch and holds on base"
                )
        else:
            yield Spent(at, kind, nodeid, owner=str(one["owner"]), detail=str(one["detail"]), recorded=True)
    for one in ledger.every("capture"):
        yield Spent(str(one["at"]), "replay", str(one["nodeid"]), detail=str(one["path"]))


class _Base:
    """What the protected branch has of answers."""

    def __init__(
        self, session: Session, policy: Policy, view: TreeView, commits: Sequence[Landed], today: date
    ) -> None:
        self._session, self._view, self._commits = session, view, commits
        self.judge = JudgeSide(policy)
        self.notes: list[str] = []
        self._made: Mapping[str, str] = {}
        self.freezes = self._frozen(policy, today)

    def recognised(self, seen: Sequence[Seen]) -> Iterator[Spent]:
        """Yield what answers the failures that were seen."""
        yield from self._properties({one.nodeid for one in seen if one.bucket == "invariant_miss"})
        yield from self._locks({path for one in seen for path in one.fixtures})
        for one in self.freezes:
            made = self._made.get(one.nodeid)
            if made is not None:
                yield Spent(made, "freeze", one.nodeid, owner=one.owner, detail=f"until {one.expires}")

    def _properties(self, misses: set[str]) -> Iterator[Spent]:
        """Property files on protected paths that came or changed, and that name the miss, as drafts do."""
        for commit in self._commits:
            for path in sorted(commit.paths):
                entry = self._view.entries.get(path)
                judges = self.judge.is_protected(path) and self.judge.is_test(path)
                if entry is None or not entry.is_file or not judges:
                    continue
                text = self._view.read(path).decode("utf-8", "replace")
                for nodeid in named(text, misses):
                    yield Spent(commit.at, "property", nodeid, detail=f"{path}, which names it")

    def _locks(self, fixtures: set[str]) -> Iterator[Spent]:
        """Changes of a lock that covers a fixture, and endorsements of its bytes."""
        for commit in self._commits if fixtures else ():
            endorsed = {
                unquote_path(value.partition(" ")[2].strip())
                for name, value in trailers(commit.message)
                if name.lower() == _ENDORSE.lower()
            }
            locks = [path for path in commit.paths if self._is_lock(path)]
            for fixture in sorted(fixtures):
                lock = next((path for path in locks if _covers(path, fixture)), "")
                if fixture in endorsed or lock:
                    what = f"{fixture} endorsed" if fixture in endorsed else f"{lock} refreshed"
                    yield Spent(commit.at, "lock", fixture=fixture, detail=f"{what} in {commit.oid[:12]}")

    def _is_lock(self, path: str) -> bool:
        entry: Entry | None = self._view.entries.get(path)
        return entry is not None and self.judge.is_lock(path)

    def _frozen(self, policy: Policy, today: date) -> list[Frozen]:
        entry = self._view.entries.get(FLAKES_NAME)
        if entry is None or not entry.is_file:
            return []
        found = parse(self._view.read(FLAKES_NAME), FLAKES_NAME)
        if found.broken:
            self.notes.append(found.broken)
        self._made = self._first_seen()
        return [
            Frozen(
                nodeid=one.nodeid,
                owner=one.owner,
                expires=one.expires.isoformat() if one.expires else "",
                expired=bool(one.lapsed(today, policy.freeze.max_days)),
                age=_age(self._made.get(one.nodeid), today),
            )
            for one in found.entries
        ]

    def _first_seen(self) -> Mapping[str, str]:
        """Return {node id: when it came into flakes.toml}, of those that came since the first commit looked at."""
        made: dict[str, str] = {}
        before: set[str] | None = None
        for commit in sorted(self._commits, key=lambda one: one.at):
            if FLAKES_NAME not in commit.paths:
                continue
            view = self._session.scratch.tree_view(self._session.scratch.tree_of(commit.oid))
            entry = view.entries.get(FLAKES_NAME)
            raw = view.read(FLAKES_NAME) if entry is not None and entry.is_file else b""
            now = {one.nodeid for one in parse(raw, FLAKES_NAME).entries}
            made.update((nodeid, commit.at) for nodeid in now - (before or set()))
            before = now
        return made


def _covers(lock: str, fixture: str) -> bool:
    if lock == f"{fixture}.sha256":
        return True
    folder = str(PurePosixPath(lock).parent)
    return not lock.endswith(f"{PurePosixPath(fixture).name}.sha256") and (
        folder == "." or fixture.startswith(f"{folder}/")
    )


def _age(made: str | None, today: date) -> int | None:
    return (today - date.fromisoformat(made[:10])).days if made else None


def _owners(view: TreeView) -> CodeOwners:
    for path in PLACES:
        entry = view.entries.get(path)
        if entry is not None and entry.is_file:
            return CodeOwners(view.read(path).decode("utf-8", "replace"))
    return CodeOwners("")
