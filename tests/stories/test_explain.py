"""``redbucket explain`` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.stories.kit import PYTEST, Shop, assert_clear, policy, redbucket

CART = """\
import cart

def test_label():
    assert True

def test_add():
    cart.add("x")

def test_other():
    assert True

def test_empty():
    assert not cart.CART
"""
SOURCE = "CART = []\n\ndef add(x):\n    CART.append(x)\n"
NOISY = "tests/test_cart.py::test_empty"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    files = {"cart.py": SOURCE, "tests/test_cart.py": CART}
    return Shop.open(tmp_path_factory.mktemp("explained"), files, rules=policy(PYTEST))


@pytest.mark.slow
def test_a_victim_its_polluter_the_state_and_a_capture_that_replays(shop: Shop, tmp_path: Path) -> None:
    before = shop.snapshot()
    words = ("explain", NOISY, "-C", shop.path, "--budget", "600")
    ended = redbucket(*words, "--captures", tmp_path, "--format", "json")
    assert ended.exit_code == 0, ended.err
    assert shop.snapshot() == before
    told = json.loads(ended.out)
    assert (told["schema"], told["cause"]) == ("redbucket.explain/1", "order")
    assert (told["tests"], told["state"]) == (["tests/test_cart.py::test_add"], ["cart.CART"])
    assert len(told["evidence"]) == 3
    assert told["commands"][:2] == [
        f"python -m pytest -p no:randomly -p no:xdist tests/test_cart.py::test_add {NOISY}",
        f"python -m pytest -p no:randomly -p no:xdist {NOISY}",
    ]
    again = redbucket("replay", told["capture"], "-C", shop.path, "-n", "2", "--format", "json")
    assert json.loads(again.out)["rate"]["failed"] == 2, again.err


def test_what_cannot_be_explained_says_why(shop: Shop, tmp_path: Path) -> None:
    assert_clear(redbucket("explain", "tests/test_cart.py::test_no", "-C", shop.path), 2, "no-such-test")
    assert_clear(redbucket("explain", NOISY, "--head", "nowhere", "-C", shop.path), 3, "unknown-revision")
