"""Puts ``fixtures diff`` together with the real world: which fixtures moved, and how."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from redbucket.app.fixture_rules import policy_of, rules_of
from redbucket.app.fixture_verify import chosen, cpus
from redbucket.app.lfs_contents import LARGEST, Contents
from redbucket.core.chosen import Chosen, nothing_at
from redbucket.core.drift import Change, Content, Drift, NoFile, Side, change_of
from redbucket.core.errors import Misused, Undecided
from redbucket.core.lfs import Filter
from redbucket.core.manifests import Scope
from redbucket.core.patch import GITLINK_MODE, SYMLINK_MODE
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy, Volatile
from redbucket.edges.differ import Lines, diff_lines
from redbucket.edges.hashing import BEHIND_LINK, MISSING, NOT_A_FILE, Wanted
from redbucket.edges.staged import Listing, Staged

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
        rules = rules_of(source)
        policy = rules.own
        only = chosen(source.top, start, paths)
        if source.work_tree is None and head is None:
            raise Misused(
                "no-work-tree",
                "a bare repository has neither an index nor a work tree to compare with",
                "name both commits: --base REV --head REV",
            )
        # before the first commit there is nothing yet to compare with
        old_commit = None if base is None and source.is_unborn() else source.resolve(base or "HEAD")
        old_policy = _old_policy(source, old_commit) if base and old_commit else policy
        judges = [JudgeSide(each) for each in (*rules.policies, old_policy)]
        old, new = _opened(
            source,
            source.listing(old_commit) if old_commit else ({}, {}),
            source.listing(source.resolve(head) if head else None),
            judges,
        )
        files = head is None and not staged and source.work_tree is not None
        contents = Contents(source)
        filters = [_filter(source, *listing) for listing in (old, new)]
        found = []
        for path, before, after in _pairs(source, judges, old, new, files, only):
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


def _opened(
    source: Staged, old: Listing, new: Listing, judges: Sequence[JudgeSide]
) -> tuple[Listing, Listing]:
    """Return both listings with the files of those submodules of which either side's commit is here."""
    sides = [(modes, oids) for modes, oids in (old, new)]

    def both(path: str) -> bool:
        if not any(Scope(judge).holds_fixtures(path) for judge in judges):
            return False
        return all(source.lends(path, oids[path]) for modes, oids in sides if modes.get(path) == GITLINK_MODE)

    return source.opened(old, both), source.opened(new, both)


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
    judges: Sequence[JudgeSide],
    old: Listing,
    new: Listing,
    files: bool,
    only: Chosen | None,
) -> Iterator[tuple[str, Read, Read]]:
    def is_fixture(path: str) -> bool:
        return any(judge.is_fixture(path) for judge in judges)

    (old_modes, old_oids), (new_modes, new_oids) = old, new
    here: dict[str, Read] = {}
    untracked: list[str] = []
    if files:
        wanted: list[Wanted] = [(path, "", oid) for path, oid in new_oids.items() if is_fixture(path)]
        submodules = {path for path, _, _ in wanted if new_modes[path] == GITLINK_MODE}
        looked = source.compare(wanted)
        # every one is reported, as no checksum is known: what counts is another blob id
        seen = {path: looked[path].state for path, _, oid in wanted if looked[path].oid != oid}
        gone = [path for path, state in seen.items() if state == MISSING]
        sparse = source.left_out(gone) if gone else frozenset()
        untracked = source.others()()
        here = {path: partial(_file, source, path, "") for path in untracked if is_fixture(path)}
        here.update({folder: _closed for folder in source.closed if is_fixture(f"{folder}file")})
        for path, state in seen.items():
            if path in submodules and state in (MISSING, NOT_A_FILE) and not source.checked_out(path):
                here[path] = _not_initialised
            elif path not in sparse:
                here[path] = partial(_file, source, path, state)
            elif old_oids.get(path) == new_oids[path]:  # otherwise the index has something to show
                here[path] = _left_out
    if only is not None and (lost := only.empty([*old_oids, *new_oids, *untracked])):
        raise nothing_at(lost)
    differing = {path for path in {*old_oids, *new_oids} if old_oids.get(path) != new_oids.get(path)}
    chosen_paths = [
        path
        for path in sorted({*differing, *here})
        if (only is None or only(path)) and (path in here or is_fixture(path))
    ]
    sizes = source.sizes(oids[path] for path in chosen_paths for oids in (old_oids, new_oids) if path in oids)
    for path in chosen_paths:
        before = partial(_blob, source, path, old_modes, old_oids, sizes)
        after = here.get(path) or partial(_blob, source, path, new_modes, new_oids, sizes)
        yield path, before, after


def _filter(source: Staged, modes: Mapping[str, str], oids: Mapping[str, str]) -> Filter:
    return Filter(modes, lambda path: source.blob(oids[path]))


def _closed() -> Content:
    return NoFile("a folder that can't be read")


def _left_out() -> Content:
    return NoFile("left out by the sparse checkout", absent=True)


def _not_initialised() -> Content:
    return NoFile("not initialised (git submodule update --init)", absent=True)


def _blob(
    source: Staged, path: str, modes: Mapping[str, str], oids: Mapping[str, str], sizes: Mapping[str, int]
) -> Content:
    oid = oids.get(path)
    if oid is None:
        return None
    if modes[path] == GITLINK_MODE:
        return _submodule(oid)
    if modes[path] == SYMLINK_MODE:
        return _link(os.fsdecode(source.blob(oid)))
    return blob_content(source, oid, sizes)


def _submodule(commit: str) -> NoFile:
    return NoFile(f"repository at commit {commit}")


def _link(target: str) -> NoFile:
    return NoFile(f"link to {target}")


def blob_content(source: Staged, oid: str, sizes: Mapping[str, int] | None = None) -> Content:
    """Return a blob; of one that is too large to be read whole its size and checksum."""
    size = (source.sizes([oid]) if sizes is None else sizes).get(oid, 0)
    return Side(size, source.sha256s([oid])[oid]) if size > LARGEST else source.blob(oid)


def _file(source: Staged, path: str, state: str) -> Content:
    """Return what stands in the work tree; ``state`` is what was seen there first."""
    if state == BEHIND_LINK:
        return NoFile("something behind a link")
    place = source.top / path
    try:
        found = place.lstat()
        if stat.S_ISLNK(found.st_mode):
            return _link(str(place.readlink()))
        if stat.S_ISDIR(found.st_mode):
            commit = source.checked_out(path)
            return _submodule(commit) if commit else NoFile("a folder")
        if not stat.S_ISREG(found.st_mode):
            return NoFile("a pipe" if stat.S_ISFIFO(found.st_mode) else "a socket or a device")
        if found.st_size > LARGEST:
            (seen,) = source.compare([(path, "", "")]).values()
            if seen.state:
                raise Undecided(
                    "unsteady-file", f"in the work tree: {seen.state}", "wait until it is written"
                )
            return Side(seen.size, seen.sha256)
        return source.file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        return NoFile(f"a file that can't be read ({problem.strerror})")
