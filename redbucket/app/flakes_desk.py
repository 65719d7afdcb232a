"""What the ``flakes`` commands need of a session: the file, the policy, who is asking, what replays."""

from __future__ import annotations

import os
from pathlib import Path
from posixpath import normpath

import click

from redbucket.app.calling import calling
from redbucket.app.session import Session, UserHistory
from redbucket.core.errors import REFUSED, Misused
from redbucket.core.flakes import parse
from redbucket.core.patch import FILE_MODE, Entry
from redbucket.core.policy import FLAKES_NAME, Policy
from redbucket.edges.flakesfile import read
from redbucket.engine.flakes import Replayer
from redbucket.engine.protected import policy_at
from redbucket.engine.whoasks import landing_policy, marks_here


def replayer(opened: Session) -> Replayer | None:
    """Return what replays captures."""
    from redbucket.app.noise_desk import CaptureReplayer  # only ``add`` runs tests

    return CaptureReplayer(opened)


def top_of(opened: Session) -> Path:
    """Return the work tree; raise Misused in a bare repository."""
    if opened.repository.work_tree is None:
        raise Misused("no-work-tree", "a bare repository has no flakes.toml to edit", "use a clone")
    return opened.repository.work_tree


def inside(path: Path, top: Path) -> str:
    """Return a path from the top of the repository; raise Misused "capture-outside"."""
    try:
        return path.resolve().relative_to(top.resolve()).as_posix()
    except ValueError:
        raise Misused(
            "capture-outside", f"{path} is not in the repository", "keep the capture in the repository"
        ) from None


def flakes_bytes(opened: Session) -> bytes | None:
    """Return the work tree's file; HEAD's in a bare repository. None if there is none."""
    if opened.repository.work_tree is not None:
        return read(opened.repository.work_tree / FLAKES_NAME)
    view = opened.scratch.tree_view(opened.scratch.tree_of(opened.repository.resolve("HEAD")))
    return view.read(FLAKES_NAME) if FLAKES_NAME in view.entries else None


def tree_to_check(opened: Session) -> str:
    """Return HEAD's tree with the work tree's flakes.toml in it, and the captures of it that are staged."""
    tree = opened.scratch.tree_of(opened.repository.resolve("HEAD"))
    if opened.repository.work_tree is None:
        return tree
    raw = flakes_bytes(opened)
    entry = None if raw is None else Entry(FILE_MODE, opened.scratch.write_blob(raw))
    known = opened.scratch.tree_view(tree).entries.get(FLAKES_NAME)
    if entry == known or (entry and known and known.is_file and entry.oid == known.oid):
        return tree
    return opened.scratch.write_tree(tree, {FLAKES_NAME: entry, **_staged_captures(opened, tree, raw or b"")})


def _staged_captures(opened: Session, tree: str, raw: bytes) -> dict[str, Entry]:
    """Return the entries of the index for replays that ``tree`` does not have: they are committed next."""
    have = opened.scratch.entries(tree)
    lacking = {normpath(entry.replay) for entry in parse(raw, FLAKES_NAME).entries} - {*have}
    if not lacking:
        return {}
    index = opened.scratch.entries(opened.scratch.write_index_tree())
    return {path: index[path] for path in lacking if path in index}


def policy_of(opened: Session) -> Policy:
    """Return the policy of the protected branch, HEAD's where there is none here."""
    return _landing(opened) or _own(opened)


def _own(opened: Session) -> Policy:
    return policy_at(opened.scratch, opened.repository.resolve("HEAD"))


def _landing(opened: Session) -> Policy | None:
    return landing_policy(
        UserHistory(opened.repository),
        lambda commit: policy_at(opened.scratch, commit),
        lambda: _own(opened),
    )


def refuse_agents(opened: Session) -> int:
    """Return the exit code that refuses an agent, 0 for a person."""
    marks = marks_here(
        UserHistory(opened.repository),  # type: ignore[arg-type]
        os.environ,
        lambda commit: policy_at(opened.scratch, commit),
        lambda: _own(opened),
    )
    if not marks:
        return 0
    return refuse(
        f"an agent does not freeze tests, nor end a freeze ({', '.join(marks)})",
        "mend the test; a person freezes one, in a terminal and on a branch of their own",
    )


def refuse(reason: str, remedy: str) -> int:
    """Say on stderr what is refused and what to do, and return the exit code."""
    click.echo(f"redbucket: refused: {reason}\n  do this: {calling().here(remedy)}", err=True)
    return REFUSED
