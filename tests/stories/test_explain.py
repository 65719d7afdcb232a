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
    (one,) = [e for e in told["experiments"] if e["confirmed"]]
    assert (one["condition"], one["changes"]) == ("after tests/test_cart.py::test_add", "order")
    assert (one["head"], one["base"]) == ({"failed": 3, "runs": 3}, None)
    assert told["commands"][:2] == [
        f"python -m pytest -n 0 tests/test_cart.py::test_add {NOISY}",
        f"python -m pytest -n 0 {NOISY}",
    ]
    again = redbucket("replay", told["capture"], "-C", shop.path, "-n", "2", "--format", "json")
    assert json.loads(again.out)["rate"]["failed"] == 2, again.err


@pytest.mark.slow
def test_a_page_shows_the_experiments(tmp_path: Path) -> None:
    files = {"cart.py": SOURCE, "tests/test_cart.py": CART}
    small = Shop.open(tmp_path, files, rules=policy(PYTEST))
    small.patch({"cart.py": SOURCE + "# more\n"})
    words = ("explain", NOISY, "-C", small.path, "--base", "main", "--head", "agent/fix", "--budget", "60")
    ended = redbucket(*words, "--format", "html")
    assert ended.out.startswith("<!DOCTYPE html>"), ended.err
    assert '<th scope="row">in the suite</th><td>nothing</td>' in ended.out
    assert ended.out.count("failed 3 of 3") >= 2  # in the suite, with the patch and in base


def test_what_cannot_be_explained_says_why(shop: Shop, tmp_path: Path) -> None:
    assert_clear(redbucket("explain", "tests/test_cart.py::test_no", "-C", shop.path), 2, "no-such-test")
    assert_clear(redbucket("explain", NOISY, "--head", "nowhere", "-C", shop.path), 3, "unknown-revision")


@pytest.mark.slow
def test_the_gate_names_the_clock_and_what_it_had_no_time_for(tmp_path: Path) -> None:
    files = {
        "dates.py": "def price(x):\n    return 2 * x\n\ndef label():\n    return 'a'\n",
        "tests/test_dates.py": "import dates\n\ndef test_price():\n    assert dates.price(2) == 4\n\n"
        "def test_label():\n    assert dates.label() == 'a'\n",
    }
    offered = {
        "dates.py": "from datetime import date\n\ndef price(x):\n"
        "    return 2 * x if date.today().year < 2026 else 3 * x\n\ndef label():\n    return 'b'\n"
    }
    shop = Shop.open(tmp_path, files, rules=policy(PYTEST))
    shop.patch(offered)
    told = shop.gate()
    row = told.row("test_dates.py::test_price")
    assert (row["bucket"], row["cause"], row["introduced"]) == ("noise", "clock", True)
    assert "it passes 3 of 3; without: it fails 3 of 3" in row["why"]
    missed = told.row("test_dates.py::test_label")
    assert (missed["bucket"], missed["cause"]) == ("invariant_miss", None)
    assert "leftover files" in missed["tried"] and "clock" not in missed["tried"]
    (one,) = [e for e in row["experiments"] if e["confirmed"]]
    assert (one["changes"], one["head"]["failed"], one["base"]) == ("clock", 0, {"failed": 0, "runs": 3})
    assert {e["changes"] for e in missed["experiments"]} >= {
        "",
        "order",
        "hash order",
        "seed",
        "leftover files",
    }
    assert not any(e["flipped"] or e["confirmed"] for e in missed["experiments"])
    none = Shop.open(tmp_path, files, rules=policy(PYTEST) + "challenge_budget = 0.001\n", name="hurried")
    none.patch(offered)
    hurried = none.gate()
    (note,) = [n for n in hurried.report["notes"] if n["code"] == "not-tried"]
    assert "tests/test_dates.py::test_price" in note["reason"]
