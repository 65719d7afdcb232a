"""The completion scripts, in the shells themselves: a real terminal, a real TAB."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitkit import Repo
from tests.stories.kit import redbucket

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
READY = {
    "bash": "source <(redbucket completion bash)",
    "zsh": "autoload -Uz compinit && compinit -u && source <(redbucket completion zsh)",
}


def here(name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


def environment(repo: Repo) -> dict[str, str]:
    return {
        **repo.environment(),
        "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}",
        "TERM": "dumb",
        "COLUMNS": "200",
    }


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a": "1"})
    for name in ("agent/fix-rounding", "$(touch${IFS}owned)", "agent;touch${IFS}owned"):
        repo.git("branch", name)
    return repo


class Terminal:
    """A shell on a real terminal."""

    def __init__(self, words: list[str], repo: Repo) -> None:
        self._master, slave = pty.openpty()
        self.said = ""
        self._process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
            cwd=repo.path, env=environment(repo),
        )  # fmt: skip
        os.close(slave)

    def type(self, text: str, until: str, *, patience: float = 60) -> str:
        """Type, and return what comes until ``until`` is there; fail if it never comes."""
        os.write(self._master, text.encode())
        start = len(self.said)
        while until not in self.said[start:]:
            ready = select.select([self._master], [], [], patience)[0]
            assert ready, f"no {until!r} in {self.said[start:]!r}"
            self.said += os.read(self._master, 4096).decode("utf-8", "replace")
        return self.said[start:]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab_completes(shell: str, repo: Repo) -> None:
    here(shell)
    terminal = Terminal(SHELLS[shell], repo)
    try:
        # an echo of the typed line alone must not look like the answer
        terminal.type(f"{READY[shell]}; echo rea''dy\n", "ready")
        terminal.type("redbucket doc\t", "doctor ")
        terminal.type("--forma\t", "--format ")
        terminal.type("js\t", "json ")
        terminal.type("--no-such\n", "No such option")
        terminal.type("redbucket install --hooks pre-push,pre-c\t", "pre-push,pre-commit")
        terminal.type("\x15redbucket fixtures ver\t", "verify ")
        terminal.type("--rev agent/\t", "agent/fix-rounding")
        # a branch of the patch's author is not put onto the command line as shell
        terminal.type("\x15redbucket gate --base agent\t", "agent/fix-rounding")
        terminal.type("\x15redbucket gate --base '$'\t\x15echo do''ne\n", "done")
        assert "touch" not in terminal.said
    finally:
        terminal.close()
    assert not (repo.path / "owned").exists()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("redbucket ga", {"gate"}),
        ("redbucket fixtures ", {"verify", "diff", "lock", "refresh"}),
        ("redbucket guard protected", {"protected-path"}),
        ("redbucket gate --scope ", {"all", "failed"}),
        ("redbucket gate --head agent/", {"agent/fix-rounding"}),
        # click's fish script cuts an answer at a comma, so only the first name of a list is offered there
        ("redbucket install --hooks pre-c", {"pre-commit"}),
    ],
)
def test_fish_completes(typed: str, offered: set[str], repo: Repo) -> None:
    here("fish")
    script = f"redbucket completion fish | source; complete -C '{typed}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], cwd=repo.path, env=environment(repo), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == offered, done.stderr


def test_another_shell_is_misuse() -> None:
    assert redbucket("completion", "csh").exit_code == 3


def test_no_repository_is_no_trouble(tmp_path: Path) -> None:
    words = [f"{sys.prefix}/bin/redbucket"]
    asked = {
        "COMP_WORDS": "redbucket gate --base m",
        "COMP_CWORD": "3",
        "_REDBUCKET_COMPLETE": "bash_complete",
    }
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")
