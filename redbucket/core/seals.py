"""Runs that are made in other jobs: the ticket they are made under, and the seal that binds a record to it.

The ticket is drawn once for a gate and holds a key that nobody knew before. A seal is a keyed digest over the
record's bytes and all that the run depended on, so a record of another gate, another patch or other settings, one
that was cut or rewritten, and one that something else than redbucket wrote, are told from the one that was asked for.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import msgspec

from redbucket.core.errors import Misused
from redbucket.core.runspec import RunSpec, full_runs

TICKET = "redbucket.ticket/1"
SEAL = "redbucket.seal/1"
KEY_BYTES = 32


class Ticket(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One gate whose runs are made elsewhere: what is judged, how, and the key of its seals.

    ``runs`` are the numbers 1 to ``of``; ``base_name`` is the base as it was named, ``head_ref`` the branch whose
    name counts; ``timeout`` is in seconds for one test.
    """

    schema: str = TICKET
    base: str
    base_name: str = ""
    head: str
    head_ref: str = ""
    agent: bool = False
    reruns: int
    scope: str
    timeout: float
    of: int
    runs: list[int]
    key: str

    @property
    def secret(self) -> bytes:
        """The key's bytes."""
        return bytes.fromhex(self.key)

    @property
    def name(self) -> str:
        """What tells tickets apart, and gives nothing away."""
        return hashlib.blake2b(self.secret, digest_size=8, person=b"redbucket-name").hexdigest()


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was, beside its record: ``spec``, ``policy`` and ``record`` are SHA-256 digests.

    ``environment`` is the project's interpreter and what is installed for it.
    """

    schema: str = SEAL
    version: str
    ticket: str
    base: str
    head: str
    tree: str
    run: int
    of: int
    policy: str
    spec: str
    environment: dict[str, str]
    record: str
    mac: str = ""


def read_ticket(raw: bytes, name: str) -> Ticket:
    """Return the ticket that ``raw`` holds. Raises Misused "bad-ticket"."""
    try:
        ticket = msgspec.json.decode(raw, type=Ticket)
        wrong = "" if ticket.schema == TICKET else f"its schema is {ticket.schema!r}, not {TICKET!r}"
        whole = ticket.of == full_runs(ticket.reruns, ticket.scope) and ticket.runs == [
            *range(1, ticket.of + 1)
        ]
        if not wrong and not (whole and ticket.of > 0 and len(ticket.secret) == KEY_BYTES):
            wrong = "its key or its runs are not what a ticket has"
    except (msgspec.DecodeError, ValueError) as error:
        wrong = str(error)
    if wrong:
        raise Misused(
            "bad-ticket",
            f"{name} is no ticket: {wrong}",
            "draw one: redbucket ticket --base REV --head REV > ticket.json",
        )
    return ticket


def digest_of(value: Any) -> str:
    """Return the SHA-256 of plain data, a struct or a dataclass, whatever the order of its mappings."""
    data = msgspec.to_builtins(value)
    # names of files may hold bytes that are no UTF-8: those are escaped, msgspec's own encoder refuses them
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()


def sealed(seal: Seal, ticket: Ticket) -> Seal:
    """Return ``seal`` with the keyed digest over all of it."""
    return msgspec.structs.replace(seal, ticket=ticket.name, mac=_mac(seal, ticket))


def is_genuine(seal: Seal, ticket: Ticket) -> bool:
    """True if whoever made the seal knew the ticket's key, and nothing of it was changed."""
    return hmac.compare_digest(_mac(seal, ticket).encode(), seal.mac.encode("utf-8", "backslashreplace"))


def _mac(seal: Seal, ticket: Ticket) -> str:
    plain = msgspec.structs.replace(seal, ticket=ticket.name, mac="")
    said = json.dumps(msgspec.to_builtins(plain), sort_keys=True, ensure_ascii=True).encode("ascii")
    return hashlib.blake2b(said, key=ticket.secret, digest_size=32, person=b"redbucket-seal").hexdigest()


def spec_digest(spec: RunSpec) -> str:
    """Return the digest of everything that a run is asked to do."""
    return digest_of(spec)
