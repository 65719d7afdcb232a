"""``rerun`` and ``ticket``: records of runs, by themselves or as the parts of a gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.app.output import as_json, emit
from redbucket.commands.completing import revisions
from redbucket.commands.options import (
    common,
    read_given_ticket,
    request_of,
    request_options,
    revision,
    runner_option,
    shards_option,
    ticket_option,
    writable,
)
from redbucket.core.errors import ACCEPTED, UNDECIDED, Misused


@click.command(
    context_settings={"ignore_unknown_options": True},
    short_help="Run the tests N times, and write a record of each run.",
)
@click.option("-n", "reruns", type=click.IntRange(1, 100), help="How many runs. Default: 3.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder for the records.",
)
@click.option(
    "--rev",
    callback=revision,
    metavar="REV",
    shell_complete=revisions,
    help="The commit whose tree is run. Default: HEAD.",
)
@click.option(
    "--run", "number", type=click.IntRange(1), help="Make this one of a ticket's runs, and seal it."
)
@click.option("--of", type=click.IntRange(1), help="How many runs there are jobs for; must be the ticket's.")
@ticket_option
@runner_option
@shards_option
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="With --run: a policy from the launcher instead of base's redbucket.toml.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]")
@common
def rerun(
    reruns: int | None,
    out: Path,
    rev: str | None,
    number: int | None,
    of: int | None,
    ticket: str | None,
    runner: str | None,
    shards: int | None,
    policy: Path | None,
    command: tuple[str, ...],
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run the tests of one commit N times and write one record a run.

    With --run, make one of the runs of a gate that is judged in another job (docs/ci.md).

    \b
      redbucket rerun -n 3 --out runs/
      redbucket rerun -- python -m pytest tests/unit
      redbucket rerun --runner ssh://build.example.org/var/tmp
      redbucket rerun --run 2 --of 3 --ticket ticket.json --out runs/
    """
    if number is None:
        if of or ticket or policy:
            raise click.UsageError("--of, --ticket and --policy go with --run")
        return _by_itself(
            reruns or 3,
            out,
            rev or "HEAD",
            command,
            folder,
            runner=runner,
            shards=shards,
            quiet=quiet,
            verbose=verbose,
        )
    if shards:
        raise click.UsageError("--run goes without --shards: a run of a job of its own is whole")
    if reruns or rev or command:
        raise click.UsageError(
            "--run goes without -n, --rev and a command: base's policy and the ticket say it"
        )
    if ticket is None:
        raise click.UsageError("--run needs --ticket FILE; redbucket ticket draws it")
    return _of_a_gate(number, of, ticket, policy, out, folder, runner=runner, quiet=quiet, verbose=verbose)


def _by_itself(
    reruns: int,
    out: Path,
    rev: str,
    command: tuple[str, ...],
    folder: Path,
    *,
    runner: str | None,
    shards: int | None,
    quiet: bool,
    verbose: bool,
) -> int:
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress

    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        records, runs, earlier = opened.rerun(rev, reruns, folder / out, command, runner, shards)
    emit("\n".join(map(str, records)), None)
    if not quiet:
        from redbucket.formats.clean import shell
        from redbucket.formats.reruns import rerun_summary

        if earlier:
            click.echo(f"redbucket: the records of an earlier rerun are now in {earlier}", err=True)
        click.echo(f"redbucket: {rerun_summary(runs)}", err=True)
        parts = max(len(run.sources) for run in runs)
        if parts > 1:
            click.echo(
                f"redbucket: order: kept within {parts} shards of whole files; the order of the whole suite was not "
                "tried",
                err=True,
            )
        for station in opened.stations.values():
            for said in filter(None, (station.note, station.walls)):
                click.echo(f"redbucket: {said}", err=True)
        classify = calling().named(f"redbucket classify {' '.join(shell(str(r)) for r in records)}")
        click.echo(f"  next: {classify}", err=True)
    return UNDECIDED if any(run.broken for run in runs) else ACCEPTED


def _of_a_gate(
    number: int,
    of: int | None,
    ticket: str,
    policy: Path | None,
    out: Path,
    folder: Path,
    *,
    runner: str | None,
    quiet: bool,
    verbose: bool,
) -> int:
    from redbucket.app.matrix_desk import run_one
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.formats.clean import shell
    from redbucket.formats.reruns import rerun_summary

    known = read_given_ticket(ticket, folder)
    if of is not None and of != known.of:
        raise Misused(
            "bad-run",
            f"the ticket is for {known.of} runs, and there are jobs for {of}",
            f"start {known.of} jobs, or draw a ticket with --reruns {of}",
        )
    request = request_of(None, None, policy, runner=runner)
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        run = run_one(opened, known, request, number, folder / out)
    if run is None:
        if not quiet:
            click.echo(
                "redbucket: head brings nothing that base does not have: there is nothing to run", err=True
            )
        return ACCEPTED
    emit(run.source, None)
    if not quiet:
        click.echo(f"redbucket: run {number} of {known.of}: {rerun_summary([run])}", err=True)
        records = (folder / out).absolute() if calling().folder else folder / out
        gate = calling().here(f"redbucket gate --records {shell(str(records))} --ticket FILE")
        click.echo(f"  next: {gate}, with all {known.of} of them", err=True)
    return UNDECIDED if run.broken else ACCEPTED


@click.command(short_help="Draw the ticket of a gate whose runs are made in other jobs.")
@request_options
@click.option(
    "--reruns", "-n", type=click.IntRange(1, 100), help="Full runs with the patch. Default: base's policy."
)
@click.option(
    "--scope", type=click.Choice(["all", "failed"]), help="Rerun everything, or only what failed first."
)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one test.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), callback=writable, help="Write the ticket there."
)
@common
def ticket(
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    reruns: int | None,
    scope: str | None,
    timeout: float | None,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Draw the ticket of one gate whose runs are made in separate jobs.

    It names base, head and the runs that are needed, and holds the key that their records are sealed with: give it
    to those jobs and to nobody else.

    \b
      redbucket ticket --base origin/main --head agent/fix > ticket.json
      redbucket rerun --run 1 --of 3 --ticket ticket.json --out runs/    (one job for each run)
      redbucket gate --records runs/ --ticket ticket.json
    """
    from redbucket.app.matrix_desk import draw
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress

    asked = request_of(base, head, policy, head_ref=head_ref, agent=agent)
    request = replace(asked, reruns=reruns, scope=scope, timeout=timeout)
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        drawn = draw(opened, request)
    emit(as_json(drawn), output)
    return ACCEPTED
