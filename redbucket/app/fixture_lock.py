"""Puts ``fixtures lock`` and ``fixtures refresh`` together: propose, show, accept, write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote

from redbucket.app.fixture_diff import Shown, blob_content, show
from redbucket.app.fixture_rules import policy_of, rules_of
from redbucket.app.fixture_verify import chosen, cpus
from redbucket.app.lfs_contents import Contents
from redbucket.core.discrepancies import regular, unlisted
from redbucket.core.drift import Content, NoFile
from redbucket.core.errors import Misused
from redbucket.core.lfs import LARGEST, pointed_at, pointer
from redbucket.core.lockedit import Proposal, edited, refuse_agents, refuse_twins
from redbucket.core.manifests import Locks, Scope, locks_of
from redbucket.core.patch import GITLINK_MODE, SYMLINK_MODE
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy, Volatile
from redbucket.edges import pending
from redbucket.edges.staged import Staged
from redbucket.engine.whoasks import landing_policy, marks_here

LFS = "lfs"  # the name of Git LFS's filter in .gitattributes
_SEARCHED = "50"  # commits of a path in which the locked bytes are looked for


@dataclass
class Desk:
    """The repository, its policy, and the locks as the work tree has them.

    ``rules`` are what the policy of the protected branch calls volatile: a person sees the class of a change by them.
    """

    source: Staged
    policy: Policy
    scope: Scope
    modes: Mapping[str, str]
    oids: Mapping[str, str]
    locks: Locks
    others: Sequence[str] = ()
    rules: Sequence[Volatile] = ()

    def sha_of(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 to lock of each staged file: for an LFS pointer that of its content."""
        paths = list(paths)
        oids = [self.oids[path] for path in paths]
        shas, sizes = self.source.sha256s(oids), self.source.sizes(oids)
        small = [oid for oid, size in sizes.items() if size < LARGEST]
        blobs = dict(zip(small, self.source.blobs(small) if small else [], strict=True))
        pointed = {oid: sha for oid, raw in blobs.items() if (sha := pointed_at(raw or b""))}
        # a pointer that git has no filter for is never replaced by its content: it is what tests read
        filters = self.source.filters([p for p, oid in zip(paths, oids, strict=True) if oid in pointed])
        return {
            path: pointed[oid] if filters.get(path) == LFS else shas[oid]
            for path, oid in zip(paths, oids, strict=True)
        }

    def proposals(self, paths: Iterable[str]) -> list[Proposal]:
        """Return what locking the staged bytes of ``paths`` would change."""
        shas = self.sha_of(paths)
        found = []
        for path, sha in sorted(shas.items()):
            listed = self.locks.listed.get(path)
            if listed is not None and listed.sha256 == sha:
                continue
            lock = listed.lock if listed else self.locks.lock_for(path) or _first(self.policy)
            folder = lock[: lock.rfind("/") + 1]
            found.append(
                Proposal(path, lock, path.removeprefix(folder), listed.sha256 if listed else None, sha)
            )
        return found


@contextmanager
def desk(start: Path) -> Iterator[Desk]:
    """Open the repository for a human's edit. Raises Refused for an agent, Misused without a work tree."""
    with closing(Staged.discover(start, cpus=cpus())) as source:
        if source.work_tree is None:
            raise Misused("no-work-tree", "a bare repository has no lock to edit", "run it in a clone")
        rules = rules_of(source)
        refuse_agents(_marks(source, start, rules.own))
        landing = landing_policy(source, lambda commit: policy_of(source, commit), lambda: rules.own)
        opened = laid_out(source, *rules.policies)
        yield replace(opened, rules=(landing or rules.own).fixtures.volatile)


def _marks(source: Staged, start: Path, own: Policy) -> list[str]:
    """Return why this looks like an agent's work."""
    from redbucket.edges.repository import Repository

    history = Repository.discover(start)
    return marks_here(history, os.environ, lambda commit: policy_of(source, commit), lambda: own)  # type: ignore[arg-type]


def laid_out(source: Staged, policy: Policy, *besides: Policy) -> Desk:
    """Return the desk under ``policy``, and what the policies ``besides`` name. Raises Misused "flawed-lock"."""
    scope = Scope(*map(JudgeSide, (policy, *besides)))
    modes, oids = source.opened(source.listing(), scope.holds_fixtures)
    others = source.others()()
    seen = {**dict.fromkeys(scope.candidates(others), "100644"), **modes}
    locks = locks_of(scope, seen, lambda path: pending.content(source.top / path) or b"")
    for lock in locks.locks:
        if lock.checksums.flaws and lock.checksums.flaws[0].number:
            edited(pending.content(source.top / lock.path), lock.path, ())
    return Desk(source, policy, scope, modes, oids, locks, others)


def new_files(opened: Desk, start: Path, paths: Sequence[str]) -> list[Proposal]:
    """Return the recorded fixtures that no lock lists; of ``paths`` also such as no lock must list."""
    if opened.locks.folders:
        free = unlisted(opened.modes, opened.locks, opened.scope)
    else:
        free = [p for p in opened.modes if p not in opened.locks.shas and opened.scope.is_recorded(p)]
    only = chosen(opened.source.top, start, paths)
    if only is not None:
        named = {path for path in opened.modes if path in {_from_top(opened, start, p) for p in paths}}
        free = sorted({*filter(only, free), *(p for p in named if p not in opened.locks.shas)})
        _require_tracked(opened, start, paths)
    return opened.proposals(regular(opened.modes, free))


def unstaged_new(opened: Desk, start: Path, paths: Sequence[str]) -> list[str]:
    """Return the recorded fixtures that git does not track yet, below ``paths`` where some are named."""
    only = chosen(opened.source.top, start, paths)
    free = (
        path
        for path in opened.others
        if path not in opened.locks.shas
        and opened.scope.is_recorded(path)
        # of a repository of its own (which ends in a slash) and of a link nothing can be locked
        and not (path.endswith("/") or opened.source.is_link(path))
    )
    return sorted(filter(only, free))


def refreshed(opened: Desk, start: Path, names: Sequence[str]) -> list[Proposal]:
    """Return the locked fixtures of ``names`` whose staged bytes are not the locked ones."""
    paths = []
    for name in names:
        path = _from_top(opened, start, name)
        if path not in opened.locks.shas:
            raise Misused(
                "not-locked", f"no lock lists {path}", f"lock it first: redbucket fixtures lock {quote(path)}"
            )
        if path not in regular(opened.modes, [path]):
            raise Misused(
                "not-staged", f"git has no file staged at {path}", "git add it; refresh never deletes a line"
            )
        paths.append(path)
    found = opened.proposals(dict.fromkeys(paths))
    staged = {each.path for each in found}
    for path in changed_only_in_work_tree(opened, [path for path in paths if path not in staged]):
        raise Misused(
            "not-staged",
            f"{path} is changed in the work tree, and what is staged is what is locked",
            f"stage it first: git add {quote(path)}",
        )
    return found


def changed_only_in_work_tree(opened: Desk, paths: Sequence[str]) -> list[str]:
    """Return those of ``paths`` whose file is there and is not what is staged, as far as git's own rules say.

    No filter is run: of Git LFS its pointers say enough, of any other nothing can be said.
    """
    filters = opened.source.filters(paths)
    lfs = [path for path in paths if filters.get(path) == LFS]
    seen = opened.source.compare([(path, "", opened.oids[path]) for path in lfs])
    shas = opened.sha_of(lfs)
    found = [
        path
        for path, there in seen.items()
        if not there.state and there.oid != opened.oids[path] and there.sha256 != shas[path]
    ]
    plain = [path for path in paths if path not in filters]
    if not plain:
        return found
    words = ("diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=d")
    return found + os.fsdecode(opened.source.run(*words, "--", *plain)).split("\0")[:-1]


def _require_tracked(opened: Desk, start: Path, paths: Sequence[str]) -> None:
    for name in paths:
        path = _from_top(opened, start, name)
        if path not in opened.modes and not any(p.startswith(f"{path}/") or not path for p in opened.modes):
            raise Misused("not-staged", f"git has nothing staged at {path}", f"git add {quote(path)}")
        if opened.modes.get(path) == SYMLINK_MODE:
            raise Misused(
                "not-a-file",
                f"{path} is a symbolic link, and a lock holds files",
                "put the file itself there",
            )
        if opened.modes.get(path) == GITLINK_MODE:
            raise Misused(
                "not-a-file",
                f"{path} is a submodule whose files are not here",
                f"git submodule update --init {quote(path)}",
            )


def _from_top(opened: Desk, start: Path, name: str) -> str:
    place = os.path.normpath(start.resolve() / name)
    path = os.path.relpath(place, opened.source.top.resolve())
    return "" if path == os.curdir else path


def _first(policy: Policy) -> str:
    """The name of the lock that is made where there is none: the policy's first without wildcards."""
    plain = (name for name in policy.fixtures.manifests if not set(name) & set("*?[!"))
    return next(plain, "fixtures.sha256").lstrip("/")


def shown(opened: Desk, proposal: Proposal, most_lines: int) -> Shown:
    """Return the change from the locked bytes to the staged ones, as far as the locked bytes can be found."""
    contents = Contents(opened.source)
    old: Content = None
    if proposal.old:
        found = _locked_bytes(opened, proposal, contents)
        old = NoFile(f"bytes {proposal.old[:16]}, which are not here") if found is None else found
    staged = blob_content(opened.source, opened.oids[proposal.path])
    new = contents.of(proposal.path, staged, lambda path: opened.source.filters([path]).get(path) == LFS)
    return show(proposal.path, old, new, opened.rules, most_lines)


def _locked_bytes(opened: Desk, proposal: Proposal, contents: Contents) -> Content:
    out = opened.source.run(
        *(
            "log",
            "--format=",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "-m",
            "-n",
            _SEARCHED,
            "--",
            proposal.path,
        )
    )
    oids = {
        word.decode("ascii") for row in out.split(b"\n") if row.startswith(b":") for word in row.split()[2:4]
    }
    known = [oid for oid in oids if set(oid) != {"0"}]
    for oid, sha in opened.source.sha256s(known).items():
        if sha == proposal.old:
            return blob_content(opened.source, oid)
    small = [oid for oid, size in opened.source.sizes(known).items() if size < LARGEST]
    for raw in opened.source.blobs(small) if small else ():
        stands_for = pointer(raw or b"")
        if stands_for is not None and stands_for.sha256 == proposal.old:
            return contents.pointed_at(stands_for)
    return None


def propose(opened: Desk, proposals: Sequence[Proposal]) -> list[Path]:
    """Write each lock as it would become into the git folder, and return the places."""
    done = [
        (pending.place_of(opened.source.git_dir, lock), data) for lock, data in _edited(opened, proposals)
    ]
    for place, data in done:
        pending.make_room(place)
        pending.replace(place, data)
    return [place for place, _ in done]


def apply(opened: Desk, accepted: Sequence[Proposal]) -> None:
    """Put the accepted lines into their locks, on top of whatever was accepted meanwhile."""
    with pending.one_writer(opened.source.common_dir):
        for lock, data in _edited(opened, accepted):
            pending.replace(opened.source.top / lock, data)
            _remove_settled(pending.place_of(opened.source.git_dir, lock), data)


def first_lock(opened: Desk) -> tuple[str, bytes, int]:
    """Return the path and the bytes of the lock that ``fixtures lock`` would make here, and how many files it lists.

    The bytes are empty where there is nothing to lock.
    """
    proposals = new_files(opened, opened.source.top, ())
    done = _edited(opened, proposals)
    return (*done[0], len(proposals)) if done else (_first(opened.policy), b"", 0)


def _edited(opened: Desk, proposals: Sequence[Proposal]) -> list[tuple[str, bytes]]:
    """Return each lock with its new bytes; nothing is written before every edit was found possible."""
    refuse_twins(opened.locks.shas, [each.path for each in proposals if each.old is None])
    return [
        (
            lock,
            edited(
                pending.content(opened.source.top / lock),
                lock,
                [each for each in proposals if each.lock == lock],
            ),
        )
        for lock in sorted({each.lock for each in proposals})
    ]


def _remove_settled(place: Path, data: bytes) -> None:
    """A proposed lock that became the lock is not pending any more."""
    with contextlib.suppress(OSError):
        if not place.is_symlink() and place.read_bytes() == data:
            place.unlink()


def accepted_by(opened: Desk, proposals: Sequence[Proposal], words: Sequence[str]) -> list[Proposal]:
    """Return the proposals that ``NAME=SHA256`` words accept; a lock's own name and checksum accept all of it.

    Raises Misused for a word that fits none.
    """
    by_path: Mapping[str, Proposal] = {each.path: each for each in proposals}
    found: dict[str, Proposal] = {}
    for word in words:
        name, _, sha = word.rpartition("=")
        mine = [each for each in proposals if each.lock == name]
        if mine:
            new = proposed_sha(opened, mine)
        elif name in by_path:
            mine, new = [by_path[name]], by_path[name].new
        else:
            raise Misused(
                "not-proposed",
                f"{name or word!r} is not among what can be accepted",
                "run it without --accept",
            )
        if new != sha.lower():
            raise Misused("not-as-shown", f"{name} is {new} now, not {sha}", "look at it again")
        found.update((each.path, each) for each in mine)
    return list(found.values())


def proposed_sha(opened: Desk, proposals: Sequence[Proposal]) -> str:
    """Return the SHA-256 of one lock as it would become."""
    lock = proposals[0].lock
    return sha256(edited(pending.content(opened.source.top / lock), lock, proposals)).hexdigest()
