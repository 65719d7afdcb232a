"""``redbucket oracle``: how strong the tests are on the changed lines."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from redbucket.app.output import tell
from redbucket.commands.options import common, reporting, request_of, request_options


@click.command(short_help="Changed lines that are run, and whose faults are noticed.")
@request_options
@click.option(
    "--mutants", type=click.IntRange(1, 100_000), default=60, show_default=True, help="How many are sampled."
)
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Seconds for all of it.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    help="Keep each result in this file, and go on from what it holds.",
)
@reporting("text", "json", "html")
@common
def oracle(
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    mutants: int,
    budget: float | None,
    resume: Path | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Show two numbers side by side: changed lines that are executed, and those whose fault is noticed.

    Small faults of the changed lines are tried on the tests that run them: the trusted ones, and the
    patch's own. Coverage without an oracle shows as a gap between the two.

    \b
      redbucket oracle --base main --head agent/fix
      redbucket oracle --base main --head agent/fix --format html --output oracle.html
      redbucket oracle --mutants 500 --budget 600 --resume oracle.jsonl
    """
    from redbucket.app import property_desk
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.formats.oracle import oracle_text

    request = request_of(base, head, policy, head_ref=head_ref, agent=agent)
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        report = property_desk.oracle(
            opened, request, most=mutants, budget=budget, resume=folder / resume if resume else None
        )
        report = opened.told(report)
    if form == "html":
        from redbucket.formats.oraclehtml import oracle_html

        return tell(report, form, output, oracle_html, quiet=quiet)
    return tell(report, form, output, partial(oracle_text, verbose=verbose), quiet=quiet)
