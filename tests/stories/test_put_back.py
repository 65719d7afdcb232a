"""A commit on an agent's branch that puts back what it did to the judge, as the gate advises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.kit import AGENT, Ended, Shop, redbucket

TEST = "tests/test_shop.py"
WEAK = "def test_total():\n    assert True\n"


def staged(shop: Shop) -> Ended:
    return redbucket("guard", "--staged", "-C", shop.path)


@pytest.mark.parametrize("moved", [False, True], ids=["main as it was", "main moved on"])
def test_the_protected_branch_s_bytes_are_welcome(tmp_path: Path, moved: bool) -> None:
    shop = Shop.open(tmp_path)
    repo = shop.repo
    base = repo.head()
    before = repo.git("show", f"HEAD:{TEST}")
    shop.patch(
        {TEST: WEAK, "redbucket.toml": "[run]\nreruns = 1\n", "tests/conftest.py": "X = 1\n"}, author=AGENT
    )
    repo.git("checkout", "--quiet", "agent/fix")
    if moved:
        repo.git("checkout", "--quiet", "main")
        repo.commit({TEST: f"{before}\n\ndef test_more():\n    pass\n"}, "main moves on")
        repo.git("checkout", "--quiet", "agent/fix")
    repo.stage({TEST: f"{before}# almost\n".replace("==", ">=")})
    assert staged(shop).exit_code == 1
    repo.git("reset", "--quiet", "--hard")
    # the gate's own advice
    repo.git("checkout", base, "--", TEST, "redbucket.toml")
    repo.git("rm", "--quiet", "tests/conftest.py")
    ended = staged(shop)
    assert ended.exit_code == 0, ended.out
    # something else in the same commit is looked at all the same
    repo.stage({"tests/conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef total(): ...\n"})
    assert staged(shop).exit_code == 1
