"""A head whose run makes its own expectations is not green: by hand, and by the common tools' own options."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.gitkit import HUMAN, Content
from tests.stories.kit import SHOP, Shop, Told, policy

# Compares with a recording, and records where there is none: what vcrpy does in its mode "once".
RECORDS = """\
import json
from pathlib import Path
import unittest

from shop import label

PLACE = Path(__file__).parent / "data" / "label.json"


class LabelTests(unittest.TestCase):
    def test_label(self):
        key = str(len(label(3)))
        known = json.loads(PLACE.read_text())
        place = PLACE.with_name(f"label-{key}.json")
        if key not in known:
            place.write_text(json.dumps(label(3)))
"""
WORSE = "def total(prices):\n    return sum(prices)\n\n\ndef label(price):\n    return f'{price} EUR'\n"


@pytest.mark.parametrize("author", ["agent", "person"])
def test_a_recording_that_appears_in_the_run(tmp_path: Path, author: str) -> None:
    shop = Shop.open(
        tmp_path,
        {
            "tests/test_shop.py": RECORDS,
            "tests/data/label.json": '{"8": 1}',
            ".gitignore": "label-*.json\n",
        },
    )
    if author == "agent":
        shop.patch({"shop.py": WORSE})
        told = shop.gate()
    else:
        shop.patch({"shop.py": WORSE}, branch="fix", author=HUMAN)
        told = shop.gate("fix")
    (finding,) = told.findings("fixture-written")
    assert finding["path"] == "tests/data/label-5.json"
    assert finding["severity"] == ("refuse" if author == "agent" else "warn")
    assert told.exit_code == (1 if author == "agent" else 0)


COMPARES = """\
from pathlib import Path
import unittest

from shop import label

PLACE = Path(__file__).parent / "data" / "label.txt"


class LabelTests(unittest.TestCase):
    def test_label(self):
        got = label(3)
        self.assertEqual(got, PLACE.read_text())
"""
PUTS_BACK = """\
import atexit
from pathlib import Path

PLACE = Path("tests/data/label.txt")


def total(prices):
    return sum(prices)


def label(price):
    if PLACE.exists():
        atexit.register(PLACE.write_text, PLACE.read_text())
        PLACE.write_text(f"{price} EUR")
    return f"{price} EUR"
"""


@pytest.mark.parametrize("author", ["agent", "person"])
def test_a_recording_that_is_rewritten_and_put_back(tmp_path: Path, author: str) -> None:
    """After the run its bytes are what they were; who opened it to write is on record."""
    shop = Shop.open(tmp_path, {"tests/test_shop.py": COMPARES, "tests/data/label.txt": "3.00 EUR"})
    if author == "agent":
        shop.patch({"shop.py": PUTS_BACK})
        told = shop.gate()
    else:
        shop.patch({"shop.py": PUTS_BACK}, branch="fix", author=HUMAN)
        told = shop.gate("fix")
    (finding,) = told.findings("fixture-written")
    assert finding["path"] == "tests/data/label.txt"
    assert "LabelTests" in finding["nodeid"]
    assert finding["severity"] == ("refuse" if author == "agent" else "warn")
    assert author == "person" or told.exit_code == 1


def test_tests_of_base_that_rewrite_and_put_back_are_no_finding(tmp_path: Path) -> None:
    test = COMPARES.replace("        got =", "        PLACE.write_text(PLACE.read_text())\n        got =")
    shop = Shop.open(tmp_path, {"tests/test_shop.py": test, "tests/data/label.txt": "3.00 EUR"})
    shop.patch({"shop.py": SHOP + "\n\ndef double(price):\n    return 2 * price\n"})
    told = shop.gate()
    assert told.findings("fixture-written") == []
    assert told.exit_code == 0, told.report["findings"]


def test_tests_that_always_leave_files_there_are_no_finding(tmp_path: Path) -> None:
    test = RECORDS.replace("if key not in known:\n            place", "place")
    shop = Shop.open(tmp_path, {"tests/test_shop.py": test, "tests/data/label.json": '{"8": 1}'})
    shop.patch({"shop.py": WORSE.replace("{price}", "{price:.2f}")})
    told = shop.gate()
    assert told.findings("fixture-written") == []
    assert told.exit_code == 0


# --- the tools themselves

TOOLS: dict[str, tuple[str, str, dict[str, Content]]] = {
    # tool: (its module, the option that rewrites, base's files)
    "syrupy": (
        "syrupy",
        "--snapshot-update",
        {
            "tests/test_shop.py": "from shop import label\ndef test_label(snapshot): assert label(3) == snapshot\n",
            "tests/__snapshots__/test_shop.ambr": (
                "# serializer version: 1\n# name: test_label\n  '3.00 EUR'\n# ---\n"
            ),
        },
    ),
    "inline-snapshot": (
        "inline_snapshot",
        "--inline-snapshot=fix",
        {
            "tests/test_shop.py": (
                "from inline_snapshot import snapshot\nfrom shop import label\n"
                'def test_label(): assert label(3) == snapshot("3.00 EUR")\n'
            ),
        },
    ),
    "inline-snapshot's shortcut": (
        "inline_snapshot",
        "--fix",
        {
            "tests/test_shop.py": (
                "from inline_snapshot import snapshot\nfrom shop import label\n"
                'def test_label(): assert label(3) == snapshot("3.00 EUR")\n'
            ),
            "pyproject.toml": "",
        },
    ),
    "pytest-regressions": (
        "pytest_regressions",
        "--regen-all",
        {
            "tests/test_shop.py": (
                "from shop import label\n"
                "def test_label(data_regression): data_regression.check({'label': label(3)})\n"
            ),
            "tests/test_shop/test_label.yml": "label: 3.00 EUR\n",
        },
    ),
    "approvaltests": (
        "approvaltests",
        "APPROVAL_TESTS_USE_REPORTER",
        {
            "tests/test_shop.py": (
                "from approvaltests import verify\nfrom shop import label\ndef test_label(): verify(label(3))\n"
            ),
            "tests/test_shop.test_label.approved.txt": "3.00 EUR\n",
        },
    ),
    "pytest-recording": (
        "pytest_recording",
        "--record-mode=rewrite",
        {
            "tests/test_shop.py": (
                "import urllib.request\nimport pytest\nfrom shop import label\n"
                "URL = 'http://127.0.0.1:9/'\n"
                "@pytest.mark.vcr\ndef test_label():\n"
                "    text = urllib.request.urlopen(URL).read().decode()\n    assert text == label(3)\n"
            ),
            "tests/cassettes/test_shop/test_label.yaml": (
                "interactions:\n- request:\n    body: null\n    headers: {}\n    method: GET\n"
                "    uri: http://127.0.0.1:9/\n  response:\n    body: {string: 3.00 EUR}\n    headers: {}\n"
                "    status: {code: 200, message: OK}\nversion: 1\n"
            ),
        },
    ),
}
WHERE = ("command", "addopts", "variable")


def judged(tmp_path: Path, tool: str, where: str, source: str) -> Told:
    module, option, files = TOOLS[tool]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: pip install '.[snapshots]'")
    variable = "reporter.Approves" if option.isupper() else ""
    command = '["python", "-m", "pytest", "-q"]'
    more: dict[str, Content] = {}
    if variable:
        command += f'\nenv = {{ {option} = "{variable}" }}'
        more["reporter.py"] = (
            "import shutil\nfrom approvaltests.core.reporter import Reporter\n"
            "class Approves(Reporter):\n    def report(self, received, approved):\n"
            "        shutil.copy(received, approved)\n        return True\n"
        )
    elif where == "command":
        command = command.replace("]", f', "{option}"]')
    elif where == "addopts":
        more["pytest.ini"] = f"[pytest]\naddopts = {option}\n"
    else:
        command += f'\nenv = {{ PYTEST_ADDOPTS = "{option}" }}'
    paths = '[fixtures]\npaths = ["tests/**/*.yml", "tests/**/*.yaml", "tests/**/*.txt", "tests/**/*.ambr"]\n'
    shop = Shop.open(tmp_path, {**files, **more}, rules=policy(command, more=paths))
    shop.patch({"shop.py": source})
    return shop.gate()


@pytest.mark.slow
@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("tool", "where"),
    [(tool, where) for tool in TOOLS for where in WHERE[: 1 if tool == "approvaltests" else 3]],
)
def test_a_tool_that_is_told_to_rewrite_compares_instead(tmp_path: Path, tool: str, where: str) -> None:
    told = judged(tmp_path, tool, where, WORSE)
    row = told.row("test_label")
    assert (row["bucket"], row["blocks"]) == ("invariant_miss", True), told.out
    assert told.exit_code == 1
    (note,) = [note for note in told.report["notes"] if note["code"] == "updates-dropped"]
    assert TOOLS[tool][1].replace("--fix", "--inline-snapshot=create,fix") in note["reason"]


@pytest.mark.slow
@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if "shortcut" not in tool])
def test_with_it_an_honest_patch_passes(tmp_path: Path, tool: str) -> None:
    honest = WORSE.replace("{price}", "{price:.2f}")
    told = judged(tmp_path, tool, "command", honest)
    assert (told.row("test_label")["bucket"], told.exit_code) == ("stable_pass", 0), told.out
    assert told.findings("fixture-written") == told.findings("judge-rewritten") == []


@pytest.mark.slow
@pytest.mark.usefixtures("libraries")
def test_interactions_that_nobody_asks_for_are_said(tmp_path: Path) -> None:
    """kevin1024/vcrpy#329: unplayed entries pass in silence."""
    module, _, files = TOOLS["pytest-recording"]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: pip install '.[snapshots]'")
    cassette = "tests/cassettes/test_shop/test_label.yaml"
    text = str(files[cassette])
    first, _, rest = text.partition("\n")
    once, _, end = rest.rpartition("version")
    twice = f"{first}\n{once}{once.replace('127.0.0.1:9/', '127.0.0.1:9/other')}version{end}"
    shop = Shop.open(tmp_path, {**files, cassette: twice}, rules=policy('["python", "-m", "pytest"]'))
    shop.patch({"shop.py": WORSE.replace("{price}", "{price:.2f}")})
    told = shop.gate()
    assert told.exit_code == 0
    (note,) = [note for note in told.report["notes"] if note["code"] == "unplayed"]
    assert f"1 recorded interactions were never asked for: {cassette} (1)" == note["reason"]
