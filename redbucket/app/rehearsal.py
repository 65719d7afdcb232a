"""What the hooks of a repository are, and a forbidden change that each is tried with in a scratch clone."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redbucket.core.errors import WorldFailed
from redbucket.core.policy import POLICY_NAME, Policy
from redbucket.engine.doctor import SERVER, Attempt, Hook, refused

if TYPE_CHECKING:
    from redbucket.app.session import Session

PRE_COMMIT = ".pre-commit-config.yaml"
_TRY_SECONDS = 120.0


def hook_in(folder: Path, name: str) -> Hook:
    """Return what the hook called ``name`` is in a folder of hooks."""
    place = folder / name
    try:
        text = place.read_text(encoding="utf-8", errors="replace") if place.exists() else ""
        chained = [p for p in folder.glob(f"{name}.*") if not p.name.endswith(".sample") and p.is_file()]
        behind = "".join(p.read_text(encoding="utf-8", errors="replace") for p in chained)
    except OSError:
        return Hook("other")
    if not text:
        return Hook()
    pre_commit = "hook-impl" in text or "hook-impl" in behind
    kind = "native" if "redbucket" in text + behind else "pre-commit" if pre_commit else "other"
    missing = ""
    for sign in (r"^#!\s*(/\S+)", r"^INSTALL_PYTHON=(\S+)", r"^python=(\S+)"):
        found = re.search(sign, text, re.M)
        if found and not shutil.which(found[1].strip("'\"")):
            missing = missing or found[1].strip("'\"")
    return Hook(kind, os.access(place, os.X_OK), missing)


class Rehearsal:
    """A scratch repository with the user's hooks, in which a forbidden change is tried.

    Its base holds no more than the policy, the pre-commit configuration and one test, so that a
    hook that runs tests is quick. It borrows no objects: git touches the times of those it shares.
    """

    def __init__(
        self, opened: Session, base: str, branch: str, policy: Policy, hooks: Path, skip: Sequence[str]
    ) -> None:
        self._opened, self._base, self._branch, self._policy, self._hooks = (
            opened,
            base,
            branch,
            policy,
            hooks,
        )
        self._place = opened.workshop.folder("doctor")
        self._clone, self._remote = self._place / "clone", self._place / "remote.git"
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PRE_COMMIT"))},
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            "SKIP": ",".join(skip),
        }
        self._timed_out = False

    def try_(self, stage: str) -> Attempt:
        """Try a forbidden change where ``stage`` should stop it, and a harmless one where that tells more."""

        self._set_up(stage)
        code, output = self._change(stage, forbidden=True)
        harmless: int | None = None
        if code and not refused(output) and not self._timed_out:
            self._quietly("reset", "-q", "--hard")
            harmless, _ = self._change(stage, forbidden=False)
        return Attempt(code, output, harmless, self._timed_out)

    def _set_up(self, stage: str) -> None:
        repository = self._opened.repository
        for place, words in ((self._clone, ()), (self._remote, ("--bare",))):
            place.mkdir()
            self._git(
                "init", "-q", "--template=", f"--object-format={repository.object_format}", *words, at=place
            )
        for key, value in (
            ("user.name", "redbucket doctor"),
            ("user.email", "doctor@redbucket.invalid"),
            ("commit.gpgSign", "false"),
            ("core.hooksPath", str(self._clone / ".git/hooks")),
            ("gc.auto", "0"),
        ):
            self._git("config", key, value)
        self._git("config", "core.hooksPath", str(self._remote / "hooks"), at=self._remote)
        self._git("symbolic-ref", "HEAD", f"refs/heads/{self._branch}")
        self._lay_base()
        self._quietly("push", "-q", str(self._remote), f"HEAD:refs/heads/{self._branch}")
        self._copy_hooks(stage)

    def _lay_base(self) -> None:

        scratch = self._opened.scratch
        signers = self._policy.identity.allowed_signers
        entries = scratch.entries(scratch.tree_of(self._base)) if self._base else {}
        for path, entry in entries.items():
            if entry.is_file and (path in (POLICY_NAME, signers) or path.startswith(".redbucket/")):
                self._write(path, scratch.read(entry.oid))
        top = self._opened.repository.work_tree
        if top is not None and (top / PRE_COMMIT).is_file():
            self._write(PRE_COMMIT, (top / PRE_COMMIT).read_bytes())
        self._write("test_redbucket_doctor.py", b"def test_nothing():\n    pass\n")
        self._quietly("add", "--all", "--force")
        self._quietly("commit", "-q", "-m", "base")

    def _copy_hooks(self, stage: str) -> None:
        """Copy the hooks folder without the hooks of other stages, which would answer in its place."""

        target = (self._remote if stage == SERVER else self._clone / ".git") / "hooks"
        others = {"pre-commit", "pre-merge-commit", "pre-push", "reference-transaction", SERVER} - {stage}
        others |= {
            "commit-msg",
            "prepare-commit-msg",
            "post-commit",
            "post-checkout",
            "update",
            "post-receive",
        }
        ignore = shutil.ignore_patterns("*.sample", *others)
        shutil.copytree(self._hooks, target, ignore=ignore, ignore_dangling_symlinks=True)

    def _change(self, stage: str, *, forbidden: bool) -> tuple[int, str]:

        branch = "agent/redbucket-doctor" if forbidden else "redbucket-doctor"
        self._quietly("checkout", "-q", "-B", branch, self._branch)
        place = self._clone / (POLICY_NAME if forbidden else "doctor.txt")
        content = place.read_bytes() if place.exists() else b""
        place.write_bytes(content + (b"\n" if content else b"") + b"# changed by redbucket doctor\n")
        self._quietly("add", "--all", "--force")
        who = {"CLAUDECODE": "1", "GIT_AUTHOR_NAME": "Claude", "GIT_AUTHOR_EMAIL": "noreply@anthropic.com"}
        marks = who if forbidden else {}
        if stage == "pre-commit":
            return self._try("commit", "-q", "-m", "doctor", marks=marks)
        self._quietly("commit", "-q", "-m", "doctor", marks=marks)
        if stage == "pre-push":
            return self._try("push", "-q", str(self._remote), f"HEAD:refs/heads/{self._branch}", marks=marks)
        if stage == "pre-receive":
            return self._try(
                "push", "-q", "--no-verify", str(self._remote), f"HEAD:refs/heads/{self._branch}"
            )
        if stage == "reference-transaction":
            return self._try("update-ref", f"refs/heads/{self._branch}", "HEAD", marks=marks)
        self._quietly("checkout", "-q", self._branch)
        (self._clone / f"other-{branch.partition('/')[0]}.txt").write_bytes(
            b"so that the merge is no fast-forward\n"
        )
        self._quietly("add", "--all")
        self._quietly("commit", "-q", "-m", "meanwhile")
        return self._try("merge", "-q", "--no-ff", "--no-edit", branch, marks=marks)

    def _write(self, path: str, content: bytes) -> None:
        place = self._clone / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def _quietly(self, *words: str, marks: Mapping[str, str] | None = None) -> None:
        """Run git without any hook; raise WorldFailed if that fails."""
        self._git("-c", "core.hooksPath=/dev/null", *words, marks=marks)

    def _git(self, *words: str, at: Path | None = None, marks: Mapping[str, str] | None = None) -> None:

        code, output = self._try(*words, at=at, marks=marks)
        if code:
            raise WorldFailed("rehearsal-failed", f"git {words[0]} in a scratch clone: {output[-300:]}", "")

    def _try(
        self, *words: str, at: Path | None = None, marks: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run git with the hooks of the stage; return its exit code and all output."""
        process = subprocess.Popen(
            ["git", *words],
            cwd=at or self._clone,
            env={**self._environment, **(marks or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=_TRY_SECONDS)
        except BaseException as problem:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            self._timed_out = True
            return 1, ""
        return process.returncode, output.decode("utf-8", "replace")
