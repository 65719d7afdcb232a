"""``redbucket init``: looks at the repository, and proposes the files that set redbucket up."""

from __future__ import annotations

from pathlib import Path

import click

from redbucket.commands.options import common

_KINDS = ("policy", "lock", "pre-commit", "workflow", "agents")


@click.command(
    context_settings={"ignore_unknown_options": True},
    short_help="Propose the files that set redbucket up in a repository.",
)
@click.option("--yes", "-y", is_flag=True, help="Write all that is proposed, without being asked.")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(_KINDS),
    help="Leave this kind of file out; may be given again.",
)
@click.option("--branch", metavar="NAME", help="Where patches land. Default: the remote's default branch.")
@click.option(
    "--source",
    metavar="git+URL@REV",
    help="Where pre-commit and CI get redbucket. Default: where this one came from, if pip knows.",
)
@click.option("--no-run", is_flag=True, help="Run no test: propose by names alone.")
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    default=900.0,
    show_default=True,
    help="Seconds for the recorded run.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]")
@common
def init(
    yes: bool,
    without: tuple[str, ...],
    branch: str | None,
    source: str | None,
    no_run: bool,
    budget: float,
    command: tuple[str, ...],
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Look at the repository, run its tests once, and propose the files that set redbucket up.

    Proposes redbucket.toml, a lock of the recorded files that the tests open, pre-commit's and agents'
    hooks, and a CI job; shows each as a diff, and asks. A file that is there stays as it is, and what it
    lacks is said. Without a terminal and without --yes nothing is written, and the exit code is 2.

    \b
      redbucket init
      redbucket init --yes --without workflow
      redbucket init --source git+https://example.org/tools/redbucket@v1
      redbucket init -- python -m pytest tests/unit
    """
    from redbucket.app.init_desk import run
    from redbucket.edges.ownsource import installed_source, parse_source

    return run(
        folder,
        command,
        branch=branch,
        source=parse_source(source) if source else installed_source(),
        without=without,
        no_run=no_run,
        budget=budget,
        yes=yes,
        quiet=quiet,
        verbose=verbose,
    )
