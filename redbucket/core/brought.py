"""Which of the records in a folder may stand for runs of this gate, and what is wrong with the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from redbucket.core.plural import plural
from redbucket.core.report import Problem
from redbucket.core.seals import SEAL, Seal, Ticket, is_genuine

_OWN = "give a folder that holds the records of this gate's runs and nothing else"
_FEW = 3


@dataclass(frozen=True)
class Offer:
    """A record and its seal as they lie in the folder; None for one that is not there."""

    name: str
    record: bytes | None
    seal: bytes | None


@dataclass(frozen=True)
class Expected:
    """What this gate's seals must say; ``specs`` are the digests of the runs 1 to ``of``."""

    version: str
    base: str
    head: str
    tree: str
    policy: str
    specs: tuple[str, ...]
    environment: Mapping[str, str]


def accepted(
    offers: Sequence[Offer], ticket: Ticket, expected: Expected
) -> tuple[dict[int, Offer], list[Problem]]:
    """Return {run number: its record}, and a problem for each record that can't count and each run that is missing.

    Only where there is no problem may the records be used.
    """
    good: dict[int, Offer] = {}
    problems: list[Problem] = []
    for offer in offers:
        seal, problem = _checked(offer, ticket, expected)
        if seal is not None and seal.run in good:
            problem = Problem(
                code="record-repeated",
                reason=f"run {seal.run} is there twice: {good[seal.run].name} and {offer.name}",
                remedy=_OWN,
            )
        if problem is not None:
            problems.append(problem)
        elif seal is not None:
            good[seal.run] = offer
    problems += [_missing(n, ticket) for n in ticket.runs if n not in good]
    return good, problems


def _missing(number: int, ticket: Ticket) -> Problem:
    return Problem(
        code="record-missing",
        reason=f"there is no record of run {number} of {ticket.of} that can count",
        remedy=f"start the job of run {number} again (redbucket rerun --run {number} --of {ticket.of} --ticket FILE), "
        "bring its record and its seal, and judge again",
    )


def _checked(offer: Offer, ticket: Ticket, expected: Expected) -> tuple[Seal | None, Problem | None]:
    name = offer.name
    if offer.seal is None or offer.record is None:
        lacks = "seal" if offer.seal is None else "record"
        return None, Problem(
            code="record-unsealed",
            reason=f"{name} has no {lacks}: its job was ended early, or it is not from redbucket rerun --run",
            remedy="start that job again, and bring both of its files",
        )
    try:
        seal = msgspec.json.decode(offer.seal, type=Seal)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, _forged(name, f"its seal can't be read ({error})")
    if seal.ticket != ticket.name:
        return None, _foreign(name, "it was sealed under another ticket, for another or an earlier gate")
    if not is_genuine(seal, ticket):
        return None, _forged(name, "its seal was not made with this ticket's key")
    if hashlib.sha256(offer.record).hexdigest() != seal.record:
        return None, Problem(
            code="record-changed",
            reason=f"{name} is not as it was sealed: it was cut, or something wrote to it afterwards",
            remedy="start that job again; if it happens again, look for what writes to the folder",
        )
    if (seal.base, seal.head) != (expected.base, expected.head):
        return None, _foreign(name, f"it is of the patch {seal.base[:12]}..{seal.head[:12]}")
    if seal.run not in ticket.runs or seal.schema != SEAL:
        return None, _foreign(name, f"it is of run {seal.run} of {seal.of}")
    return seal, _unlike(name, seal, ticket, expected)


def _unlike(name: str, seal: Seal, ticket: Ticket, expected: Expected) -> Problem | None:
    """Return a problem where the run was not made as this gate would make it."""
    for what, there, here in (
        ("redbucket", seal.version, expected.version),
        ("number of runs", str(seal.of), str(ticket.of)),
        ("policy", seal.policy, expected.policy),
        ("tree with the patch", seal.tree, expected.tree),
        ("plan of the run", seal.spec, expected.specs[seal.run - 1]),
    ):
        if there != here:
            return Problem(
                code="record-settings",
                reason=f"{name} was made with another {what}: {there[:12]}, and {here[:12]} here",
                remedy="use one redbucket, one --policy and one ticket in all jobs",
            )
    unlike = [
        f"{part} {seal.environment.get(part) or 'none'}, and {expected.environment.get(part) or 'none'} here"
        for part in sorted({*seal.environment, *expected.environment})
        if seal.environment.get(part) != expected.environment.get(part)
    ]
    if not unlike:
        return None
    more = f" and {plural(len(unlike) - _FEW, 'more difference')}" if len(unlike) > _FEW else ""
    return Problem(
        code="other-environment",
        reason=f"{name} was made in another environment than base would run in: {'; '.join(unlike[:_FEW])}{more}",
        remedy="make the environment the same in all jobs: one image, one Python, pinned packages",
    )


def _foreign(name: str, why: str) -> Problem:
    return Problem(code="record-foreign", reason=f"{name} is not of this gate: {why}", remedy=_OWN)


def _forged(name: str, why: str) -> Problem:
    return Problem(
        code="record-forged",
        reason=f"{name} does not come from a run of this gate: {why}",
        remedy="find out what wrote it: a job of this gate seals its record by itself",
    )
