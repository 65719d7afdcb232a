"""What is judged: base, head, policy, merge tree, patch, identity, and the worlds' trees."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property

from redbucket.core import worlds
from redbucket.core.errors import Misused, Undecided
from redbucket.core.identity import Identity, decide, endorsements
from redbucket.core.patch import Change, Commit, Entry, Hunk, Patch, Person
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import POLICY_NAME, Policy, parse
from redbucket.engine.evilmerges import by_hand, evil_merges
from redbucket.engine.ports import History, Objects
from redbucket.engine.protected import (
    base_branch,
    branch_of,
    find_base,
    marked_branch,
    policy_for,
    protected_branches,
)
from redbucket.engine.today import utc_today
from redbucket.guards.context import Context, TreeView


@dataclass(frozen=True)
class Request:
    """What the caller asks for; ``None`` means "as the policy says"."""

    base: str | None = None
    head: str | None = None
    head_ref: str = ""
    policy: bytes | None = None
    policy_name: str = POLICY_NAME
    agent: bool = False
    squashed: tuple[str, ...] = ()
    reruns: int | None = None
    scope: str | None = None
    doubt: float | None = None
    timeout: float | None = None
    budget: float | None = None
    misses: tuple[str, ...] = ()
    runner: str | None = None
    shards: int | None = None


@dataclass(frozen=True)
class Subject:
    """One patch, ready to be judged.

    Where no tests are to be run, ``h_tree`` is "", ``distrusted`` is empty and
    ``sides`` lacks the merge tree. ``h_tree`` is also "" where the merge conflicts.
    ``restored`` are paths that a commit to be made puts back to the protected branch's bytes.
    """

    policy: Policy
    judge: JudgeSide
    patch: Patch
    identity: Identity
    base_tree: str
    merged_tree: str
    conflicts: tuple[str, ...]
    base: TreeView
    merged: TreeView
    ancestor: TreeView
    distrusted: frozenset[str]
    endorsed: frozenset[str]
    sides: worlds.Sides
    net: tuple[Change, ...]
    h_tree: str
    evil_merges: Callable[[], Mapping[str, tuple[str, ...]]] = dict
    rewrites: Callable[[], tuple[str, ...]] = tuple
    base_name: str = ""
    misses: tuple[str, ...] = ()
    restored: frozenset[str] = frozenset()

    @property
    def product_changes(self) -> tuple[Change, ...]:
        """The net changes that are no judge side."""
        return tuple(c for c in self.net if not self.judge.is_judge(c.path))

    @cached_property
    def touched(self) -> frozenset[str]:
        """The paths that the patch changes, against the merge base or in the merge tree."""
        return frozenset(change.path for change in (*self.patch.changes, *self.net))

    def context(self, today: date | None = None, *, scope: str = "") -> Context:
        """Return what the static guards are given.

        Freezes are held against ``today`` (UTC; default: the clock's). ``scope``
        "tree" asks for what is in the whole tree, not in the patch alone.
        """
        return Context(
            policy=self.policy,
            patch=self.patch,
            base=self.base,
            head=self.merged,
            ancestor=self.ancestor,
            agent_paths=self.identity.agent_paths - self.endorsed - self.restored,
            put_back=self.identity.put_back,
            marks=self.identity.marks,
            evil_merges=self.evil_merges,
            rewrites=self.rewrites,
            misses=self.misses,
            extra={"today": (today or utc_today()).isoformat(), "scope": scope},
        )


def require_merged(subject: Subject) -> None:
    """Raise Undecided "merge-conflict" where the patch can't be run for want of a merge tree."""
    if subject.conflicts:
        raise Undecided(
            "merge-conflict",
            f"head and base conflict in {subject.conflicts[0]}",
            "merge or rebase head on base, and try again",
        )


def examine(
    request: Request,
    history: History,
    objects: Objects,
    environment: Mapping[str, str] | None = None,
    *,
    runs: bool = True,
) -> Subject:
    """Return the subject of a request; without ``runs`` the worlds are not made.

    Raises Misused, Undecided or WorldFailed where there is nothing to judge.
    """
    policy = parse(request.policy, request.policy_name) if request.policy is not None else None
    head = history.resolve(request.head or "HEAD")
    base_name = request.base or ""
    if request.base is not None:
        base = history.resolve(request.base)
    else:
        branches = policy.gate.protected_branches if policy else protected_branches(history, objects)
        base, base_name = base_branch(history, branches)
    merge_base = history.merge_base(base, head)
    merged = objects.merge_tree(base, head)
    policy = policy or policy_for(objects, base, merged.tree)
    commits = tuple(by_hand(commit, objects) for commit in history.commits(merge_base, head))
    if policy.identity.allowed_signers:
        allowed = _signers(policy, objects.tree_view(objects.tree_of(base)))
        signed = history.signers(merge_base, head, allowed)
        commits = tuple(replace(c, signed_by=signed.get(c.oid)) for c in commits)
    branch = request.head_ref or marked_branch(
        branch_of(request.head, history), head, history.refs_at, policy
    )
    offered = Offered(
        base, head, merge_base, objects.tree_of(head), merged.tree, merged.conflicts, commits, branch
    )
    subject = _subject(request, objects, policy, offered, environment, runs=runs)
    return replace(
        subject,
        evil_merges=cache(lambda: evil_merges(commits, objects)),
        rewrites=history.rewrites,
        base_name=base_name,
    )


def examine_index(
    request: Request,
    history: History,
    objects: Objects,
    tree: str,
    environment: Mapping[str, str] | None,
) -> Subject:
    """Return the subject of a commit that is about to be made: ``tree`` (the index) against HEAD.

    ``request.base`` is HEAD's id for a caller who knows it, ``request.squashed`` the commits that
    ``git merge --squash`` put into the index, newest first: what they touched is whose they are.
    """
    base = request.base or history.resolve("HEAD")
    policy = parse(request.policy, request.policy_name) if request.policy else policy_for(objects, base, tree)
    branch = request.head_ref or history.current_branch()
    commits: tuple[Commit, ...] = ()
    if request.squashed:
        commits, branch = _squashed(request.squashed, base, tree, branch, policy, history, objects)
    offered = Offered(base, base, base, tree, tree, (), commits, branch)
    subject = _subject(request, objects, policy, offered, environment, runs=False)
    restored = _restored(subject, base, tree, history, objects) if subject.identity.agent else frozenset()
    return replace(subject, rewrites=history.rewrites, restored=restored)


def _restored(subject: Subject, base: str, tree: str, history: History, objects: Objects) -> frozenset[str]:
    """Return the changed paths that ``tree`` has as the protected branch has them, or had them where this one left it.

    HEAD is the patch itself on an agent's branch: what undoes it there is a change of HEAD's bytes, and no change of
    the judge.
    """
    try:
        tip = find_base(history, subject.policy.gate.protected_branches)
    except Misused:  # there is no protected branch: nothing says what to go back to
        return frozenset()
    places = {tip}
    with contextlib.suppress(Undecided):
        places.add(history.merge_base(base, tip))
    changed = {change.path for change in subject.patch.changes}
    return frozenset(
        path
        for place in places - {base}
        for path in changed - {change.path for change in objects.diff(objects.tree_of(place), tree)}
    )


@dataclass(frozen=True)
class Offered:
    """What is offered, in ids: commits, trees, and the commits of the range."""

    base: str
    head: str
    merge_base: str
    head_tree: str
    merged_tree: str
    conflicts: tuple[str, ...]
    commits: tuple[Commit, ...]
    branch: str


def _subject(
    request: Request,
    objects: Objects,
    policy: Policy,
    offered: Offered,
    environment: Mapping[str, str] | None,
    *,
    runs: bool,
) -> Subject:
    base_tree, ancestor_tree = objects.tree_of(offered.base), objects.tree_of(offered.merge_base)
    merged_tree = offered.merged_tree
    signers_known = bool(policy.identity.allowed_signers)
    changes = objects.diff(ancestor_tree, offered.head_tree)
    python = [c.path for c in changes if c.path.endswith(".py")]
    patch = Patch(
        base=offered.base,
        head=offered.head,
        merge_base=offered.merge_base,
        changes=changes,
        commits=offered.commits,
        hunks=_Hunks(lambda: objects.hunks(ancestor_tree, offered.head_tree, python)),
        branch=offered.branch,
    )
    judge = JudgeSide(policy)
    identity = decide(
        patch, policy, environment=environment, agent_flag=request.agent, signers_known=signers_known
    )
    net = () if offered.conflicts else objects.diff(base_tree, merged_tree)
    base, merged = objects.tree_view(base_tree), objects.tree_view(merged_tree)
    endorsed = _endorsed(patch, policy, merged, objects) if signers_known else frozenset()
    suspects = identity.agent_paths - endorsed
    # only the worlds ask for it, and each of 10,000 changed paths would be matched once more
    judging = (c.path for c in net if runs and c.path in suspects and judge.is_judge(c.path))
    distrusted = frozenset(judging)
    sides = worlds.Sides(
        base=base.entries,
        merged=merged.entries if runs else {},
        is_judge=judge.is_judge,
        is_fixture=judge.is_fixture,
        distrusted=distrusted,
        composed=_composed(objects, judge, net, suspects, base, merged_tree) if runs else {},
    )
    return Subject(
        policy=policy,
        judge=judge,
        patch=patch,
        identity=identity,
        base_tree=base_tree,
        merged_tree=merged_tree,
        conflicts=offered.conflicts,
        base=base,
        merged=merged,
        ancestor=objects.tree_view(ancestor_tree),
        distrusted=distrusted,
        endorsed=endorsed,
        sides=sides,
        net=net,
        misses=request.misses,
        h_tree=objects.write_tree(merged_tree, worlds.judged(sides))
        if runs and not offered.conflicts
        else "",
    )


class _Hunks(Mapping[str, tuple[Hunk, ...]]):
    """The hunks of a patch, read when the first one is asked for."""

    def __init__(self, read: Callable[[], Mapping[str, tuple[Hunk, ...]]]) -> None:
        self._read = read

    @cached_property
    def _hunks(self) -> Mapping[str, tuple[Hunk, ...]]:
        return self._read()

    def __getitem__(self, path: str) -> tuple[Hunk, ...]:
        return self._hunks[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hunks)

    def __len__(self) -> int:
        return len(self._hunks)


def _signers(policy: Policy, base: TreeView) -> bytes:
    path = policy.identity.allowed_signers
    entry = base.entries.get(path)
    if entry is None:
        raise Misused(
            "no-allowed-signers",
            f"identity.allowed_signers names {path}, which base does not have",
            "commit the file to the protected branch first, or remove the key",
        )
    if not entry.is_file:
        raise Misused(
            "no-allowed-signers",
            f"identity.allowed_signers names {path}, which is a link or a submodule at base",
            "make it a regular file",
        )
    return base.read(path)


def _endorsed(patch: Patch, policy: Policy, merged: TreeView, objects: Objects) -> frozenset[str]:
    """Return the paths whose bytes in the merge tree a commit of the range endorses.

    An id says what the bytes are, not what they are to git: a link or a submodule
    counts only where the endorsing commit's own tree has the same one.
    """
    found = set()
    for commit in patch.commits:
        for oid, path in endorsements((commit,), policy):
            entry = merged.entries.get(path)
            if entry is None:
                if set(oid) == {"0"}:
                    found.add(path)
            elif entry.oid == oid and (
                entry.is_file or objects.entries(objects.tree_of(commit.oid)).get(path) == entry
            ):
                found.add(path)
    return frozenset(found)


def _composed(
    objects: Objects,
    judge: JudgeSide,
    net: tuple[Change, ...],
    agent_paths: frozenset[str],
    base: TreeView,
    merged_tree: str,
) -> dict[str, Entry | None]:
    """Shared configuration files of which an agent changed the part that judges."""
    from redbucket.core.shared_config import compose  # its readers cost a hook more than the rest

    merged = objects.tree_view(merged_tree)
    composed: dict[str, Entry | None] = {}
    for change in net:
        path = change.path
        if path not in agent_paths or not judge.is_shared_config(path):
            continue
        if any(e is not None and not e.is_file for e in (change.old, change.new)):
            composed[path] = change.old
            continue
        old = base.read(path) if change.old else None
        new = merged.read(path) if change.new else None
        name = path.rpartition("/")[2]
        mixed = compose(name, old, new)
        if mixed is None:
            composed[path] = None
        elif mixed != new:
            mode = (change.new or change.old or Entry("100644", "")).mode
            composed[path] = Entry(mode, objects.write_blob(mixed))
    return composed


def judging_parts_differ(name: str, old: bytes | None, new: bytes | None) -> bool:
    """True if the test configuration inside a shared file changed; unreadable counts as changed."""
    from redbucket.core.shared_config import judging_part

    try:
        parts = [judging_part(name, raw) if raw is not None else None for raw in (old, new)]
    except ValueError:
        return True
    return (parts[0] or None) != (parts[1] or None)


def _squashed(
    oids: tuple[str, ...],
    base: str,
    tree: str,
    branch: str,
    policy: Policy,
    history: History,
    objects: Objects,
) -> tuple[tuple[Commit, ...], str]:
    """Return the commits that were squashed into the index, and the branch whose name counts.

    What the index changes besides is whoever's runs the command: no commit has it yet.
    """
    tip = oids[0]
    merge_base = history.merge_base(base, tip)
    commits = history.commits(merge_base, tip)
    if policy.identity.allowed_signers:
        allowed = _signers(policy, objects.tree_view(objects.tree_of(base)))
        signed = history.signers(merge_base, tip, allowed)
        commits = tuple(replace(c, signed_by=signed.get(c.oid)) for c in commits)
    known = {path for commit in commits for path in commit.touched}
    own = tuple(c.path for c in objects.diff(objects.tree_of(base), tree) if c.path not in known)
    nobody = Person("", "")
    index = Commit("0" * len(tip), (tip,), nobody, nobody, "", own, signed_by="the index")
    return (index, *commits), marked_branch(branch, tip, history.refs_at, policy)


def require_judgeable(subject: Subject) -> None:
    """Raise Undecided for a patch whose judge side is not in the repository's objects.

    A submodule that base has already is empty in both worlds alike; one that the
    patch moves would be judged by nothing.
    """
    links = sorted(
        c.path
        for c in subject.net
        if subject.judge.is_judge(c.path) and any(e is not None and e.is_gitlink for e in (c.old, c.new))
    )
    if links:
        raise Undecided(
            "submodule-not-initialised",
            f"the patch moves judge-side submodules, whose content git does not have here: {', '.join(links[:3])}",
            "a human moves the submodule, or the files are vendored",
        )
