"""Which interpreter and runner ``run.command`` means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from redbucket.core.errors import Misused, Undecided, WorldFailed
from redbucket.edges.interpreter import parse_command, resolve
from tests.recorder.envs import interpreter, venv


def environment(folder: Path, *, pytest_too: bool = True) -> Path:
    """Make an environment that shares this one's packages, and return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    if pytest_too:
        site = next((folder / "lib").glob("python*/site-packages"))
        (site / "shared.pth").write_text(f"{Path(pytest.__file__).parent.parent}\n")
    return folder / "bin" / "python"


@pytest.mark.parametrize(
    ("command", "interpreter", "runner", "args"),
    [
        (["pytest"], "", "pytest", ()),
        (["py.test", "-q"], "", "pytest", ("-q",)),
        (["python", "-m", "pytest", "tests"], "", "pytest", ("tests",)),
        (["python3.12", "-m", "pytest"], "python3.12", "pytest", ()),
        ([".venv/bin/python", "-m", "unittest", "discover"], ".venv/bin/python", "unittest", ("discover",)),
        (["/opt/e/bin/pytest", "-x"], "/opt/e/bin/python", "pytest", ("-x",)),
        (["uv", "run", "pytest", "-q"], "", "pytest", ("-q",)),
        (["uv", "run", "--", "python", "-m", "pytest"], "", "pytest", ()),
        (["poetry", "run", "coverage", "run", "-m", "pytest"], "", "pytest", ()),
        (
            ["coverage", "run", "--source=pkg", "-p", "-m", "pytest", "-m", "fast"],
            "",
            "pytest",
            ("-m", "fast"),
        ),
        (["python", "-m", "coverage", "run", "-m", "pytest", "tests"], "", "pytest", ("tests",)),
        (["bin/python", "-m", "coverage", "run", "--branch", "-m", "unittest"], "bin/python", "unittest", ()),
        (
            ["python", "-X", "dev", "-W", "error", "-bb", "-m", "pytest", "-W", "once"],
            "",
            "pytest",
            ("-W", "once"),
        ),
        (["python", "-Xdev", "-m", "coverage", "run", "-m", "pytest"], "", "pytest", ()),
    ],
)
def test_parse(command: list[str], interpreter: str, runner: str, args: tuple[str, ...]) -> None:
    parsed = parse_command(command)
    assert (parsed.interpreter, parsed.runner, parsed.args) == (interpreter, runner, args)


@pytest.mark.parametrize(
    "command",
    [
        ["make", "test"],
        ["tox"],
        ["python", "runtests.py"],
        ["uv", "run"],
        [],
        [""],
        # under these the pinned hash seed and the tree's import roots would not be read
        ["python", "-I", "-m", "pytest"],
        ["python", "-bE", "-m", "pytest"],
        ["python", "-X", "dev"],
        ["python", "-W"],
    ],
)
def test_commands_without_a_recorder(command: list[str]) -> None:
    with pytest.raises(Misused) as caught:
        parse_command(command)
    assert "pytest" in str(caught.value.remedy)


def test_options_of_the_interpreter_are_kept() -> None:
    assert parse_command(["python", "-X", "dev", "-bb", "-m", "pytest"]).options == ("-X", "dev", "-bb")
    assert parse_command(["python", "-Wd", "-m", "unittest"]).options == ("-Wd",)
    assert parse_command(["pytest", "-q"]).options == ()


def test_the_option_for_a_safe_path_leaves_the_top_folder_out() -> None:
    assert parse_command(["python", "-m", "pytest"]).as_module
    assert not parse_command(["python", "-P", "-m", "pytest"]).as_module


def test_relative_and_absolute(tmp_path: Path) -> None:
    python = environment(tmp_path / "envs" / "a")
    for command in ("envs/a/bin/python", str(python)):
        launch = resolve([command, "-m", "pytest"], tmp_path, {"PATH": ""})
        assert Path(launch.python) == python
        assert launch.prefix == str(tmp_path / "envs" / "a")


def test_active_environment_then_dot_venv_then_path(tmp_path: Path) -> None:
    active = environment(tmp_path / "active")
    (tmp_path / "work").mkdir()
    inside = environment(tmp_path / "work" / ".venv")
    on_path = environment(tmp_path / "path")
    env = {"PATH": str(on_path.parent), "VIRTUAL_ENV": str(active.parent.parent)}
    assert resolve(["pytest"], tmp_path / "work", env).python == str(active)
    del env["VIRTUAL_ENV"]
    assert resolve(["pytest"], tmp_path / "work", env).python == str(inside)
    assert resolve(["pytest"], tmp_path, env).python == str(on_path)


def test_under_pre_commit_its_own_environment_is_passed_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = environment(tmp_path / "project")
    own = environment(tmp_path / "py_env-python3.11")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "py_env-python3.11"))
    env = {
        "PATH": os.pathsep.join([str(own.parent), str(project.parent), "/usr/bin"]),
        "VIRTUAL_ENV": sys.prefix,
        "PRE_COMMIT": "1",
    }
    assert resolve(["python", "-m", "pytest"], tmp_path, env).python == str(project)


def test_one_environment_for_all_on_path_is_used_as_in_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # an image with PATH=/venv/bin:/usr/bin, and nothing that says "activated"
    own, other = environment(tmp_path / "one"), environment(tmp_path / "system")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "one"))
    env = {"PATH": os.pathsep.join([str(own.parent), str(other.parent)])}
    assert resolve(["python", "-m", "pytest"], tmp_path, env).python == str(own)
    env = {"PATH": os.pathsep.join([str(other.parent), str(own.parent)])}
    assert resolve(["python", "-m", "pytest"], tmp_path, env).python == str(other)


def test_a_system_hook_runs_in_the_users_own_environment(tmp_path: Path) -> None:
    # language: system, with redbucket installed in the project's activated environment
    env = {"PATH": os.defpath, "VIRTUAL_ENV": sys.prefix, "PRE_COMMIT": "1"}
    assert resolve(["python", "-m", "pytest"], tmp_path, env).prefix == sys.prefix


def test_an_activated_environment_that_lacks_pytest_is_not_replaced_in_silence(tmp_path: Path) -> None:
    bare = environment(tmp_path / "bare", pytest_too=False)
    full = environment(tmp_path / "full")
    env = {"PATH": str(full.parent), "VIRTUAL_ENV": str(tmp_path / "bare")}
    with pytest.raises(WorldFailed, match="can't import pytest") as caught:
        resolve(["pytest"], None, env)
    assert str(bare) in str(caught.value)


def test_an_environment_without_pytest_is_passed_by(tmp_path: Path) -> None:
    bare = environment(tmp_path / "bare", pytest_too=False)
    full = environment(tmp_path / "full")
    env = {"PATH": os.pathsep.join([str(bare.parent), str(full.parent)])}
    assert resolve(["pytest"], None, env).python == str(full)
    assert resolve(["python", "-m", "unittest"], None, env).python == str(bare)


def test_no_pytest_anywhere_names_what_was_tried(tmp_path: Path) -> None:
    bare = environment(tmp_path / "bare", pytest_too=False)
    with pytest.raises(WorldFailed, match="no pytest") as caught:
        resolve([str(bare), "-m", "pytest"], None, {"PATH": ""})
    assert str(bare) in str(caught.value)


def test_command_not_found(tmp_path: Path) -> None:
    with pytest.raises(WorldFailed, match="does not start"):
        resolve([str(tmp_path / "no" / "python"), "-m", "pytest"], None, {"PATH": ""})
    with pytest.raises(WorldFailed, match="nothing"):
        resolve(["python3.99", "-m", "pytest"], None, {"PATH": ""})


def test_old_python(tmp_path: Path) -> None:
    with pytest.raises(WorldFailed, match=r"3\.8 is needed"):
        resolve([interpreter("3.7"), "-m", "unittest"], None, {"PATH": ""})


@pytest.mark.slow
def test_old_pytest() -> None:
    python = venv("3.9", "pytest==6.2.5")
    with pytest.raises(Undecided, match=r"6\.2\.5"):
        resolve([python, "-m", "pytest"], None, {"PATH": ""})
