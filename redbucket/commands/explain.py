"""``redbucket explain``: why is a test noisy?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import msgspec

from redbucket.app.calling import calling
from redbucket.app.output import read_file, tell
from redbucket.commands.options import common, reporting, revision


@click.command()
@click.argument("nodeid")
@click.option(
    "--base",
    callback=revision,
    metavar="REV",
    help="Explain it in the tree that the gate judges for this base.",
)
@click.option("--head", callback=revision, metavar="REV", help="The commit that is looked at. Default: HEAD.")
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    help="Seconds for all experiments. Default: 40 times what one run of the suite takes.",
)
@click.option(
    "--captures", type=click.Path(path_type=Path), help="Write a capture of the failure to this folder."
)
@click.option(
    "--policy", type=click.Path(path_type=Path), help="A policy from the launcher instead of redbucket.toml."
)
@reporting("text", "json", "html")
@common
def explain(
    nodeid: str,
    base: str | None,
    head: str | None,
    budget: float | None,
    captures: Path | None,
    policy: Path | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Find out by experiment why a test is noisy. Exit 2 if no cause was confirmed.

    Tries order, hash order, seeds, entropy, clock, time zone, locale, width, umask, HOME, leftovers,
    threads, load and network, one at a time.

    \b
      redbucket explain tests/test_cart.py::test_empty
      redbucket explain tests/test_cart.py::test_empty --base main --head agent/fix
      redbucket explain tests/test_cart.py::test_empty --format html --output why.html
    """
    from redbucket.app import noise_desk
    from redbucket.app.remember import history
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.formats.noise import explain_text

    rules = read_file(policy) if policy else None
    if captures is not None and calling().folder:
        captures = captures.absolute()  # the command that replays it is for another folder
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        place = noise_desk.place_of(opened, base, head, rules)
        commit = opened.repository.resolve(head or "HEAD")
        report = noise_desk.explain(opened, nodeid, place, head=commit, budget=budget, captures=captures)
        if said := history(opened.repository.common_dir, report.nodeid):
            report = msgspec.structs.replace(report, notes=[*report.notes, said])
        report = opened.told(report)
    if form == "html":
        from redbucket.formats.explainhtml import explain_html

        return tell(report, form, output, explain_html, quiet=quiet)
    return tell(report, form, output, partial(explain_text, calling=calling()), quiet=quiet)
