"""``redbucket review``: what is kept, and what is discarded by which question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.stories.kit import PYTEST, UNITTEST, Shop, assert_clear, policy, redbucket

pytestmark = pytest.mark.usefixtures("libraries")

MONEY = """\
def split(amount, parts):
    share, rest = divmod(amount, parts)
    return [share + (index < rest) for index in range(parts)]
"""
WRONG = MONEY.replace("index < rest", "index < rest - 1")
HEAD = (
    "import os, time\nfrom hypothesis import assume, given, strategies as st\nfrom money import split\n\n\n"
)
DRAWN = "@given(st.integers(0, 1000), st.integers(1, 20))\n"
LAW = f"{DRAWN}def test_adds_up(n, m):\n    assert sum(split(n, m)) == n\n"
# each test and the question that discards it
VACUOUS = {
    "test_literal": (1, "def test_literal():\n    assert split(11, 3) == [4, 4, 3]\n"),
    "test_narrow": (
        1,
        f"{DRAWN}def test_narrow(n, m):\n    if abs(n - 11) < 1:\n        assert sum(split(n, 3)) == n\n",
    ),
    "test_late": (
        1,
        f"{DRAWN}def test_late(n, m):\n    r = split(n, 3)\n    if n % 999 != 11:\n        return\n    assert r == [4, 4, 3]\n",  # noqa: E501
    ),
    "test_starved": (
        1,
        f"{DRAWN}def test_starved(n, m):\n    assume(n % 997 == 11 and m == 3)\n    assert sum(split(n, m)) == n\n",
    ),
    "test_length": (3, f"{DRAWN}def test_length(n, m):\n    assert len(split(n, m)) == m\n"),
    "test_equal": (3, f"{DRAWN}def test_equal(n, m):\n    assert len(set(split(n, m))) == 1\n"),
    "test_no_name": (3, f"{DRAWN}def test_no_name(n, m):\n    assert merge(split(n, m)) == n\n"),
    "test_clock": (
        4,
        f"{DRAWN}def test_clock(n, m):\n    t = time.time()\n    assert sum(split(n, m)) == n\n    assert time.time() < t + 9\n",  # noqa: E501
    ),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    files = {
        "shop.py": None,
        "tests/test_shop.py": None,
        "money.py": MONEY,
        "tests/test_money.py": "def test_a(): pass\n",
    }
    made = Shop.open(tmp_path_factory.mktemp("review"), files, rules=policy(PYTEST))
    made.patch({"money.py": WRONG})
    made.patch({"money.py": WRONG, "tests/test_own.py": HEAD + LAW}, branch="agent/own")
    return made


def reviewed(shop: Shop, source: str, *words: str, head: str = "agent/fix") -> tuple[int, Any]:
    file = shop.repo.home / "test_draft.py"
    file.write_text(source)
    before = shop.snapshot()
    ended = redbucket(
        "review", file, "-C", shop.path, "--base", "main", "--head", head, "--format", "json", *words
    )
    assert shop.snapshot() == before
    report = json.loads(ended.out)
    assert report["exit_code"] == ended.exit_code
    return ended.exit_code, report


@pytest.mark.slow
def test_each_vacuous_property_is_discarded_by_the_right_question(shop: Shop) -> None:
    code, report = reviewed(shop, HEAD + "\n\n".join(source for _, source in VACUOUS.values()))
    assert (code, report["verdict"]) == (1, "discard")
    found = {p["nodeid"].rpartition("::")[2]: p["question"] for p in report["properties"]}
    assert found == {name: question for name, (question, _) in VACUOUS.items()}
    for one in report["properties"]:
        assert [a["number"] for a in one["answers"]] == [1, 2, 3, 4]
        assert all(a["answer"] for a in one["answers"])


@pytest.mark.slow
def test_a_property_that_holds_on_base_alone_is_kept(shop: Shop) -> None:
    code, report = reviewed(shop, HEAD + LAW, "--mutants", "4")
    assert (code, report["verdict"], report["place"]) == (0, "keep", "tests/properties/test_draft.py")
    (kept,) = report["properties"]
    assert (kept["seeds_held"], kept["seeds_tried"], kept["seeds_found"], kept["seeds_patch"]) == (3, 3, 3, 3)
    assert (kept["killed"], kept["mutants"]) == (3, 3)
    assert kept["seconds"] > 0
    assert "AssertionError" in kept["message"]


@pytest.mark.slow
def test_a_property_whose_explicit_example_alone_fails_replays_the_literal(shop: Shop) -> None:
    law = "@given(st.integers(0, 50).map(lambda k: 3 * k))\ndef test_no_less(n):\n    assert sum(split(n, 3)) >= n\n"
    code, report = reviewed(shop, HEAD.replace("assume", "assume, example") + f"@example(\n    11\n)\n{law}")
    (one,) = report["properties"]
    assert (code, one["question"]) == (1, 1)
    assert "only its @example fails on the patch" in one["reason"]
    # one that draws what fails keeps its example
    wide = LAW.replace("(n, m):", "(n, m):\n    assert sum(split(n, 3)) == n", 1)
    code, report = reviewed(
        shop, HEAD.replace("assume", "assume, example") + f"@example(11, 3)\n{wide}", "--mutants", "4"
    )
    assert (code, report["properties"][0]["seeds_found"]) == (0, 3)


def test_a_project_of_unittest_has_its_properties_run_too(tmp_path: Path) -> None:
    """unittest's discovery passes by a folder that is no package, so each question would be asked of nothing."""
    command = UNITTEST.replace("]", ', "discover", "-s", "tests", "-t", "."]')
    made = Shop.open(tmp_path, {"money.py": MONEY}, rules=policy(command))
    made.patch({"money.py": WRONG})
    law = "import unittest\n\n\nclass Laws(unittest.TestCase):\n    @given(st.integers(0, 1000), st.integers(1, 20))\n"
    passes = f"{law}    def test_length(self, n, m):\n        self.assertEqual(len(split(n, m)), m)\n"
    _, report = reviewed(made, HEAD + passes)
    (one,) = report["properties"]
    assert (one["question"], one["reason"]) == (3, "it passes on the patch: not the miss")
    assert one["answers"][2]["evidence"][0] == "base: passed"
    assert "unittest" in report["notes"][0]


@pytest.mark.slow
def test_a_property_that_reads_a_folder_in_its_order_is_discarded(shop: Shop) -> None:
    source = (
        f"{DRAWN}def test_folder(n, m):\n    first = next(os.walk('.'))[1][0]\n"
        "    assert sum(split(n, m)) == n and first < 'r'\n"
    )
    helper = "def walk(top='.'):\n    return getattr(os, 'wa' + 'lk')(top)\n\n\n"  # not named: the runs tell
    code, report = reviewed(shop, HEAD + helper + source.replace("os.walk", "walk"))
    assert code == 1
    (one,) = report["properties"]
    assert one["question"] == 4
    assert "directory order" in one["reason"]


def test_a_property_that_the_patch_wrote_is_discarded_by_the_second_question(shop: Shop) -> None:
    (shop.path / "tests" / "test_own.py").write_text(HEAD + LAW)
    try:
        ended = redbucket(
            *("review", "tests/test_own.py", "-C", shop.path, "--base", "main", "--head", "agent/own"),
            *("--mutants", "0"),
        )
    finally:
        (shop.path / "tests" / "test_own.py").unlink()
    assert ended.exit_code == 1
    assert "question 2" in ended.out.splitlines()[0]
    assert "tests/properties/test_own.py" in ended.out


def test_what_can_not_be_reviewed_is_said(shop: Shop) -> None:
    file = shop.repo.home / "test_draft.py"
    words = ("review", file, "-C", shop.path, "--base", "main", "--head")
    file.write_text("def test_a(:\n")
    assert_clear(redbucket(*words, "agent/fix"), 3, "not-python")
    file.write_text("x = 1\n")
    assert_clear(redbucket(*words, "agent/fix"), 3, "no-property")
    file.write_text(HEAD + LAW)
    assert_clear(redbucket(*words, "main"), 3, "nothing-to-judge")
    file.unlink()
    assert_clear(redbucket(*words, "agent/fix"), 3, "unreadable-file")
