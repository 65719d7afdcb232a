"""A gate on a project that no recorder can join: Node's own runner, for real, and what else writes JUnit XML."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.gitkit import Content
from tests.stories.kit import SHOP, Shop, Told, redbucket, reported

NODE = shutil.which("node")
# node 18 has a test runner and no reporter for JUnit XML
REPORTERS = NODE and subprocess.run(
    [NODE, "-p", "Object.keys(require('node:test/reporters'))"], capture_output=True, text=True, check=False
)
POLICY = """
[run]
command = ["node", "--test", "--test-reporter=junit", "--test-reporter-destination=junit.xml", "test/"]
format = "junit"
report = "junit.xml"
timeout = 60
"""
CART = """\
export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);
export const label = (price) => `${price.toFixed(2)} EUR`;
"""
TESTS = """\
import { describe, it } from 'node:test';
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { total, label } from '../cart.mjs';

describe('cart', () => {
  it('adds', () => assert.strictEqual(total([1, 2, 3]), 6));
  it('adds nothing', () => assert.strictEqual(total([]), 0));
  it('labels', () => assert.strictEqual(label(3), '3.00 EUR'));
  it('knows the rates', () => {
    const { rate } = JSON.parse(readFileSync(new URL('./rates.json', import.meta.url)));
    assert.strictEqual(total([rate]), 2);
  });
});
"""
RATES = '{"rate": 2}\n'
# Writes what it is told as a report, and ends as it is told: a command of any language.
SCRIPT = """\
import os, sys
sys.path.insert(0, ".")
import product
product.run()
"""

needs_node = pytest.mark.skipif(
    not REPORTERS or "junit" not in REPORTERS.stdout, reason="no node with a reporter for JUnit XML"
)


def cart(place: Path, more: Mapping[str, Content] | None = None) -> Shop:
    """A project in JavaScript on main."""
    files: dict[str, Content] = {
        "shop.py": None,
        "tests/__init__.py": None,
        "tests/test_shop.py": None,
        "cart.mjs": CART,
        "test/cart.test.mjs": TESTS,
        "test/rates.json": RATES,
        "package.json": '{"name": "cart", "type": "module", "scripts": {"test": "node --test"}}\n',
    }
    return Shop.open(place, {**files, **(more or {})}, rules=POLICY)


def reporter(place: Path, product: str, *, more: str = "", report: str = "junit.xml") -> Shop:
    """A project whose product writes the report itself: what an attacker's can do."""
    rules = f'[run]\ncommand = ["python", "runner.py"]\nformat = "junit"\nreport = "{report}"\ntimeout = 30\n{more}'
    return Shop.open(
        place,
        {
            "shop.py": None,
            "tests/__init__.py": None,
            "tests/test_shop.py": None,
            "runner.py": SCRIPT,
            "product.py": product,
        },
        rules=rules,
    )


def writes(*cases: str, status: int = 0, then: str = "", path: str = "junit.xml") -> str:
    """A product whose run writes these test cases and ends with a status."""
    body = "".join(f"<testcase classname='c' {case}</testcase>" for case in cases)
    return (
        "import os, sys, signal, time\n\ndef run():\n"
        f"    with open({path!r}, 'w') as out:\n"
        f"        out.write(\"<testsuites><testsuite name='s'>{body}</testsuite></testsuites>\")\n"
        f"    {then or 'pass'}\n    sys.exit({status})\n"
    )


GREEN = ("name='one'>", "name='two'>")
RED = ("name='one'>", "name='two'><failure message='no'/>")


# -- Node's own runner -----------------------------------------------------------------------------


@needs_node
def test_a_broken_invariant_and_a_harmless_patch(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    shop.patch({"cart.mjs": CART.replace("sum + price, 0", "sum + price, 1")})
    told = shop.gate()
    assert told.exit_code == 1
    assert told.buckets() == {
        "adds": "invariant_miss",
        "adds nothing": "invariant_miss",
        "labels": "stable_pass",
        "knows the rates": "invariant_miss",
    }
    row = told.row("cart::adds")
    assert (row["introduced"], row["outcomes"]["H"], row["outcomes"]["B"]) == (
        True,
        ["failed"] * 3,
        ["passed"],
    )
    assert "own-report" in [note["code"] for note in told.report["notes"]]
    shop.patch({"cart.mjs": CART.replace("sum", "so_far")}, branch="agent/rename")
    told = shop.gate("agent/rename")
    assert (told.exit_code, set(told.buckets().values())) == (0, {"stable_pass"})


@needs_node
def test_an_agent_s_tests_do_not_judge(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    wrong = CART.replace("sum + price, 0", "sum + price, 1")
    shop.patch(
        {"cart.mjs": wrong, "test/cart.test.mjs": TESTS.replace(", 6)", ", 7)").replace("[]), 0", "[]), 1")}
    )
    told = shop.gate()
    assert told.exit_code == 1
    assert told.row("cart::adds")["bucket"] == "invariant_miss"
    assert [f["path"] for f in told.findings("altered-test")] == ["test/cart.test.mjs"]
    mine = "import test from 'node:test';\ntest('mine', () => {});\n"
    shop.patch({"cart.mjs": CART + "// faster\n", "test/mine.test.mjs": mine}, branch="agent/new")
    told = shop.gate("agent/new")
    assert told.exit_code == 0
    assert told.row("mine")["bucket"] == "untrusted"
    assert "passes without the patch too" in told.row("mine")["why"]


@needs_node
def test_a_person_brings_tests_along(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    renamed = TESTS.replace("it('adds nothing'", "it('is 0 for nothing'")
    shop.patch({"test/cart.test.mjs": renamed}, branch="feature", author="Ada <ada@example.org>")
    told = shop.gate("feature")
    assert (told.exit_code, told.row("is 0 for nothing")["bucket"]) == (0, "stable_pass")
    assert [f["severity"] for f in told.findings("vanished-test")] == ["warn"]
    wrong = TESTS.replace("total([1, 2, 3]), 6", "total([1, 2, 3]), 7")
    shop.patch({"test/cart.test.mjs": wrong}, branch="wrong", author="Ada <ada@example.org>")
    assert shop.gate("wrong").row("cart::adds")["bucket"] == "invariant_miss"


@needs_node
def test_a_moved_fixture_is_drift(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    shop.patch({"test/rates.json": '{"rate": 3}\n'})
    told = shop.gate()
    assert told.exit_code == 1
    row = told.row("knows the rates")
    assert (row["bucket"], row["fixtures"]) == ("fixture_drift", ["test/rates.json"])
    assert told.row("cart::adds")["bucket"] == "stable_pass"


@needs_node
@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        (
            "package.json",
            '{"name": "cart", "type": "module", "scripts": {"test": "true"}}\n',
            "runner-tamper",
        ),
        (
            "package.json",
            '{"overrides": {"a": "1"}, "scripts": {"test": "node --test"}}\n',
            "runner-tamper",
        ),
        ("jest.config.js", "module.exports = {};\n", "protected-path"),
        (".npmrc", "node-options=--import ./evil.mjs\n", "protected-path"),
    ],
)
def test_the_runner_s_configuration_judges(tmp_path: Path, path: str, text: str, rule: str) -> None:
    shop = cart(tmp_path)
    shop.patch({path: text})
    told = shop.gate()
    assert told.exit_code == 1
    assert [f["path"] for f in told.findings(rule)] == [path]


@needs_node
def test_a_lock_that_puts_other_bytes_in_a_package_s_place(tmp_path: Path) -> None:
    lock = '{{"packages": {{"node_modules/jest": {{"version": "30.0.0", "integrity": "sha512-{0}"}}}}}}\n'
    shop = cart(tmp_path, {"package-lock.json": lock.format("good")})
    shop.patch({"package-lock.json": lock.format("evil")})
    told = shop.gate()
    assert told.exit_code == 1
    assert "locks other bytes as jest 30.0.0" in told.findings("runner-tamper")[0]["reason"]


@needs_node
def test_a_dependency_is_the_product_s(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    scripts = '"scripts": {"test": "node --test", "lint": "eslint ."}'
    package = f'{{"name": "cart", "type": "module", "dependencies": {{"left-pad": "^1.3.0"}}, {scripts}}}\n'
    shop.patch({"package.json": package})
    assert shop.gate().exit_code == 0


@needs_node
def test_a_file_that_ends_the_process_takes_its_tests_away(tmp_path: Path) -> None:
    """Node reports such a file as passed, by its path: only base tells which tests are gone."""
    shop = cart(tmp_path)
    shop.patch({"cart.mjs": CART + "process.exit(0);\n"})
    told = shop.gate()
    assert told.exit_code == 1
    assert {f["nodeid"] for f in told.findings("vanished-test")} == {
        "cart::adds",
        "cart::adds nothing",
        "cart::labels",
        "cart::knows the rates",
    }
    assert "test/cart.test.mjs" in {row["nodeid"] for row in told.report["tests"]}


@needs_node
def test_noise_that_the_patch_brings(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    # every second process is wrong, whichever that is: folders outside the runs count them
    counter = f"""
import {{ mkdirSync }} from 'node:fs';
let run = 0;
for (;; run++) {{
  try {{ mkdirSync(`{tmp_path}/${{run}}.run`); break; }} catch {{ continue; }}
}}
"""
    shop.patch({"cart.mjs": counter + CART.replace("sum + price, 0", "sum + price, run % 2")})
    told = shop.gate()
    row = told.row("cart::adds")
    assert (told.exit_code, row["bucket"], row["state"]) == (1, "noise", "introduced")
    assert told.row("cart::labels")["bucket"] == "stable_pass"
    assert "failed" not in row["outcomes"]["B again"]


@needs_node
def test_doctor_runs_the_command(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    ended = redbucket("doctor", "-C", shop.path)
    assert "reports 4 tests of HEAD" in " ".join(ended.out.split())


@needs_node
def test_records_of_a_command(tmp_path: Path) -> None:
    shop = cart(tmp_path)
    ended = redbucket("rerun", "-C", shop.path, "-n", "2", "--out", tmp_path / "runs")
    assert ended.exit_code == 0, ended.err
    classified = redbucket("classify", *ended.out.splitlines())
    assert classified.exit_code == 0
    assert classified.out.count('"stable_pass"') == 4


# -- what can't be decided -------------------------------------------------------------------------


def undecided(told: Told, words: str) -> None:
    assert (told.exit_code, told.report["verdict"]) == (2, "undecided")
    assert set(told.problems) == {"report-incomplete"}
    reasons = " ".join(problem["reason"] for problem in told.report["undecided"])
    assert words in reasons
    assert all(
        "it is the patch that ends the run" in problem["remedy"] for problem in told.report["undecided"]
    )


@pytest.mark.parametrize(
    ("product", "words"),
    [
        (writes(*GREEN, status=1), "exit status 1, and its report shows no failure"),
        (writes(*RED, then="os.kill(os.getpid(), signal.SIGKILL)"), "SIGKILL"),
        (writes(*RED, status=139), "SIGSEGV"),
        ("import sys\n\ndef run():\n    sys.exit(1)\n", "the command left no junit.xml (exit status 1)"),
        (writes(*GREEN, then="os.truncate('junit.xml', 60)"), "damaged"),
        (writes(*GREEN, then="os.truncate('junit.xml', 0)"), "it is empty"),
        (
            writes(*GREEN, then="os.rename('junit.xml', 'x'); os.symlink('x', 'junit.xml')"),
            "no file that can be read",
        ),
        (writes(*GREEN, then="os.remove('junit.xml'); os.mkfifo('junit.xml')"), "not a regular file"),
    ],
    ids=["red-and-green", "killed", "crashed", "absent", "cut", "empty", "link", "pipe"],
)
def test_what_leaves_a_doubt_is_not_green(tmp_path: Path, product: str, words: str) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": product})
    undecided(shop.gate(), words)


def test_base_s_own_report_must_be_whole(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN, status=1))
    shop.patch({"product.py": writes(*GREEN)})
    told = shop.gate()
    assert (told.exit_code, told.problems) == (2, ["report-incomplete"])
    assert told.report["undecided"][0]["reason"].startswith("base's run: ")
    assert "write a whole report" in told.report["undecided"][0]["remedy"]


def test_a_report_that_is_there_before_the_run(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"junit.xml": "<testsuites/>", "product.py": "def run():\n    pass\n"})
    undecided(shop.gate(), "junit.xml is there before the command is started")


def test_a_report_behind_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inside = writes(*GREEN, path="out/junit.xml")
    shop = reporter(tmp_path, inside.replace("with", "os.mkdir('out')\n    with", 1), report="out/junit.xml")
    shop.patch({"product.py": inside.replace("with", f"os.symlink({str(elsewhere)!r}, 'out')\n    with", 1)})
    undecided(shop.gate(), "lies behind a link")


def test_a_hang_ends(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN), more="budget = 600\n")
    shop.patch({"product.py": writes(*GREEN, then="time.sleep(600)")})
    told = shop.gate("agent/fix", "--timeout", "3")
    undecided(told, "many times what base takes")


def test_a_report_that_is_finished_after_the_command(tmp_path: Path) -> None:
    late = "os.fork() and os._exit(0); time.sleep(1)"
    both = writes(*GREEN).replace("    with", f"    {late}\n    with", 1)
    shop = reporter(tmp_path, both)
    shop.patch({"product.py": both + "# faster\n"})
    assert shop.gate().exit_code == 0


def test_what_vanishes_is_seen_in_a_green_report(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(GREEN[0])})
    told = shop.gate()
    assert (told.exit_code, [f["nodeid"] for f in told.findings("vanished-test")]) == (1, ["c::two"])


def test_skipping_what_base_runs_is_a_failure(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(GREEN[0], "name='two'><skipped/>")})
    assert shop.gate().exit_code == 1


def test_a_failure_stands_whatever_the_status(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(*RED, status=0)})
    told = shop.gate()
    assert (told.exit_code, told.row("two")["bucket"]) == (1, "invariant_miss")


def test_the_runs_may_be_made_in_other_jobs(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN), more='scope = "failed"\n')
    shop.patch({"product.py": writes(*RED, status=1)})
    ticket, runs = tmp_path / "ticket.json", tmp_path / "runs"
    at = ("-C", shop.path)
    drawn = redbucket("ticket", *at, "--base", "main", "--head", "agent/fix", "--output", ticket)
    assert drawn.exit_code == 0, drawn.err
    for number in ("1", "2", "3"):
        made = redbucket("rerun", *at, "--run", number, "--of", "3", "--ticket", ticket, "--out", runs)
        assert made.exit_code == 0, made.err
    told = reported("gate", *at, "--records", runs, "--ticket", ticket)
    row = told.row("two")
    assert (told.exit_code, row["bucket"], row["outcomes"]["H"]) == (1, "invariant_miss", ["failed"] * 3)


def test_what_was_red_before_is_not_this_patch_s(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*RED, status=1))
    shop.patch({"product.py": writes(*RED, status=1) + "# faster\n"})
    told = shop.gate()
    assert (told.exit_code, told.row("two")["state"]) == (0, "already red")


def test_reruns_of_the_runner_s_own_are_noise(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(GREEN[0], "name='two'><flakyFailure message='first'/>")})
    told = shop.gate()
    row = told.row("two")
    # a rerun hides no failure: base needs none
    assert (told.exit_code, row["bucket"], row["state"]) == (1, "noise", "introduced")
    assert (row["outcomes"]["H"], row["message"]) == (["failed"] * 3, "first")
    shop = reporter(tmp_path / "before", writes(GREEN[0], "name='two'><flakyFailure message='first'/>"))
    shop.patch({"product.py": writes(GREEN[0], "name='two'><flakyFailure message='first'/>") + "# faster\n"})
    told = shop.gate()
    assert (told.exit_code, told.row("two")["bucket"], told.row("two")["introduced"]) == (0, "noise", False)


def test_noise_has_no_advice_that_needs_a_recorder(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(GREEN[0], "name='two'><flakyFailure message='first'/>")})
    assert "capture the input" not in shop.gate().row("two")["spend"]
    ended = redbucket("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    assert "find out why it is noisy" in ended.out
    assert "redbucket explain" not in ended.out
    for words in (("explain", "two"), ("oracle", "--base", "main", "--head", "agent/fix")):
        refused = redbucket(*words, "-C", shop.path)
        assert (refused.exit_code, refused.errors) == (3, ["no-recorder"])


def test_one_reason_is_told_once(tmp_path: Path) -> None:
    """A compiler names the folder that it works in, on many lines."""
    speaks = (
        "print(time.time(), 'error in', os.getcwd() + '/x.c:3\\nhere', flush=True); os.remove('junit.xml')"
    )
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(*GREEN, then=speaks, status=1)})
    ended = redbucket("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    assert ended.exit_code == 2
    assert ended.out.count("x.c:3") == 1
    (problem,) = shop.gate().report["undecided"]
    assert problem["reason"].startswith("runs 1, 2, 3: ")
    assert "error in x.c:3\nhere" in problem["reason"]


def test_a_test_that_another_keeps_from_being_run(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*RED[::-1], "name='three'>").replace("<failure message='no'/>", ""))
    shop.patch({"product.py": writes(RED[1], status=2)})
    (one, three) = shop.gate().findings("vanished-test")
    assert one["remedy"].startswith("mend what fails in the same runs")
    assert three["nodeid"] == "c::three"


def test_a_build_that_the_patch_breaks(tmp_path: Path) -> None:
    builds = 'prepare = [["python", "-c", "import sys; sys.path.insert(0, str()); import product"]]\n'
    shop = reporter(tmp_path, writes(*GREEN), more=builds)
    shop.patch({"product.py": writes(*GREEN) + "raise SystemExit('broken in ' + os.getcwd() + '/x')\n"})
    (problem,) = shop.gate().report["undecided"]
    assert problem["reason"].endswith("broken in x")
    assert problem["remedy"].startswith("base's tree passes [run] prepare")


def test_the_seed_reaches_the_command(tmp_path: Path) -> None:
    fails = "name='two'><failure message='\" + os.environ['TEST_SEED'] + \"'/>"
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(GREEN[0], fails, status=1)})
    told = shop.gate()
    assert told.row("two")["message"] == told.report["seed"]


def test_several_reports_are_one_run(tmp_path: Path) -> None:
    both = writes(*GREEN, path="out/a.xml", then="open('out/b.xml', 'w').write(open('out/a.xml').read())")
    both = both.replace("with", "os.mkdir('out')\n    with", 1)
    shop = reporter(tmp_path, both, report="out/*.xml")
    shop.patch({"product.py": both + "# faster\n"})
    told = shop.gate()
    assert told.exit_code == 0
    assert {row["nodeid"] for row in told.report["tests"]} == {
        f"out/{name}.xml > c::{case}" for name in "ab" for case in ("one", "two")
    }


def test_paths_of_a_run_are_no_part_of_an_id_or_a_failure(tmp_path: Path) -> None:
    where = "name='\" + os.getcwd() + \"/x'><failure message='\" + os.getcwd() + \"/x is wrong'/>"
    shop = reporter(tmp_path, writes(*GREEN))
    shop.patch({"product.py": writes(*GREEN, where, status=1)})
    row = shop.gate().row("c::x")
    assert (row["outcomes"]["H"], row["message"]) == (["failed"] * 3, "x is wrong")


def test_pytest_s_own_report(tmp_path: Path) -> None:
    command = '["python", "-m", "pytest", "--junitxml=junit.xml"]'
    rules = f'[run]\ncommand = {command}\nformat = "junit"\nreport = "junit.xml"\n'
    shop = Shop.open(tmp_path, rules=rules)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    told = shop.gate()
    assert told.exit_code == 1
    assert {row["nodeid"]: row["bucket"] for row in told.report["tests"]} == {
        "tests/test_shop.py::ShopTests::test_total": "invariant_miss",
        "tests/test_shop.py::ShopTests::test_total_of_nothing": "stable_pass",
        "tests/test_shop.py::ShopTests::test_label": "stable_pass",
    }


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    shop = reporter(tmp_path, writes(*GREEN))
    shop.repo.commit({"redbucket.toml": POLICY.replace('"node"', '"no-such-runner"')}, "policy")
    shop.patch({"product.py": writes(*GREEN) + "#\n"})
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert (ended.exit_code, ended.errors) == (4, ["no-command"])


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        ('[run]\nformat = "junit"\n', "run.report"),
        ('[run]\nreport = "x.xml"\n', "run.report"),
        ('[run]\nformat = "junit"\nreport = "../x.xml"\n', "run.report"),
        ('[run]\nformat = "tap"\n', "run.format"),
    ],
)
def test_a_policy_that_says_half(tmp_path: Path, rules: str, key: str) -> None:
    shop = Shop.open(tmp_path, rules=rules)
    shop.patch({"shop.py": "x = 1\n"})
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert ended.exit_code == 3
    assert key in ended.err
