"""Shows proposals one by one, takes a human's answers, writes what was accepted."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.app.fixture_lock import Desk, accepted_by, apply, propose, proposed_sha, shown
from redbucket.core.errors import ACCEPTED, UNDECIDED
from redbucket.core.lockedit import Proposal
from redbucket.core.plural import plural
from redbucket.core.trailers import quote_path
from redbucket.formats.clean import line, shell
from redbucket.formats.fixtures import diff_text

_NAMED = 3
_QUESTION = "Lock these bytes? [y]es, [n]o, [a]ll the rest, [q]uit"


def settle(
    opened: Desk,
    proposals: Sequence[Proposal],
    accepts: Sequence[str],
    reason: str,
    origin: str,
    most_lines: int,
    *,
    again: Sequence[str],
    quiet: bool,
) -> int:
    """Have the proposals decided, write the accepted ones, return the exit code.

    ``again`` is the command that is under way, to be repeated with ``--accept`` where nobody can be asked.
    """
    if not proposals and not accepts:
        if not quiet:
            click.echo("nothing to do: what is staged is what is locked")
        return ACCEPTED
    if accepts:
        accepted = accepted_by(opened, proposals, accepts)
    else:
        places = propose(opened, proposals)
        if not _is_terminal():
            _show_all(opened, proposals, most_lines)
            return _to_be_accepted(opened, proposals, places, [*again, *_given(reason, origin)])
        try:
            accepted = _asked(opened, proposals, most_lines)
        finally:
            for place in places:
                with contextlib.suppress(OSError):
                    place.unlink()
    if accepted:
        apply(opened, accepted)
        if not quiet:
            _say_done(accepted, reason, origin)
    return ACCEPTED


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _show_all(opened: Desk, proposals: Sequence[Proposal], most_lines: int) -> None:
    for each in proposals:
        _show(opened, each, most_lines)


def _show(opened: Desk, each: Proposal, most_lines: int) -> None:
    change = shown(opened, each, most_lines)
    body = diff_text([change]).split("\n", 1)[1].rstrip("\n")
    click.echo(body)
    if each.old and change.change.old is None:
        click.echo("      the locked bytes are not in the last commits, so there is nothing to compare with")
    click.echo(f"      {line(each.lock)}: {each.old or 'not locked'} -> {each.new}")


def _asked(opened: Desk, proposals: Sequence[Proposal], most_lines: int) -> list[Proposal]:
    accepted: list[Proposal] = []
    for number, each in enumerate(proposals):
        click.echo(f"({number + 1} of {len(proposals)})")
        _show(opened, each, most_lines)
        answer = click.prompt(_QUESTION, type=click.Choice(list("ynaq")), show_choices=False, err=True)
        if answer == "a":
            return accepted + list(proposals[number:])
        if answer == "q":
            return accepted
        if answer == "y":
            accepted.append(each)
    return accepted


def _given(reason: str, origin: str) -> list[str]:
    return [*(("--reason", reason) if reason else ()), *(("--source", origin) if origin else ())]


def _to_be_accepted(
    opened: Desk, proposals: Sequence[Proposal], places: Sequence[Path], again: Sequence[str]
) -> int:
    words = [f"--accept {shell(f'{each.path}={each.new}')}" for each in proposals]
    click.echo(
        f"redbucket: nothing is locked yet; what it would be is in {', '.join(map(str, places))}", err=True
    )
    if len(words) > _NAMED:
        locks = sorted({each.lock for each in proposals})
        whole = {
            lock: proposed_sha(opened, [each for each in proposals if each.lock == lock]) for lock in locks
        }
        words = [f"--accept {shell(f'{lock}={sha}')}" for lock, sha in whole.items()]
        click.echo(
            "  do this: look at each, then accept it as above, or all of a lock by its own checksum:",
            err=True,
        )
    else:
        click.echo("  do this: look at each, then accept it:", err=True)
    click.echo(f"    $ {calling().named(' '.join([*map(shell, again), *words]))}", err=True)
    return UNDECIDED


def _say_done(accepted: Sequence[Proposal], reason: str, origin: str) -> None:
    locks = sorted({each.lock for each in accepted})
    paths = " ".join(shell(path) for path in [*locks, *(each.path for each in accepted[:3])])
    more = f"   # and {plural(len(accepted) - 3, 'more path')}" if len(accepted) > 3 else ""
    count = len(accepted)
    click.echo(
        f"{count} fixture{'s' if count != 1 else ''} locked in {', '.join(map(line, locks))}; commit it:"
    )
    add = f"git add {' '.join(map(shell, locks))} && git commit"
    click.echo(f"  $ {calling().here(add)}")
    click.echo("with these trailers at the end of the message:")
    for each in accepted:
        word = "Fixture-Refreshed" if each.old else "Fixture-Locked"
        old = f"{each.old[:16]}.." if each.old else ""
        click.echo(f"  {word}: {quote_path(each.path)} {old}{each.new[:16]}")
    click.echo(f"  Fixture-Reason: {line(reason) or 'WHY THE BYTES CHANGED'}")
    click.echo(f"  Fixture-Source: {line(origin) or 'WHERE THEY COME FROM'}")
    endorse = calling().here(f"redbucket endorse {paths}{more}")
    click.echo(f"or, where signatures are asked for:\n  $ {endorse}")
