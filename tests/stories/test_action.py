"""The GitHub Action: its definition is valid, and its steps do what they say, run as a runner would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.sheets import blocks
from tests.stories.kit import CONSOLE, SHOP, Shop

TOP = Path(__file__).resolve().parents[2]
ACTION = TOP / "action.yml"


def steps() -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]}


def run(step: dict[str, Any], place: Path, shop: Shop, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script under the options that the service gives to ``shell: bash``."""
    runner = {
        "RUNNER_TEMP": str(place),
        "GITHUB_ACTION_PATH": str(TOP),
        "GITHUB_STEP_SUMMARY": str(place / "summary"),
        "GITHUB_OUTPUT": str(place / "output"),
    }
    given = {"REDBUCKET_DOCS": "https://example.org/redbucket/docs", **given}
    assert set(step["env"]) <= set(given), "an input that the test does not give"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=shop.path,
        env={**os.environ, **runner, **given},
        capture_output=True,
        text=True,
        check=False,
    )


def installed(place: Path) -> None:
    """Put the console script where the first step installs it."""
    (place / "redbucket/bin").mkdir(parents=True)
    (place / "redbucket/bin/redbucket").symlink_to(CONSOLE)


@pytest.mark.parametrize(
    ("source", "code", "word"), [("len(prices)", 1, "REFUSE"), ("sum(list(prices))", 0, "ACCEPT")]
)
def test_it_judges_and_reports(tmp_path: Path, source: str, code: int, word: str) -> None:
    shop = Shop.open(tmp_path)
    head = shop.patch({"shop.py": SHOP.replace("sum(prices)", source)})
    installed(tmp_path)
    told = run(
        steps()["Judge"], tmp_path, shop, BASE="main", HEAD=head, HEAD_REF="agent/fix", OPTIONS="--reruns 2"
    )
    assert told.returncode == code, told.stderr
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    assert word in (tmp_path / "summary").read_text()
    assert word in told.stdout.splitlines()[0]
    # whatever a test's message holds, a line of the log is a command of redbucket's own
    assert all(re.match(r"::(error|warning|notice) ", row) for row in told.stdout.splitlines())


def test_a_branch_name_is_no_script(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    head = shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")})
    installed(tmp_path)
    name = '"; touch "$RUNNER_TEMP/owned"; exit 0 #$(touch $RUNNER_TEMP/owned)'
    told = run(steps()["Judge"], tmp_path, shop, BASE="main", HEAD=head, HEAD_REF=name, OPTIONS="-n 1")
    assert told.returncode in (1, 2)
    assert not (tmp_path / "owned").exists()
    for step in steps().values():
        assert "${{" not in step["run"], "an expression in a script is text that its author chooses"


def test_nothing_to_judge_is_no_green(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    installed(tmp_path)
    told = run(steps()["Judge"], tmp_path, shop, BASE="origin/gone", HEAD="HEAD", HEAD_REF="", OPTIONS="")
    assert (told.returncode, (tmp_path / "output").read_text()) == (3, "exit-code=3\n")


@pytest.mark.slow
def test_it_installs_itself(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    done = run(steps()["Install redbucket"], tmp_path, shop, PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    version = subprocess.run(
        [tmp_path / "redbucket/bin/redbucket", "--version"], capture_output=True, text=True, check=True
    )
    assert version.stdout.startswith("redbucket, version")


def yaml_of(page: str) -> list[str]:
    """Return the YAML blocks of a page of the docs."""
    text = (TOP / "docs" / page).read_text(encoding="utf-8")
    return [block.text for block in blocks(text) if block.language == "yaml"]


def checked(schema: str, file: Path) -> None:
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_definitions_are_valid(tmp_path: Path) -> None:
    checked("vendor.github-actions", ACTION)
    for page, name, schema in (
        ("github.md", "workflow.yml", "vendor.github-workflows"),
        ("gitlab.md", ".gitlab-ci.yml", "vendor.gitlab-ci"),
    ):
        found = yaml_of(page)
        assert len(found) == 2
        for block in found:
            (tmp_path / name).write_text(block)
            checked(schema, tmp_path / name)
