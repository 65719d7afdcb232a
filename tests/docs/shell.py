"""A shell as a reader has it: folder, variables and exit status stay from one command to the next."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

HOME = "/home/you"
# the environment that a reader has made and activated, as in README's first command
VENV = f"{HOME}/redbucket/.venv"


@dataclass
class Shell:
    """``place`` holds its home folder; ``env`` are variables besides the usual; ``after`` ends what a scene started."""

    place: Path
    status: int = 0
    env: dict[str, str] = field(default_factory=dict)
    after: ExitStack = field(default_factory=ExitStack)
    _state: Path = field(init=False)

    def __post_init__(self) -> None:
        self.home = self.place / "you"
        self._state = self.place / "state"
        (self.place / "tmp").mkdir(parents=True)
        self.home.mkdir()
        self.folder = self.home
        self._state.write_text("")
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = You\n\temail = you@example.org\n[init]\n\tdefaultBranch = main\n"
            '[advice]\n\tdetachedHead = false\n[protocol "file"]\n\tallow = always\n'
        )

    def run(self, command: str, seconds: float = 300) -> tuple[int, str]:
        """Type a command; return its exit status and what a reader sees, with the reader's paths."""
        script = (
            f'. "$STATE"; (exit {self.status})\n{command}\n'
            '_status=$?; { export -p; printf "cd -- %q\\n" "$PWD"; } > "$STATE"; exit $_status'
        )
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", script],
            cwd=self.folder,
            env={
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}",
                "STATE": str(self._state),
                "REDBUCKET_TMPDIR": str(self.place / "tmp"),
                "TMPDIR": str(self.place / "tmp"),
                "VIRTUAL_ENV": sys.prefix,
                **self.env,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )
        self.status = done.returncode
        cd = next((line for line in self._state.read_text().splitlines() if line.startswith("cd -- ")), "")
        if cd:
            where = subprocess.run(["bash", "-c", f"{cd}; pwd"], capture_output=True, text=True, check=True)
            self.folder = Path(where.stdout.strip())
        text = done.stdout.replace(str(self.home), HOME).replace(sys.prefix, VENV)
        return done.returncode, text.replace(str(self.place / "tmp"), "/tmp")
