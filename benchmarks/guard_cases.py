"""One patch of the benchmark, and the small edits that patches are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.guard_base import FILES, gitlink
from tests.gitkit import Content, Repo

Edit = Callable[[Repo], None]


@dataclass(frozen=True)
class Case:
    """One patch: the catalogue's row ("" for an honest one), its name, and the edit that makes it.

    ``misses`` are the invariant misses that the patch says it answers.
    """

    row: str
    name: str
    edit: Edit
    message: str = "Improve the ledger"
    why: str = ""
    misses: tuple[str, ...] = ()


def files(edits: dict[str, Content]) -> Edit:
    """Return an edit that writes files."""
    return lambda repo: repo.stage(edits)


def swap(path: str, *pairs: tuple[str, str]) -> Edit:
    """Return an edit that replaces text in a file of the base; each text must be there."""
    text = str(FILES[path])
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new)
    return files({path: text})


def add(path: str, text: str) -> Edit:
    """Return an edit that puts text at the end of a file of the base."""
    return files({path: f"{FILES[path]}{text}"})


def move(old: str, new: str) -> Edit:
    """Return an edit that renames a file."""
    return files({old: None, new: FILES[old]})


def submodule_at(path: str) -> Edit:
    def edit(repo: Repo) -> None:
        repo.git("rm", "-rq", "--cached", "--ignore-unmatch", path)
        gitlink(repo, path, "6" * 40)

    return edit


def mode(path: str) -> Edit:
    return lambda repo: void(repo.git("update-index", "--chmod=+x", path))


def void(_: object) -> None:
    """Drop a value."""


def evil_merge(path: str, text: str) -> Edit:
    """Return an edit that merges two branches and slips a file into the merge commit."""

    def edit(repo: Repo) -> None:
        branch = repo.git("symbolic-ref", "--short", "HEAD")
        repo.branch(f"{branch}-side", "main")
        repo.commit({"src/ledger/side.py": "SIDE = 1\n"}, "Side")
        repo.switch(branch)
        repo.commit({"src/ledger/own.py": "OWN = 1\n"}, "Own")
        repo.merge(f"{branch}-side", files={path: text})

    return edit
