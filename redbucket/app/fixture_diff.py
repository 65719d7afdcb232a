"""Puts ``fixtures diff`` together with the real world: which fixtures moved, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from redbucket.app.fixture_verify import chosen, commit_of, cpus, policy_of
from redbucket.app.lfs_contents import LARGEST, Contents
from redbucket.core.chosen import Chosen, nothing_at
from redbucket.core.drift import Change, Content, Drift, Side, change_of
from redbucket.core.errors import Misused, Undecided
from redbucket.core.lfs import Filter
from redbucket.core.patch import GITLINK_MODE, SYMLINK_MODE
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy, Volatile
from redbucket.edges.differ import Lines, diff_lines
from redbucket.edges.hashing import Wanted
from redbucket.edges.staged import Staged

Read = Callable[[], Content]


@dataclass(frozen=True)
class Shown:
    """One change, and its lines where it is text."""

    change: Change
    lines: Lines | None = None


def run(
    start: Path, paths: Sequence[str], *, base: str | None, head: str | None, staged: bool, most_lines: int
) -> list[Shown]:
    """Return the recorded fixtures that differ, in the order of their names.

    Without ``base`` and ``head``: HEAD against the work tree, or (``staged``) against the index.
    """
    with closing(Staged.discover(start, cpus=cpus())) as source:
        policy = policy_of(source)
        only = chosen(source.top, start, paths)
        if source.work_tree is None and head is None:
            raise Misused(
                "no-work-tree",
                "a bare repository has neither an index nor a work tree to compare with",
                "name both commits: --base REV --head REV",
            )
        old_commit = commit_of(source, base or "HEAD")
        old_policy = _old_policy(source, old_commit) if base else policy
        old = source.listing(old_commit)
        new = source.listing(commit_of(source, head) if head else None)
        files = head is None and not staged and source.work_tree is not None
        contents = Contents(source)
        filters = [_filter(source, *listing) for listing in (old, new)]
        found = []
        for path, before, after in _pairs(source, (old_policy, policy), old, new, files, only):
            try:
                shown = show(
                    path,
                    contents.of(path, before(), filters[0]),
                    contents.of(path, after(), filters[1]),
                    old_policy.fixtures.volatile,
                    most_lines,
                )
            except Undecided as problem:  # this one is told, the others are shown
                shown = Shown(Change(path, Drift.ABSENT, said=problem.reason))
            if shown.change.drift is not Drift.SAME:
                found.append(shown)
        return found


def _old_policy(source: Staged, commit: str) -> Policy:
    """Return the policy that the old side brought, whose rules nothing on the new side could write.

    The defaults, which declare nothing volatile, where another version of redbucket wrote it.
    """
    try:
        return policy_of(source, commit)
    except Misused:
        return Policy()


def show(path: str, old: Content, new: Content, rules: Sequence[Volatile], most_lines: int) -> Shown:
    """Return a change with its lines."""
    change = change_of(path, old, new, rules)
    wanted = change.is_text and change.drift not in (Drift.SAME, Drift.ADDED, Drift.GONE) and most_lines
    if not wanted or (change.moved and change.drift is not Drift.OPAQUE):
        return Shown(change)
    assert isinstance(old, bytes)
    assert isinstance(new, bytes)
    return Shown(change, diff_lines(old, new, most_lines))


def _pairs(
    source: Staged,
    policies: Sequence[Policy],
    old: tuple[Mapping[str, str], Mapping[str, str]],
    new: tuple[Mapping[str, str], Mapping[str, str]],
    files: bool,
    only: Chosen | None,
) -> Iterator[tuple[str, Read, Read]]:
    judges = [JudgeSide(policy) for policy in policies]

    def is_fixture(path: str) -> bool:
        return any(judge.is_fixture(path) for judge in judges)

    (old_modes, old_oids), (new_modes, new_oids) = old, new
    seen = {}
    untracked: list[str] = []
    others: list[str] = []
    if files:
        wanted: list[Wanted] = [(path, "", oid) for path, oid in new_oids.items() if is_fixture(path)]
        looked = source.compare(wanted)
        # every one is reported, as no checksum is known: what counts is another blob id
        seen = {path: looked[path] for path, _, oid in wanted if looked[path].oid != oid}
        untracked = source.others()()
        others = [path for path in untracked if is_fixture(path)]
    if only is not None and (lost := only.empty([*old_oids, *new_oids, *untracked])):
        raise nothing_at(lost)
    differing = {path for path in {*old_oids, *new_oids} if old_oids.get(path) != new_oids.get(path)}
    chosen_paths = [
        path
        for path in sorted({*differing, *seen, *others})
        if (only is None or only(path)) and is_fixture(path)
    ]
    sizes = source.sizes(oids[path] for path in chosen_paths for oids in (old_oids, new_oids) if path in oids)
    for path in chosen_paths:
        before = partial(_blob, source, path, old_modes, old_oids, sizes)
        if path in seen or path in others:
            state = seen[path].state if path in seen else ""
            yield path, before, _nothing if state == "missing" else partial(_file, source, path, state)
        else:
            yield path, before, partial(_blob, source, path, new_modes, new_oids, sizes)


def _filter(source: Staged, modes: Mapping[str, str], oids: Mapping[str, str]) -> Filter:
    return Filter(modes, lambda path: source.blob(oids[path]))


def _nothing() -> Content:
    return None


def _blob(
    source: Staged, path: str, modes: Mapping[str, str], oids: Mapping[str, str], sizes: Mapping[str, int]
) -> Content:
    oid = oids.get(path)
    if oid is None:
        return None
    if modes[path] == GITLINK_MODE:
        return f"Subproject commit {oid}\n".encode("ascii")
    if modes[path] == SYMLINK_MODE:
        return b"link to " + source.blob(oid) + b"\n"
    return blob_content(source, oid, sizes)


def blob_content(source: Staged, oid: str, sizes: Mapping[str, int] | None = None) -> Content:
    """Return a blob; of one that is too large to be read whole its size and checksum."""
    size = (source.sizes([oid]) if sizes is None else sizes).get(oid, 0)
    return Side(size, source.sha256s([oid])[oid]) if size > LARGEST else source.blob(oid)


def _file(source: Staged, path: str, state: str) -> Content:
    if state:
        return f"({state})\n".encode("ascii")
    place = source.top / path
    try:
        if place.lstat().st_size > LARGEST:
            (seen,) = source.compare([(path, "", "")]).values()
            if seen.state:
                raise Undecided(
                    "unsteady-file", f"in the work tree: {seen.state}", "wait until it is written"
                )
            return Side(seen.size, seen.sha256)
        return source.file(path)
    except OSError as problem:
        raise Misused("unreadable-file", f"{path}: {problem.strerror}", "look at the file") from problem
