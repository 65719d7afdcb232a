"""A person squashes a branch into the index: whose the bytes are is what the squashed commits say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.kit import AGENT, SHOP, TESTS, Shop
from tests.stories.test_native_hooks import BAD, GOOD, TEST, git, install, tip

OTHER = "tests/test_other.py"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop.open(tmp_path, {OTHER: "def test_other():\n    assert 1\n    assert 2\n"})
    install(made.repo, "--hooks", "pre-commit,reference-transaction")
    return made


def test_an_agents_branch_is_an_agents_when_it_is_squashed(shop: Shop) -> None:
    before = tip(shop.repo)
    shop.patch(BAD, branch="agent/bad")
    git(shop.repo, "merge", "--squash", "agent/bad")
    done = git(shop.repo, "commit", "-qm", "Nicer tests")
    assert done.code != 0 and tip(shop.repo) == before
    assert "altered-test" in done.said and TEST in done.said
    assert "undo it: git reset --merge" in done.said
    assert git(shop.repo, "reset", "--merge").code == 0
    assert shop.repo.git("status", "--porcelain") == ""


def test_an_agents_author_is_seen_in_a_branch_of_any_name(shop: Shop) -> None:
    shop.patch(BAD, branch="topic", author=AGENT)
    git(shop.repo, "merge", "--squash", "topic")
    done = git(shop.repo, "commit", "-qm", "Nicer tests")
    assert done.code != 0
    assert "altered-test" in done.said


def test_a_message_that_is_kept_tells_where_no_hook_saw_the_squash(shop: Shop) -> None:
    before = tip(shop.repo)
    shop.patch(BAD, branch="topic", author=AGENT)
    git(shop.repo, "merge", "--squash", "topic")
    done = git(shop.repo, "commit", "--no-verify", "--no-edit")
    assert done.code != 0 and tip(shop.repo) == before
    assert "altered-test" in done.said


def test_an_honest_squash_passes(shop: Shop) -> None:
    shop.patch(GOOD, branch="agent/good")
    git(shop.repo, "merge", "--squash", "agent/good")
    done = git(shop.repo, "commit", "-qm", "More")
    assert done.code == 0, done.said


def test_what_a_person_changes_besides_is_a_persons(shop: Shop) -> None:
    shop.patch({"shop.py": f"{SHOP}X = 1\n"}, branch="topic", author=AGENT)
    git(shop.repo, "merge", "--squash", "topic")
    shop.repo.stage({OTHER: "def test_other():\n    assert 1\n"})
    done = git(shop.repo, "commit", "-qm", "Both")
    assert done.code == 0, done.said


def test_a_person_squashes_a_persons_branch(shop: Shop) -> None:
    shop.patch({TEST: TESTS.replace("6", "7")}, branch="topic", author="Ada <ada@x>")
    git(shop.repo, "merge", "--squash", "topic")
    done = git(shop.repo, "commit", "--no-edit")
    assert done.code == 0, done.said


def test_a_squash_that_was_given_up_leaves_no_trace(shop: Shop) -> None:
    shop.patch(BAD, branch="agent/bad")
    git(shop.repo, "merge", "--squash", "agent/bad")
    assert git(shop.repo, "reset", "--merge").code == 0
    shop.repo.stage({TEST: TESTS.replace("6", "7")})
    done = git(shop.repo, "commit", "-qm", "A person's own")
    assert done.code == 0, done.said
