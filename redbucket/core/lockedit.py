"""A lock with some of its lines accepted anew: pure, so that two writers can be tried in every order."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from redbucket.core.checksums import HEADER, read, write
from redbucket.core.errors import REFUSED, Misused, RedbucketError
from redbucket.core.paths import fold


class Refused(RedbucketError):
    """A human's command in an agent's hands (exit 1)."""

    exit_code = REFUSED


@dataclass(frozen=True)
class Proposal:
    """One line that may be accepted: ``path`` from the top, ``name`` as the lock has it, old and new checksum."""

    path: str
    lock: str
    name: str
    old: str | None
    new: str


def edited(raw: bytes | None, lock: str, accepted: Iterable[Proposal]) -> bytes:
    """Return the lock ``raw`` with the accepted lines; other lines and comments stay.

    Raises Misused "flawed-lock", or "lock-moved" where a line is not any more what was shown.
    """
    found = read(raw) if raw is not None else None
    if (
        found is not None and found.flaws and found.flaws[0].number
    ):  # that of the whole file: it lists nothing
        flaw = found.flaws[0]
        raise Misused("flawed-lock", f"{lock}:{flaw.number}: {flaw.reason}", flaw.remedy)
    sums = {line.path: line.sha256 for line in found.lines} if found is not None else {}
    listed = list(sums)
    for each in accepted:
        if sums.get(each.name) not in (each.old, each.new):
            raise Misused(
                "lock-moved",
                f"{lock}: the line of {each.name} is not what was shown any more",
                "look again: run it anew",
            )
        sums[each.name] = each.new
    refuse_twins(listed, sums.keys() - listed)
    kept = [line.removesuffix(b"\r") for line in (raw or b"").split(b"\n") if line.startswith(b"#")]
    comments = b"".join(line + b"\n" for line in kept if line + b"\n" != HEADER)
    return HEADER + comments + write(sums, header=False)


def refuse_twins(listed: Iterable[str], new: Collection[str]) -> None:
    """Raise Misused "twin-name" for a new name that is one with another on some disk: the reader calls that a flaw."""
    seen: dict[str, str] = {}
    for name in dict.fromkeys([*listed, *new]):
        other = seen.setdefault(fold(name), name)
        if other != name and {name, other} & {*new}:
            raise Misused(
                "twin-name",
                f"{name} can't be locked beside {other}: they are one name where a disk folds case or normalises names",
                "rename one of the two",
            )


def refuse_agents(marks: Iterable[str]) -> None:
    """Raise Refused if any mark says that no human is at work."""
    found = list(marks)
    if found:
        raise Refused(
            "human-only",
            f"only a human locks or refreshes fixtures; this looks like an agent's work: {', '.join(found)}",
            "let a human run it on a branch and in a shell of their own",
        )
