"""[run] prepare runs the patch's code before its tests: it may build, and not write what judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.kit import SHOP, UNITTEST, Shop

RULES = f'[run]\ncommand = {UNITTEST}\ntimeout = 20\nprepare = [["python", "build.py"]]\n'
BUILD = "import pathlib\npathlib.Path('made.py').write_text('MADE = 1\\n')\n"
WRONG = SHOP.replace("sum(prices)", "len(prices)")


def opened(place: Path, build: str = BUILD) -> Shop:
    # what prepare names is protected; what that imports is the patch's
    return Shop.open(place, {"build.py": "import buildlib\n", "buildlib.py": build}, rules=RULES)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "tests/test_shop.py",
            "import unittest\n\n\nclass ShopTests(unittest.TestCase):\n    def test_total(self): pass\n",
        ),
        ("conftest.py", "collect_ignore = ['tests']\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = --collect-only\n"),
        ("tests/sitecustomize.py", "import sys\n"),
    ],
)
def test_a_build_that_writes_what_judges_is_refused(tmp_path: Path, path: str, text: str) -> None:
    shop = opened(tmp_path)
    shop.patch({"shop.py": WRONG, "buildlib.py": f"{BUILD}pathlib.Path({path!r}).write_text({text!r})\n"})
    told = shop.gate("agent/fix", "--reruns", "2")
    assert told.exit_code == 1
    assert [f["path"] for f in told.findings("judge-rewritten")] == [path]


def test_a_build_that_builds_is_fine(tmp_path: Path) -> None:
    shop = opened(tmp_path)
    more = "pathlib.Path('shop.egg-info').mkdir()\npathlib.Path('shop.egg-info/top_level.txt').write_text('shop')\n"
    shop.patch({"shop.py": f"import made\n{SHOP}", "buildlib.py": BUILD + more})
    told = shop.gate("agent/fix", "--reruns", "2")
    assert (told.exit_code, told.findings("judge-rewritten")) == (0, [])


def test_what_the_build_of_base_writes_too_is_not_the_patch(tmp_path: Path) -> None:
    stamp = "p = pathlib.Path('tests/__init__.py')\np.write_text('# built\\n')\n"
    shop = opened(tmp_path, BUILD + stamp)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    told = shop.gate("agent/fix", "--reruns", "2")
    assert (told.exit_code, told.findings("judge-rewritten")) == (0, [])
