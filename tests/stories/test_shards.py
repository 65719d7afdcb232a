"""Suites in shards: the verdict of the whole suite, and what is said where it can't be."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.gitkit import Content
from tests.stories.kit import PYTEST, SHOP, Shop, Told, assert_clear, policy, redbucket
from tests.stories.test_matrix import drawn, job, judged
from tests.stories.test_remote import BROKEN, FILES, PATCHES, SAME, verdict

QUICK = "reruns = 2\nscout = false\nchallenge_budget = 0\n"
# the state that one test leaves to another lies in product code, where a patch can put it
STATE = SHOP + "\n\nseen = []\n"
LEAVES = SHOP.replace("return sum(prices)", "seen.append(prices)\n    return sum(prices)") + "\n\nseen = []\n"
FIRST = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
LATER = "from shop import seen\n\n\ndef test_nothing_was_seen():\n    assert seen == []\n"


def notes(told: Told) -> list[str]:
    return [note["code"] for note in told.report["notes"]]


def shards_of(folder: Path) -> dict[str, dict[str, Any]]:
    """{the record of a shard: what its header says of it}."""
    found = {}
    for record in sorted(folder.rglob("*-shard-*.jsonl")):
        header = json.loads(record.read_text().partition("\n")[0])
        found[record.stem] = header["shard"]
    return found


@pytest.mark.parametrize(
    "kind", ["miss", *(pytest.param(k, marks=pytest.mark.slow) for k in ("green", "drift"))]
)
def test_the_verdict_is_that_of_the_whole_suite(tmp_path: Path, kind: str) -> None:
    files, code = PATCHES[kind]
    shop = Shop.open(tmp_path, FILES, rules=policy() + "challenge_budget = 0\nshards = 2\n")
    shop.patch(files)
    keep = tmp_path / "kept"
    split, whole = shop.gate("agent/fix", "--keep", str(keep)), shop.gate("agent/fix", "--shards", "1")
    assert verdict(split) == verdict(whole)
    assert (split.exit_code, split.report["shards"], whole.report["shards"]) == (code, 2, 1)
    assert "shards" in notes(split)
    assert "shards" not in notes(whole)
    said = shards_of(keep)
    assert {name.rpartition("-")[0] for name in said} >= {f"H-plain-{n}-shard" for n in (1, 2, 3)}
    assert len({shard["split"] for shard in said.values()}) == 1


def broken_order(tmp_path: Path, tests: Mapping[str, Content], more: str) -> Shop:
    """A shop whose patch makes one test break another."""
    other: Mapping[str, Content] = {
        "tests/test_shop.py": None,
        "tests/test_c.py": "def test_c():\n    pass\n",
    }
    rules = policy(PYTEST) + "reruns = 2\nscout = false\n" + more
    shop = Shop.open(tmp_path, {"shop.py": STATE, **other, **tests}, rules=rules)
    shop.patch({"shop.py": LEAVES})
    return shop


@pytest.mark.slow
def test_an_order_within_a_shard_is_seen(tmp_path: Path) -> None:
    """And the test that does it is looked for among those that ran before it in its shard."""
    both = FIRST.replace("import total", "import seen, total") + "\n\n" + LATER.partition("\n\n\n")[2]
    told = broken_order(tmp_path, {"tests/test_a.py": both}, "shards = 2\n").gate()
    row = told.row("test_nothing_was_seen")
    assert (told.exit_code, told.report["shards"], row["cause"]) == (1, 2, "order")
    assert "It is broken by what is left by tests/test_a.py::test_total" in row["why"]
    assert "shards" in notes(told)


@pytest.mark.slow
def test_an_order_across_shards_is_not_seen_and_that_is_said(tmp_path: Path) -> None:
    """The whole suite shows it."""
    tests = {"tests/test_a.py": FIRST, "tests/test_b.py": LATER}
    shop = broken_order(tmp_path, tests, "shards = 3\nchallenge_budget = 0\n")
    whole, split = shop.gate("agent/fix", "--shards", "1"), shop.gate()
    assert (whole.exit_code, whole.row("test_nothing_was_seen")["cause"]) == (1, "order")
    assert (split.exit_code, split.report["shards"]) == (0, 3)
    (said,) = [n for n in split.report["notes"] if n["code"] == "shards"]
    assert "the order of the whole suite was not tried" in said["reason"]


@pytest.mark.slow
def test_a_test_that_needs_another_shard_is_red_in_both_worlds(tmp_path: Path) -> None:
    """The patch is not blamed for it: base is split alike."""
    needs = "from shop import seen\n\n\ndef test_something_was_seen():\n    assert seen\n"
    files: Mapping[str, Content] = {
        "shop.py": LEAVES,
        "tests/test_shop.py": None,
        "tests/test_a.py": FIRST,
        "tests/test_b.py": needs,
    }
    shop = Shop.open(tmp_path, files, rules=policy(PYTEST) + QUICK + "shards = 2\n")
    shop.patch({"shop.py": LEAVES.replace("sum(prices)", "sum(list(prices))")})
    told = shop.gate()
    row = told.row("test_something_was_seen")
    assert (told.exit_code, row["introduced"], row["state"]) == (0, False, "already red")


@pytest.mark.slow
def test_new_files_and_files_that_are_gone(tmp_path: Path) -> None:
    """A person's: each test is there once, and what base had and head has not is told as it is without shards."""
    shop = Shop.open(tmp_path, FILES, rules=policy() + QUICK + "shards = 2\n")
    more = READS.replace("DataTests", "MoreTests")
    shop.patch(
        {"shop.py": SAME, "tests/test_new.py": more, "tests/test_data.py": None},
        branch="people/fix",
        author="Ann <ann@example.org>",
    )
    split, whole = shop.gate("people/fix"), shop.gate("people/fix", "--shards", "1")
    assert verdict(split) == verdict(whole)
    assert [row["nodeid"].rpartition(".")[2] for row in split.report["tests"]].count("test_recorded") == 1


READS = str(FILES["tests/test_data.py"])


@pytest.mark.slow  # the split itself has its unit tests
def test_durations_of_the_ledger_split_the_next_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And whatever else a ledger holds costs time alone."""
    ledger = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("REDBUCKET_LEDGER", str(ledger))
    slow = "import time\n\n\ndef test_it():\n    time.sleep({})\n"
    files: Mapping[str, Content] = {
        "tests/test_shop.py": FIRST,
        "tests/test_a.py": slow.format(2),
        "tests/test_z.py": slow.format(0),
    }
    shop = Shop.open(tmp_path, files, rules=policy(PYTEST) + QUICK + "shards = 2\n")
    shop.patch({"shop.py": BROKEN.replace("len(prices)", "sum(prices) + 0")})
    for number, stretch in ((1, ["tests/test_a.py", "tests/test_shop.py"]), (2, ["tests/test_a.py"])):
        keep = tmp_path / f"kept-{number}"
        told = shop.gate("agent/fix", "--keep", str(keep))
        assert told.exit_code == 0, told.out
        assert shards_of(keep)["H-plain-1-shard-1"]["files"] == stretch
    with sqlite3.connect(ledger) as connection:
        connection.execute("UPDATE tests SET seconds = 'long'")
    assert shop.gate().exit_code == 0


def test_records_of_shards_are_classified_as_one_run(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, FILES, rules=policy() + "shards = 2\n")
    ended = redbucket("rerun", "-C", shop.path, "-n", "2", "--out", tmp_path / "runs")
    assert ended.exit_code == 0
    assert "kept within 2 shards" in ended.err
    records = ended.out.split()
    assert [Path(r).name for r in records] == [
        f"run-plain-{n}-shard-{s}.jsonl" for n in (1, 2) for s in (1, 2)
    ]
    told = redbucket("classify", *records)
    rows = json.loads(told.out)
    assert (told.exit_code, {r["bucket"] for r in rows}, len(rows)) == (0, {"stable_pass"}, 4)
    lost = redbucket("classify", *records[:-1])
    assert (lost.exit_code, {r["bucket"] for r in json.loads(lost.out)}) == (2, {"unclassified"})
    assert "shard 2 of 2 has no record" in lost.err
    once = redbucket("rerun", "-C", shop.path, "-n", "1", "--shards", "1", "--out", tmp_path / "one")
    assert [Path(r).name for r in once.out.split()] == ["run-plain-1.jsonl"]


def test_what_can_not_be_split_says_so(tmp_path: Path) -> None:
    junit = '[run]\ncommand = ["x"]\nformat = "junit"\nreport = "x.xml"\n'
    shop = Shop.open(tmp_path, rules=junit + "shards = 2\n")
    shop.patch({"shop.py": SAME})
    assert_clear(shop.refused("--base", "main", "--head", "agent/fix"), 3, "policy-value")
    other = Shop.open(tmp_path, rules=junit, name="other")
    other.patch({"shop.py": SAME})
    words = ("--shards", "2")
    assert_clear(other.refused("--base", "main", "--head", "agent/fix", *words), 3, "no-shards")
    assert_clear(redbucket("rerun", "-C", other.path, *words), 3, "no-shards")
    alone = Shop.open(tmp_path, rules=policy() + QUICK, name="alone")
    alone.patch({"shop.py": SAME})
    told = alone.gate("agent/fix", *words)
    assert (told.exit_code, told.report["shards"]) == (0, 1)
    assert "shards-unused" in notes(told)


@pytest.mark.slow
def test_runs_of_other_jobs_are_whole(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, FILES, rules=policy() + "challenge_budget = 0\nshards = 2\n")
    shop.patch({"shop.py": SAME})
    ticket, out = drawn(shop, tmp_path), tmp_path / "runs"
    for number in (1, 2, 3):
        assert job(shop, ticket, number, out).exit_code == 0
    told = judged(shop, ticket, out)
    assert (told.exit_code, told.report["shards"]) == (0, 1)
    assert "shards-unused" in notes(told)
