"""``redbucket budget``: what failures were turned into, by week."""

from __future__ import annotations

import os
from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.app.output import tell
from redbucket.commands.options import common, reporting, revision
from redbucket.core.errors import ACCEPTED, Misused


@click.group(invoke_without_command=True)
@click.option("--weeks", type=click.IntRange(1, 520), default=8, show_default=True, help="How many weeks.")
@click.option(
    "--base",
    callback=revision,
    metavar="REV",
    help="The branch where answers land. Default: the protected branch.",
)
@reporting("text", "json", "html")
@common
@click.pass_context
def budget(
    context: click.Context,
    weeks: int,
    base: str | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Failures that gates saw, week by week, and what each became: a property, a lock, a replay, a freeze.

    \b
      redbucket budget
      redbucket budget --weeks 26 --format json
      redbucket budget --weeks 26 --format html --output budget.html
    """
    if context.invoked_subcommand is not None:
        return ACCEPTED
    from redbucket.app.budget_desk import report
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.formats.budget import budget_text

    with session(folder, Progress(quiet=quiet, steps=False)) as opened:
        found = report(opened, weeks, base)
    if form == "html":
        from redbucket.formats.budgethtml import budget_html

        return tell(found, form, output, budget_html, quiet=quiet)
    return tell(found, form, output, lambda told: calling().here(budget_text(told)), quiet=quiet)


@budget.command()
@click.argument("nodeid")
@click.option(
    "--into",
    "kind",
    required=True,
    type=click.Choice(["property", "lock", "replay", "freeze", "other"]),
    help="What the failure became.",
)
@click.option("--owner", default="", help="Who did it.")
@click.option("--detail", default="", help="Where it is: a path, a ticket, a commit.")
@common
def spend(nodeid: str, kind: str, owner: str, detail: str, folder: Path, quiet: bool, verbose: bool) -> int:
    """Record what one failure became, where the repository does not show it.

    \b
      redbucket budget spend tests/test_cart.py::test_total --into property --detail tests/properties/test_cart.py
      redbucket budget spend tests/test_cart.py::test_total --into other --detail "removed with the feature"
    """
    from redbucket.app.remember import now
    from redbucket.core.ledgered import Conversion
    from redbucket.edges.ledger import VARIABLE, opened, place_of
    from redbucket.edges.repository import Repository

    place = place_of(os.environ, Repository.discover(folder).common_dir)
    if place is None:
        raise Misused(
            "no-ledger", f"{VARIABLE} switches the ledger off", f"unset {VARIABLE}, or name a file with it"
        )
    with opened(place) as ledger:
        seen = any(row["nodeid"] == nodeid for row in ledger.failures(""))
        ledger.add_conversion(Conversion(now(), nodeid, kind, owner, detail))
    if not quiet:
        click.echo(f"{nodeid}: {kind}")
        if not seen:
            click.echo("redbucket: note: no gate in the ledger saw this test fail", err=True)
    return ACCEPTED
