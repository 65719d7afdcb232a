"""``redbucket fixtures``: verify, diff, lock, refresh."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from redbucket.app.calling import calling
from redbucket.app.output import finish, read_file
from redbucket.commands.completing import revisions
from redbucket.commands.options import as_typed, common, reporting, revision

_SHOWN = 3
REPORTS = ("text", "json", "sarif", "junit", "markdown")


@click.group(short_help="The lock of recorded fixtures: verify, diff, lock, refresh.")
def fixtures() -> None:
    """The lock of recorded fixtures: verify it, see what moved, lock, refresh.

    \b
      redbucket fixtures verify
      redbucket fixtures diff
      redbucket fixtures lock
      redbucket fixtures refresh tests/data/rates.json
    """


@fixtures.command(short_help="Verify the fixtures against their lock.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--staged", is_flag=True, help="The index alone, as it is about to be committed.")
@click.option(
    "--rev", callback=revision, metavar="REV", shell_complete=revisions, help="The tree of one commit alone."
)
@click.option("--policy", type=click.Path(path_type=Path), help="A policy instead of HEAD's redbucket.toml.")
@reporting(*REPORTS)
@common
def verify(
    paths: tuple[str, ...],
    staged: bool,
    rev: str | None,
    policy: Path | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Verify the fixtures against their lock: the index's blobs, and the files that tests would read.

    Exit 0 all is as locked, 1 something is not, 2 the content of a fixture, or the lock's, is not here.

    \b
      redbucket fixtures verify
      redbucket fixtures verify --staged tests/cassettes
      redbucket fixtures verify --rev main --format json
    """
    import msgspec

    from redbucket.app.fixture_verify import TWO_POLICIES, report_of, run

    if staged and rev:
        raise click.UsageError("--staged goes without --rev")
    index = os.environ.get("GIT_INDEX_FILE") if staged else None
    verified = run(
        folder,
        paths,
        revision=rev,
        files=not staged and rev is None,
        policy=(read_file(policy), str(policy)) if policy else None,
        index=Path(index) if index else None,
    )
    if form == "text" and output is None and not verified.found and not verified.unstaged:
        if not quiet:
            if verified.both:
                click.echo(f"redbucket: {TWO_POLICIES}", err=True)
            _say_fine(verified.count, verified.locks, verified.idle)
        return 0
    report = msgspec.structs.replace(
        report_of(verified), command=as_typed(), offered="" if rev else "the index"
    )
    if form != "text":
        return finish(report, form, output, quiet=quiet, verbose=verbose)
    from redbucket.app.output import emit
    from redbucket.formats.fixtures import verified_text

    emit(calling().here(verified_text(report, verbose=verbose)), output)
    return int(report.exit_code)


@fixtures.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--base", callback=revision, metavar="REV", shell_complete=revisions, help="The old side. Default: HEAD."
)
@click.option(
    "--head",
    callback=revision,
    metavar="REV",
    shell_complete=revisions,
    help="The new side. Default: the work tree.",
)
@click.option("--staged", is_flag=True, help="The index is the new side.")
@click.option(
    "--lines", "most", type=click.IntRange(0), default=40, show_default=True, help="Lines of a text diff."
)
@reporting("text", "json")
@common
def diff(
    paths: tuple[str, ...],
    base: str | None,
    head: str | None,
    staged: bool,
    most: int,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Show which fixtures moved, and the class of each change.

    The classes: line ends only, representation only, volatile only (as the
    policy's rules declare), payload, opaque. Exit 0, whatever moved.

    \b
      redbucket fixtures diff
      redbucket fixtures diff --base v1.0 --head v1.1 --format json
    """
    from redbucket.app.fixture_diff import run
    from redbucket.app.output import emit
    from redbucket.formats.fixtures import diff_json, diff_text

    if staged and head:
        raise click.UsageError("--staged goes without --head")
    changes = run(folder, paths, base=base, head=head, staged=staged, most_lines=most)
    if form == "json":
        emit(diff_json(changes), output)
    elif changes or not quiet:
        emit(diff_text(changes, verbose=verbose), output)
    return 0


def _human(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the commands that only a human may run."""
    for option in reversed(
        (
            click.option(
                "--accept",
                "accepts",
                multiple=True,
                metavar="NAME=SHA256",
                help="Accept one line without being asked; the checksum is the one that was shown.",
            ),
            click.option("--reason", default="", help="Why, for the commit's message."),
            click.option(
                "--source", "origin", default="", help="Where the bytes come from, for the message."
            ),
            click.option(
                "--lines",
                "most",
                type=click.IntRange(0),
                default=40,
                show_default=True,
                help="Lines of a diff.",
            ),
        )
    ):
        command = option(command)
    return command


@fixtures.command(short_help="Lock new fixtures; a human accepts each.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_human
@common
def lock(
    paths: tuple[str, ...],
    accepts: tuple[str, ...],
    reason: str,
    origin: str,
    most: int,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Lock new fixtures, as they are staged; a human accepts each.

    On a terminal each is asked for. Without one, run it twice: the first
    run shows the checksums (exit 2), the second takes them by --accept.

    \b
      redbucket fixtures lock
      redbucket fixtures lock --accept tests/data/a.json=SHA256
    """
    from redbucket.app.fixture_accept import settle
    from redbucket.app.fixture_lock import desk, new_files, unstaged_new

    with desk(folder) as opened:
        proposals = new_files(opened, folder, paths)
        again = _again("lock", folder, paths)
        code = settle(opened, proposals, accepts, reason, origin, most, again=again, quiet=quiet)
        if not quiet and not accepts and (new := unstaged_new(opened, folder, paths)):
            _say_unstaged(new)
        return code


@fixtures.command(short_help="Take changed fixtures into the lock; a human accepts each.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_human
@common
def refresh(
    names: tuple[str, ...],
    accepts: tuple[str, ...],
    reason: str,
    origin: str,
    most: int,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Take the staged bytes of named fixtures into the lock; a human sees the diff and accepts each.

    \b
      redbucket fixtures refresh tests/data/rates.json --reason "new provider" --source https://...
    """
    from redbucket.app.fixture_accept import settle
    from redbucket.app.fixture_lock import desk, refreshed

    with desk(folder) as opened:
        proposals = refreshed(opened, folder, names)
        again = _again("refresh", folder, names)
        return settle(opened, proposals, accepts, reason, origin, most, again=again, quiet=quiet)


def _again(command: str, folder: Path, names: tuple[str, ...]) -> list[str]:
    """Return the words of this command, for whoever runs it once more in the same place."""
    where = [] if folder == Path() else ["-C", str(folder)]
    # a name with a leading "-" would read as an option
    return ["redbucket", "fixtures", command, *where, *(f"./{n}" if n.startswith("-") else n for n in names)]


def _say_unstaged(new: list[str]) -> None:
    from redbucket.formats.clean import shell

    some = " ".join(shell(f":/{path}") for path in new[:_SHOWN])
    more = f"   # and {len(new) - _SHOWN:,} more" if len(new) > _SHOWN else ""
    what, them = (
        ("a recorded fixture is", "it") if len(new) == 1 else (f"{len(new):,} recorded fixtures are", "them")
    )
    click.echo(f"redbucket: {what} not staged, so not looked at; to lock {them}, first:", err=True)
    click.echo(f"    $ {calling().here(f'git add {some}{more}')}", err=True)


def _say_fine(count: int, locks: tuple[str, ...], idle: Sequence[str]) -> None:
    if not locks:
        make = calling().here("redbucket fixtures lock")
        click.echo(f"redbucket: no lock here, so nothing to verify; {make} makes one", err=True)
        return
    if idle:
        from redbucket.formats.clean import line

        click.echo(
            f"redbucket: no recorded fixture is at {', '.join(map(line, idle))}, so nothing was verified there",
            err=True,
        )
    if idle and not count:
        return
    where = locks[0] if len(locks) == 1 else f"{len(locks)} locks"
    click.echo(f"ACCEPTED  {count:,} fixture{'s' if count != 1 else ''} as locked ({where})")
