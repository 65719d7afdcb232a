"""``redbucket draft``: proposes properties for an invariant miss."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from redbucket.app.calling import calling
from redbucket.app.output import tell
from redbucket.commands.options import common, reporting, request_of, request_options


@click.command(short_help="Propose properties for the invariant misses of a gate.")
@click.argument(
    "records", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GATE.json|RECORD..."
)
@request_options
@click.option("--test", metavar="NODEID", help="Draft for this row alone.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(".redbucket-drafts"),
    show_default=True,
    help="The folder for the proposals; never a protected one.",
)
@click.option("--model", metavar="NAME", help="Ask a model of the llm library, too (extra: llm).")
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Seconds for all of it.")
@reporting("text", "json")
@common
def draft(
    records: tuple[Path, ...],
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    test: str | None,
    out: Path,
    model: str | None,
    budget: float | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Propose properties for the invariant misses of a gate's report, or of run records.

    Laws that fit the function's signature, over the failing literals widened to domains, and base's implementation
    as the oracle. Proposed is what holds on base and fails on the patch; a model's text is never run.
    Exit 1 if there is nothing to draft, 2 if nothing was found.

    \b
      redbucket gate --format json --output verdict.json; redbucket draft verdict.json
      redbucket draft verdict.json --test tests/test_money.py::test_split --out drafts
    """
    from redbucket.app import property_desk
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.formats.draft import draft_text

    request = request_of(base, head, policy, head_ref=head_ref, agent=agent)
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        report = property_desk.draft(
            opened,
            [folder / r for r in records],
            request,
            test=test,
            out=folder / out,
            model=model,
            budget=budget,
        )
        report = opened.told(report)
    if calling().folder:
        # the command that comes next is for another folder
        report = msgspec.structs.replace(report, folder=str((folder / out).absolute()))
    return tell(report, form, output, lambda told: calling().here(draft_text(told)), quiet=quiet)
