"""``doctor`` in repositories where things are alive, dead, or missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from redbucket.cli import main
from redbucket.core.records import Outcome, Run
from redbucket.core.records import Test as RanTest
from redbucket.engine import doctor as judge
from redbucket.engine.doctor import Attempt, Check, Configured, Hook, State
from tests.docs.reference import schema
from tests.gitkit import Executable, Repo

BIN = Path(sys.prefix) / "bin"
FILES = {
    "redbucket.toml": "[run]\nbudget = 300\n",
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo = Repo.init(tmp_path / "shop")
    repo.commit(FILES)
    monkeypatch.chdir(repo.path)
    return repo


@pytest.fixture
def no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the project's tests alone: they are one story's subject, and cost seconds."""

    def nothing(self: object) -> Iterator[Check]:
        return iter(())

    monkeypatch.setattr("redbucket.app.examination.Examination._project", nothing)


Found = dict[str, dict[str, str]]


def examine(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, Found]:
    capfd.readouterr()
    code = main(["doctor", "--format", "json", *words])
    out, err = capfd.readouterr()
    assert err == ""
    said = json.loads(out)
    jsonschema.validate(said, schema("doctor"))
    assert (said["schema"], said["exit_code"]) == ("redbucket.doctor/1", code)
    rows = said["checks"]
    assert all(set(row) == {"check", "state", "detail", "remedy"} for row in rows)
    assert code == (1 if any(row["state"] == "fail" for row in rows) else 0)
    assert all(row["remedy"] for row in rows if row["state"] == "fail")
    return code, {row["check"]: row for row in rows}


def states(found: Found) -> dict[str, str]:
    return {name: row["state"] for name, row in found.items()}


def test_a_repository_without_hooks(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    before = repo.snapshot()
    code, found = examine(capfd)
    assert code == 0
    assert states(found) == {
        "git": "ok",
        "history": "ok",
        "protected-branch": "ok",
        "policy": "ok",
        "policy-here": "ok",
        "sandbox": "ok",
        "interpreter": "ok",
        "seed": "ok",
        "tests": "ok",
        "code-under-test": "ok",
        "skipped": "ok",
        "hook-pre-commit": "warn",
        "hook-pre-merge-commit": "warn",
        "hook-pre-push": "warn",
        "hook-reference-transaction": "warn",
        "wall": "warn",
        "signatures": "warn",
        "fixture-lock": "ok",
        "freezes": "ok",
    }
    assert found["tests"]["detail"] == "1 test is collected from HEAD"
    assert found["skipped"]["detail"] == "0 of 1 test when they were run once"
    assert "pytest" in found["interpreter"]["detail"]
    assert "--no-verify" in found["wall"]["detail"]
    assert "core.hooksPath" in found["wall"]["detail"]
    assert repo.snapshot() == before


def test_a_suite_that_is_skipped_for_a_good_part_is_said(
    repo: Repo, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the laid-out tree, though they run in the checkout: what they need is in no commit."""
    need = "import pathlib, pytest\n\n\ndef need():\n    if not pathlib.Path('built.txt').exists():\n"
    need += "        pytest.skip('build it first')\n\n\n"
    need += "def test_b():\n    need()\n\n\ndef test_c():\n    need()\n"
    repo.commit({"test_b.py": need})
    repo.write({"built.txt": ""})
    code, found = examine(capfd)
    assert (code, found["skipped"]["state"]) == (0, "warn")
    assert "2 of 3 tests are skipped here" in found["skipped"]["detail"]
    assert "build it first" in found["skipped"]["detail"]
    assert "[run] prepare" in found["skipped"]["remedy"]


def test_a_seed_that_something_overrides_and_tests_that_are_not_found(
    repo: Repo, capfd: pytest.CaptureFixture[str]
) -> None:
    command = '["python", "-m", "pytest", "no_such_folder"]'
    repo.commit({"redbucket.toml": f'[run]\ncommand = {command}\nenv = {{ PYTHONHASHSEED = "random" }}\n'})
    code, found = examine(capfd)
    assert code == 1
    assert {name: found[name]["state"] for name in ("seed", "tests")} == {"seed": "fail", "tests": "fail"}
    assert "PYTHONHASHSEED" in found["seed"]["remedy"]


@pytest.mark.usefixtures("no_runs")
def test_native_hooks_are_tried(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["install"]) == 0
    before = repo.snapshot()
    code, found = examine(capfd)
    assert code == 0, found
    hooks = {name: row for name, row in found.items() if name.startswith("hook-")}
    assert len(hooks) == 4
    assert all("tried in a scratch clone" in row["detail"] for row in hooks.values()), hooks
    assert set(states(hooks).values()) == {"ok"}
    assert repo.snapshot() == before


@pytest.mark.usefixtures("no_runs")
def test_dead_hooks_are_found(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["install"]) == 0
    hooks = repo.path / ".git/hooks"
    (hooks / "pre-commit").chmod(0o644)
    (hooks / "pre-merge-commit").write_text("#!/no/such/python\n# redbucket\n")
    (hooks / "pre-push").write_text("#!/bin/sh\n# redbucket was here\nexit 0\n")
    (hooks / "reference-transaction").write_text("#!/bin/sh\n# redbucket\necho broken >&2\nexit 1\n")
    code, found = examine(capfd)
    assert code == 1
    said = {
        "hook-pre-commit": "not executable",
        "hook-pre-merge-commit": "/no/such/python",
        "hook-pre-push": "passed",
        "hook-reference-transaction": "fails whatever comes: broken",
    }
    for name, sign in said.items():
        assert found[name]["state"] == "fail"
        assert sign in found[name]["detail"]


PRE_COMMIT = f"""\
repos:
  - repo: local
    hooks:
      - id: someone-elses
        name: never run by doctor
        entry: "false"
        language: system
        always_run: true
      - id: redbucket-protected-paths
        name: redbucket protected paths
        entry: {BIN / "redbucket-protected-paths"}
        language: system
        stages: [pre-commit, pre-merge-commit, pre-push]
        always_run: true
        pass_filenames: false
"""


@pytest.mark.usefixtures("no_runs")
def test_pre_commit_hooks_are_tried(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    repo.commit({".pre-commit-config.yaml": PRE_COMMIT})
    types = ["-t", "pre-commit", "-t", "pre-merge-commit"]
    subprocess.run(
        [BIN / "pre-commit", "install", *types],
        cwd=repo.path,
        env=repo.environment(),
        check=True,
        capture_output=True,
    )
    code, found = examine(capfd)
    assert code == 1
    assert found["hook-pre-commit"]["state"] == "ok", found["hook-pre-commit"]
    assert found["hook-pre-merge-commit"]["state"] == "ok", found["hook-pre-merge-commit"]
    assert found["hook-pre-push"]["state"] == "fail"
    assert found["hook-pre-push"]["remedy"] == "pre-commit install --hook-type pre-push"
    # the configuration in use counts: one that names nothing makes the hooks dead
    repo.write({".pre-commit-config.yaml": "repos: []\n"})
    assert examine(capfd)[1]["hook-pre-commit"]["state"] == "warn"


@pytest.mark.usefixtures("no_runs")
def test_a_server_hook_is_tried(repo: Repo, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = tmp_path / "server.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(server))
    assert examine(capfd, "-C", str(server))[1]["hook-pre-receive"]["state"] == "warn"
    assert main(["install", "--server", "-C", str(server)]) == 0
    code, found = examine(capfd, "-C", str(server))
    assert code == 0
    assert found["hook-pre-receive"]["state"] == "ok", found["hook-pre-receive"]
    assert found["wall"]["state"] == "ok"
    assert "hook-pre-commit" not in found


@pytest.mark.usefixtures("no_runs")
def test_a_shallow_clone_with_a_bad_policy(
    repo: Repo, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    repo.commit({"redbucket.toml": "[gate]\nno_such_key = 1\n"})
    clone = tmp_path / "shallow"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(clone))
    code, found = examine(capfd, "-C", str(clone))
    assert code == 1
    assert found["history"]["state"] == "fail"
    assert found["policy"]["state"] == "fail"
    assert "policy-unknown-key" in found["policy"]["detail"]


@pytest.mark.usefixtures("no_runs")
def test_no_protected_branch(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    repo.git("branch", "-m", "trunk")
    code, found = examine(capfd)
    assert (code, found["protected-branch"]["state"]) == (1, "fail")
    assert "no-base" in found["protected-branch"]["detail"]


@pytest.mark.usefixtures("no_runs")
def test_what_else_there_is(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    repo.commit(
        {
            "redbucket.toml": '[identity]\nallowed_signers = ".redbucket/allowed_signers"\n',
            "flakes.toml": "",
            "fixtures.sha256": "",
            ".github/workflows/gate.yml": "run: redbucket gate\n",
            ".claude/settings.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", '
            '"command": "/no/such/redbucket agent-hook"}]}]}}',
            ".gemini/settings.json": "{}",
            "hooks/pre-commit": Executable(b"#!/bin/sh\n"),
        }
    )
    repo.git("config", "core.hooksPath", "hooks")
    repo.write({"redbucket.toml": ""})
    code, found = examine(capfd)
    assert code == 1
    assert found["policy-here"]["state"] == "warn"
    assert found["hooks-path"]["state"] == "warn"
    assert "another tool" in found["hook-pre-commit"]["detail"]
    assert found["signatures"]["state"] == "fail"
    assert "fixtures.sha256" in found["fixture-lock"]["detail"]
    assert "flakes.toml" in found["freezes"]["detail"]
    assert ".github/workflows/gate.yml" in found["wall"]["detail"]
    assert main(["doctor", "--quiet"]) == 1
    out, _ = capfd.readouterr()
    assert ".claude/settings.json calls /no/such/redbucket" in " ".join(out.split())
    assert "Gemini CLI in use, without redbucket's hook" in " ".join(out.split())
    assert not any(line.startswith("ok ") for line in out.splitlines())


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    place = tmp_path / "nothing"
    place.mkdir()
    assert main(["doctor", "-C", str(place)]) == 3


def test_without_git(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    environment = {**repo.environment(), "PATH": str(tmp_path / "bin")}
    done = subprocess.run(
        [sys.executable, "-m", "redbucket", "doctor"],
        cwd=repo.path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 4
    assert b"git-missing" in done.stderr


# what each observation means


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("git version 2.38.0", State.OK),
        ("git version 2.39.3 (Apple Git-146)", State.OK),
        ("git version 3.0.rc1", State.OK),
        ("git version 2.37.9", State.FAIL),
        ("git version 1.99", State.FAIL),
        ("hub", State.FAIL),
    ],
)
def test_git_versions(said: str, state: State) -> None:
    assert judge.git_version(said).state is state


def seed_run(found: str, broken: str = "") -> Run:
    test = RanTest(nodeid="t", outcome=Outcome.FAILED, message=f"AssertionError: found: {found}.")
    return Run(run_id=1, tests={"t": test}, broken=broken)


def test_seeds() -> None:
    assert judge.seeds([seed_run("['7', '7', 0.5]")] * 2).state is State.OK
    assert judge.seeds([seed_run("['7', '7', 0.5]"), seed_run("['7', '7', 0.6]")]).state is State.FAIL
    assert judge.seeds([seed_run("[None, '7', 0.5]")] * 2).state is State.FAIL
    assert judge.seeds([seed_run("['7']", "no footer")] * 2).state is State.FAIL
    assert judge.seeds([Run(run_id=1)] * 2).state is State.FAIL


def test_code_from_elsewhere() -> None:
    run = Run(run_id=1, collected=("t",), foreign={"shop": "/home/ada/shop.py"})
    tests, code = judge.collected(run, "HEAD")
    assert (tests.state, code.state) == (State.OK, State.FAIL)
    assert "shop from /home/ada/shop.py" in code.detail
    assert [c.state for c in judge.collected(Run(run_id=1, broken="killed"), "HEAD")] == [State.FAIL]
    partly = judge.collected(Run(run_id=1, collected=("t",), errors={"test_a.py": "x"}), "HEAD")
    assert partly[0].state is State.WARN
    none = judge.collected(Run(run_id=1, errors={"test_a.py": "x"}), "HEAD")
    assert none[0].state is State.FAIL


def test_pre_commit_configurations() -> None:
    both = {
        "repos": [{"hooks": [{"id": "redbucket-protected-paths"}, {"id": "redbucket-gate"}, {"id": "x"}]}]
    }
    found = judge.configured(both)
    assert found.ids == ("redbucket-protected-paths", "redbucket-gate", "x")
    assert found.stages["pre-commit"] == ("redbucket-protected-paths",)
    assert found.stages["pre-push"] == ("redbucket-protected-paths", "redbucket-gate")
    old = {"default_stages": ["commit"], "repos": [{"hooks": [{"id": "redbucket-gate"}]}]}
    assert judge.configured(old).stages == {"pre-commit": ("redbucket-gate",)}
    for broken in (None, 7, [], {"repos": 7}, {"repos": [7, {"hooks": [7, {}]}]}):
        assert judge.configured(broken).stages == {}


@pytest.mark.parametrize(
    ("hook", "named", "state"),
    [
        (Hook(), False, State.WARN),
        (Hook(), True, State.FAIL),
        (Hook("other"), False, State.WARN),
        (Hook("other"), True, State.FAIL),
        (Hook("pre-commit"), False, State.WARN),
        (Hook("pre-commit"), True, None),
        (Hook("pre-commit", executable=False), True, State.FAIL),
        (Hook("pre-commit", missing="/gone"), True, State.FAIL),
        (Hook("native"), False, None),
        (Hook("native", missing="/gone"), False, State.FAIL),
    ],
)
def test_hooks_before_they_are_tried(hook: Hook, named: bool, state: State | None) -> None:
    config = Configured({"pre-push": ("redbucket-gate",)} if named else {})
    check = judge.hook_before("pre-push", hook, config)
    assert (check.state if check else None) is state


@pytest.mark.parametrize(
    ("attempt", "state"),
    [
        (Attempt(1, "REFUSED protected-path redbucket.toml"), State.OK),
        (Attempt(1, "- hook id: redbucket-protected-paths\n- exit code: 1", harmless=1), State.FAIL),
        (Attempt(0, "protected-path"), State.FAIL),
        (Attempt(1, "flake8 says no", harmless=0), State.WARN),
        (Attempt(1, "Traceback", harmless=1), State.FAIL),
        (Attempt(1, "", timed_out=True), State.WARN),
    ],
)
def test_what_an_attempt_shows(attempt: Attempt, state: State) -> None:
    assert judge.hook_tried("pre-push", attempt).state is state


def test_the_text_is_narrow_and_printable() -> None:
    checks = [judge.fail("a", "x\x1b[31m y\n" + "word " * 60, "do " * 60), judge.ok("longer", "fine")]
    text = judge.render(checks, 80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    assert text.endswith("1 ok, 0 warn, 1 fail\n")


def test_pre_commit_is_there() -> None:
    assert shutil.which("pre-commit", path=str(BIN)), "the stories above need the real one"
