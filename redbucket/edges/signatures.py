"""SSH signatures of commits, verified by git itself against base's list of signers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from redbucket.core.errors import WorldFailed
from redbucket.edges.repository import Repository


def signers(repository: Repository, merge_base: str, head: str, allowed: bytes) -> Mapping[str, str]:
    """Return {commit id: principal} of ``merge_base..head`` whose signature is good and listed.

    ``allowed`` are the bytes of an allowed-signers file as ssh-keygen(1) defines
    it; expiry is checked against the commit's date by git. No other key, and no
    trust database of the user, makes a signature count.
    """
    with tempfile.TemporaryDirectory(prefix="redbucket-signers-") as folder:
        path = Path(folder, "allowed_signers")
        path.write_bytes(allowed)
        done = repository.git.run(
            "-c",
            f"gpg.ssh.allowedSignersFile={path}",
            "-c",
            "gpg.format=ssh",
            "log",
            "-z",
            "--no-show-signature",
            "--format=%H%x01%G?%x01%GS%x01%GK",
            f"{merge_base}..{head}",
        )
    found: dict[str, str] = {}
    for line in done.out.decode("utf-8", "replace").split("\0"):
        fields = line.strip("\n").split("\x01")
        # "G" is a good signature; SSH keys print as SHA256:..., and OpenPGP ones are not in the list
        if len(fields) == 4 and fields[1] == "G" and fields[3].startswith("SHA256:"):
            found[fields[0]] = fields[2]
    return found


def require_ssh_keygen(which: str | None) -> None:
    """Raise WorldFailed if signatures are asked for and ssh-keygen is not there."""
    if which is None:
        raise WorldFailed(
            "no-ssh-keygen",
            "identity.allowed_signers is set and ssh-keygen is not installed",
            "install OpenSSH's client",
        )
