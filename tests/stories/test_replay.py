"""From the gate's noise to a capture, its replay, and a freeze."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from redbucket.engine.today import utc_today
from tests.stories.kit import PYTEST, Ended, Shop, assert_clear, policy, redbucket

SOON = (utc_today() + timedelta(days=10)).isoformat()
NOISY = "tests/test_cart.py::test_empty"
CART = """\
from cart import CART, add

def test_label():
    assert True

def test_add():
    assert add("x") == ["x"]

def test_other():
    assert True

def test_empty():
    assert not CART
"""
BEFORE = "CART = []\n\ndef add(x):\n    return [x]\n"
LEAKS = "CART = []\n\ndef add(x):\n    CART.append(x)\n    return CART\n"


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shop, Path]:
    """A patch that makes a test depend on the order, judged once: the gate wrote a capture."""
    place = tmp_path_factory.mktemp("captured")
    shop = Shop.open(place, {"cart.py": BEFORE, "tests/test_cart.py": CART}, rules=policy(PYTEST))
    shop.patch({"cart.py": LEAKS})
    shop.repo.commit({"notes.txt": "main goes on: the tree that is judged is in no commit"}, "notes")
    told = shop.gate("agent/fix", "--captures", str(place / "captures"))
    row = told.row("test_empty")
    assert (row["bucket"], row["cause"], row["introduced"]) == ("noise", "order", True)
    assert "It is broken by what is left by tests/test_cart.py::test_add (cart.CART): 3 of 3" in row["why"]
    path = Path(row["capture"])
    assert path.parent == place / "captures"
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    return shop, path


def replay(shop: Shop, path: Path, *words: str) -> tuple[Ended, dict[str, Any]]:
    ended = redbucket("replay", path, "-C", shop.path, "-n", "3", "--no-shrink", "--format", "json", *words)
    return ended, json.loads(ended.out) if ended.out.startswith("{") else {}


@pytest.mark.slow
def test_a_capture_replays_from_the_two_commits_and_shrinks(captured: tuple[Shop, Path]) -> None:
    shop, path = captured
    recorded = json.loads(path.read_text())
    assert recorded["schema"] == "redbucket.capture/1"
    assert NOISY not in recorded["order"] and len(recorded["order"]) >= 3
    before = shop.snapshot()
    ended, report = replay(shop, path, "--shrink")
    assert ended.exit_code == 0, ended.err
    assert shop.snapshot() == before
    assert (report["replays"], report["rate"]["failed"], report["rate"]["runs"]) == (True, 3, 3)
    assert report["same_failure"] == 3
    assert 0.25 < report["rate"]["low"] < 0.35
    assert report["smallest"] == ["tests/test_cart.py::test_add"]
    assert report["smallest_rate"]["failed"] == 3
    text = redbucket("replay", path, "-C", shop.path, "-n", "2", "--no-shrink").out
    assert text.startswith(f"replays: {NOISY} failed 2 of 2 runs (100%; ")


@pytest.mark.slow
def test_add_freezes_what_replays_today(captured: tuple[Shop, Path]) -> None:
    shop, path = captured
    inside = shop.path / "noise.json"
    inside.write_bytes(path.read_bytes())
    try:
        words = ("--owner", "ada", "--ticket", "QA-1", "--expires", SOON, "--replay", "noise.json")
        ended = redbucket("flakes", "add", NOISY, *words, "-C", shop.path)
        assert ended.exit_code == 0, ended.err
        assert NOISY in (shop.path / "flakes.toml").read_text()
    finally:
        inside.unlink()
        (shop.path / "flakes.toml").unlink(missing_ok=True)


def changed(path: Path, tmp_path: Path, **fields: object) -> Path:
    made = tmp_path / "changed.json"
    made.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    return made


@pytest.mark.slow
def test_what_does_not_fail_any_more_does_not_replay(captured: tuple[Shop, Path], tmp_path: Path) -> None:
    shop, path = captured
    ended, report = replay(shop, changed(path, tmp_path, order=[]))
    assert (ended.exit_code, report["replays"], report["rate"]["failed"]) == (1, False, 0)
    text = redbucket("replay", changed(path, tmp_path, order=[]), "-C", shop.path, "-n", "2")
    assert text.out.startswith(f"does not replay: {NOISY} failed 0 of 2 runs")


@pytest.mark.slow
def test_another_tree_is_not_replayed(captured: tuple[Shop, Path], tmp_path: Path) -> None:
    shop, path = captured
    assert_clear(replay(shop, changed(path, tmp_path, tree="1" * 40))[0], 2, "other-tree")
    assert_clear(replay(shop, changed(path, tmp_path, head="2" * 40))[0], 2, "missing-object")
    assert_clear(replay(shop, changed(path, tmp_path, nodeid="tests/test_cart.py::no"))[0], 2, "no-such-test")
    assert_clear(redbucket("replay", tmp_path / "none.json", "-C", shop.path), 3, "unreadable-file")


SEEDED = {"SHOP_KEY": "sk-live-0123456789-of-the-user", "SHOP_TOKEN": "tok-9876543210-of-the-policy"}


@pytest.mark.slow
def test_no_seeded_secret_is_in_a_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is in the environment of whoever asks, one in the policy's ``[run] env``, and the test shows both."""
    monkeypatch.setenv("SHOP_KEY", SEEDED["SHOP_KEY"])
    rules = policy(PYTEST) + f'env = {{ SHOP_TOKEN = "{SEEDED["SHOP_TOKEN"]}" }}\n'
    victim = CART.replace("assert not CART", "assert not CART, str(dict(__import__('os').environ))")
    shop = Shop.open(tmp_path, {"cart.py": BEFORE, "tests/test_cart.py": victim}, rules=rules)
    shop.patch({"cart.py": LEAKS})
    told = shop.gate("agent/fix", "--captures", str(tmp_path / "captures"))
    row = told.row("test_empty")
    raw = Path(row["capture"]).read_text()
    assert json.loads(raw)["environment"]["SHOP_TOKEN"] is None
    assert "SHOP_TOKEN" in json.loads(raw)["failing"]["message"]
    for value in SEEDED.values():
        assert not [n for n in range(len(value) - 7) if value[n : n + 8] in raw]
