"""``redbucket oracle``: executed and noticed, side by side; a look that goes on; the gate's rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.errors import Misused
from redbucket.core.oracled import Tried
from redbucket.edges import oraclefile
from tests.stories.kit import PYTEST, Shop, policy, redbucket
from tests.stories.test_review import MONEY

NEW = MONEY.replace(
    "    share, rest = divmod(amount, parts)\n",
    "    share = amount // parts\n    rest = amount - share * parts\n",
)
REAL = "from money import split\n\n\ndef test_split():\n    assert split(11, 3) == [4, 4, 3]\n"
HOLLOW = "from money import split\n\n\ndef test_split():\n    assert split(11, 3) is not None\n"
OWN = "from money import split\n\n\ndef test_own():\n    assert len(split(11, 3)) == 3\n"


def opened(place: Path, test: str, more: str = "") -> Shop:
    files = {"shop.py": None, "tests/test_shop.py": None, "money.py": MONEY, "tests/test_m.py": test}
    shop = Shop.open(place, files, rules=policy(PYTEST, more=more))
    shop.patch({"money.py": NEW, "tests/test_own.py": OWN})
    return shop


def looked(shop: Shop, *words: str | Path) -> Any:
    before = shop.snapshot()
    ended = redbucket(
        *("oracle", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--format", "json"), *words
    )
    assert shop.snapshot() == before
    assert ended.exit_code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.slow
def test_coverage_without_an_oracle_shows_and_a_look_goes_on(tmp_path: Path) -> None:
    hollow = looked(opened(tmp_path / "hollow", HOLLOW))
    assert hollow["trusted"]["executed"] == hollow["trusted"]["lines"] == 2
    assert hollow["trusted"]["noticed"] == 0
    assert hollow["survivors"]
    for one in hollow["survivors"]:
        assert one["tests"] == ["tests/test_m.py::test_split"]
        assert one["diff"].count("\n-    ") == 1
    shown = [(one["path"], one["line"], one["code"], one["trusted"], one["own"]) for one in hollow["lines"]]
    assert shown == [
        ("money.py", 2, "    share = amount // parts", 1, 1),
        ("money.py", 3, "    rest = amount - share * parts", 1, 1),
    ]
    assert len(hollow["mutants"]) == hollow["sampled"]
    assert {(m["trusted"], m["own"]) for m in hollow["mutants"]} == {("survived", "survived")}
    assert [m["diff"] for m in hollow["mutants"]] == [s["diff"] for s in hollow["survivors"]]
    real = opened(tmp_path / "real", REAL)
    state = tmp_path / "state.jsonl"
    first = looked(real, "--resume", state, "--mutants", "3")
    assert (first["sampled"], first["trusted"]["mutants"], first["resumed"]) == (3, 3, 0)
    whole = state.read_bytes()
    state.write_bytes(whole + b'{"key": "cut')
    second = looked(real, "--resume", state, "--mutants", "3")
    assert second["resumed"] == len(whole.splitlines())
    assert {k: second[k] for k in ("trusted", "own", "survivors")} == {
        k: first[k] for k in ("trusted", "own", "survivors")
    }
    assert first["trusted"]["noticed"] == first["trusted"]["mutable"] > 0
    assert first["mutants"] == second["mutants"]
    for one in first["mutants"]:
        assert (one["trusted"], one["trusted_by"]) == ("killed", "tests/test_m.py::test_split")
        assert bool(one["diff"]) == (one["own"] == "survived")


def test_a_test_that_fails_is_not_asked_and_is_named(tmp_path: Path) -> None:
    wrong = "from money import split\n\n\ndef test_split():\n    assert split(11, 3) == [4, 4, 4]\n"
    shop = opened(tmp_path, wrong)
    told = looked(shop, "--mutants", "1")
    assert (told["trusted"]["tests"], told["trusted"]["executed"]) == (0, 0)
    assert (told["trusted"]["failing"], told["trusted"]["failing_there"]) == (
        ["tests/test_m.py::test_split"],
        1,
    )
    assert told["own"].get("failing", []) == []
    # its line counts as one that no test runs, since none of those that do can be asked
    assert [(line["trusted"], line["own"]) for line in told["lines"]] == [(0, 1), (0, 1)]
    assert [mutant["trusted"] for mutant in told["mutants"]] == ["not run"]
    words = ("oracle", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--mutants", "1")
    page = redbucket(*words, "--format", "html")
    assert page.exit_code == 0, page.err
    assert page.out.startswith("<!DOCTYPE html>") and "rest = amount - share * parts" in page.out


@pytest.mark.slow
def test_the_gate_refuses_green_that_rests_on_no_oracle(tmp_path: Path) -> None:
    rules = '[gate]\noracle = "refuse"\noracle_mutants = 4\n'
    told = opened(tmp_path / "hollow", HOLLOW, rules).gate()
    (finding,) = told.findings("weak-oracle")
    assert (told.exit_code, finding["severity"], finding["path"]) == (1, "refuse", "money.py")
    assert "notice a fault on 0 of 2" in finding["reason"]
    assert [one["trusted"] for one in told.report["oracle"]["lines"]] == [1, 1]
    assert {one["own"] for one in told.report["oracle"]["mutants"]} == {None}
    real = opened(tmp_path / "real", REAL, rules).gate()
    assert real.findings("weak-oracle") == []
    assert {one["trusted"] for one in real.report["oracle"]["mutants"]} == {"killed"}


def test_results_are_kept_a_line_each_and_a_cut_line_is_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "state.jsonl"
    assert oraclefile.read(file) == {}
    keep = oraclefile.keeper(file)
    one = Tried(key="a", world="H", tree="t", killed=True, by="x::y")
    other = Tried(key="b", world="P", tree="t", killed=False)
    keep(one)
    with file.open("ab") as stream:
        stream.write(b'{"key": "c", "wor')
    assert oraclefile.read(file) == {("a", "H", "t"): one}
    keep(other)  # after a kill: the cut line ends, and the next one is whole
    assert oraclefile.read(file) == {("a", "H", "t"): one, ("b", "P", "t"): other}
    file.write_text("not\na state\n")
    with pytest.raises(Misused) as caught:
        oraclefile.read(file)
    assert caught.value.code == "not-a-state"
