"""A policy that can't be read has landed: a person may repair it past the hooks, nobody may do anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.kit import AGENT, SHOP, TESTS, Shop, policy
from tests.stories.test_native_hooks import TEST, git, install, tip

BROKEN = policy() + "[gate]\nprotected_branch = 1\n"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop.open(tmp_path)
    made.repo.commit({"redbucket.toml": BROKEN}, "a typo")
    install(made.repo)
    return made


@pytest.mark.parametrize("repair", [policy(), None])
def test_a_person_repairs_it(shop: Shop, repair: str | None) -> None:
    before = tip(shop.repo)
    shop.repo.stage({"redbucket.toml": repair})
    done = git(shop.repo, "commit", "-qm", "repair")
    assert done.code == 0, done.said
    assert tip(shop.repo) != before


def test_a_persons_branch_repairs_it_by_a_merge(shop: Shop) -> None:
    shop.patch({"redbucket.toml": policy()}, branch="repair", author="Ada <ada@x>")
    done = git(shop.repo, "merge", "--ff-only", "repair")
    assert done.code == 0, done.said


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"redbucket.toml": BROKEN + "# more\n"}, "protected_branch"),
        ({"redbucket.toml": policy(), TEST: TESTS + "# more\n"}, "protected_branch"),
        ({"shop.py": SHOP + "X = 1\n"}, "protected_branch"),
    ],
)
def test_nothing_else_lands(shop: Shop, files: dict[str, str], says: str) -> None:
    before = tip(shop.repo)
    shop.repo.stage(files)
    done = git(shop.repo, "commit", "-qm", "something else")
    assert done.code != 0 and tip(shop.repo) == before
    assert says in done.said


@pytest.mark.parametrize("branch", ["agent/repair", "repair"])
def test_an_agent_may_not(shop: Shop, branch: str) -> None:
    before = tip(shop.repo)
    shop.patch({"redbucket.toml": policy()}, branch=branch, author=AGENT)
    done = git(shop.repo, "merge", "--ff-only", branch)
    assert done.code != 0 and tip(shop.repo) == before
    assert "protected-path" in done.said
    assert "undo it: git reset --merge" in done.said
