"""Runs one of redbucket's hooks: finds base and head, judges, prints, returns the exit code."""

from __future__ import annotations

import gc
import os
import select
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from redbucket.app.again import again
from redbucket.app.ending import ended
from redbucket.app.hand_merge import agents_branch, as_committed, merge_heads
from redbucket.app.hook_report import note_unprotected, tell
from redbucket.app.output import finish, say, undo, worst
from redbucket.app.session import Session, UserHistory, session
from redbucket.core.errors import ACCEPTED, Misused, RedbucketError
from redbucket.core.findings import Severity
from redbucket.core.marks import marks_of_environment
from redbucket.core.policy import Policy
from redbucket.edges.progress import Progress
from redbucket.edges.unfinished import way_back
from redbucket.engine.hookbase import Offer, offers
from redbucket.engine.protected import find_base, policy_or_defaults
from redbucket.engine.subject import Request

# The static hooks, by the name that users write, and the guards behind each.
STATIC: dict[str, tuple[str, ...]] = {
    "protected-paths": ("protected-path", "broken-policy"),
    "untrusted-tests": ("altered-test", "weakened-test", "untrusted-test"),
    "fixture-checksums": ("fixture-checksum",),
    "flake-expiry": ("flake-expiry",),
}


def main(name: str) -> int:
    """Run a hook in the current folder and return its exit code; what pre-commit calls, without the command line."""
    if name in STATIC:
        gc.disable()  # syntax trees have no cycles, and the process is over in a moment
    return ended(lambda: run(name, Path(), os.environ))


def run(
    name: str,
    folder: Path,
    environment: Mapping[str, str],
    arguments: Sequence[str] = (),
    *,
    verbose: bool = False,
) -> int:
    """Run hook ``name`` and return the worst exit code of what it judged.

    ``arguments`` are git's own; only pre-push has any, and then it has standard input too.
    """
    if name != "gate" and name not in STATIC:
        raise Misused("unknown-hook", f"there is no hook {name!r}", f"known: gate, {', '.join(STATIC)}")
    index = environment.get("GIT_INDEX_FILE")
    with session(folder, Progress(quiet=False, steps=False), index=Path(index) if index else None) as opened:
        history = UserHistory(opened.repository)
        tip = _tip(history)
        if not tip:
            return ACCEPTED  # the first commit of all: there is nothing to judge by
        pushed = _pushed(environment, arguments)
        if pushed == [] and arguments:
            return ACCEPTED  # everything is up to date
        current = history.current_branch()
        protected = _protected(opened, history, tip)
        heads = merge_heads(opened.repository)
        found = offers(environment, pushed or [], heads, opened.repository.has, protected, current)
        if any(offer.base == "HEAD" for offer in found):
            if current and current not in protected:
                note_unprotected(opened.repository, protected, current)
                return ACCEPTED  # what others have landed comes into a branch; it is judged where it lands
            if not any(offer.head not in heads for offer in found):
                code = _judge_by_hand(opened, name, heads, found[0].head_ref, environment, verbose=verbose)
                return undo(code, way_back(opened.repository))
        code = worst([_judge(opened, name, offer, history, environment, verbose=verbose) for offer in found])
        merging = any(offer.base == "HEAD" for offer in found)
        if merging and len(found) > 1 and code == ACCEPTED:
            # each head by itself may be right, and all of them together wrong
            seeing, made = as_committed(opened, [offer.head for offer in found])
            code = _report(seeing, name, Request(base="HEAD", head=made), environment, verbose=verbose)
        return undo(code, "git merge --abort" if merging else way_back(opened.repository))


def _tip(history: UserHistory) -> str:
    """Return the commit that HEAD names, "" where there is none yet."""
    try:
        return history.resolve("HEAD")
    except Misused as error:
        if error.code != "unborn-branch":
            raise
        return ""


def _protected(opened: Session, history: UserHistory, tip: str) -> tuple[str, ...]:
    """The protected branches by the policy of the default one; HEAD may be the patch itself."""
    try:
        base = find_base(history, Policy().gate.protected_branches)
    except Misused as error:
        if error.code != "no-base":
            raise
        base = tip
    return policy_or_defaults(opened.scratch, base).gate.protected_branches


def _pushed(environment: Mapping[str, str], arguments: Sequence[str]) -> list[str] | None:
    """Lines of a pre-push hook's standard input; pre-commit reads it itself and says so by TO_REF.

    None if there is no such input. git gives pre-push the remote as arguments: then all of it is
    awaited. A script that does not pass them on is believed if something is there.
    """
    if "PRE_COMMIT" in environment or sys.stdin is None or sys.stdin.isatty():
        return None
    if not arguments and not select.select([sys.stdin], [], [], 0)[0]:
        return None
    return os.fsdecode(sys.stdin.buffer.read()).splitlines()


def _judge_by_hand(
    opened: Session,
    name: str,
    heads: Sequence[str],
    head_ref: str,
    environment: Mapping[str, str],
    *,
    verbose: bool,
) -> int:
    """Judge the merge that ``git commit`` is about to make, whoever resolved it."""
    seeing, made = as_committed(opened, heads)
    agent = bool(marks_of_environment(environment))
    branch = head_ref or agents_branch(opened, heads)
    request = Request(base="HEAD", head=made, head_ref=branch, agent=agent)
    return _report(seeing, name, request, environment, verbose=verbose)


def _judge(
    opened: Session,
    name: str,
    offer: Offer,
    history: UserHistory,
    environment: Mapping[str, str],
    *,
    verbose: bool,
) -> int:
    staged = name != "gate" and offer.base is None and offer.head == "HEAD"
    request = Request(base=offer.base, head=offer.head, head_ref=offer.head_ref)
    if staged:
        request = Request(base=history.resolve("HEAD"), head_ref=history.current_branch())
    try:
        return _report(
            opened,
            name,
            request,
            environment,
            history=history,
            staged=staged,
            lands=offer.lands,
            verbose=verbose,
        )
    except RedbucketError as error:
        if error.code == "no-base" and (name != "gate" or not offer.lands):
            say(f"redbucket: nothing was judged: {error.reason}; {error.remedy}\n")
            return ACCEPTED
        raise


def _report(
    opened: Session,
    name: str,
    request: Request,
    environment: Mapping[str, str],
    *,
    history: UserHistory | None = None,
    staged: bool = False,
    lands: bool = True,
    verbose: bool = False,
) -> int:
    if name == "gate":
        report = opened.gate(request)
    else:
        report = opened.guard(request, STATIC[name], staged=staged, history=history)
    report = msgspec.structs.replace(report, command=again(request, staged=staged))
    rules = {f.rule for f in report.findings if f.severity is Severity.REFUSE}
    if not lands and rules == {"merge-conflict"}:
        finish(report, "text", None, quiet=name != "gate", verbose=verbose)
        return ACCEPTED  # said, but a branch that lands nowhere yet may be pushed
    folder = opened.repository.git_dir / "redbucket"
    return tell(report, f"redbucket-{name}", environment, folder, quiet=name != "gate", verbose=verbose)
