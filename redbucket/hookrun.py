"""Runs one of redbucket's hooks: finds base and head, judges, prints, returns the exit code."""

from __future__ import annotations

import select
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from redbucket.core.errors import ACCEPTED, Misused, RedbucketError
from redbucket.edges.progress import Progress
from redbucket.edges.repository import Repository
from redbucket.engine.hookbase import Offer, offers
from redbucket.engine.subject import Request, policy_at
from redbucket.output import finish
from redbucket.wiring import Session, session

# The static hooks, by the name that users write, and the guards behind each.
STATIC: dict[str, tuple[str, ...]] = {
    "protected-paths": ("protected-path",),
    "untrusted-tests": ("altered-test", "weakened-test", "untrusted-test"),
}


def run(name: str, folder: Path, environment: Mapping[str, str], *, verbose: bool = False) -> int:
    """Run hook ``name`` and return the worst exit code of what it judged."""
    if name != "gate" and name not in STATIC:
        raise Misused("unknown-hook", f"there is no hook {name!r}", f"known: gate, {', '.join(STATIC)}")
    index = environment.get("GIT_INDEX_FILE")
    with session(folder, Progress(quiet=False, steps=False), index=Path(index) if index else None) as opened:
        codes = [_judge(opened, name, offer, verbose=verbose) for offer in _offers(opened, environment)]
    return _worst(codes)


def _offers(opened: Session, environment: Mapping[str, str]) -> list[Offer]:
    repository = opened.repository
    protected = policy_at(opened.scratch, repository.resolve("HEAD")).gate.protected_branches
    return offers(environment, _pushed(environment), _merge_heads(repository), repository.has, protected)


def _pushed(environment: Mapping[str, str]) -> Sequence[str]:
    """Lines of a pre-push hook's standard input; pre-commit reads it itself and says so by TO_REF."""
    if "PRE_COMMIT" in environment or sys.stdin is None or sys.stdin.isatty():
        return []
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return sys.stdin.read().splitlines() if ready else []


def _merge_heads(repository: Repository) -> Sequence[str]:
    path = repository.git_dir / "MERGE_HEAD"
    return path.read_text(encoding="ascii").split() if path.exists() else []


def _judge(opened: Session, name: str, offer: Offer, *, verbose: bool) -> int:
    staged = name != "gate" and offer.base is None and offer.head == "HEAD"
    request = Request(base=offer.base, head=offer.head, head_ref=offer.head_ref)
    try:
        if name == "gate":
            report = opened.gate(request)
        else:
            report = opened.guard(request, STATIC[name], staged=staged)
    except RedbucketError as error:
        if error.code == "no-base" and name != "gate":
            return ACCEPTED
        raise
    return finish(report, "text", None, quiet=name != "gate", verbose=verbose)


def _worst(codes: Sequence[int]) -> int:
    """A refusal outweighs "cannot decide", which outweighs accept."""
    for code in (1, 2):
        if code in codes:
            return code
    return max(codes, default=ACCEPTED)
