"""``redbucket budget``: what failures were turned into, by week."""

from __future__ import annotations

from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.app.output import tell
from redbucket.commands.options import common, reporting, revision
from redbucket.core.errors import ACCEPTED


@click.group(invoke_without_command=True, short_help="Failures week by week, and what each of them became.")
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


@budget.command(short_help="Record what one failure became.")
@click.argument("nodeids", nargs=-1, metavar="[NODEID]...")
@click.option(
    "--head",
    callback=revision,
    metavar="REV",
    help="All that gates of this commit saw fail: one broken patch may fail many tests.",
)
@click.option(
    "--into",
    "kind",
    required=True,
    type=click.Choice(["property", "lock", "replay", "freeze", "other"]),
    help="What the failures became.",
)
@click.option("--owner", default="", help="Who did it.")
@click.option("--detail", default="", help="Where it is: a path, a ticket, a commit.")
@common
def spend(
    nodeids: tuple[str, ...],
    head: str | None,
    kind: str,
    owner: str,
    detail: str,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Record what failures became, where the repository does not show it.

    \b
      redbucket budget spend tests/test_cart.py::test_total --into property --detail tests/properties/test_cart.py
      redbucket budget spend tests/test_cart.py::test_total --into other --detail "removed with the feature"
      redbucket budget spend --head agent/fix --into other --detail "mended before it landed"
    """
    from redbucket.app.budget_desk import spend as record
    from redbucket.edges.repository import Repository

    if not nodeids and head is None:
        raise click.UsageError("Name the tests, or a commit with --head.")
    done, unseen = record(Repository.discover(folder), nodeids, head, kind, owner, detail)
    if not quiet:
        for nodeid in done:
            click.echo(f"{nodeid}: {kind}")
        for nodeid in unseen:
            which = "this test" if len(done) == 1 else nodeid
            click.echo(f"redbucket: note: no gate in the ledger saw {which} fail", err=True)
    return ACCEPTED
