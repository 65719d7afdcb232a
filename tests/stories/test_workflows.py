"""The workflows with a matrix: valid, and each script step does what it says, run as a service would run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stories.kit import CONSOLE, SHOP, Shop
from tests.stories.test_action import TOP, checked, yaml_of

GITHUB = TOP / ".github/workflows/redbucket.yml"
GITLAB = TOP / "templates/redbucket.gitlab-ci.yml"
BROKEN = SHOP.replace("sum(prices)", "len(prices)")
# Code under test that looks for the ticket wherever a program of the same user can look without tracing another.
LOOKS = """
import os
import pathlib

_found, _pid = [], os.getpid()
while _pid > 1:
    _place = pathlib.Path("/proc") / str(_pid)
    for _name in ("environ", "cmdline", "fd/0", "fd/3", "fd/63"):
        try:
            if _name.startswith("fd/") and not (_place / _name).is_file():
                continue
            if b"redbucket.ticket/1" in (_place / _name).read_bytes():
                _found.append(f"{_pid}/{_name}")
        except OSError:
            pass
    _pid = int((_place / "stat").read_text().rpartition(")")[2].split()[1])
pathlib.Path("@PLACE@").open("a").write(f"{_found}\\n")
"""


def github() -> dict[str, Any]:
    return dict(yaml.safe_load(GITHUB.read_text()))


def scripts(job: str) -> dict[str, dict[str, Any]]:
    return {s["name"]: s for s in github()["jobs"][job]["steps"] if "run" in s}


def installed(place: Path) -> None:
    """Put the console script where the install step puts it."""
    (place / "redbucket/bin").mkdir(parents=True)
    (place / "redbucket/bin/redbucket").symlink_to(CONSOLE)


def step(job: str, name: str, place: Path, shop: Shop, **given: str) -> tuple[int, dict[str, str], str]:
    """Run a step as ``shell: bash`` does; return its exit status, its outputs, and what it said."""
    found = scripts(job)[name]
    runner = {
        "RUNNER_TEMP": str(place),
        "GITHUB_OUTPUT": str(place / "output"),
        "GITHUB_STEP_SUMMARY": str(place / "summary"),
    }
    (place / "output").write_text("")
    assert set(found.get("env", {})) <= set(given), "an input that the test does not give"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]],
        cwd=shop.path,
        env={**os.environ, **runner, **given, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (place / "output").read_text().splitlines()
    return done.returncode, dict(line.split("=", 1) for line in lines), done.stdout + done.stderr


def machine(place: Path, name: str) -> Path:
    """A job's own temporary folder."""
    folder = place / name
    folder.mkdir()
    installed(folder)
    return folder


def test_github_from_the_ticket_to_the_verdict(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    shop = Shop.open(tmp_path)
    head = shop.patch({"shop.py": BROKEN + LOOKS.replace("@PLACE@", str(seen))})
    place = machine(tmp_path, "ticket")
    code, drawn, said = step(
        "ticket",
        "Draw the ticket",
        place,
        shop,
        BASE="main",
        HEAD=head,
        HEAD_REF="agent/fix",
        OPTIONS="--reruns 2",
    )
    assert code == 0, said
    assert (drawn["runs"], drawn["of"]) == ("[1, 2]", "2")
    gate = machine(tmp_path, "gate")
    (gate / "runs").mkdir()
    for number in json.loads(drawn["runs"]):
        place = machine(tmp_path, f"run-{number}")
        given = {"TICKET": drawn["ticket"], "RUN": str(number), "OF": drawn["of"]}
        code, _, said = step("run", "Run", place, shop, **given)
        assert code == 0, said
        (place / "runs").rename(gate / f"runs/redbucket-run-{number}")
    assert set(seen.read_text().splitlines()) == {"[]"}, "the code under test could read the ticket"
    code, outputs, said = step("gate", "Judge", gate, shop, TICKET=drawn["ticket"])
    assert (code, outputs) == (1, {"exit-code": "1"}), said
    assert "REFUSE" in (gate / "summary").read_text()
    (gate / "runs/redbucket-run-2/run-2-of-2.seal").unlink()
    code, outputs, said = step("gate", "Judge", gate, shop, TICKET=drawn["ticket"])
    assert (code, outputs) == (2, {"exit-code": "2"})
    assert "--run 2 --of 2" in said


def test_a_setup_that_fails_ends_the_job(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    for job in ("run", "gate"):
        assert step(job, "Set up", tmp_path, shop, SETUP="false\ntouch late")[0] == 1
        assert step(job, "Set up", tmp_path, shop, SETUP=f"echo {job} > {tmp_path}/made")[0] == 0
        assert (tmp_path / "made").read_text() == f"{job}\n"
    assert not (shop.path / "late").exists()


@pytest.mark.slow
@pytest.mark.parametrize("job", ["ticket", "run", "gate"])
def test_github_installs(tmp_path: Path, job: str) -> None:
    code, _, said = step(job, "Install redbucket", tmp_path, Shop.open(tmp_path), SOURCE=str(TOP))
    assert code == 0, said
    version = subprocess.run(
        [tmp_path / "redbucket/bin/redbucket", "--version"], capture_output=True, check=True
    )
    assert version.stdout.startswith(b"redbucket, version")


def test_github_keeps_what_protects_it() -> None:
    """No secret, no write access, no text of the author's in a script, and the gate judges even if a run failed."""
    found = github()
    assert found["permissions"] == {"contents": "read"}
    assert "secrets" not in GITHUB.read_text().replace("needs no secrets", "")
    for name, job in found["jobs"].items():
        (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}, name
        for one in scripts(name).values():
            assert "${{" not in one["run"], "an expression in a script is text that its author chooses"
    # GitHub takes a required check that is skipped for one that passed
    assert "always()" in found["jobs"]["gate"]["if"]
    assert found["jobs"]["gate"]["steps"][0]["env"] == {"RESULT": "${{ needs.ticket.result }}"}
    assert found["jobs"]["run"]["strategy"]["fail-fast"] is False


def gitlab_job(name: str, place: Path, shop: Shop, given: Mapping[str, str]) -> tuple[int, str]:
    """Run a job's script lines in one shell, in a copy of the checkout, as GitLab's runner does."""
    job = yaml.safe_load(GITLAB.read_text())[name]
    defaults = yaml.safe_load(GITLAB.read_text())["variables"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])],
        cwd=shop.path,
        env={**os.environ, **defaults, "REDBUCKET": str(place / "redbucket"), **given},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_gitlab_from_the_ticket_to_the_verdict(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    shop = Shop.open(tmp_path)
    head = shop.patch({"shop.py": BROKEN + LOOKS.replace("@PLACE@", str(seen))})
    shop.repo.git("update-ref", "refs/remotes/origin/main", "main")
    installed(tmp_path)
    given = {
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "agent/fix",
        "CI_COMMIT_SHA": head,
        "CI_NODE_TOTAL": "3",
    }
    code, said = gitlab_job("redbucket-ticket", tmp_path, shop, given)
    assert code == 0, said
    ticket = shop.path / "redbucket-ticket.json"
    raw = ticket.read_bytes()
    for number in ("1", "2", "3"):
        ticket.write_bytes(raw)  # each job gets it as an artifact
        code, said = gitlab_job("redbucket-run", tmp_path, shop, {**given, "CI_NODE_INDEX": number})
        assert code == 0, said
        assert not ticket.exists()
    assert set(seen.read_text().splitlines()) == {"[]"}, "the code under test could read the ticket"
    ticket.write_bytes(raw)
    code, said = gitlab_job("redbucket-gate", tmp_path, shop, given)
    assert code == 1, said
    assert "invariant_miss" in (shop.path / "redbucket.xml").read_text()


def test_gitlab_jobs_are_alike() -> None:
    jobs = yaml.safe_load(GITLAB.read_text())
    assert jobs[".redbucket"]["variables"]["GIT_DEPTH"] == 0
    for name in ("redbucket-ticket", "redbucket-run", "redbucket-gate"):
        assert jobs[name]["extends"] == ".redbucket"
    # the ticket's job runs nothing of the patch
    assert not any("SETUP" in line for line in jobs["redbucket-ticket"]["before_script"])
    assert jobs["redbucket-run"]["artifacts"]["when"] == "always"


def test_the_definitions_are_valid(tmp_path: Path) -> None:
    checked("vendor.github-workflows", GITHUB)
    place = tmp_path / ".gitlab-ci.yml"
    place.write_text(GITLAB.read_text())
    checked("vendor.gitlab-ci", place)


def test_the_caller_in_the_docs_gives_inputs_that_there_are() -> None:
    calls = [
        job
        for b in yaml_of("github.md")
        for job in yaml.safe_load(b).get("jobs", {}).values()
        if "uses" in job
    ]
    assert calls
    declared = github()[True]["workflow_call"]["inputs"]  # YAML 1.1 reads "on" as a truth value
    for call in calls:
        assert set(call["with"]) <= set(declared)
        assert {n for n, i in declared.items() if i.get("required")} <= set(call["with"])
