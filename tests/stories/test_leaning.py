"""Expected values outside of what the policy knows as fixtures move with an agent's patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitkit import HUMAN
from tests.stories.kit import AGENT, SHOP, Shop, policy

WRONG = SHOP.replace("sum(prices)", "len(prices)")
DATA = "examples/totals.json"
READ_IN_THE_TEST = """\
import json
import unittest
from pathlib import Path

from shop import total

PLACE = Path(__file__).parents[1] / "examples" / "totals.json"


class ExampleTests(unittest.TestCase):
    def test_examples(self):
        for prices, expected in json.loads(PLACE.read_text()):
            self.assertEqual(total(prices), expected)
"""
READ_ON_IMPORT = READ_IN_THE_TEST.replace("json.loads(PLACE.read_text())", "CASES").replace(
    "\n\nclass", "\nCASES = json.loads(PLACE.read_text())\n\n\nclass"
)
READ_BY_A_HELPER = {
    "tests/help.py": "import json\n\n\ndef cases(place):\n    return json.loads(place.read_text())\n",
    "tests/test_examples.py": READ_IN_THE_TEST.replace("import json\n", "")
    .replace("json.loads(PLACE.read_text())", "help.cases(PLACE)")
    .replace("from shop", "from tests import help\nfrom shop"),
}
DOCTEST = """\
import doctest
import unittest


class TextTests(unittest.TestCase):
    def test_text(self):
        self.assertEqual(doctest.testfile("../docs/usage.txt").failed, 0)
"""
MORE = "\n\ndef double(price):\n    return 2 * price\n"


def moved(tmp_path: Path, tests: dict[str, str], before: dict[str, str], after: dict[str, str]) -> Shop:
    shop = Shop.open(tmp_path, {"tests/test_shop.py": None, **tests, **before})
    shop.patch({"shop.py": WRONG, **after})
    return shop


@pytest.mark.parametrize(
    "tests",
    [
        {"tests/test_examples.py": READ_IN_THE_TEST},
        pytest.param({"tests/test_examples.py": READ_ON_IMPORT}, marks=pytest.mark.slow),
        pytest.param(READ_BY_A_HELPER, marks=pytest.mark.slow),
    ],
    ids=["in the test", "on import", "by a helper"],
)
def test_an_expectation_that_moves_with_the_code_is_told(tmp_path: Path, tests: dict[str, str]) -> None:
    told = moved(tmp_path, tests, {DATA: "[[[1, 2, 3], 6]]"}, {DATA: "[[[1, 2, 3], 3]]"}).gate()
    (finding,) = told.findings("leans-on-data")
    assert (finding["path"], finding["severity"]) == (DATA, "warn")
    assert "test_examples" in finding["nodeid"]
    assert "[fixtures] paths" in finding["remedy"]
    assert told.exit_code == 0
    assert told.row("test_examples")["bucket"] == "stable_pass"


def test_under_fixtures_it_is_a_drift(tmp_path: Path) -> None:
    shop = Shop.open(
        tmp_path,
        {"tests/test_examples.py": READ_IN_THE_TEST, DATA: "[[[1, 2, 3], 6]]"},
        rules=policy(more='[fixtures]\npaths = ["examples/**"]\n'),
    )
    shop.patch({"shop.py": WRONG, DATA: "[[[1, 2, 3], 3]]"})
    assert shop.gate().exit_code == 1


def test_a_text_that_a_test_runs_is_an_expectation(tmp_path: Path) -> None:
    text = ">>> from shop import total\n>>> total([1, 2, 3])\n{}\n"
    before, after = ({"docs/usage.txt": text.format(n)} for n in (6, 3))
    told = moved(tmp_path, {"tests/test_text.py": DOCTEST}, before, after).gate()
    assert [f["path"] for f in told.findings("leans-on-data")] == ["docs/usage.txt"]


READS = """\
import json
from pathlib import Path

CASES = json.loads((Path(__file__).parent / "examples" / "totals.json").read_text())
"""


@pytest.mark.parametrize("kind", ["what says the same", "what the product reads", "a person's"])
def test_nothing_is_said_of(tmp_path: Path, kind: str) -> None:
    base, code, data = SHOP, WRONG, "[[[1, 2, 3], 3]]"
    branch, author = "agent/fix", AGENT
    if kind == "what says the same":
        code, data = SHOP + MORE, "[[[1, 2, 3], 6], [[1], 1]]"
    elif kind == "what the product reads":
        base, code = READS + SHOP, READS + WRONG
    else:
        branch, author = "fix", HUMAN
    tests = {"tests/test_shop.py": None, "tests/test_examples.py": READ_IN_THE_TEST}
    shop = Shop.open(tmp_path, {**tests, "shop.py": base, DATA: "[[[1, 2, 3], 6]]"})
    shop.patch({"shop.py": code, DATA: data}, branch=branch, author=author)
    told = shop.gate(branch)
    assert told.findings("leans-on-data") == []
    assert told.exit_code == 0
