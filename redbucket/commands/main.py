"""The commands: each turns its options into one call and a report into an exit code."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from redbucket.app.output import chunks_of, emit, finish
from redbucket.commands.agent import agent_hook
from redbucket.commands.budget import budget
from redbucket.commands.completing import guards
from redbucket.commands.completion import completion
from redbucket.commands.doctor import doctor
from redbucket.commands.draft import draft
from redbucket.commands.endorse import endorse
from redbucket.commands.explain import explain
from redbucket.commands.fixtures import fixtures
from redbucket.commands.flakes import flakes
from redbucket.commands.hooks import install, uninstall
from redbucket.commands.init import init
from redbucket.commands.ledger import ledger
from redbucket.commands.options import (
    FORMATS,
    answering,
    as_typed,
    common,
    missed,
    read_given_ticket,
    reporting,
    request_of,
    request_options,
    runner_option,
    shards_option,
    ticket_option,
    writable,
)
from redbucket.commands.oracle import oracle
from redbucket.commands.replay import replay
from redbucket.commands.report import report as report_command
from redbucket.commands.rerun import rerun, ticket
from redbucket.commands.review import review
from redbucket.core.errors import Misused

if TYPE_CHECKING:
    from redbucket.core.records import Run


@click.command()
@request_options
@answering
@click.option("--reruns", "-n", type=click.IntRange(1, 100), help="Full runs with the patch. Default: 3.")
@click.option(
    "--scope", type=click.Choice(["all", "failed"]), help="Rerun everything, or only what failed first."
)
@click.option(
    "--doubt",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Rerun until the doubt is this small.",
)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one test.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Seconds for the whole gate.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep trees and records in this folder.")
@click.option(
    "--captures",
    type=click.Path(path_type=Path),
    help="Write a capture of each noisy test there. Default: with --keep, in that folder.",
)
@click.option(
    "--records",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Judge by the runs that other jobs made (redbucket rerun --run); with --ticket.",
)
@ticket_option
@runner_option
@shards_option
@reporting(*FORMATS)
@common
def gate(
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    misses: tuple[str, ...],
    reruns: int | None,
    scope: str | None,
    doubt: float | None,
    timeout: float | None,
    budget: float | None,
    keep: Path | None,
    captures: Path | None,
    records: Path | None,
    ticket: str | None,
    runner: str | None,
    shards: int | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Judge a patch: guards, reruns, buckets, one verdict.

    Without options: base is the protected branch, head is HEAD.

    \b
      redbucket gate
      redbucket gate --base origin/main --head agent/fix-rounding
      redbucket gate --format json --output verdict.json
      redbucket gate --miss verdict.json          (the misses that the patch must answer)
      redbucket gate --records runs/ --ticket ticket.json     (the runs were made in other jobs)
      redbucket gate --runner ssh://build.example.org/var/tmp  (the runs happen there)
      redbucket gate --runner dask://scheduler:8786 --shards 4  (each run on up to four workers)
    """
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress

    if (records is None) != (ticket is None):
        raise click.UsageError("--records and --ticket go together")
    if records is not None and (base or head or head_ref or agent or reruns or scope or timeout):
        raise click.UsageError(
            "--records goes without --base, --head, --head-ref, --agent, --reruns, --scope and --timeout:"
            " the ticket has them"
        )
    if records is not None and shards:
        raise click.UsageError(
            "--records goes without --shards: a run that was made in a job of its own is whole"
        )
    request = replace(
        request_of(base, head, policy, head_ref=head_ref, agent=agent, runner=runner),
        misses=missed(misses, folder),
        reruns=reruns,
        scope=scope,
        doubt=doubt,
        timeout=timeout,
        budget=budget,
        shards=shards,
    )
    if records is not None and ticket is not None:
        from redbucket.app.matrix_desk import gate_of_records

        known = read_given_ticket(ticket, folder)
        with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
            report = gate_of_records(opened, known, request, folder / records, keep=keep, captures=captures)
    else:
        with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
            report = opened.gate(request, keep=keep, captures=captures)
    report = msgspec.structs.replace(report, command=as_typed())
    return finish(report, form, output, quiet=quiet, verbose=verbose)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=guards)
@request_options
@answering
@click.option("--staged", is_flag=True, help="Judge the index against HEAD instead of a range.")
@reporting(*FORMATS)
@common
def guard(
    names: tuple[str, ...],
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    misses: tuple[str, ...],
    staged: bool,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run the static guards alone; no test is run.

    \b
      redbucket guard
      redbucket guard protected-path --staged
      redbucket guard --base origin/main --head agent/fix
    """
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress

    if staged and (base or head):
        raise click.UsageError("--staged goes without --base and --head")
    request = replace(
        request_of(base, head, policy, head_ref=head_ref, agent=agent), misses=missed(misses, folder)
    )
    # git hands a hook the index of the commit to be made, which is another one for `git commit PATH`
    index = os.environ.get("GIT_INDEX_FILE") if staged else None
    given = Path(index) if index else None
    with session(folder, Progress(quiet=quiet, steps=False), index=given) as opened:
        report = opened.guard(request, names or None, staged=staged)
    report = msgspec.structs.replace(report, command=as_typed())
    return finish(report, form, output, quiet=quiet, verbose=verbose)


@click.command()
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RECORD...")
@click.option("--seed", help="The seed of records that do not say.")
@click.option("--fixture-hash", help="The fixture hash of records that do not say.")
@click.option(
    "--asked", type=click.IntRange(1), help="How many runs there must be. Default: as many as given."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), callback=writable, help="Write the rows there."
)
@common
def classify(
    records: tuple[Path, ...],
    seed: str | None,
    fixture_hash: str | None,
    asked: int | None,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Classify records from any source; print JSON rows. Exit 2 if anything is unclassified.

    Takes redbucket's own records, run objects, JUnit XML and pytest-reportlog files. A folder is one run:
    all the JUnit XML in it.

    \b
      redbucket classify runs/*.jsonl
      redbucket classify --seed 7 junit-1.xml junit-2.xml junit-3.xml
      redbucket classify --seed 7 run-1/surefire-reports run-2/surefire-reports
    """
    from redbucket.core.shards import whole_runs
    from redbucket.engine.classify import classify_records, distinct_runs, exit_code, unusable

    runs = []
    for path in records:
        runs += _runs_of(folder / path, str(path), seed, fixture_hash)
    runs = whole_runs(runs)
    rows = classify_records(runs, asked)
    for sentence in [*distinct_runs(runs)[1], *unusable(runs)]:
        click.echo(f"redbucket: note: {sentence}", err=True)
    encoder = msgspec.json.Encoder()
    lines = b",\n".join(encoder.encode(row) for row in rows)
    emit(f"[\n{lines.decode('utf-8', 'backslashreplace')}\n]" if rows else "[]", output)
    return exit_code(rows, runs)


def _runs_of(place: Path, source: str, seed: str | None, fixture_hash: str | None) -> list[Run]:
    """Return the runs of a record, or the one run whose JUnit reports are in a folder."""
    from redbucket.core.readers import joined, read_chunks

    if not place.is_dir():
        return read_chunks(chunks_of(place), source, seed=seed, fixture_hash=fixture_hash)
    reports = {str(path.relative_to(place)): path for path in sorted(place.rglob("*.xml")) if path.is_file()}
    if not reports:
        raise Misused(
            "record-unreadable",
            f"{source}: a folder without an .xml file",
            "name records, or a folder of JUnit XML",
        )
    parts = {
        name: run
        for name, path in reports.items()
        for run in read_chunks(chunks_of(path), f"{source}/{name}", seed=seed, fixture_hash=fixture_hash)
    }
    return [joined(parts, source)]


@click.command(short_help="Judge a branch of each kind of the worked example.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the repository in this folder.")
@click.option("--only", metavar="NAME", help="One branch of the demonstration alone.")
@common
def demo(keep: Path | None, only: str | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Build the worked example in a temporary folder and judge a branch of each kind.

    \b
      redbucket demo
      redbucket demo --only drift --verbose
    """
    from redbucket.app.demo import run

    return run(keep=keep, only=only, verbose=verbose)


@click.command(short_help="Entry point for git's hooks.")
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@common
def hook(name: str, arguments: tuple[str, ...], folder: Path, quiet: bool, verbose: bool) -> int:
    """Entry point for git hooks: base and head are found from what git and pre-commit tell.

    \b
      redbucket hook gate
      redbucket hook protected-paths
      redbucket hook pre-receive     (a native hook's own name, with git's arguments and input)
    """
    from redbucket.engine.install import ALL

    if name in ALL:
        from redbucket.app.native_run import given
        from redbucket.app.native_run import run as run_native

        return run_native(name, arguments, given(), os.environ, folder)
    from redbucket.app.hook_run import run

    return run(name, folder, os.environ, arguments, verbose=verbose)


COMMANDS: tuple[click.Command, ...] = (
    gate,
    guard,
    rerun,
    ticket,
    report_command,
    classify,
    fixtures,
    flakes,
    replay,
    explain,
    ledger,
    budget,
    draft,
    review,
    oracle,
    endorse,
    init,
    install,
    uninstall,
    doctor,
    demo,
    completion,
    hook,
    agent_hook,
)
