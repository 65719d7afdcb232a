"""A branch that changes what a fixture is, or which lock there is, does not make its own verification easier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitkit import Content
from tests.stories.test_fixtures import FILES, LOCK, ONE, TWO, fixtures, lock, moved, sha, verify
from tests.stories.test_human_only import NEW, refresh, repository

AGENT = "Claude <noreply@anthropic.com>"
NARROW = '[fixtures]\npaths = ["nowhere/**"]\n'
OTHER = '[fixtures]\nmanifests = ["other.sha256"]\n'
LESS = lock({TWO: FILES[TWO]})


@pytest.mark.parametrize("words", [(), ("--staged",), ("--rev", "HEAD")])
@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"redbucket.toml": NARROW, ONE: NEW, LOCK: LESS}, {ONE: "unlisted refuse"}),
        ({"redbucket.toml": OTHER, ONE: NEW}, {ONE: "mismatch refuse"}),
    ],
)
def test_what_the_branch_takes_off_its_policy_still_counts(
    tmp_path: Path, files: dict[str, Content], found: dict[str, str], words: tuple[str, ...]
) -> None:
    repo = repository(tmp_path)
    repo.branch("agent/y")
    repo.commit(files)
    assert verify(repo, *words) == (1, found, [])
    assert "either of the two policies" in fixtures(repo, "verify", *words).out
    repo.switch("main")
    assert verify(repo, "--rev", "agent/y") == (1, found, [])


def test_a_lock_or_a_line_that_the_branch_took_away_is_said(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.branch("agent/y")
    repo.commit({LOCK: None, ONE: NEW})
    for words in ((), ("--staged",), ("--rev", "HEAD")):
        assert verify(repo, *words) == (0, {LOCK: "shrunk warn"}, [])
        said = fixtures(repo, "verify", *words).out
        assert f"it listed 2 files of those that are here, and no lock does any more ({ONE}, {TWO})" in said
        assert f"checkout {repo.git('rev-parse', 'main')[:12]} -- {LOCK}" in said
    repo.commit({LOCK: LESS})
    assert verify(repo) == (1, {ONE: "unlisted refuse"}, [])
    repo.switch("main")
    repo.stage({LOCK: None})  # before it is a commit, too
    assert verify(repo, "--staged") == (0, {LOCK: "shrunk warn"}, [])


def test_honest_branches_pass(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.branch("wider")
    more = {**FILES, "golden/a": "1\n"}
    repo.commit(
        {"redbucket.toml": '[fixtures]\npaths = ["golden/**"]\n', "golden/a": "1\n", LOCK: lock(more)}
    )
    assert verify(repo) == (0, {}, [])
    assert "either of the two policies" in fixtures(repo, "verify").err
    repo.branch("nearer", "main")
    near = lock({path.removeprefix("tests/"): text for path, text in FILES.items()})
    repo.commit({LOCK: None, f"tests/{LOCK}": near})
    assert verify(repo) == (0, {}, [])
    repo.branch("gone", "main")
    repo.commit({LOCK: LESS, ONE: None})
    assert verify(repo) == (0, {}, [])
    repo.branch("old", "main")  # main goes on, and this branch knows nothing of it
    repo.switch("main")
    repo.commit({"redbucket.toml": '[fixtures]\npaths = ["tests/**", "app.txt"]\n', "app.txt": "1\n"})
    repo.switch("old")
    repo.commit({"app.txt": "2\n"})
    assert verify(repo) == (0, {}, [])


def test_what_either_policy_names_is_locked_and_compared(tmp_path: Path) -> None:
    """The way out that ``verify`` names works."""
    repo = repository(tmp_path)
    repo.branch("narrow")
    repo.commit({"redbucket.toml": NARROW, LOCK: LESS})
    assert verify(repo)[1] == {ONE: "unlisted refuse"}
    assert fixtures(repo, "lock", "--accept", f"{ONE}={sha(FILES[ONE] or '')}").exit_code == 0
    repo.git("add", LOCK)
    assert verify(repo) == (0, {}, [])
    (repo.path / ONE).write_text(NEW)
    assert moved(repo) == {ONE: "payload"}


def test_a_detached_head_is_whose_commit_it_is(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.branch("agent/y")
    repo.commit({"app.py": "x = 2\n"})
    repo.git("switch", "-q", "--detach")
    assert refresh(repo) == ["human-only"]
    repo.git("reset", "-q", "--hard", "main")
    assert refresh(repo) == []
    repo.git("reset", "-q", "--hard")
    repo.commit({"app.py": "x = 3\n"}, author=AGENT)  # on no branch at all
    assert refresh(repo) == ["human-only"]
    repo.git("reset", "-q", "--hard")
    repo.commit({"app.py": "x = 4\n"})
    assert refresh(repo) == []


def test_an_agents_commit_that_has_landed_is_nobodys_branch(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.commit({"app.py": "x = 3\n"}, author=AGENT)
    repo.git("switch", "-q", "--detach")
    assert refresh(repo) == []
