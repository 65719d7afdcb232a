"""SSH signatures of commits, verified by git itself against base's list of signers."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redbucket.core.errors import WorldFailed
from redbucket.edges.git import failure
from redbucket.edges.repository import Repository
from redbucket.edges.workshop import cannot_write, temporary_root

# One git verifies one commit after the other, and starts ssh-keygen twice for each that is signed.
_CHUNK = 50


@dataclass(frozen=True)
class Signature:
    """What git says of one commit's signature: its letter (``%G?``), the principal, the key."""

    letter: str
    principal: str
    key: str

    @property
    def trusted(self) -> bool:
        """True for a good signature by a listed SSH key; an OpenPGP or X.509 key never prints as SHA256:."""
        return self.letter == "G" and self.key.startswith("SHA256:")


def signers(repository: Repository, merge_base: str, head: str, allowed: bytes) -> Mapping[str, str]:
    """Return {commit id: principal} of ``merge_base..head`` whose signature is good and listed.

    ``allowed`` are the bytes of an allowed-signers file as ssh-keygen(1) defines
    it; ``valid-after`` and ``valid-before`` are compared with the commit's own
    date, as git does. No other key, and no setting of the user, makes a
    signature count.
    """
    oids = repository.git.run("rev-list", head, f"^{merge_base}").line.split()
    chunks = [oids[at : at + _CHUNK] for at in range(0, len(oids), _CHUNK)]
    found: dict[str, str] = {}
    with _trusting(allowed) as flags:
        if len(chunks) < 2:
            answers = [_verify(repository, flags, chunk) for chunk in chunks]
        else:
            with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                answers = list(pool.map(lambda chunk: _verify(repository, flags, chunk), chunks))
    for answer in answers:
        found.update({oid: seen.principal for oid, seen in answer.items() if seen.trusted})
    return found


def signature(repository: Repository, commit: str, allowed: bytes) -> Signature:
    """Return what git says of one commit's signature."""
    with _trusting(allowed) as flags:
        return _verify(repository, flags, [commit]).get(commit, Signature("N", "", ""))


@contextmanager
def _trusting(allowed: bytes) -> Iterator[tuple[str, ...]]:
    """Yield options for git under which ``allowed`` alone decides, whatever the user's settings say."""
    root = temporary_root()
    try:
        made = tempfile.TemporaryDirectory(prefix="signers-redbucket-", dir=root)
    except OSError as problem:
        raise cannot_write(root, problem) from problem
    with made as folder:
        listed, revoked = Path(folder, "allowed_signers"), Path(folder, "revoked")
        listed.write_bytes(allowed)
        revoked.touch()
        yield (
            *("-c", "gpg.format=ssh"),
            *("-c", "gpg.ssh.program=ssh-keygen"),
            *("-c", f"gpg.ssh.allowedSignersFile={listed}"),
            *("-c", f"gpg.ssh.revocationFile={revoked}"),
            *("-c", "gpg.minTrustLevel=undefined"),
            # a patch chooses the kind of its signatures: none makes us start another program
            *("-c", "gpg.program=false"),
            *("-c", "gpg.openpgp.program=false"),
            *("-c", "gpg.x509.program=false"),
        )


def _verify(repository: Repository, flags: tuple[str, ...], oids: Sequence[str]) -> dict[str, Signature]:
    done = repository.git.run(
        *flags,
        *("log", "-z", "--no-walk=unsorted", "--no-show-signature", "--no-patch", "--stdin"),
        "--format=tformat:%H%x01%G?%x01%GS%x01%GK",
        stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"),
        ok=(0, 128, -signal.SIGPIPE),
    )
    if done.code:
        # git dies at a signature of no known kind instead of calling it bad (seen with 2.39), and by SIGPIPE
        # if ssh-keygen gives a garbled one up before it has read what was signed
        if done.code == 128 and "bad/incompatible signature" not in done.err:
            raise failure(("log",), done.code, done.err)
        if len(oids) == 1:
            return {oids[0]: Signature("B", "", "")}
        half = len(oids) // 2
        return {**_verify(repository, flags, oids[:half]), **_verify(repository, flags, oids[half:])}
    found = {}
    for line in done.out.decode("utf-8", "replace").split("\0"):
        fields = line.strip("\n").split("\x01")
        if len(fields) == 4:
            found[fields[0]] = Signature(*fields[1:])
    return found


def require_ssh_keygen(which: str | None) -> None:
    """Raise WorldFailed if signatures are asked for and ssh-keygen is not there."""
    if which is None:
        raise WorldFailed(
            "no-ssh-keygen",
            "identity.allowed_signers is set and ssh-keygen is not installed",
            "install OpenSSH's client",
        )
