"""What one agent's patch can do to base's tests: one patch that does much at once, and a few alone."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.conftest import seal
from tests.stories.kit import PYTEST, SHOP, UNITTEST, Shop, Told, policy, redbucket
from tests.stories.kit import TESTS as SHOP_TESTS

LIB = """\
SIZES = [1, 2, 3]


def area(width, height):
    return width * height


def currency():
    return "EUR"


def parse(text):
    return int(text)


def rate():
    return 19


def untouched():
    return True
"""

TESTS = """\
import pytest

import lib


def test_area():
    assert lib.area(2, 3) == 6


def test_currency():
    assert lib.currency() == "EUR"


def test_parse():
    assert lib.parse("7") == 7


def test_rate():
    assert lib.rate() == 20


@pytest.mark.parametrize("size", lib.SIZES)
def test_size(size):
    assert lib.area(size, 0) == 0


@pytest.mark.skip(reason="in base already")
def test_skipped():
    assert not lib.untouched()


def test_untouched():
    assert lib.untouched()
"""

PATCHED = (
    LIB.replace("[1, 2, 3]", "[1, 2]")
    .replace("width * height", "width * height if width < 2 or not height else width + height")
    .replace('return "EUR"', 'import unittest\n    raise unittest.SkipTest("later")')
    .replace("return int(text)", 'import pytest\n    pytest.xfail("later")')
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    place = tmp_path_factory.mktemp("outcomes")
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, place)
        shop = Shop.open(
            place,
            {"lib.py": LIB, "tests/test_lib.py": TESTS, "tests/test_shop.py": None, "shop.py": None},
            rules=policy(PYTEST),
        )
        shop.patch({"lib.py": PATCHED})
        yield shop.gate()


def test_the_patch_is_refused(told: Told) -> None:
    assert (told.exit_code, told.report["verdict"]) == (1, "refuse")


def test_a_miss(told: Told) -> None:
    row = told.row("test_area")
    assert (row["bucket"], row["introduced"], row["blocks"]) == ("invariant_miss", True, True)
    assert "assert 5 == 6" in row["message"]


@pytest.mark.parametrize(
    ("test", "outcome"), [("test_currency", "skipped"), ("test_parse", "xfailed")], ids=["skip", "xfail"]
)
def test_a_test_that_the_product_switches_off(told: Told, test: str, outcome: str) -> None:
    row = told.row(test)
    assert row["outcomes"]["H"] == [outcome] * 3
    assert (row["bucket"], row["introduced"], row["blocks"]) == ("invariant_miss", True, True)
    assert "ran in base" in row["why"]
    assert row["switched_off"] is None  # it is the code that is to be mended


PERSON = "Ada <ada@example.org>"


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [
        pytest.param("@unittest.skip('later')", "skipped", id="skip"),
        pytest.param("@unittest.expectedFailure", "xfailed", id="xfail", marks=pytest.mark.slow),
    ],
)
def test_a_person_who_switches_a_test_off_is_told_by_what_and_what_to_do(
    tmp_path: Path, marker: str, outcome: str
) -> None:
    shop = Shop.open(tmp_path)
    marked = SHOP_TESTS.replace("    def test_label", f"    {marker}\n    def test_label")
    if outcome == "xfailed":
        marked = marked.replace('"3.00 EUR"', '"4.00 EUR"')
    shop.patch(
        {"tests/test_shop.py": marked, "shop.py": f"{SHOP}\n\nVAT = 19\n"}, branch="off", author=PERSON
    )
    told = shop.gate("off")
    row = told.row("test_label")
    assert (told.exit_code, row["bucket"], row["outcomes"]["H"]) == (1, "invariant_miss", [outcome] * 3)
    place = f"tests/test_shop.py:{marked.splitlines().index(f'    {marker}') + 1} {marker}"
    assert row["switched_off"] == place
    assert row["why"].endswith(f"The patch switches it off itself: {place}.")
    assert row["spend"].startswith("take the marker out and mend the test, or delete the test")
    text = redbucket("gate", "-C", shop.path, "--base", "main", "--head", "off").out
    assert text.startswith("REFUSE  1 test switched off by this patch")
    assert "fix the code" not in text
    assert place in " ".join(text.split())


def test_what_a_person_is_told_to_do_about_a_marker_is_accepted(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    less = SHOP_TESTS[: SHOP_TESTS.index("\n    def test_label")]
    shop.patch({"tests/test_shop.py": less, "shop.py": f"{SHOP}\n\nVAT = 19\n"}, branch="off", author=PERSON)
    assert shop.gate("off").exit_code == 0


def test_what_was_red_before_is_said_and_does_not_block(told: Told) -> None:
    row = told.row("test_rate")
    assert (row["bucket"], row["state"], row["introduced"]) == ("invariant_miss", "already red", False)
    assert row["blocks"] is False


def test_a_vanished_parameter(told: Told) -> None:
    row = told.row("test_size[3]")
    assert row["outcomes"]["H"] == ["missing"] * 3
    assert (row["introduced"], row["blocks"]) == (True, True)
    (finding,) = told.findings("vanished-test")
    assert (finding["severity"], finding["nodeid"]) == ("refuse", row["nodeid"])
    # its file is as in base: nothing there to put back or to endorse
    assert finding["remedy"].startswith("bring the test back in what it is made from")
    assert "endorse" not in finding["remedy"]
    assert told.report["untouched"] == ["tests/test_lib.py"]
    assert row["spend"] == "bring the test back"


# What most often breaks: a name that is not there, a bracket.
UNIMPORTABLE = {
    "pytest": (
        PYTEST,
        {"tests/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n"},
        f"{SHOP}\n\ndef (\n",
        "SyntaxError: invalid syntax (shop.py:9)",
    ),
    "unittest": (
        UNITTEST,
        {},
        f"import no_such_thing\n\n{SHOP}",
        "ModuleNotFoundError: No module named 'no_such_thing' (shop.py:1)",
    ),
}


@pytest.mark.parametrize(("command", "files", "source", "error"), UNIMPORTABLE.values(), ids=UNIMPORTABLE)
def test_a_product_that_no_longer_imports(
    tmp_path: Path, command: str, files: dict[str, str], source: str, error: str
) -> None:
    shop = Shop.open(tmp_path, files, rules=policy(command))
    shop.patch({"shop.py": source})
    told = shop.gate()
    names = [row["nodeid"] for row in told.report["tests"]]
    assert names == [name for name in names if name.rpartition(".")[2].startswith(("test_", "py::test_"))]
    assert len(names) == (1 if files else 3)  # and no test that stands for the file
    for row in told.report["tests"]:
        assert (row["bucket"], row["outcomes"]["H"]) == ("invariant_miss", ["missing"] * 3)
        assert row["message"].partition("\n")[0] == error
    for finding in told.findings("vanished-test"):
        assert finding["reason"] == f"base collects this test and head does not: {error}"
        assert finding["remedy"].startswith("fix the code until tests/test_shop.py can be collected")
    text = redbucket("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix").out
    assert f"broken by this patch: {error}" in " ".join(text.split("\n\n")[0].split())
    typed = [line for line in text.splitlines() if line.lstrip().startswith("$ ")]
    assert len(typed) == 1
    assert typed[0].lstrip().startswith("$ redbucket gate")


def test_a_test_file_that_the_patch_touched_is_put_back_as_well(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": "def (\n", "tests/test_shop.py": SHOP_TESTS.replace("6", "7")})
    told = shop.gate()
    assert told.report["untouched"] == []
    text = redbucket("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix").out
    assert f" checkout {told.report['base'][:12]} -- tests/test_shop.py\n" in text
    assert "SyntaxError: invalid syntax (shop.py:1)" in text.split("\n\n")[0]


def test_a_persons_new_file_that_does_not_import_is_a_row(tmp_path: Path) -> None:
    """Base has no test that it could stand for."""
    shop = Shop.open(tmp_path)
    shop.patch({"tests/test_new.py": "import no_such_thing\n"}, branch="new", author=PERSON)
    told = shop.gate("new")
    row = told.row("tests.test_new")
    assert row["message"].startswith(
        "ModuleNotFoundError: No module named 'no_such_thing' (tests/test_new.py:1)"
    )
    assert (told.exit_code, row["blocks"]) == (1, True)


def test_a_conftest_that_no_longer_imports(tmp_path: Path) -> None:
    """pytest ends before it looks at a test: base's conftest does import, so the patch is to be mended."""
    shop = Shop.open(tmp_path, {"conftest.py": "import shop\n"}, rules=policy(PYTEST))
    shop.patch({"shop.py": "def (\n"})
    told = shop.gate()
    assert (told.exit_code, told.problems) == (2, ["record-incomplete"])
    (problem,) = told.report["undecided"]
    assert problem["reason"].rstrip().endswith("SyntaxError: invalid syntax")
    assert problem["remedy"].startswith("base's tests can be collected, so the patch ends the run")


def test_what_is_left_is_stable(told: Told) -> None:
    buckets = told.buckets()
    assert buckets["test_untouched"] == buckets["test_size[1]"] == buckets["test_size[2]"] == "stable_pass"
    assert buckets["test_skipped"] == "skipped"
    assert len(buckets) == 9


@pytest.mark.slow
def test_what_was_noisy_before_does_not_block(tmp_path: Path) -> None:
    # A coin for each of eight tests: that in three runs none of them is seen both ways is 1 in 65,536.
    toss = "self.assertLess(os.urandom(1)[0], 128)"
    coins = "".join(f"    def test_coin_{n}(self):\n        {toss}\n\n" for n in range(8))
    shop = Shop.open(
        tmp_path,
        {
            "tests/test_coins.py": f"import os\nimport unittest\n\n\nclass CoinTests(unittest.TestCase):\n{coins}"
        },
    )
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    told = shop.gate()
    rows = [row for row in told.report["tests"] if "test_coin_" in row["nodeid"]]
    noisy = [row for row in rows if row["bucket"] == "noise"]
    assert noisy
    assert {row["state"] for row in noisy} <= {"already noisy", "already red"}
    assert not any(row["blocks"] for row in rows)
    assert told.exit_code == 0, told.out


def test_a_crash_costs_one_test(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(prices) or __import__('os')._exit(0)")})
    told = shop.gate()
    assert told.exit_code == 1
    row = told.row("test_total_of_nothing")
    assert row["outcomes"]["H"] == ["crashed"] * 3
    assert (row["bucket"], row["introduced"], row["blocks"]) == ("invariant_miss", True, True)
    assert told.row("test_total")["bucket"] == told.row("test_label")["bucket"] == "stable_pass"


def test_a_hang_costs_one_test(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy(timeout=0.5))
    shop.patch(
        {
            "shop.py": SHOP.replace(
                "    return sum(prices)", "    while not prices:\n        pass\n    return sum(prices)"
            )
        }
    )
    told = shop.gate("agent/fix", "--reruns", "2")
    assert told.exit_code == 1
    row = told.row("test_total_of_nothing")
    assert row["outcomes"]["H"] == ["timeout"] * 2
    assert (row["bucket"], row["introduced"], row["blocks"]) == ("invariant_miss", True, True)
    assert told.row("test_total")["bucket"] == told.row("test_label")["bucket"] == "stable_pass"


def test_one_run_calls_nothing_a_miss_or_noise(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    told = shop.gate("agent/fix", "--reruns", "1")
    assert (told.exit_code, told.report["verdict"]) == (2, "undecided")
    assert told.row("test_total")["bucket"] == "unclassified"
    assert told.row("test_label")["bucket"] == "stable_pass"


def test_only_what_failed_is_run_again_where_that_is_asked(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    told = shop.gate("agent/fix", "--scope", "failed")
    assert told.exit_code == 1
    assert told.row("test_total")["bucket"] == "invariant_miss"
    assert told.row("test_total")["outcomes"]["H"] == ["failed"] * 3
    assert told.row("test_label")["outcomes"]["H"] == ["passed"]
    assert told.row("test_label")["bucket"] == "stable_pass"


def test_a_suite_that_is_skipped_for_what_git_does_not_hold_is_noted(tmp_path: Path) -> None:
    mark = "    @unittest.skipUnless(pathlib.Path('built').exists(), 'run make first')\n"
    built = SHOP_TESTS.replace("import unittest\n", "import pathlib\nimport unittest\n")
    for name in ("total_of_nothing", "label"):
        built = built.replace(f"    def test_{name}(", f"{mark}    def test_{name}(")
    shop = Shop.open(tmp_path, {"tests/test_shop.py": built})
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    told = shop.gate()
    (note,) = [note for note in told.report["notes"] if note["code"] == "many-skipped"]
    assert note["reason"] == (
        "2 of 3 tests are skipped here, and say nothing of a patch; 2 of them: run make first"
    )
    assert "[run] prepare" in note["remedy"]
    assert told.exit_code == 0


def test_a_port_that_the_runs_share_is_no_noise_of_the_patch(tmp_path: Path) -> None:
    """Runs stand side by side: each of these holds the port until the other has asked for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    held = SHOP_TESTS.replace("import unittest\n", "import socket\nimport time\nimport unittest\n").replace(
        "    def test_label(",
        f"    def test_served(self):\n        with socket.create_server(('127.0.0.1', {port})):\n"
        "            time.sleep(2)\n\n    def test_label(",
    )
    shop = Shop.open(tmp_path, {"tests/test_shop.py": held})
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    told = shop.gate()
    assert told.exit_code == 0
    assert told.row("test_served")["bucket"] == "stable_pass"
    assert told.row("test_served")["outcomes"]["H"] == ["passed"] * 3
    notes = [note["reason"] for note in told.report["notes"] if note["code"] == "shared-address"]
    # two runs on one CPU may miss each other
    assert not notes or "test_served" in notes[0]


def test_the_interpreters_options_hold_for_the_tests(tmp_path: Path) -> None:
    """A warning that the project's own command makes an error is one here, too."""
    strict = '["python", "-X", "dev", "-W", "error::FutureWarning", "-m", "unittest"]'
    tests = SHOP_TESTS.replace(
        "    def test_label",
        "    def test_mode(self):\n        assert sys.flags.dev_mode\n"
        "        assert sys.orig_argv[1:] == ['-X', 'dev', '-W', 'error::FutureWarning', '-m', 'unittest']\n\n"
        "    def test_label",
    )
    shop = Shop.open(tmp_path, {"tests/test_shop.py": f"import sys\n{tests}"}, rules=policy(strict))
    warned = SHOP.replace(
        "def total(prices):\n", 'def total(prices):\n    warnings.warn("soon", FutureWarning)\n'
    )
    shop.patch({"shop.py": f"import warnings\n{warned}"})
    told = shop.gate()
    buckets = told.buckets()
    assert {name.rpartition(".")[2]: bucket for name, bucket in buckets.items()} == {
        "test_mode": "stable_pass",
        "test_total": "invariant_miss",
        "test_total_of_nothing": "invariant_miss",
        "test_label": "stable_pass",
    }
