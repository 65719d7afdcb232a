"""Runs one native git hook: what git tells becomes pairs to judge, and the worst answer the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from redbucket.app.again import again
from redbucket.app.ending import ended
from redbucket.app.hand_merge import agents_branch, as_committed, merge_heads
from redbucket.app.hook_report import note_unprotected, tell
from redbucket.app.output import say, undo, worst
from redbucket.app.session import Session, session
from redbucket.core.errors import ACCEPTED, REFUSED, Misused, RedbucketError, Undecided
from redbucket.core.marks import marks_of_environment
from redbucket.core.policy import POLICY_NAME, Policy
from redbucket.core.report import GateReport
from redbucket.edges.progress import Progress
from redbucket.edges.repository import Repository
from redbucket.edges.unfinished import way_back
from redbucket.engine import refupdates
from redbucket.engine.hookbase import Offer, offers
from redbucket.engine.protected import find_base, policy_or_defaults
from redbucket.engine.refupdates import Update
from redbucket.engine.subject import Request


def entry() -> None:
    """What the scripts call: NAME, "full" or "static", protected branches, and git's own arguments."""
    name, mode, protected, *arguments = sys.argv[1:]
    sys.exit(
        ended(
            lambda: run(
                name,
                arguments,
                given(),
                os.environ,
                Path(),
                full=mode == "full",
                protected=protected.split(),
            )
        )
    )


def given() -> list[str]:
    """Return the lines on standard input, [] on a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return []
    return os.fsdecode(sys.stdin.buffer.read()).splitlines()


def run(
    name: str,
    arguments: Sequence[str],
    lines: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    full: bool = False,
    protected: Sequence[str] = (),
) -> int:
    """Run the native hook ``name`` and return its exit code.

    ``lines`` are git's input, ``protected`` the branches known as protected
    when the hook was installed. Raises Misused "unknown-hook".
    """
    if name == "pre-commit":
        return _commit(folder, environment)
    if name == "pre-merge-commit":
        return _merge(folder, environment)
    if name == "pre-push":
        return _push(folder, lines)
    if name == "reference-transaction":
        if arguments[:1] != ["prepared"]:
            return ACCEPTED
        updates = [u for u in refupdates.parse(lines) if u.branch]
        return (
            _updates(folder, updates, environment, protected, full=full, server=False)
            if updates
            else ACCEPTED
        )
    if name == "pre-receive":
        updates = [u for u in refupdates.parse(lines) if u.branch]
        return (
            _updates(folder, updates, environment, protected, full=full, server=True) if updates else ACCEPTED
        )
    raise Misused("unknown-hook", f"there is no native hook {name!r}", "run `redbucket install` again")


# --- a commit in a work tree


def _commit(folder: Path, environment: Mapping[str, str]) -> int:
    """The index against HEAD; a merge that is committed by hand as the merge that it is."""
    index = environment.get("GIT_INDEX_FILE")
    with session(folder, _progress(), index=Path(index) if index else None) as opened:
        if not _exists(opened.repository, "HEAD"):
            return ACCEPTED  # the first commit of all: there is nothing to judge by
        heads = merge_heads(opened.repository)
        if not heads:
            return undo(_finish(opened, Request(), staged=True), way_back(opened.repository))
        if not _on_protected(opened):
            return ACCEPTED  # what others have landed comes into a branch
        base = opened.repository.resolve("HEAD")
        seeing, made = as_committed(opened, heads)
        named = next((name for oid in heads if (name := _name_of(oid, environment))), "")
        named = named or agents_branch(opened, heads)
        agent = bool(marks_of_environment(environment))
        code = _finish(seeing, Request(base=base, head=made, head_ref=named, agent=agent))
        return undo(code, way_back(opened.repository))


def _merge(folder: Path, environment: Mapping[str, str]) -> int:
    """The whole gate, where a protected branch receives."""
    with session(folder, _progress()) as opened:
        if not _on_protected(opened):
            note_unprotected(opened.repository, protected_now(opened))
            return ACCEPTED
        found = offers(environment, [], merge_heads(opened.repository), opened.repository.has, ())
        code = worst([_gate(opened, offer) for offer in found])
        if len(found) > 1 and code == ACCEPTED:
            code = _together(opened, [offer.head for offer in found])
        return undo(code, "git merge --abort")


def _together(opened: Session, heads: Sequence[str]) -> int:
    """The gate on what several heads give together: each by itself may be right, and all of them wrong."""
    seeing, made = as_committed(opened, heads)
    return _finish(seeing, Request(base="HEAD", head=made), full=True)


# --- a push


def _push(folder: Path, lines: Sequence[str]) -> int:
    """Every ref: the whole gate where it lands on a protected branch, the static guards elsewhere."""
    codes = []
    with session(folder, _progress()) as opened:
        if not lines:
            return ACCEPTED  # everything is up to date
        repository = opened.repository
        current = repository.current_branch()
        for offer in offers({}, lines, [], repository.has, protected_now(opened), current):
            codes.append(_gate(opened, offer) if offer.lands else _unlanded(opened, offer))
    return worst(codes)


def _unlanded(opened: Session, offer: Offer) -> int:
    """The static guards over a branch that lands nowhere yet: what does not merge yet is no refusal."""
    request = Request(base=offer.base, head=offer.head, head_ref=offer.head_ref)
    try:
        report = opened.guard(request, None)
    except RedbucketError as error:
        if error.code == "no-base" or isinstance(error, Undecided):
            return ACCEPTED
        raise
    rules = {finding.rule for finding in report.findings if finding.severity.value == "refuse"}
    if rules <= {"merge-conflict"}:
        return ACCEPTED
    return _tell(opened, report)


# --- refs that change


def _updates(
    folder: Path,
    updates: Sequence[Update],
    environment: Mapping[str, str],
    known: Sequence[str],
    *,
    full: bool,
    server: bool,
) -> int:
    codes = []
    with session(folder, _progress(), quarantine=_quarantine(environment)) as opened:
        protected = protected_now(opened, known)
        if not server and known and set(protected) - set(known):
            say(
                "redbucket: note: branches are protected that this hook does not know: run `redbucket install` again\n"
            )
        full = full or _configured(opened.repository)
        for update in updates:
            told = _resolved(opened.repository, update)
            own = () if told.creates else policy_or_defaults(opened.scratch, told.old).gate.protected_branches
            if told.branch in {*protected, *own}:
                codes.append(_update(opened, told, environment, full=full, server=server))
        merging = not server and environment.get("GIT_REFLOG_ACTION", "").startswith(("merge", "pull"))
        # a fast-forward leaves nothing in the git folder to know it by
        return undo(worst(codes), (way_back(opened.repository) or "git reset --merge") if merging else "")


def _update(
    opened: Session, update: Update, environment: Mapping[str, str], *, full: bool, server: bool
) -> int:
    """Judge one change of a protected branch."""
    repository = opened.repository
    if update.old == update.new:
        return ACCEPTED
    if update.deletes and not server and _packs(repository, update):
        return ACCEPTED
    changes = not (update.creates or update.deletes)
    forward = (
        changes
        and not repository.git.run("merge-base", "--is-ancestor", update.old, update.new, ok=(0, 1)).code
    )
    refused = refupdates.refusal(
        update, forward=forward, server=server, marks=marks_of_environment(environment)
    )
    if refused is not None:
        say(f"redbucket: refused: {refused.reason} [{refused.rule}]\n  do this: {refused.remedy}\n")
        return REFUSED
    policy: bytes | None = None
    if update.creates:
        base = _base_of_new(opened, update)
        if base is None:
            say(f"redbucket: note: {update.branch} is new, and there is nothing to judge it by\n")
            return ACCEPTED
    elif forward:
        base = update.old
    else:
        # rewritten here (amend, rebase, reset): what is new counts, by the policy that was
        base = repository.merge_base(update.old, update.new)
        policy = _policy_bytes(opened, update.old)
    source = _source(opened, update, environment, policy_or_defaults(opened.scratch, base))
    request = Request(base=base, head=update.new, head_ref=source, policy=policy)
    return _finish(opened, request, full=full)


def _packs(repository: Repository, update: Update) -> bool:
    """True if `git pack-refs` removes the loose copy of a ref: to the hook it looks like a deletion (git 2.39).

    Where a branch goes away that is packed, git holds the lock of packed-refs while the hook runs.
    """
    packed = repository.common_dir / "packed-refs"
    if packed.with_name("packed-refs.lock").exists() or not packed.exists():
        return False
    return os.fsencode(f"{update.old} {update.ref}") in packed.read_bytes().split(b"\n")


def _base_of_new(opened: Session, update: Update) -> str | None:
    """What a new protected branch is judged against: its remote twin, or another protected branch, or HEAD."""
    repository = opened.repository
    twin = f"refs/remotes/origin/{update.branch}"
    if _exists(repository, twin):
        return repository.resolve(twin)
    try:
        return find_base(repository, tuple(b for b in protected_now(opened) if b != update.branch))
    except Misused as error:
        if error.code != "no-base":
            raise
    head = repository.head_ref()
    return repository.resolve("HEAD") if head != update.ref and _exists(repository, "HEAD") else None


def _source(opened: Session, update: Update, environment: Mapping[str, str], policy: Policy) -> str:
    """The branch that the new tip comes from, as far as git or the refs here tell."""
    git = opened.repository.git
    parents = git.run("rev-parse", f"{update.new}^@").line.split()
    tips = [update.new, *parents[1:]]
    for tip in tips:
        if named := _name_of(tip, environment):
            return named
    for tip in tips:
        refs = git.run(
            "for-each-ref", f"--points-at={tip}", "--format=%(refname)", "refs/heads", "refs/remotes"
        )
        if named := refupdates.source_branch(refs.line.splitlines(), update, policy):
            return named
    return ""


def _resolved(repository: Repository, update: Update) -> Update:
    """The update with the ids that count: git gives zeros for an old value that it was not asked to check."""
    old, new = update.old, update.new
    if update.creates and _exists(repository, update.ref):
        old = repository.resolve(update.ref)
    if new.startswith("ref:"):  # the branch becomes a symbolic ref (git 2.46)
        new = repository.resolve(new.removeprefix("ref:"))
    return Update(update.ref, old, new)


def _quarantine(environment: Mapping[str, str]) -> list[Path]:
    """The object folders that git tells a receiving hook of; what was pushed is nowhere else yet."""
    told = [environment.get("GIT_QUARANTINE_PATH", "") or environment.get("GIT_OBJECT_DIRECTORY", "")]
    told += environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    return [Path(folder) for folder in dict.fromkeys(told) if folder and Path(folder).is_dir()]


def _configured(repository: Repository) -> bool:
    done = repository.git.run("config", "--type=bool", "--get", "redbucket.hook.full", ok=(0, 1))
    return done.line == "true"


# --- what they share


def _progress() -> Progress:
    return Progress(quiet=False, steps=False)


def _exists(repository: Repository, revision: str) -> bool:
    return not repository.git.run(
        "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", ok=(0, 1, 128)
    ).code


def protected_now(opened: Session, known: Sequence[str] = ()) -> tuple[str, ...]:
    """The protected branches: those that the hook was installed with, and those of the policy now."""
    repository, found = opened.repository, list(known)
    try:
        base = find_base(repository, tuple(known) or Policy().gate.protected_branches)
    except Misused as error:
        if error.code != "no-base":
            raise
        base = repository.resolve("HEAD") if _exists(repository, "HEAD") else ""
    policy = policy_or_defaults(opened.scratch, base) if base else Policy()
    return tuple(dict.fromkeys((*found, *policy.gate.protected_branches)))


def _on_protected(opened: Session) -> bool:
    return opened.repository.current_branch() in protected_now(opened)


def _name_of(oid: str, environment: Mapping[str, str]) -> str:
    value = environment.get(f"GITHEAD_{oid}", "")
    return "" if value == oid else value


def _policy_bytes(opened: Session, commit: str) -> bytes:
    view = opened.scratch.tree_view(opened.scratch.tree_of(commit))
    return view.read(POLICY_NAME) if POLICY_NAME in view.entries else b""


def _gate(opened: Session, offer: Offer) -> int:
    return _finish(opened, Request(base=offer.base, head=offer.head, head_ref=offer.head_ref), full=True)


def _finish(opened: Session, request: Request, *, staged: bool = False, full: bool = False) -> int:
    report = opened.gate(request) if full else opened.guard(request, None, staged=staged)
    return _tell(opened, msgspec.structs.replace(report, command=again(request, staged=staged)))


def _tell(opened: Session, report: GateReport) -> int:
    folder = opened.repository.git_dir / "redbucket"
    return tell(report, "the git hook of redbucket", os.environ, folder, quiet=True)
