"""A gate in several jobs: a ticket, one run in each job, and the gate that collects their records."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from redbucket.core.seals import Seal, read_ticket, sealed
from tests.stories.kit import SHOP, Ended, Shop, Told, assert_clear, policy, redbucket, reported

BROKEN = SHOP.replace("sum(prices)", "len(prices)")
SAME = SHOP.replace("sum(prices)", "sum(list(prices))")


def drawn(shop: Shop, place: Path, *words: str) -> Path:
    """Draw a ticket into a file."""
    ended = redbucket("ticket", "-C", shop.path, "--base", "main", "--head", "agent/fix", *words)
    assert (ended.exit_code, ended.err) == (0, "")
    ticket = place / "ticket.json"
    ticket.write_text(ended.out)
    return ticket


def job(shop: Shop, ticket: Path, number: int, out: Path, *words: str) -> Ended:
    """One job of the matrix."""
    return redbucket(
        "rerun", "-C", shop.path, "--run", str(number), "--of", "3", "--ticket", ticket, "--out", out, *words
    )


def judged(shop: Shop, ticket: Path, records: Path, *words: str) -> Told:
    return reported("gate", "-C", shop.path, "--records", records, "--ticket", ticket, *words)


def run_all(shop: Shop, place: Path) -> tuple[Path, Path]:
    ticket, out = drawn(shop, place), place / "runs"
    for number in (1, 2, 3):
        ended = job(shop, ticket, number, out / f"job-{number}")
        assert ended.exit_code == 0, ended.err
    return ticket, out


def told(ended: Told) -> dict[str, Any]:
    """What must be the same wherever the runs were made."""
    patch = ("verdict", "exit_code", "base", "head", "merge_tree", "seed", "reruns", "identity")
    row = ("nodeid", "bucket", "introduced", "cause", "outcomes", "spend")
    said = {name: ended.report[name] for name in (*patch, "undecided", "findings")}
    return {**said, "rows": [{name: r[name] for name in row} for r in ended.report["tests"]]}


READS = """\
import json
import unittest

from shop import label


class DataTests(unittest.TestCase):
    def test_recorded(self):
        with open("tests/data/x.json") as f:
            self.assertEqual(json.load(f), label(3))
"""
PATCHES = {
    "green": ({"shop.py": SAME}, 0),
    "miss": ({"shop.py": BROKEN}, 1),
    "drift": ({"tests/data/x.json": '"4.00 EUR"', "shop.py": SAME}, 1),
}


@pytest.mark.parametrize(
    "kind",
    ["miss", pytest.param("green", marks=pytest.mark.slow), pytest.param("drift", marks=pytest.mark.slow)],
)
def test_it_says_what_the_gate_says(tmp_path: Path, kind: str) -> None:
    files, code = PATCHES[kind]
    shop = Shop.open(
        tmp_path,
        {"tests/test_data.py": READS, "tests/data/x.json": '"3.00 EUR"'},
        rules=policy() + "challenge_budget = 0\n",
    )
    shop.patch(files)
    before = shop.snapshot()
    ticket, out = run_all(shop, tmp_path)
    there = judged(shop, ticket, out)
    assert shop.snapshot() == before
    here = shop.gate()
    assert told(there) == told(here)
    assert there.exit_code == code
    assert [n["code"] for n in there.report["notes"]][:1] == ["brought-records"]
    assert there.report["base_name"] == "main"


@pytest.mark.slow
def test_a_home_that_was_used_is_used_again(tmp_path: Path) -> None:
    """The scout needs the HOME of the first run, which another machine had."""
    leaves = SHOP.replace(
        "def total(prices):",
        "import pathlib\n\n\ndef total(prices):\n    mark = pathlib.Path.home() / 'mark'\n"
        "    if mark.exists():\n        return 0\n    mark.touch()",
    ).replace(
        "    return sum(prices)", "    mark.unlink() if len(prices) == 0 else None\n    return sum(prices)"
    )
    tests = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2, 3]) == 6\n"
    shop = Shop.open(tmp_path, {"tests/test_shop.py": tests}, rules=policy('["python", "-m", "pytest"]'))
    shop.patch({"shop.py": leaves})
    ticket, out = run_all(shop, tmp_path)
    there, here = judged(shop, ticket, out), shop.gate()
    assert there.exit_code == here.exit_code == 1
    assert there.row("test_total")["cause"] == here.row("test_total")["cause"] == "leftover files"


def first_seal(out: Path, number: int = 2) -> Path:
    return out / f"job-{number}" / f"run-{number}-of-3.seal"


def lost(shop: Shop, ticket: Path, out: Path) -> str:
    shutil.rmtree(out / "job-2")
    return "record-missing"


def unsealed(shop: Shop, ticket: Path, out: Path) -> str:
    first_seal(out).unlink()
    return "record-unsealed"


def seal_alone(shop: Shop, ticket: Path, out: Path) -> str:
    first_seal(out).with_suffix(".jsonl").unlink()
    return "record-unsealed"


def cut(shop: Shop, ticket: Path, out: Path) -> str:
    record = first_seal(out).with_suffix(".jsonl")
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    return "record-changed"


def whitewashed(shop: Shop, ticket: Path, out: Path) -> str:
    record = first_seal(out).with_suffix(".jsonl")
    record.write_text(record.read_text().replace('"failed"', '"passed"'))
    return "record-changed"


def twice(shop: Shop, ticket: Path, out: Path) -> str:
    shutil.copytree(out / "job-2", out / "job-4")
    return "record-repeated"


def renamed(shop: Shop, ticket: Path, out: Path) -> str:
    """Run 1 in the place of run 2."""
    for suffix in (".seal", ".jsonl"):
        shutil.copy(first_seal(out, 1).with_suffix(suffix), first_seal(out).with_suffix(suffix))
    return "record-repeated"


def stale(shop: Shop, ticket: Path, out: Path) -> str:
    """A record of the same patch from an earlier gate."""
    old = drawn(shop, out.parent)
    ended = job(shop, old, 2, out / "old")
    assert ended.exit_code == 0
    shutil.rmtree(out / "job-2")
    (out / "old").rename(out / "job-2")
    return "record-foreign"


def edited_seal(shop: Shop, ticket: Path, out: Path) -> str:
    seal = json.loads(first_seal(out).read_bytes())
    first_seal(out).write_text(json.dumps({**seal, "run": 3}))
    return "record-forged"


def sealed_without_the_key(shop: Shop, ticket: Path, out: Path) -> str:
    """A forger who has read everything but the key."""
    record = first_seal(out).with_suffix(".jsonl")
    raw = record.read_bytes().replace(b'"failed"', b'"passed"')
    record.write_bytes(raw)
    known = read_ticket(ticket.read_bytes(), "ticket")
    guess = msgspec.structs.replace(known, key="00" * 32)
    seal = msgspec.json.decode(first_seal(out).read_bytes(), type=Seal)
    forged = sealed(msgspec.structs.replace(seal, record=hashlib.sha256(raw).hexdigest()), guess)
    forged = msgspec.structs.replace(forged, ticket=known.name)
    first_seal(out).write_bytes(msgspec.json.encode(forged))
    return "record-forged"


def no_seal_at_all(shop: Shop, ticket: Path, out: Path) -> str:
    first_seal(out).write_bytes(b"\xff\xfe{")
    return "record-forged"


def other_settings(shop: Shop, ticket: Path, out: Path) -> str:
    """The launcher's policy in one job, base's in the others."""
    rules = out.parent / "own.toml"
    rules.write_text(policy(timeout=7) + 'env = { A = "1" }\n')
    shutil.rmtree(out / "job-2")
    assert job(shop, ticket, 2, out / "job-2", "--policy", str(rules)).exit_code == 0
    return "record-settings"


SPOILED: tuple[Callable[[Shop, Path, Path], str], ...] = (
    lost,
    unsealed,
    seal_alone,
    cut,
    whitewashed,
    twice,
    renamed,
    stale,
    edited_seal,
    sealed_without_the_key,
    no_seal_at_all,
    other_settings,
)


@pytest.mark.slow
def test_records_that_can_not_count(tmp_path: Path) -> None:
    """Each way to spoil one record: exit 2 with its reason, nothing is run, and run 2 is named where it lacks."""
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": BROKEN})
    ticket, whole = run_all(shop, tmp_path)
    for spoil in SPOILED:
        place = tmp_path / spoil.__name__
        out = place / "runs"
        shutil.copytree(whole, out)
        code = spoil(shop, ticket, out)
        ended = judged(shop, ticket, out)
        assert (ended.exit_code, ended.report["verdict"]) == (2, "undecided"), spoil.__name__
        assert code in ended.problems, spoil.__name__
        assert ended.report["tests"] == []
        missing = [p for p in ended.report["undecided"] if p["code"] == "record-missing"]
        if spoil is not twice:
            assert "--run 2 --of 3" in missing[0]["remedy"], spoil.__name__
        shutil.rmtree(place)
    shop.patch({"shop.py": SAME})
    other = judged(shop, drawn(shop, tmp_path), whole)  # records of another patch
    assert (other.exit_code, set(other.problems)) == (2, {"record-foreign", "record-missing"})


def test_a_patch_that_rewrites_the_records_of_its_job(tmp_path: Path) -> None:
    """The code under test finds the folder of records and whitewashes what is there."""
    out = tmp_path / "runs"
    evil = BROKEN + (
        f"\n\nimport pathlib\nfor p in pathlib.Path({str(out)!r}).rglob('*.jsonl'):\n"
        "    p.write_text(p.read_text().replace('\"failed\"', '\"passed\"'))\n"
    )
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": evil})
    ticket, out = run_all(shop, tmp_path)
    # each job has a machine of its own; here the later ones reached the records of the earlier
    ended = judged(shop, ticket, out)
    assert ended.exit_code in (1, 2)
    assert ended.report["verdict"] != "accept"


def test_a_static_refusal_stands_without_any_record(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"redbucket.toml": policy(timeout=5)})
    ticket = drawn(shop, tmp_path)
    (tmp_path / "none").mkdir()
    ended = judged(shop, ticket, tmp_path / "none")
    assert ended.exit_code == 1
    assert ended.findings("protected-path")
    assert ended.problems == ["record-missing"] * 3


def test_an_incomplete_run_is_sealed_and_is_not_green(tmp_path: Path) -> None:
    slow = "import time\n\n" + SHOP.replace(
        "    return sum(prices)", "    time.sleep(0.4)\n    return sum(prices)"
    )
    shop = Shop.open(tmp_path, rules=policy() + "budget = 0.5\nscout = false\n")
    shop.patch({"shop.py": slow})
    ticket, out = drawn(shop, tmp_path), tmp_path / "runs"
    for number in (1, 2, 3):
        assert job(shop, ticket, number, out).exit_code == 2
    ended = judged(shop, ticket, out, "--budget", "60")
    assert ended.exit_code == 2
    assert "record-incomplete" in ended.problems


def test_nothing_to_judge_and_a_conflict(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.repo.branch("agent/fix", "main")
    shop.repo.switch("main")
    ticket = drawn(shop, tmp_path)
    ended = job(shop, ticket, 1, tmp_path / "runs")
    assert (ended.exit_code, ended.out) == (0, "")
    assert not (tmp_path / "runs").exists()
    (tmp_path / "runs").mkdir()
    assert judged(shop, ticket, tmp_path / "runs").exit_code == 0
    shop.patch({"shop.py": SAME})
    shop.repo.commit({"shop.py": BROKEN}, "on main")
    ticket = drawn(shop, tmp_path)
    assert_clear(job(shop, ticket, 1, tmp_path / "runs"), 2, "merge-conflict")
    assert judged(shop, ticket, tmp_path / "runs").findings("merge-conflict")


def test_base_moves_and_a_run_is_made_again(tmp_path: Path) -> None:
    """The ticket holds ids: what is judged stays what it was. A second run 2 takes the place of the first."""
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SAME})
    ticket, out = drawn(shop, tmp_path), tmp_path / "runs"
    base = json.loads(ticket.read_text())["base"]
    for at, number in enumerate((1, 2, 2, 3)):
        shop.repo.commit({f"more{at}.txt": "x"}, "main moves")
        assert job(shop, ticket, number, out).exit_code == 0
    assert sorted(p.name for p in (out / "earlier-1").iterdir()) == ["run-2-of-3.jsonl", "run-2-of-3.seal"]
    ended = judged(shop, ticket, out)
    assert (ended.exit_code, ended.report["base"]) == (0, base)


def test_the_policy_says_how_many(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy() + "reruns = 5\n")
    shop.patch({"shop.py": SAME})
    ticket = drawn(shop, tmp_path)
    assert json.loads(ticket.read_text())["runs"] == [1, 2, 3, 4, 5]
    assert_clear(job(shop, ticket, 1, tmp_path / "runs"), 3, "bad-run")
    (tmp_path / "runs").mkdir()
    assert len(judged(shop, ticket, tmp_path / "runs").problems) == 5
    few = drawn(shop, tmp_path, "--scope", "failed")
    assert json.loads(few.read_text())["runs"] == [1]


def test_words_that_do_not_go_together(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SAME})
    ticket = drawn(shop, tmp_path)
    at = ("-C", shop.path)
    for words in (
        ("rerun", *at, "--run", "1"),
        ("rerun", *at, "--ticket", ticket),
        ("rerun", *at, "--run", "1", "--ticket", ticket, "-n", "2"),
        ("rerun", *at, "--run", "9", "--ticket", ticket),
        ("gate", *at, "--records", tmp_path),
        ("gate", *at, "--ticket", ticket),
        ("gate", *at, "--records", tmp_path, "--ticket", ticket, "--base", "main"),
        ("gate", *at, "--records", tmp_path / "none", "--ticket", ticket),
    ):
        ended = redbucket(*words)
        assert (ended.exit_code, ended.out) == (3, ""), words
    for content in (b"", b"{}", b"[]", ticket.read_bytes().replace(b'"of": 3', b'"of": 2'), b"\xff"):
        bad = tmp_path / "bad.json"
        bad.write_bytes(content)
        assert_clear(redbucket("rerun", *at, "--run", "1", "--ticket", bad), 3, "bad-ticket")
