"""What only a human may do is refused by the policy of the branch on which patches land, not by the agent's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.gitkit import Repo
from tests.stories.kit import Ended, redbucket
from tests.stories.test_fixtures import FILES, LOCK, ONE, fixtures, lock, moved, sha

NEW = '{"a": 2}\n'
NOBODY = "[identity]\nagent_branches = []\n"


def repository(place: Path, branch: str = "main", rules: str = "") -> Repo:
    made = Repo.init(place / "repo", branch=branch)
    files = {**FILES, LOCK: lock(FILES), **({"redbucket.toml": rules} if rules else {})}
    made.commit(files, "a locked repository")
    return made


def refresh(repo: Repo) -> list[str]:
    repo.stage({ONE: NEW})
    ended = fixtures(repo, "refresh", ONE, "--accept", f"{ONE}={sha(NEW)}")
    assert ended.exit_code == (1 if ended.errors else 0)
    return ended.errors


def freeze(repo: Repo) -> Ended:
    return redbucket("flakes", "remove", "tests/test_x.py::test_x", "-C", repo.path)


@pytest.mark.parametrize(
    ("trunk", "rules", "own"),
    [
        ("main", "", NOBODY),
        ("main", "", f'[gate]\nprotected_branches = ["agent/y"]\n{NOBODY}'),
        (
            "trunk",
            '[gate]\nprotected_branches = ["trunk"]\n',
            f'[gate]\nprotected_branches = ["trunk"]\n{NOBODY}',
        ),
        (
            "trunk",
            '[gate]\nprotected_branches = ["trunk"]\n',
            f'[gate]\nprotected_branches = ["agent/y"]\n{NOBODY}',
        ),
        ("trunk", "", NOBODY),
        ("main", '[gate]\nprotected_branches = ["next"]\n', NOBODY),
    ],
)
def test_an_agents_branch_does_not_say_that_it_is_none(
    tmp_path: Path, trunk: str, rules: str, own: str
) -> None:
    repo = repository(tmp_path, trunk, rules)
    repo.branch("agent/y")
    repo.commit({"redbucket.toml": own})
    assert refresh(repo) == ["human-only"]
    assert freeze(repo).exit_code == 1
    new = "tests/data/new"
    repo.stage({new: NEW})
    assert fixtures(repo, "lock", "--accept", f"{new}={sha(NEW)}").errors == ["human-only"]
    assert (repo.path / LOCK).read_bytes() == lock(FILES)


@pytest.mark.parametrize(
    ("rules", "branches"),
    [
        ("", ["fix", "main"]),
        (NOBODY, ["agent/y"]),  # where patches land, it says that this is a person's
        ('[gate]\nprotected_branches = ["next"]\n' + NOBODY, ["agent/y"]),  # "next" does not exist yet
    ],
)
def test_a_person_is_not_refused(tmp_path: Path, rules: str, branches: Sequence[str]) -> None:
    repo = repository(tmp_path, rules=rules)
    for branch in branches:
        if branch != "main":
            repo.branch(branch, "main")
        assert refresh(repo) == []
        assert freeze(repo).exit_code == 3  # nothing is frozen, and nobody is refused
        repo.git("reset", "-q", "--hard", "main")
        repo.switch("main")


def test_a_person_whose_branches_are_named_otherwise(tmp_path: Path) -> None:
    rules = '[identity]\nagent_branches = ["bots/*"]\n'
    repo = repository(tmp_path, rules=rules)
    repo.branch("agent/y")
    assert refresh(repo) == []
    repo.git("reset", "-q", "--hard")
    repo.branch("bots/y")
    assert refresh(repo) == ["human-only"]


def test_a_first_lock_before_the_first_commit(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.stage({ONE: NEW})
    assert fixtures(repo, "lock", "--accept", f"{ONE}={sha(NEW)}").exit_code == 0


def test_a_fixture_that_the_branch_of_a_person_declares_is_locked(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.branch("golden")
    repo.commit({"redbucket.toml": '[fixtures]\npaths = ["golden/**"]\n', "golden/a": NEW})
    assert fixtures(repo, "lock", "--accept", f"golden/a={sha(NEW)}").exit_code == 0


# --- the rules by which a change is classed


VOLATILE = '[[fixtures.volatile]]\npointer = "/a"\ngrammar = "epoch"\n'


def test_volatile_rules_of_the_new_side_do_not_count(tmp_path: Path) -> None:
    one, two = '{"a": 1700000000}\n', '{"a": 1700000001}\n'
    repo = repository(tmp_path)
    repo.commit({ONE: one})
    repo.branch("agent/y")
    repo.commit({ONE: two, "redbucket.toml": VOLATILE})
    assert (
        moved(repo, "--base", "main") == moved(repo, "--base", "main", "--head", "HEAD") == {ONE: "payload"}
    )
    repo.commit({ONE: one})
    assert moved(repo, "--base", "HEAD~") == {ONE: "volatile only"}


def test_a_refresh_shows_the_class_by_the_protected_branchs_rules(tmp_path: Path) -> None:
    one, two = '{"a": 1700000000}\n', '{"a": 1700000001}\n'
    repo = repository(tmp_path)
    repo.commit({ONE: one, LOCK: lock({**FILES, ONE: one})})
    repo.branch("fix")
    repo.commit({"redbucket.toml": VOLATILE})
    repo.stage({ONE: two})
    assert f"{ONE}: payload, JSON" in fixtures(repo, "refresh", ONE).out
    repo.git("branch", "-f", "main")
    assert f"{ONE}: volatile only, JSON" in fixtures(repo, "refresh", ONE).out


def test_fixture_paths_of_both_sides_count(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    old = repo.head()
    repo.commit({"redbucket.toml": '[fixtures]\npaths = ["golden/**"]\n', "golden/a": "1\n", ONE: NEW})
    assert moved(repo, "--base", old, "--head", "HEAD") == {"golden/a": "added", ONE: "payload"}


def test_an_old_policy_that_can_not_be_read(tmp_path: Path) -> None:
    repo = repository(tmp_path, rules="[from_a_later_version]\n")
    old = repo.head()
    repo.commit({"redbucket.toml": None, ONE: NEW})
    assert moved(repo, "--base", old) == {ONE: "payload"}
