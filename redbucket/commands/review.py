"""``redbucket review``: four questions to a property, and one decision."""

from __future__ import annotations

from pathlib import Path

import click

from redbucket.app.output import tell
from redbucket.commands.options import common, reporting, request_of, request_options


@click.command(short_help="Decide whether a property is worth keeping.")
@click.argument("file", type=click.Path(path_type=Path))
@request_options
@click.option(
    "--mutants",
    type=click.IntRange(0, 1000),
    default=12,
    show_default=True,
    help="Small faults of the changed lines that are tried on it; 0 for none.",
)
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Seconds for the whole review.")
@reporting("text", "json")
@common
def review(
    file: Path,
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    mutants: int,
    budget: float | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Decide whether a property is worth keeping: it runs on base and on the patch, and is challenged.

    Does it quantify over a domain? Could the patch edit it? Does it fail on the patch and pass on base?
    Does it depend on time, folder order, network or entropy? Exit 0 keep, 1 discard, 2 cannot decide.

    \b
      redbucket review drafts/test_split_law.py --base main --head agent/fix
      redbucket review tests/properties/test_split.py --format json
    """
    from redbucket.app import property_desk
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.formats.review import review_text

    request = request_of(base, head, policy, head_ref=head_ref, agent=agent)
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        report = property_desk.review(opened, folder / file, request, most=mutants, budget=budget)
        report = opened.told(report)
    return tell(report, form, output, review_text, quiet=quiet)
