"""Makes a signed, empty commit on a branch; index and work tree are not touched, no hook runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from redbucket.core.errors import Misused
from redbucket.edges.git import Caller
from redbucket.edges.repository import Repository
from redbucket.edges.scratch import Scratch

# Who signs, and with which settings, is the user's to say; where the repository is, is not.
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_", "GIT_COMMITTER_")
_BINARY = b"Binary files "


@dataclass(frozen=True)
class Branch:
    """What gets the commit: a full ref name ("HEAD" if detached), its short name, its tip."""

    ref: str
    name: str
    tip: str


class Pen:
    """Signs for the user, under the user's own git settings."""

    def __init__(self, repository: Repository, environment: Mapping[str, str]) -> None:
        self._repository = repository
        kept = {name: value for name, value in environment.items() if name.startswith(_KEPT)}
        self._git = Caller(repository.work_tree or repository.git_dir, kept)

    def branch(self, head: str | None) -> Branch:
        """Return the branch that is endorsed. Raises Misused "head-not-a-branch"."""
        if head is None or head == "HEAD":
            ref = self._repository.head_ref()
            return Branch(ref or "HEAD", ref.removeprefix("refs/heads/"), self._repository.resolve("HEAD"))
        name = head.removeprefix("refs/heads/")
        ref = f"refs/heads/{name}"
        if self._git.run("show-ref", "--verify", "--quiet", ref, ok=(0, 1, 128)).code:
            raise Misused(
                "head-not-a-branch",
                f"{head!r} is no local branch, so the endorsement has nowhere to go",
                f"check it out first: git switch {name.removeprefix('origin/')}",
            )
        return Branch(ref, name, self._repository.resolve(ref))

    def flags(self, key: Path | None) -> tuple[str, ...]:
        """Return the options under which git signs with SSH. Raises Misused "no-signing-key"."""
        if key is not None:
            return ("-c", "gpg.format=ssh", "-c", f"user.signingKey={key.absolute()}")
        how = self._setting("gpg.format") or "openpgp"
        if how == "ssh" and (self._setting("user.signingKey") or self._setting("gpg.ssh.defaultKeyCommand")):
            return ("-c", "gpg.format=ssh")
        reason = "git has no user.signingKey" if how == "ssh" else f"git signs with {how} here"
        raise Misused(
            "no-signing-key",
            f"{reason}, and an endorsement is an SSH signature",
            "git config gpg.format ssh && git config user.signingKey ~/.ssh/id_ed25519.pub, or --key FILE",
        )

    def commit(self, branch: Branch, message: str, flags: tuple[str, ...]) -> str:
        """Write the signed commit and return its id; nothing points to it yet.

        Raises Misused "signing-failed".
        """
        done = self._git.run(
            *flags,
            *("-c", "i18n.commitEncoding=UTF-8", "-c", "advice.graftFileDeprecated=false"),
            *("commit-tree", "-S", "-p", branch.tip, "-F", "-", f"{branch.tip}^{{tree}}"),
            stdin=message.encode("utf-8", "surrogateescape"),
            ok=tuple(range(256)),
        )
        if done.code or not done.line:
            said = " ".join(line for line in done.err.splitlines() if not line.startswith("hint:"))
            raise Misused(
                "signing-failed",
                f"git could not sign: {said or f'it ended with {done.code}'}",
                "check user.name, user.email and the key; is it in the ssh-agent, or its file readable?",
            )
        return done.line

    def move(self, branch: Branch, commit: str) -> None:
        """Move the branch to ``commit``. Raises Misused "branch-moved" if somebody else moved it meanwhile."""
        done = self._git.run(
            *("update-ref", "-m", "commit (redbucket endorse)", branch.ref, commit, branch.tip),
            ok=(0, 1, 128),
        )
        if done.code:
            raise Misused(
                "branch-moved",
                f"{branch.name or 'HEAD'} could not be moved: {done.err}",
                "look at what came in, and endorse again",
            )

    def _setting(self, name: str) -> str:
        return self._git.run("config", "--get", name, ok=(0, 1)).line


def difference(scratch: Scratch, one: str, other: str, path: str) -> bytes | None:
    """Return git's diff of ``path`` between two trees, ``None`` where it is not text."""
    done = scratch.git.run(
        *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--submodule=short"),
        *(one, other, "--", path),
    )
    return None if any(line.startswith(_BINARY) for line in done.out.splitlines()) else done.out


def inside(repository: Repository, folder: Path, path: str) -> str:
    """Return ``path``, as typed in ``folder``, as a path of the repository.

    Raises Misused "outside-repository".
    """
    top = repository.work_tree
    if top is None:
        return os.path.normpath(path) if path not in ("", ".") else ""
    real = os.path.realpath(folder)
    place = os.path.relpath(os.path.normpath(os.path.join(real, path)), os.path.realpath(top))  # noqa: PTH118
    if place == os.pardir or place.startswith(os.pardir + os.sep):
        raise Misused("outside-repository", f"{path} is not in the repository at {top}", "check the path")
    return "" if place == os.curdir else place.replace(os.sep, "/")
