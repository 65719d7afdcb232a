"""Whose branch it is, however head is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.app.session import session
from redbucket.edges.progress import Progress
from redbucket.engine.subject import Request
from tests.gitkit import Repo


def agent(repo: Repo, head: str | None) -> bool:
    with session(repo.path, Progress(quiet=True, steps=False)) as opened:
        return opened.guard(Request(base="main", head=head), ["protected-path"]).identity.agent


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": "x = 1\n"})
    repo.branch("agent/fix")
    repo.commit({"a.py": "x = 2\n"})
    return repo


@pytest.mark.parametrize("name", ["agent/fix", "refs/heads/agent/fix", "heads/agent/fix", "id", None])
def test_an_agents_branch_is_an_agents_by_any_name(repo: Repo, name: str | None) -> None:
    head = repo.head()
    repo.git("checkout", "--quiet", "--detach")
    assert agent(repo, head if name == "id" else name)


def test_an_agent_that_starts_at_a_persons_commit_does_not_take_it_over(repo: Repo) -> None:
    repo.switch("main")
    repo.branch("ada")
    head = repo.commit({"b.py": "y = 1\n"})
    repo.git("branch", "agent/next", head)
    assert not agent(repo, "ada")
    assert not agent(repo, head)


def test_what_a_person_adds_is_judged_by_its_own_marks(repo: Repo) -> None:
    repo.switch("main")
    repo.branch("mine")
    repo.commit({"b.py": "y = 1\n"})
    assert not agent(repo, "mine")
    assert not agent(repo, repo.head())
