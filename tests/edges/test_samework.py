"""An amended or rebased commit is an earlier state of the same work; another branch of the same second is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redbucket.core.patch import Commit, Person
from redbucket.edges.git import Caller
from redbucket.edges.samework import earlier
from tests.gitkit import Repo

WHEN = "2026-11-30T10:00:00+00:00"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({"a.py": "x = 1\n"}, "first")
    return made


def _on_branch(repo: Repo, name: str, message: str, text: str) -> str:
    repo.git("switch", "--quiet", "--create", name, "main")
    (repo.path / "a.py").write_text(text)
    repo.git("commit", "--quiet", "--all", "--message", message, **_by_agent())
    return repo.git("rev-parse", "HEAD")


def _by_agent() -> dict[str, str]:
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _BOT.items()}
    return {**who, "GIT_AUTHOR_DATE": WHEN}


_BOT = {"NAME": "Bot", "EMAIL": "bot@example.org"}


def _earlier(repo: Repo, oid: str) -> set[str]:
    head = repo.git("rev-parse", "HEAD")
    bot = Person(name="Bot", email="bot@example.org")
    commit = Commit(oid=head, parents=(), author=bot, committer=bot, message="", touched=())
    return earlier(Caller(repo.path), [oid], [commit])


def _amended(repo: Repo, *words: str) -> None:
    (repo.path / "a.py").write_text("x = 3\n")
    repo.git("commit", "--quiet", "--all", "--amend", *words, **_by_agent())


def _amend(repo: Repo) -> None:
    _amended(repo, "--no-edit")


def _amend_and_rename(repo: Repo) -> None:
    _amended(repo, "--message", "Speed it up, rightly")


def _amend_what_is_kept(repo: Repo) -> None:
    repo.git("update-ref", "refs/remotes/origin/agent/one", "HEAD")
    _amended(repo, "--no-edit")


def _rebase(repo: Repo) -> None:
    repo.git("switch", "--quiet", "main")
    repo.commit({"b.py": "y = 1\n"}, "second")
    repo.git("switch", "--quiet", "agent/one")
    repo.git("rebase", "--quiet", "main", **_by_agent())


@pytest.mark.parametrize("change", [_amend, _amend_and_rename, _amend_what_is_kept, _rebase])
def test_what_a_commit_was_before_is_an_earlier_state(repo: Repo, change: Callable[[Repo], None]) -> None:
    was = _on_branch(repo, "agent/one", "Speed it up", "x = 2\n")
    change(repo)
    assert repo.git("rev-parse", "HEAD") != was
    assert _earlier(repo, was) == {was}


def test_another_branch_of_the_same_second_is_work_of_its_own(repo: Repo) -> None:
    other = _on_branch(repo, "agent/one", "Speed it up", "x = 2\n")
    _on_branch(repo, "agent/two", "Tidy up", "x = 4\n")
    assert _earlier(repo, other) == set()
