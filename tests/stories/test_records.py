"""Records by themselves: ``rerun`` writes them, ``classify`` reads them, its own and others'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.docs.reference import schema
from tests.stories.kit import SHOP, Ended, Shop, assert_clear, policy, redbucket


def rows(ended: Ended) -> dict[str, dict[str, Any]]:
    said = json.loads(ended.out)
    for row in said:
        assert row["schema"] == "redbucket.classify/1"
        jsonschema.validate(row, schema("classify"))
    return {row["nodeid"].replace("::", ".").rpartition(".")[2]: row for row in said}


def test_rerun_and_classify(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    before = shop.snapshot()
    ended = redbucket("rerun", "-C", shop.path, "-n", "3", "--out", tmp_path / "runs")
    assert ended.exit_code == 0
    assert "2 passed each of 3 times; 1 failed each of 3 times" in ended.err
    records = ended.out.splitlines()
    assert len(records) == 3
    assert f"next: redbucket classify {records[0]}" in ended.err
    assert shop.snapshot() == before
    classified = redbucket("classify", *records)
    assert (classified.exit_code, classified.err) == (0, "")
    found = rows(classified)
    assert {name: row["bucket"] for name, row in found.items()} == {
        "test_total": "invariant_miss",
        "test_total_of_nothing": "stable_pass",
        "test_label": "stable_pass",
    }
    assert found["test_total"]["outcomes"] == ["failed"] * 3


def test_a_second_rerun_leaves_its_own_records_alone_in_the_folder(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    out = tmp_path / "runs"
    first = redbucket("rerun", "-C", shop.path, "-n", "2", "--out", out).out.splitlines()
    old = [Path(record).read_bytes() for record in first]
    (out / "notes.jsonl").write_text("{}\n")
    second = redbucket("rerun", "-C", shop.path, "-n", "1", "--out", out)
    assert sorted(out.glob("*.jsonl")) == sorted([out / "notes.jsonl", Path(second.out.strip())])
    assert [p.read_bytes() for p in sorted((out / "earlier-1").iterdir())] == old
    assert str(out / "earlier-1") in second.err


def test_rerun_with_a_command_of_ones_own(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy('["no-such-program"]'))
    words = ("rerun", "-C", shop.path, "-n", "1", "--out", "runs", "--", "python", "-m", "unittest")
    ended = redbucket(*words, "tests.test_shop.ShopTests.test_label")
    assert ended.exit_code == 0
    (record,) = ended.out.splitlines()
    assert Path(record).parent == shop.path / "runs"
    assert list(rows(redbucket("classify", record, "--asked", "1"))) == ["test_label"]


def test_rerun_of_another_commit(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    (record,) = redbucket(
        "rerun", "-C", shop.path, "-n", "1", "--rev", "agent/fix", "--out", tmp_path / "runs"
    ).out.splitlines()
    events = [json.loads(line) for line in Path(record).read_text().splitlines()]
    assert [e["outcome"] for e in events if e["event"] == "end" and e["nodeid"].endswith("test_total")] == [
        "failed"
    ]
    assert events[0]["tree"] == shop.repo.tree("agent/fix")
    assert_clear(redbucket("rerun", "-C", shop.path, "--rev", "nope"), 3, "unknown-revision")


def written(place: Path, *, seeds: tuple[str | None, ...] = ("7", "7", "7")) -> list[Path]:
    """The worked example in the single-object form: a miss, a drift between runs, noise, and a pass."""
    outcomes = {
        "test_edge": ("failed", "failed", "failed"),
        "test_recorded": ("failed", "failed", "failed"),
        "test_race": ("passed", "failed", "passed"),
        "test_between": ("passed", "passed", "passed"),
    }
    answer = []
    for number, seed in enumerate(seeds):
        tests = [
            {
                "nodeid": f"tests/test_bucketizer.py::{name}",
                "outcome": seen[number],
                "fixture_hash": f"hash{number}" if name == "test_recorded" else "same",
                "message": "AssertionError: 3 != 2" if seen[number] == "failed" else "",
            }
            for name, seen in outcomes.items()
        ]
        if seed is not None:
            tests = [{**test, "seed": seed} for test in tests]
        path = place / f"run{number + 1}.json"
        path.write_text(json.dumps({"run_id": number + 1, "tests": tests}))
        answer.append(path)
    return answer


def test_the_single_object_form(tmp_path: Path) -> None:
    ended = redbucket("classify", *written(tmp_path))
    assert (ended.exit_code, ended.err) == (0, "")
    found = rows(ended)
    assert {name: row["bucket"] for name, row in found.items()} == {
        "test_edge": "invariant_miss",
        "test_recorded": "fixture_drift",
        "test_race": "noise",
        "test_between": "stable_pass",
    }
    for row in found.values():
        assert list(row)[:4] == ["nodeid", "bucket", "why", "spend"]
        assert row["why"]
        assert row["spend"]


def test_without_a_seed_nothing_is_classified(tmp_path: Path) -> None:
    ended = redbucket("classify", *written(tmp_path, seeds=("7", "", "7")))
    assert ended.exit_code == 2
    assert {row["bucket"] for row in rows(ended).values()} == {"unclassified"}
    silent = written(tmp_path, seeds=(None, None, None))
    assert redbucket("classify", *silent).exit_code == 2
    assert redbucket("classify", "--seed", "7", *silent).exit_code == 0


def test_one_record_is_not_enough_unless_it_was_all_that_was_asked(tmp_path: Path) -> None:
    (record, *_) = written(tmp_path)
    ended = redbucket("classify", record)
    assert ended.exit_code == 2
    assert {row["bucket"] for row in rows(ended).values()} == {"unclassified"}
    # nobody asked for more, and the runner did its work
    assert rows(ended)["test_between"]["why"] == "one run alone can't be classified: it passed 1 of 1 run"
    assert {row["spend"] for row in rows(ended).values()} == {
        "give the records of two or more runs of one seed (redbucket rerun)"
    }
    two = redbucket("classify", "--asked", "2", record)
    assert rows(two)["test_between"]["why"] == "fewer runs than asked: 1 of 2"
    asked = redbucket("classify", "--asked", "1", record)
    assert asked.exit_code == 2
    found = {name: row["bucket"] for name, row in rows(asked).items()}
    assert found["test_edge"] == found["test_recorded"] == "unclassified"
    assert found["test_between"] == found["test_race"] == "stable_pass"


def test_fewer_records_than_asked(tmp_path: Path) -> None:
    ended = redbucket("classify", "--asked", "5", *written(tmp_path))
    assert ended.exit_code == 2
    assert all("fewer runs than asked: 3 of 5" in row["why"] for row in rows(ended).values())


def test_a_record_given_twice_counts_once(tmp_path: Path) -> None:
    one, two, _ = written(tmp_path)
    ended = redbucket("classify", one, two, one)
    assert ended.exit_code == 2
    assert "it counts once" in ended.err


def test_records_that_are_none(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    for content in (b"", b"{", b"\xff\xfe", b"[1, 2]", b'{"tests": 3}', b"<html/>", b"hello\n"):
        bad.write_bytes(content)
        ended = redbucket("classify", bad)
        assert ended.exit_code in (2, 3), content
        assert "Traceback" not in ended.err
        assert ended.errors or ended.out.startswith("["), content
    assert_clear(redbucket("classify", tmp_path / "none.json"), 3, "unreadable-file")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"run_id":1', "b.json: damaged: Input data was truncated (byte 11)"),
        ('{"run_id":1,"tests":[{"nodeid":"a"', "b.json: damaged: Input data was truncated (byte 34)"),
        ('{"run_id":1,"tests":[]}', "b.json: it holds no tests"),
        ("<testsuites/>", "b.json: it holds no tests"),
    ],
    ids=["cut", "cut in a test", "empty", "empty JUnit"],
)
def test_a_record_that_says_nothing_is_named(tmp_path: Path, content: str, said: str) -> None:
    bad = tmp_path / "b.json"
    bad.write_text(content)
    alone = redbucket("classify", bad)
    assert (alone.exit_code, alone.out, alone.err) == (2, "[]\n", f"redbucket: note: {tmp_path}/{said}\n")
    beside = redbucket("classify", *written(tmp_path), bad)
    assert (beside.exit_code, f"{tmp_path}/{said}\n" in beside.err) == (2, True)
    assert redbucket("classify", *written(tmp_path)).err == ""


def test_rows_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "rows.json"
    assert redbucket("classify", *written(tmp_path), "--output", target) == Ended(0, "", "")
    assert len(json.loads(target.read_text())) == 4


def test_a_folder_of_reports_is_one_run(tmp_path: Path) -> None:
    """Maven writes a file for each class; three runs are three folders."""
    report = '<testsuite name="{0}" tests="1"><testcase classname="{0}" name="a"/></testsuite>'
    for run in ("1", "2", "3"):
        (tmp_path / run).mkdir()
        for owner in ("A", "B"):
            (tmp_path / run / f"TEST-{owner}.xml").write_text(report.format(owner))
    told = redbucket("classify", "--seed", "7", *(tmp_path / run for run in ("1", "2", "3")))
    assert told.exit_code == 0, told.err
    assert {row["nodeid"]: row["outcomes"] for row in json.loads(told.out)} == {
        "A::a": ["passed"] * 3,
        "B::a": ["passed"] * 3,
    }
    (tmp_path / "empty").mkdir()
    assert_clear(redbucket("classify", tmp_path / "empty"), 3, "record-unreadable")
