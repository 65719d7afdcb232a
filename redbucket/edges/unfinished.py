"""What git has begun in a work tree and not committed yet, as its files in the git folder tell."""

from __future__ import annotations

import re

from redbucket.edges.repository import Repository

_SQUASHED = re.compile(r"^commit ([0-9a-f]{40}|[0-9a-f]{64})$", re.MULTILINE)


def squashed(repository: Repository) -> tuple[str, ...]:
    """Return the commits that ``git merge --squash`` put into the index, the newest first; () if it did not.

    git removes the file with the commit, and with a reset.
    """
    path = repository.git_dir / "SQUASH_MSG"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ()
    found = tuple(_SQUASHED.findall(text))
    return found if found and repository.has(found[0]) else ()


def way_back(repository: Repository) -> str:
    """Return the command that undoes a merge that a hook has stopped, "" if none is under way.

    A fast-forward and a squash move index and work tree before git asks, and leave them so (git 2.39).
    """

    def there(name: str) -> bool:
        return (repository.git_dir / name).exists()

    if there("MERGE_HEAD"):
        return "git merge --abort"
    picked = there("CHERRY_PICK_HEAD") or there("REVERT_HEAD")
    return "git reset --merge" if there("SQUASH_MSG") or (there("MERGE_MSG") and not picked) else ""
