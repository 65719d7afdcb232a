"""Real git repositories for tests, sealed from the machine's and the user's configuration.

repo = Repo.init(tmp_path / "repo")
base = repo.commit({"a.py": "x = 1\n"}, "first")
repo.branch("agent/fix")
head = repo.commit({"a.py": "x = 2\n", "gone.py": None}, "second", author="Bot <bot@example.org>")
repo.switch("main")
repo.merge("agent/fix")
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HUMAN = "Ada <ada@example.org>"


class Link(str):
    """Content of a symbolic link: where it points."""

    __slots__ = ()


class Executable(bytes):
    """Content of an executable file."""

    __slots__ = ()


Content = str | bytes | None


@dataclass(frozen=True)
class Repo:
    """One repository; every command runs with a home of its own and a fixed clock."""

    path: Path
    home: Path

    @classmethod
    def init(cls, path: Path, *words: str, branch: str = "main") -> Repo:
        """Make an empty repository at ``path``; ``words`` are more options of ``git init``."""
        home = path.parent / f"{path.name}.home"
        home.mkdir(parents=True, exist_ok=True)
        path.mkdir(parents=True, exist_ok=True)
        # git's own housekeeping runs in the background, and would move files under a test
        (home / "gitconfig").write_text("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
        repo = cls(path, home)
        repo.git("init", "--quiet", f"--initial-branch={branch}", *words)
        return repo

    def environment(self, **more: str) -> dict[str, str]:
        """The sealed environment that every command here runs in."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / "gitconfig"),
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            **more,
        }

    def git(self, *words: str, stdin: bytes | None = None, check: bool = True, **environment: str) -> str:
        """Run git here and return what it printed, without the last line end."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.path,
            env=self.environment(**environment),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(
                f"git {' '.join(words)}: {os.fsdecode(done.stderr)}{os.fsdecode(done.stdout)}"
            )
        return os.fsdecode(done.stdout).removesuffix("\n")

    def write(self, files: Mapping[str, Content]) -> None:
        """Write files into the work tree; ``None`` deletes, ``Link`` and ``Executable`` set the kind."""
        for name, content in files.items():
            place = self.path / name
            if place.is_symlink() or place.is_file():
                place.unlink()
            elif place.is_dir():
                shutil.rmtree(place)
            if content is None:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Link):
                place.symlink_to(str(content))
                continue
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
            place.chmod(0o755 if isinstance(content, Executable) else 0o644)

    def stage(self, files: Mapping[str, Content]) -> None:
        """Write files and add them to the index."""
        self.write(files)
        self.git("add", "--all", "--force", "--", *files)

    def commit(
        self,
        files: Mapping[str, Content] | None = None,
        message: str = "change",
        *,
        author: str = HUMAN,
        committer: str = "",
        when: int = 0,
    ) -> str:
        """Write and stage ``files``, commit, and return the commit's id."""
        if files:
            self.stage(files)
        self.git(
            *(
                "commit",
                "--quiet",
                "--allow-empty",
                "--allow-empty-message",
                "--no-verify",
                "--cleanup=verbatim",
            ),
            *("--file", "-"),
            stdin=message.encode("utf-8", "surrogateescape"),
            **self.people(author, committer, when),
        )
        return self.head()

    def people(self, author: str = HUMAN, committer: str = "", when: int = 0) -> dict[str, str]:
        """The variables that tell git who commits, and when."""
        date = f"@{when or 1_700_000_000 + self._count()} +0000"
        answer = {}
        for role, person in (("AUTHOR", author), ("COMMITTER", committer or author)):
            name, _, rest = person.partition(" <")
            answer.update(
                {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": rest.rstrip(">"), f"GIT_{role}_DATE": date}
            )
        return answer

    def _count(self) -> int:
        """Commits so far: each commit is a minute younger than the one before, whatever the clock says."""
        out = self.git("rev-list", "--count", "--all", check=False)
        return 60 * int(out or 0)

    def head(self) -> str:
        """The id of the commit that HEAD names."""
        return self.git("rev-parse", "HEAD")

    def tree(self, revision: str = "HEAD") -> str:
        """The id of a revision's tree."""
        return self.git("rev-parse", f"{revision}^{{tree}}")

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Make a branch and switch to it."""
        self.git("switch", "--quiet", "--create", name, start)

    def switch(self, revision: str) -> None:
        """Switch to a branch, or detach at a commit."""
        self.git("checkout", "--quiet", revision)

    def merge(
        self,
        *revisions: str,
        message: str = "merge",
        files: Mapping[str, Content] | None = None,
        author: str = HUMAN,
    ) -> str:
        """Merge without fast-forward and return the merge commit; ``files`` are put into it by hand."""
        self.git(
            *("merge", "--quiet", "--no-ff", "--no-commit", *revisions),
            check=files is None,
            **self.people(author),
        )
        return self.commit(files, message, author=author)

    def snapshot(self) -> dict[str, str]:
        """A digest of every file below the work tree, ``.git`` and all: to show that nothing moved."""
        answer = {}
        for place in sorted(self.path.rglob("*")):
            name = str(place.relative_to(self.path))
            if place.is_symlink():
                answer[name] = f"link {place.readlink()}"
            elif place.is_file():
                seen = place.stat()
                content = hashlib.sha256(place.read_bytes()).hexdigest()
                answer[name] = f"{seen.st_mode:o} {seen.st_mtime_ns} {content}"
            else:
                answer[name] = "folder"
        return answer
