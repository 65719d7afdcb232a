"""The scripts of the native hooks: sound shell, whatever a branch or a folder is called."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from redbucket.core.errors import Misused
from redbucket.engine.install import ALL, LOCAL, SERVER, marker, names, script

ODD = ("main", "it's", 'a"b', "$HOME", "`x`", "ä", "release/*"[:8])


@pytest.mark.parametrize("name", ALL)
def test_a_script_is_sound_shell(name: str, tmp_path: Path) -> None:
    text = script(name, ("/a path/it's/python", "-I"), ODD, full=True)
    assert text.splitlines()[:2] == ["#!/bin/sh", marker(name)]
    done = subprocess.run(["sh", "-n"], input=text.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("branch", ODD)
def test_what_python_is_told(branch: str, tmp_path: Path) -> None:
    python = tmp_path / "it's python"
    python.write_text('#!/bin/sh\nshift 3\nprintf "%s|" "$@"\ncat\nexit 7\n')
    python.chmod(0o755)
    place = tmp_path / "reference-transaction"
    place.write_text(script(place.name, (str(python), "-I"), ODD, full=False))
    line = f"{'1' * 40} {'2' * 40} refs/heads/{branch}\n"

    def run(state: str, stdin: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", str(place), state], input=stdin.encode(), capture_output=True, check=False, cwd="/"
        )
        return done.returncode, done.stdout.decode()

    told = f"reference-transaction|static|{' '.join(ODD)}|prepared|"
    assert run("prepared", f"x y refs/heads/z\n{line}") == (7, f"{told}x y refs/heads/z\n{line}")
    assert run("committed", line) == (0, "")
    assert run("prepared", line.replace("\n", "-2\n")) == (0, "")
    assert run("prepared", line.replace("refs/heads/", "refs/tags/")) == (0, "")


def test_names() -> None:
    assert names(None, server=False, bare=False) == LOCAL
    assert names(None, server=True, bare=True) == SERVER
    assert names("pre-push, pre-push,pre-commit", server=False, bare=False) == ("pre-push", "pre-commit")
    assert names("pre-push", server=True, bare=False) == ("pre-push", "pre-receive")
    for asked in ("", "nothing"):
        with pytest.raises(Misused):
            names(asked, server=False, bare=False)
    with pytest.raises(Misused):
        names(None, server=False, bare=True)
