"""Merges that git stops half way, several heads at once, and a repository without the protected branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.kit import SHOP, Shop, redbucket
from tests.stories.test_native_hooks import BAD, GOOD, git, install, tip


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop.open(tmp_path)


@pytest.mark.parametrize(
    ("hooks", "words", "undo"),
    [
        ("reference-transaction", ("merge", "--ff-only"), "git reset --merge"),
        ("reference-transaction", ("merge", "--no-ff", "--no-edit"), "git merge --abort"),
        ("pre-merge-commit,reference-transaction", ("merge", "--no-ff", "--no-edit"), "git merge --abort"),
    ],
)
def test_a_refused_merge_says_how_it_is_undone(
    shop: Shop, hooks: str, words: tuple[str, ...], undo: str
) -> None:
    before = tip(shop.repo)
    shop.patch(BAD, branch="agent/bad")
    install(shop.repo, "--hooks", hooks)
    done = git(shop.repo, *words, "agent/bad")
    assert done.code != 0 and tip(shop.repo) == before
    assert f"undo it: {undo}" in done.said
    assert shop.repo.git("status", "--porcelain") != ""
    undone = git(shop.repo, *undo.split()[1:])
    assert undone.code == 0, undone.said
    assert (shop.repo.git("status", "--porcelain"), tip(shop.repo)) == ("", before)


def test_heads_of_an_octopus_are_judged_together_where_they_land(shop: Shop) -> None:
    """The hook on the branch sees what it receives: all heads at once."""
    one = {"shop.py": SHOP + "\n\ndef one():\n    return 1\n"}
    shop.patch(one, branch="agent/one")
    shop.patch({"more.py": "TWO = 2\n"}, branch="agent/two")
    shop.patch(BAD, branch="agent/bad")
    install(shop.repo, "--hooks", "reference-transaction")
    before = tip(shop.repo)
    done = git(shop.repo, "merge", "--no-edit", "agent/one", "agent/two", "agent/bad")
    assert done.code != 0 and tip(shop.repo) == before
    assert "altered-test" in done.said
    git(shop.repo, "reset", "--hard")
    done = git(shop.repo, "merge", "--no-edit", "agent/one", "agent/two")
    assert done.code == 0, done.said
    assert tip(shop.repo) != before


@pytest.mark.slow
def test_heads_that_break_a_test_only_together_are_refused(tmp_path: Path) -> None:
    limit = "import unittest\n\nimport a, b\n\n\nclass LimitTests(unittest.TestCase):\n"
    limit += "    def test_limit(self):\n        self.assertLessEqual(a.A + b.B, 3)\n"
    shop = Shop.open(tmp_path, {"a.py": "A = 1\n", "b.py": "B = 1\n", "tests/test_limit.py": limit})
    shop.patch({"a.py": "A = 2\n"}, branch="agent/one")
    shop.patch({"b.py": "B = 2\n"}, branch="agent/two")
    install(shop.repo, "--hooks", "pre-merge-commit")
    before = tip(shop.repo)
    done = git(shop.repo, "merge", "--no-edit", "agent/one", "agent/two")
    assert done.code != 0 and tip(shop.repo) == before
    assert "test_limit" in done.said
    assert "undo it: git merge --abort" in done.said


def test_a_repository_without_the_protected_branch_is_told_which_key_to_set(shop: Shop) -> None:
    shop.repo.git("branch", "-m", "main", "master")
    shop.repo.branch("agent/work")
    shop.repo.commit(GOOD, "more")
    ended = redbucket("gate", "-C", shop.path)
    assert ended.exit_code == 3
    assert 'protected_branches = ["master"]' in ended.err
    install(shop.repo, "--hooks", "pre-merge-commit,pre-push")
    shop.repo.switch("master")
    done = git(shop.repo, "merge", "--no-ff", "--no-edit", "agent/work")
    assert done.code == 0
    assert 'protected_branches = ["master"]' in done.said
