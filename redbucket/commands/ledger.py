"""``redbucket ledger``: what gates saw, exported or forgotten."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import click

from redbucket.app.output import emit
from redbucket.commands.options import common, writable
from redbucket.core.errors import ACCEPTED


@click.group(short_help="What gates saw here: kept for people, read by no verdict.")
def ledger() -> None:
    """What gates saw in this repository: kept for people, and never read by a verdict.

    \b
      redbucket ledger export
      redbucket ledger prune --days 90
    """


@ledger.command(short_help="Print what is kept, a JSON object a line.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet"]),
    default="jsonl",
    show_default=True,
    help="JSON Lines, or a folder of Parquet files (needs pyarrow).",
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), callback=writable, help="A file; a folder for Parquet."
)
@common
def export(form: str, output: Path | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Print every gate, row, test, capture, freeze and conversion, a JSON object a line.

    \b
      redbucket ledger export > ledger.jsonl
      redbucket ledger export --format parquet --output ledger-parquet
    """
    from redbucket.edges.ledger import lines, opened

    with opened(_place(folder), create=False) as found:
        if form == "parquet":
            from redbucket.edges.parquet import write

            if output is None:
                raise click.UsageError("--format parquet needs --output FOLDER")
            for path in write(found, output):
                click.echo(path)
        else:
            emit("\n".join(lines(found)), output)
    return ACCEPTED


@ledger.command()
@click.option(
    "--days", type=click.IntRange(0), default=365, show_default=True, help="Forget what is older than that."
)
@common
def prune(days: int, folder: Path, quiet: bool, verbose: bool) -> int:
    """Forget what is old, and give the disk its space back.

    \b
      redbucket ledger prune --days 90
    """
    from redbucket.edges.ledger import opened

    before = datetime.now(timezone.utc) - timedelta(days=days)
    with opened(_place(folder), create=False) as found:
        gone = found.prune(before.strftime("%Y-%m-%dT%H:%M:%SZ"))
    if not quiet:
        said = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in gone.items())
        click.echo(f"forgotten: {said}")
    return ACCEPTED


def _place(folder: Path) -> Path:
    """Return where this repository's ledger is; raises Misused where it is switched off."""
    from redbucket.core.errors import Misused
    from redbucket.edges.ledger import VARIABLE, place_of
    from redbucket.edges.repository import Repository

    place = place_of(os.environ, Repository.discover(folder).common_dir)
    if place is None:
        raise Misused(
            "no-ledger", f"{VARIABLE} switches the ledger off", f"unset {VARIABLE}, or name a file with it"
        )
    return place
