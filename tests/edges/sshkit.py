"""SSH keys and signed commits for tests: real ssh-keygen, real git."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.gitkit import HUMAN, Content, Repo


@dataclass(frozen=True)
class Key:
    """One key pair without a passphrase."""

    path: Path

    @classmethod
    def make(cls, folder: Path, name: str, kind: str = "ed25519") -> Key:
        """Make ``folder/name`` and ``folder/name.pub``."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        subprocess.run(
            ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", str(path)],
            check=True,
            stdin=subprocess.DEVNULL,
        )
        return cls(path)

    @property
    def public(self) -> str:
        """Kind and key as an allowed-signers line has them."""
        return " ".join(self.path.with_suffix(".pub").read_text().split()[:2])

    def line(self, principals: str = "ada@example.org", options: str = "") -> str:
        """A line of an allowed-signers file."""
        return " ".join(part for part in (principals, options, self.public) if part) + "\n"

    def certify(self, other: Key, principal: str) -> Path:
        """Sign another key as a certificate authority; return the certificate."""
        public = other.path.with_suffix(".pub")
        subprocess.run(
            ["ssh-keygen", "-q", "-s", str(self.path), "-I", "id", "-n", principal, str(public)], check=True
        )
        return other.path.with_name(f"{other.path.name}-cert.pub")

    def flags(self) -> tuple[str, ...]:
        """Options under which git signs with this key."""
        return ("-c", "gpg.format=ssh", "-c", f"user.signingKey={self.path}.pub")


def signed(
    repo: Repo,
    key: Key | Path,
    files: dict[str, Content] | None = None,
    message: str = "signed",
    *,
    author: str = HUMAN,
    when: int = 0,
) -> str:
    """Commit ``files`` with a signature and return the commit's id."""
    if files:
        repo.stage(files)
    path = key if isinstance(key, Path) else key.path.with_suffix(".pub")
    repo.git(
        *("-c", "gpg.format=ssh", "-c", f"user.signingKey={path}"),
        *("commit", "-S", "--quiet", "--allow-empty", "--no-verify", "--cleanup=verbatim", "--file", "-"),
        stdin=message.encode(),
        **repo.people(author, "", when),
    )
    return repo.head()


def forge(repo: Repo, commit: str, old: bytes, new: bytes) -> str:
    """Write a commit whose bytes differ from ``commit`` by one replacement, move HEAD's branch to it."""
    raw = subprocess.run(
        ["git", "cat-file", "commit", commit], cwd=repo.path, capture_output=True, check=True
    ).stdout
    assert old in raw
    oid = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw.replace(old, new, 1))
    repo.git("update-ref", "HEAD", oid)
    return oid
