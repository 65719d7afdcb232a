"""Freezes as a person meets them: add, list, check, remove, and what the gate makes of one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from redbucket.app import flakes_desk as flakesdesk
from redbucket.engine.flakes import Replayed
from redbucket.engine.today import utc_today
from tests.stories.kit import CONSOLE, SHOP, Ended, Shop, assert_clear, redbucket, reported

ID = "tests/test_shop.py::ShopTests::test_total"
DOTTED = "tests.test_shop.ShopTests.test_total"
SOON = (utc_today() + timedelta(days=10)).isoformat()
PAST = (utc_today() - timedelta(days=1)).isoformat()


def freeze(nodeid: str = DOTTED, expires: str = SOON) -> str:
    fields = (
        f'owner = "ada"\nticket = "QA-1"\nexpires = {expires}\nreplay = "runs/c.json"\nreason = "races"\n'
    )
    return f'["{nodeid}"]\n{fields}'


def capture(nodeid: str = ID, **more: str) -> str:
    return json.dumps({"schema": "redbucket.capture/1", "nodeid": nodeid, "bucket": "noise", **more})


class Machine:
    """A replayer that answers from a script."""

    def __init__(self, answer: Replayed) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def replay(self, data: Mapping[str, Any], nodeid: str) -> Replayed:
        assert data["schema"] == "redbucket.capture/1"
        self.asked.append(nodeid)
        return self.answer


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(Replayed(20, 7, "noise"))
    monkeypatch.setattr(flakesdesk, "replayer", lambda opened: made)
    return made


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop.open(tmp_path, {"runs/c.json": capture()})


def add(shop: Shop, nodeid: str = ID, **options: str) -> Ended:
    given = {"owner": "ada", "ticket": "QA-1", "expires": SOON, "replay": "runs/c.json", **options}
    words = [word for key, value in given.items() if value for word in (f"--{key}", value)]
    return redbucket("flakes", "add", nodeid, *words, "-C", shop.path)


def flakes(shop: Shop) -> str | None:
    path = shop.path / "flakes.toml"
    return path.read_text() if path.exists() else None


def test_from_add_to_remove(shop: Shop, machine: Machine) -> None:
    ended = add(shop, reason="races with the till")
    assert ended.exit_code == 0, ended.err
    assert ended.out == (
        f"{ID} is frozen until {SOON}; commit flakes.toml and runs/c.json, both: freezes count from base\n"
        f"  git -C {shop.path} add flakes.toml runs/c.json\n"
    )
    assert machine.asked == [ID]
    assert flakes(shop) == (
        f'["{ID}"]\nowner = "ada"\nticket = "QA-1"\nexpires = {SOON}\nreplay = "runs/c.json"\n'
        'reason = "races with the till"\n'
    )
    assert redbucket("flakes", "check", "-C", shop.path).exit_code == 0
    listed = redbucket("flakes", "list", "-C", shop.path)
    assert listed.out.splitlines() == [
        f"    10 d  {ID}",
        f"          ada, QA-1, until {SOON}; races with the till",
    ]
    again = add(shop)
    assert_clear(again, 3, "already-frozen")
    assert_clear(add(shop, DOTTED), 3, "already-frozen")
    gone = redbucket("flakes", "remove", DOTTED, "-C", shop.path)
    assert (gone.exit_code, flakes(shop)) == (0, "")
    assert_clear(redbucket("flakes", "remove", ID, "-C", shop.path), 3, "not-frozen")


def test_add_from_a_folder_below_names_the_capture_from_the_top(shop: Shop, machine: Machine) -> None:
    ended = redbucket(
        *("flakes", "add", ID, "--owner", "a", "--ticket", "t", "--expires", SOON),
        *("--replay", "../runs/c.json", "-C", shop.path / "tests"),
    )
    assert ended.exit_code == 0, ended.err
    assert 'replay = "runs/c.json"' in (flakes(shop) or "")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"owner": ""}, "--owner is missing"),
        ({"ticket": " "}, "--ticket is missing"),
        ({"expires": ""}, "--expires is missing"),
        ({"replay": ""}, "--replay is missing"),
        ({"owner": "", "replay": ""}, "--owner is missing; --replay is missing"),
        ({"expires": "soon"}, "expires is not a date"),
        ({"expires": PAST}, "is over"),
        ({"expires": (utc_today() + timedelta(days=32)).isoformat()}, "more than 30 days ahead"),
    ],
)
def test_add_refuses_what_is_missing_or_wrong(
    shop: Shop, machine: Machine, options: dict[str, str], says: str
) -> None:
    ended = add(shop, **options)
    assert_clear(ended, 3, "freeze-incomplete")
    assert says in ended.err
    assert flakes(shop) is None
    assert machine.asked == []


def test_the_policy_sets_the_longest_freeze(tmp_path: Path, machine: Machine) -> None:
    shop = Shop.open(tmp_path, {"runs/c.json": capture()}, rules="[freeze]\nmax_days = 5\n")
    assert "more than 5 days ahead" in add(shop).err


@pytest.mark.parametrize(
    ("nodeid", "error"),
    [
        ("tests/test_shop.py::ShopTests::test_gone", "no-such-test"),
        ("tests/test_gone.py::test_x", "no-such-test"),
        ("tests/test_shop.py::ShopTests", "no-such-test"),
        ("tests/*", "freeze-incomplete"),
    ],
)
def test_add_wants_one_test_that_exists(shop: Shop, machine: Machine, nodeid: str, error: str) -> None:
    assert_clear(add(shop, nodeid), 3, error)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "unreadable-file"),
        ("{", "bad-capture"),
        (capture("tests/test_shop.py::ShopTests::test_label"), "bad-capture"),
    ],
)
def test_add_wants_a_capture_of_that_test(
    shop: Shop, machine: Machine, content: str | None, code: str
) -> None:
    shop.repo.write({"runs/c.json": content})
    assert_clear(add(shop), 3, code)
    assert machine.asked == []


def test_add_does_not_pretend_that_a_capture_replayed(shop: Shop) -> None:
    assert_clear(add(shop), 3, "bad-capture")
    assert flakes(shop) is None


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Replayed(20, 0, "stable_pass"), "does not replay: 20 runs, no failure"),
        (Replayed(20, 20, "invariant_miss", "fails alone, too"), "invariant_miss (fails alone, too)"),
        (Replayed(20, 20, "fixture_drift"), "fixture_drift: that is no noise"),
        (Replayed(20, 3, "unclassified"), "the test is unclassified"),
    ],
)
def test_add_refuses_what_is_no_noise_now(shop: Shop, machine: Machine, answer: Replayed, says: str) -> None:
    machine.answer = answer
    ended = add(shop)
    assert ended.exit_code == 1
    assert says in ended.err
    assert flakes(shop) is None


def test_a_capture_of_a_miss_freezes_nothing(shop: Shop, machine: Machine) -> None:
    shop.repo.write({"runs/c.json": capture(bucket="invariant_miss")})
    ended = add(shop)
    assert (ended.exit_code, machine.asked) == (1, [])
    assert "invariant_miss" in ended.err


def test_agents_neither_freeze_nor_thaw(
    shop: Shop, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.repo.write({"flakes.toml": freeze()})
    before = flakes(shop)
    shop.repo.branch("agent/fix")
    for ended in (add(shop), redbucket("flakes", "remove", DOTTED, "-C", shop.path)):
        assert ended.exit_code == 1
        assert "an agent does not freeze tests" in ended.err
        assert "branch agent/fix" in ended.err
    shop.repo.switch("main")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert add(shop).exit_code == 1
    assert redbucket("flakes", "remove", DOTTED, "-C", shop.path).exit_code == 1
    assert flakes(shop) == before


def test_an_edit_keeps_comments_and_line_ends(shop: Shop, machine: Machine) -> None:
    text = f"# ask in #flaky\r\n{freeze(DOTTED.replace('test_total', 'test_label'))}# last".replace(
        "\r", ""
    ).replace("\n", "\r\n")
    shop.repo.write({"flakes.toml": text})
    assert add(shop).exit_code == 0
    after = (shop.path / "flakes.toml").read_bytes().decode()
    assert after.startswith(text)
    assert redbucket("flakes", "remove", ID, "-C", shop.path).exit_code == 0
    assert (shop.path / "flakes.toml").read_bytes().decode().strip() == text.strip()


def test_two_removals_at_once_lose_nothing(shop: Shop) -> None:
    names = ["test_total", "test_label", "test_total_of_nothing"]
    shop.repo.write({"flakes.toml": "".join(freeze(DOTTED.replace("test_total", n)) for n in names)})
    running = [
        subprocess.Popen(
            [CONSOLE, "flakes", "remove", DOTTED.replace("test_total", n), "-C", shop.path], stdout=-3
        )
        for n in names[:2]
    ]
    assert [process.wait() for process in running] == [0, 0]
    assert flakes(shop) == freeze(DOTTED.replace("test_total", names[2]))


def test_list(shop: Shop) -> None:
    assert redbucket("flakes", "list", "-C", shop.path).out == "no test is frozen\n"
    today = utc_today().isoformat()
    entries = [freeze(), freeze(DOTTED + "_b", PAST), freeze(DOTTED + "_c", today), '["x.y"]\nowner = "o"\n']
    shop.repo.write({"flakes.toml": "".join(entries)})
    lines = redbucket("flakes", "list", "-C", shop.path).out.splitlines()
    assert [line[:8].strip() for line in lines[::2]] == ["over", "over", "last day", "10 d"]
    assert "ticket is missing" in lines[1]
    assert f"expired on {PAST}" in lines[3]
    told = json.loads(redbucket("flakes", "list", "--format", "json", "-C", shop.path).out)
    assert (told["schema"], told["today"], told["max_days"]) == ("redbucket.flakes/1", today, 30)
    assert [(f["days_left"], f["in_force"]) for f in told["freezes"]] == [
        (None, False),
        (-1, False),
        (0, True),
        (10, True),
    ]


def test_list_colours_for_a_terminal_only(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.repo.write({"flakes.toml": freeze()})
    assert "\x1b[" not in redbucket("flakes", "list", "-C", shop.path).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;32m" in redbucket("flakes", "list", "-C", shop.path).out


def test_a_file_that_cannot_be_read_is_said_everywhere(shop: Shop, machine: Machine) -> None:
    shop.repo.write({"flakes.toml": "[broken"})
    listed = redbucket("flakes", "list", "-C", shop.path)
    assert listed.exit_code == 1
    assert "every freeze counts as expired" in listed.out
    assert reported("flakes", "check", "-C", shop.path).exit_code == 1
    assert_clear(add(shop), 3, "flakes-unreadable")
    assert flakes(shop) == "[broken"


def test_check_looks_at_the_work_tree_the_index_or_a_range(shop: Shop) -> None:
    shop.repo.write({"flakes.toml": freeze(expires=PAST)})
    told = reported("flakes", "check", "-C", shop.path)
    refused = [f for f in told.findings("flake-expiry") if f["severity"] == "refuse"]
    assert (told.exit_code, [f["nodeid"] for f in refused]) == (1, [DOTTED])
    assert reported("flakes", "check", "--staged", "-C", shop.path).exit_code == 0
    shop.repo.git("add", "flakes.toml")
    assert reported("flakes", "check", "--staged", "-C", shop.path).exit_code == 1
    assert reported("flakes", "check", "--base", "main", "--head", "main", "-C", shop.path).exit_code == 0
    shop.repo.commit(message="freeze")
    assert reported("flakes", "check", "--base", "main", "--head", "main", "-C", shop.path).exit_code == 1


def test_check_sees_a_capture_that_is_not_committed(tmp_path: Path, machine: Machine) -> None:
    shop = Shop.open(tmp_path)
    shop.repo.write({"runs/c.json": capture()})
    added = add(shop)
    assert added.out.endswith(f"  git -C {shop.path} add flakes.toml runs/c.json\n"), added.err
    told = reported("flakes", "check", "-C", shop.path)
    (refused,) = [f for f in told.findings("flake-expiry") if f["severity"] == "refuse"]
    assert "its replay runs/c.json is not in the tree" in refused["reason"]
    shop.repo.git("add", "flakes.toml")
    assert reported("flakes", "check", "--staged", "-C", shop.path).exit_code == 1
    shop.repo.git("add", "runs/c.json")
    for more in ((), ("--staged",)):
        assert redbucket("flakes", "check", *more, "-C", shop.path).exit_code == 0
    shop.repo.git("rm", "-qf", "runs/c.json")
    shop.repo.commit(message="freeze, but not its capture")
    told = reported("flakes", "check", "--base", "main", "--head", "main", "-C", shop.path)
    assert [(f["severity"], told.exit_code) for f in told.findings("flake-expiry")] == [("warn", 0)]


def test_check_of_an_agents_branch(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"flakes.toml": freeze(), "runs/c.json": capture()})
    later = (utc_today() + timedelta(days=20)).isoformat()
    shop.patch({"flakes.toml": freeze(expires=later)})
    words = ("flakes", "check", "--base", "main", "--head", "agent/fix", "-C", shop.path)
    told = reported(*words)
    assert told.exit_code == 1
    assert "an agent extends the freeze" in told.findings("flake-expiry")[0]["reason"]
    shop.patch({"flakes.toml": freeze(expires=later)}, branch="longer", author="Ada <ada@example.org>")
    told = reported("flakes", "check", "--base", "main", "--head", "longer", "-C", shop.path)
    assert [f["severity"] for f in told.findings("flake-expiry")] == ["note"]
    assert told.exit_code == 0


def test_the_hook(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.repo.stage({"flakes.toml": freeze(expires=PAST)})
    monkeypatch.chdir(shop.path)
    monkeypatch.setattr(sys, "stdin", None)
    ended = redbucket("hook", "flake-expiry")
    assert ended.exit_code == 1
    assert "flake-expiry" in ended.out
    shop.repo.stage({"flakes.toml": freeze()})
    assert redbucket("hook", "flake-expiry").exit_code == 0


def noisy(place: Path) -> str:
    """A shop whose total is wrong two times of three, counted over all runs: noise without luck."""
    return SHOP.replace(
        "    return sum(prices)",
        f"""    with open({str(place / "count")!r}, "ab") as count:
        count.write(b".")
        count.flush()
        wrong = prices == [1, 2, 3] and count.tell() % 3
    return sum(prices) + bool(wrong)""",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("expires", "exit_code"), [(SOON, 0), (PAST, 1)], ids=["in force", "expired"])
def test_the_gate_shows_frozen_noise_and_lets_it_pass_until_the_expiry(
    tmp_path: Path, expires: str, exit_code: int
) -> None:
    shop = Shop.open(tmp_path, {"flakes.toml": freeze(expires=expires)})
    shop.patch({"shop.py": noisy(tmp_path)})
    told = shop.gate()
    row = told.row("test_total")
    assert (row["bucket"], row["blocks"], told.exit_code) == ("noise", exit_code == 1, exit_code)
    if exit_code:
        assert told.findings("flake-expiry")
        assert row["frozen_until"] is None
    else:
        assert (row["state"], row["frozen_until"]) == (f"frozen until {SOON} by ada", SOON)
        assert sorted(row["outcomes"]["H"]) == ["failed", "failed", "passed"]  # run and recorded


@pytest.mark.slow
@pytest.mark.parametrize("author", ["Claude <noreply@anthropic.com>", "Ada <ada@example.org>"])
def test_a_freeze_that_comes_with_the_patch_excuses_nothing(tmp_path: Path, author: str) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": noisy(tmp_path), "flakes.toml": freeze()}, branch="mine", author=author)
    told = shop.gate("mine")
    assert (told.exit_code, told.row("test_total")["blocks"]) == (1, True)


@pytest.mark.slow
def test_a_freeze_does_not_excuse_what_the_patch_breaks(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"flakes.toml": freeze()})
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "0")})
    told = shop.gate()
    row = told.row("test_total")
    assert (told.exit_code, row["bucket"], row["blocks"]) == (1, "invariant_miss", True)
    assert "a freeze covers noise only" in row["why"]
