"""A merge that ends in ``git commit``: the index, as the merge commit that it is about to become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from redbucket.app.session import Session
from redbucket.edges.repository import Repository
from redbucket.engine.protected import marked_branch, policy_or_defaults


def merge_heads(repository: Repository) -> list[str]:
    """Return the commits that are being merged into HEAD, [] if no merge is under way."""
    path = repository.git_dir / "MERGE_HEAD"
    return path.read_text(encoding="ascii").split() if path.exists() else []


def agents_branch(opened: Session, heads: Sequence[str]) -> str:
    """Return the agent's branch that one of ``heads`` is the tip of, "" if none is: `git commit` is told no names."""
    policy = policy_or_defaults(opened.scratch, opened.repository.resolve("HEAD"))
    names = (marked_branch("", oid, opened.repository.refs_at, policy) for oid in heads)
    return next((name for name in names if name), "")


def as_committed(opened: Session, heads: Sequence[str]) -> tuple[Session, str]:
    """Return a session that sees the merge commit made of the index, and that commit's id.

    Conflicts are in it as they were resolved. The commit is written into the
    scratch objects only. Raises Undecided "unmerged-index".
    """
    scratch, base = opened.scratch, opened.repository.resolve("HEAD")
    parents = [word for oid in (base, *heads) for word in ("-p", oid)]
    person = {f"GIT_{role}_{what}": "index" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    tree = scratch.write_index_tree()
    made = scratch.git.run("commit-tree", *parents, "-m", "index", tree, extra=person).line
    seeing = Repository.discover(
        opened.repository.work_tree or opened.repository.git_dir, quarantine=[scratch.folder / "objects"]
    )
    return replace(opened, repository=seeing), made
