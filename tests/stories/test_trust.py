"""Whose tests count: an agent's and a person's changes of what judges."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.gitkit import HUMAN, Link
from tests.stories.kit import AGENT, PYTEST, SHOP, TESTS, Shop, policy

WRONG = SHOP.replace("sum(prices)", "len(prices)")
# What an agent would like the tests to say, so that WRONG passes.
BENT = TESTS.replace("total([1, 2, 3]), 6", "total([1, 2, 3]), 3")
MORE = SHOP + "\n\ndef double(price):\n    return 2 * price\n"
MORE_TESTS = """\
import unittest

from shop import double


class DoubleTests(unittest.TestCase):
    def test_double(self):
        self.assertEqual(double(2), 4)
"""


def test_an_agent_bends_a_test_and_bases_version_decides(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG, "tests/test_shop.py": BENT})
    told = shop.gate()
    assert told.exit_code == 1
    (finding,) = told.findings("altered-test")
    assert (finding["severity"], finding["path"]) == ("refuse", "tests/test_shop.py")
    assert finding["reason"]
    assert "git checkout" in finding["remedy"]
    assert "identity.allowed_signers" in finding["remedy"]
    trusted, own = told.rows("test_total")
    assert (trusted["bucket"], trusted["blocks"]) == ("invariant_miss", True)
    assert (own["bucket"], own["outcomes"]["P"]) == ("untrusted", ["passed"])


def test_a_policy_may_let_an_agents_altered_test_pass_with_a_warning(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy(more='[gate]\naltered_tests = "warn"\n'))
    shop.patch({"tests/test_shop.py": TESTS.replace("label(3), ", "label(3.0), ")})
    told = shop.gate()
    assert [f["severity"] for f in told.findings("altered-test")] == ["warn"]
    assert told.exit_code == 0


def test_of_a_table_with_one_more_row_the_row_alone_is_the_patchs(tmp_path: Path) -> None:
    rows = (
        "import pytest\nfrom shop import total\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n):\n"
    )
    rows += "    assert total([n]) == n\n"
    shop = Shop.open(tmp_path, {"tests/test_shop.py": rows}, rules=policy(PYTEST))
    shop.patch({"tests/test_shop.py": rows.replace("[1, 2]", "[1, 2, 3]")})
    told = shop.gate()
    assert told.exit_code == 0
    buckets = {row["nodeid"]: row["bucket"] for row in told.report["tests"]}
    assert buckets == {
        "tests/test_shop.py::test_n[1]": "stable_pass",
        "tests/test_shop.py::test_n[2]": "stable_pass",
        "tests/test_shop.py::test_n[3]": "untrusted",
    }
    (own,) = told.rows("test_n[3]")
    assert own["why"].startswith("The patch added this row")


def test_an_agent_deletes_a_test_file(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"tests/test_more.py": TESTS.replace("ShopTests", "MoreTests")})
    shop.patch({"tests/test_more.py": None})
    told = shop.gate()
    assert told.exit_code == 1
    (finding,) = told.findings("altered-test")
    assert (finding["severity"], finding["path"]) == ("refuse", "tests/test_more.py")
    # base's file decides all the same
    assert told.row("MoreTests.test_total")["bucket"] == "stable_pass"


def test_a_person_deletes_a_test_file(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"tests/test_more.py": TESTS.replace("ShopTests", "MoreTests")})
    shop.patch({"tests/test_more.py": None}, branch="tidy", author=HUMAN)
    told = shop.gate("tidy")
    assert told.exit_code == 0
    assert told.report["identity"] == {"agent": False, "marks": []}
    assert told.rows("MoreTests.test_total") == []
    assert told.report["counts"] == {"stable_pass": 3}


def test_a_persons_pull_request_brings_its_own_tests(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": MORE, "tests/test_double.py": MORE_TESTS}, branch="double", author=HUMAN)
    told = shop.gate("double")
    assert told.exit_code == 0
    assert told.row("test_double")["bucket"] == "stable_pass"
    assert told.report["untrusted_green"] is False
    assert told.report["findings"] == []


def test_a_persons_mistake_is_a_miss_like_any_other(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG}, branch="quick", author=HUMAN)
    told = shop.gate("quick")
    assert told.exit_code == 1
    assert told.row("test_total")["bucket"] == "invariant_miss"


def test_a_person_reworks_an_agents_test_and_it_counts(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": MORE, "tests/test_double.py": MORE_TESTS}, branch="work")
    agents = shop.gate("work")
    assert (agents.row("test_double")["bucket"], agents.report["untrusted_green"]) == ("untrusted", True)
    shop.patch({"tests/test_double.py": MORE_TESTS + "\n# read by Ada\n"}, branch="work", author=HUMAN)
    told = shop.gate("work")
    assert told.report["identity"]["agent"] is True
    assert told.row("test_double")["bucket"] == "stable_pass"
    assert told.report["untrusted_green"] is False
    assert told.exit_code == 0


def test_the_other_way_round_it_does_not(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": MORE, "tests/test_double.py": MORE_TESTS}, branch="work", author=HUMAN)
    shop.patch({"tests/test_double.py": MORE_TESTS + "\n# tidied\n"}, branch="work", author=AGENT)
    assert shop.gate("work").row("test_double")["bucket"] == "untrusted"


def test_the_option_makes_a_persons_patch_an_agents(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": MORE, "tests/test_double.py": MORE_TESTS}, branch="double", author=HUMAN)
    told = shop.gate("double", "--agent")
    assert told.report["identity"] == {"agent": True, "marks": ["option --agent"]}
    assert told.row("test_double")["bucket"] == "untrusted"


@pytest.mark.parametrize("words", [[], ["--head-ref", "agent/fix"]])
def test_the_name_of_the_branch_counts(tmp_path: Path, words: list[str]) -> None:
    shop = Shop.open(tmp_path)
    head = shop.patch({"shop.py": MORE}, branch="agent/fix", author=HUMAN)
    told = shop.gate(head if words else "agent/fix", *words)
    assert told.report["identity"]["agent"] is True
    assert "agent/fix" in told.report["identity"]["marks"][0]


@pytest.mark.parametrize(("level", "exit_code"), [("warn", 0), ("refuse", 1)])
def test_untrusted_green(tmp_path: Path, level: str, exit_code: int) -> None:
    shop = Shop.open(tmp_path, rules=policy(more=f'[gate]\nuntrusted_green = "{level}"\n'))
    shop.patch({"shop.py": MORE, "tests/test_double.py": MORE_TESTS})
    told = shop.gate()
    assert told.exit_code == exit_code
    (finding,) = told.findings("untrusted-green")
    assert (finding["severity"], finding["path"]) == (level, "shop.py")


def test_a_fixture_and_the_source_change_together(tmp_path: Path) -> None:
    """New behaviour with new recorded bytes: each is fine with the other, neither alone."""
    read = (
        "import json\nimport pathlib\nimport unittest\n\nfrom shop import total\n\n\n"
        "class RecordedTests(unittest.TestCase):\n    def test_recorded(self):\n"
        "        path = pathlib.Path(__file__).parent / 'data' / 'total.json'\n"
        "        self.assertEqual(total([1, 2, 3]), json.loads(path.read_text()))\n"
    )
    shop = Shop.open(
        tmp_path,
        {"tests/test_shop.py": None, "tests/test_recorded.py": read, "tests/data/total.json": "6\n"},
    )
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "2 * sum(prices)"), "tests/data/total.json": "12\n"})
    told = shop.gate()
    row = told.row("test_recorded")
    assert (told.exit_code, row["blocks"], row["introduced"]) == (1, True, True)
    assert row["bucket"] == "invariant_miss"
    assert set(row["outcomes"]["F"]) == {"passed"}
    assert "passes with the patch's own bytes of tests/data/total.json" in row["why"]
    assert "endorses" in row["why"]


def test_a_fixture_moves_and_the_source_breaks(tmp_path: Path) -> None:
    """One test reads the moved fixture alone, one the broken source alone, one both."""
    tests = (
        "import pathlib\nimport unittest\n\nimport shop\n\n\n"
        "def recorded():\n    path = pathlib.Path(__file__).parent / 'data' / 'total.txt'\n"
        "    return int(path.read_text())\n\n\n"
        "class RecordedTests(unittest.TestCase):\n"
        "    def test_fixture(self):\n        self.assertEqual(recorded(), shop.SIX)\n\n"
        "    def test_source(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n"
        "    def test_either(self):\n        self.assertEqual(shop.total([recorded()]), 6)\n"
    )
    source = f"SIX = 6\n{SHOP}"
    shop = Shop.open(
        tmp_path,
        {
            "shop.py": source,
            "tests/test_shop.py": None,
            "tests/test_recorded.py": tests,
            "tests/data/total.txt": "6\n",
        },
    )
    shop.patch({"shop.py": source.replace("sum(prices)", "sum(prices) + 2"), "tests/data/total.txt": "7\n"})
    told = shop.gate()
    buckets = {name: told.row(name)["bucket"] for name in ("test_fixture", "test_source", "test_either")}
    assert buckets == {
        "test_fixture": "fixture_drift",
        "test_source": "invariant_miss",
        "test_either": "invariant_miss",
    }
    assert "either side's bytes of tests/data/total.txt" in told.row("test_either")["why"]
    assert "either side's" not in told.row("test_source")["why"] + told.row("test_fixture")["why"]
    assert told.findings("differs-as-landed") == []


def test_a_merge_conflict_is_a_refusal_that_names_the_files(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG})
    shop.repo.commit({"shop.py": SHOP.replace("sum(prices)", "sum(prices, 0)")}, "meanwhile")
    told = shop.gate()
    assert told.exit_code == 1
    (finding,) = told.report["findings"]
    assert (finding["rule"], finding["path"]) == ("merge-conflict", "shop.py")
    assert told.report["tests"] == []


def test_what_is_put_into_the_merge_itself_is_judged(tmp_path: Path) -> None:
    """An "evil merge": the wrong bytes are in neither parent."""
    shop = Shop.open(tmp_path)
    shop.patch({"README.md": "a shop\n"}, branch="work")
    shop.repo.commit({"NEWS.md": "news\n"}, "meanwhile")
    shop.repo.switch("work")
    shop.repo.merge("main", files={"shop.py": WRONG, "tests/test_shop.py": BENT}, author=AGENT)
    shop.repo.switch("main")
    told = shop.gate("work")
    assert told.exit_code == 1
    assert [f["path"] for f in told.findings("altered-test")] == ["tests/test_shop.py"]
    assert told.rows("test_total")[0]["bucket"] == "invariant_miss"


def test_whoever_merges_does_not_vouch_for_what_git_merged_by_itself(tmp_path: Path) -> None:
    """Both sides changed one file in different places; a person brings the branch up to date."""
    shop = Shop.open(tmp_path)
    shop.patch({"tests/test_shop.py": BENT, "shop.py": WRONG}, branch="work")
    shop.repo.commit({"tests/test_shop.py": TESTS + "\n# seen\n"}, "meanwhile")
    shop.repo.switch("work")
    shop.repo.merge("main", author=HUMAN)
    shop.repo.switch("main")
    told = shop.gate("work")
    assert told.exit_code == 1
    assert [f["path"] for f in told.findings("altered-test")] == ["tests/test_shop.py"]
    assert told.rows("test_total")[0]["bucket"] == "invariant_miss"


def test_a_person_who_resolves_a_conflict_decides_what_is_in_the_file(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"tests/test_shop.py": BENT}, branch="work")
    fixed = TESTS.replace("total([1, 2, 3]), 6", "total([4, 5]), 9")
    shop.repo.commit({"tests/test_shop.py": fixed}, "meanwhile")
    shop.repo.switch("work")
    resolved = fixed.replace("total([4, 5]), 9", "total([4, 6]), 10")
    shop.repo.merge("main", files={"tests/test_shop.py": resolved}, author=HUMAN)
    shop.repo.switch("main")
    told = shop.gate("work")
    assert told.exit_code == 0
    assert told.findings("altered-test") == []


def test_base_moves_on_and_the_merge_is_what_is_judged(tmp_path: Path) -> None:
    """Head alone is green, base alone is green, together they are not."""
    shop = Shop.open(tmp_path, {"vat.py": "def vat(price):\n    return price\n"})
    shop.patch(
        {
            "shop.py": SHOP.replace("sum(prices)", "sum(map(vat, prices))").replace(
                "def total", "from vat import vat\n\n\ndef total"
            )
        }
    )
    shop.repo.commit({"vat.py": "def vat(price):\n    return 2 * price\n"}, "meanwhile")
    told = shop.gate()
    assert told.exit_code == 1
    assert told.row("test_total")["bucket"] == "invariant_miss"


def test_a_tests_folder_that_becomes_a_link(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch(
        {"tests": None, "other/__init__.py": "", "other/test_shop.py": BENT, "shop.py": WRONG}, branch="work"
    )
    shop.patch({"tests": Link("other")}, branch="work")
    told = shop.gate("work")
    assert told.exit_code == 1
    assert told.row("tests.test_shop.ShopTests.test_total")["bucket"] == "invariant_miss"


def test_the_policy_of_the_patch_does_not_count(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG, "redbucket.toml": policy('["python", "-m", "pytest", "--version"]')})
    told = shop.gate()
    assert told.exit_code == 1
    assert [f["path"] for f in told.findings("protected-path")] == ["redbucket.toml"]
    assert told.row("test_total")["bucket"] == "invariant_miss"


@pytest.mark.parametrize(("level", "exit_code"), [("warn", 0), ("refuse", 2)])
def test_a_plugin_of_pytest_whose_lines_can_not_be_watched(
    tmp_path: Path, level: str, exit_code: int
) -> None:
    """pytest compiles it itself: that its tests run the change is true, and not to be seen before Python 3.12."""
    plugin = "import pytest\n\n\n@pytest.fixture\ndef twice():\n    return lambda x: 2 * x\n"
    test = "def test_twice(twice):\n    assert twice(2) == 4\n"
    rules = policy(
        '["python", "-m", "pytest", "-p", "shopplug"]', more=f'[gate]\nuntrusted_green = "{level}"\n'
    )
    shop = Shop.open(
        tmp_path, {"shopplug.py": plugin, "tests/test_shop.py": None, "tests/test_plug.py": test}, rules=rules
    )
    shop.patch({"shopplug.py": plugin.replace("2 * x", "x + x")})
    told = shop.gate()
    assert not told.findings("untrusted-green")
    assert told.report["untrusted_green"] is False
    if sys.version_info >= (3, 12):
        assert told.exit_code == 0
        return
    assert told.exit_code == exit_code
    (said,) = [
        p
        for p in told.report["undecided" if level == "refuse" else "notes"]
        if p["code"] == "lines-unwatched"
    ]
    assert "shopplug.py" in said["reason"]
