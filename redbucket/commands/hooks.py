"""``redbucket install`` and ``redbucket uninstall``: git's own hooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.commands.completing import native_hooks
from redbucket.commands.options import common
from redbucket.core.errors import ACCEPTED


@click.command()
@click.option(
    "--hooks",
    metavar="NAME,...",
    shell_complete=native_hooks,
    help="Which ones. Default: all of a work tree; see the list above.",
)
@click.option("--server", is_flag=True, help="The pre-receive hook of a repository that is pushed to.")
@click.option(
    "--full", is_flag=True, help="Run the tests too in reference-transaction and pre-receive: slow, thorough."
)
@common
def install(hooks: str | None, server: bool, full: bool, folder: Path, quiet: bool, verbose: bool) -> int:
    """Install git hooks that call this redbucket. Hooks that are there stay, and run first.

    \b
      pre-commit              static guards over the index
      pre-merge-commit        the gate, where a protected branch receives
      pre-push                every pushed ref: the gate for protected branches, guards for others
      reference-transaction   static guards over whatever moves a protected branch, by any command
      pre-receive (--server)  static guards over what is pushed to a protected branch

    \b
      redbucket install
      redbucket install --hooks pre-push,reference-transaction --full
      redbucket install --server -C /srv/git/project.git
    """
    from redbucket.edges import nativehooks
    from redbucket.edges.repository import Repository
    from redbucket.engine import install as scripts

    repository = Repository.discover(folder)
    wanted = scripts.names(hooks, server=server, bare=repository.is_bare)
    place = nativehooks.hooks_folder(repository)
    protected = _protected(folder)
    python = _python()
    for name in wanted:
        nativehooks.require_room(place.path, name, scripts.marker(name), scripts.KEPT)
    lines = [f"hooks folder: {place.path}" + (f" (core.hooksPath, {place.scope})" if place.scope else "")]
    for name in wanted:
        text = scripts.script(name, python, protected, full=full)
        done = nativehooks.install(place.path, name, text, scripts.marker(name), scripts.KEPT)
        lines.append(f"{name}: {done}")
    if not quiet:
        click.echo("\n".join(lines))  # when all are there: whoever reads may go away
    if place.scope in ("global", "system"):
        click.echo(f"redbucket: note: this folder serves every repository ({place.scope} setting)", err=True)
    if place.in_work_tree:
        click.echo(
            "redbucket: note: this folder is in the work tree, so a patch can change its hooks", err=True
        )
    if not full and not quiet:
        for name in wanted:
            if name in scripts.STATIC:
                why, command = scripts.STATIC[name]
                click.echo(
                    f"{name}: static guards alone, no test is run; for the tests too ({why}): "
                    f"{calling().here(command)}"
                )
    if not quiet and not repository.is_bare:
        click.echo(
            "--no-verify and `git -c core.hooksPath=...` get past local hooks; the wall is "
            "`redbucket install --server` on the server, or a CI job that runs `redbucket gate`"
        )
    return ACCEPTED


@click.command(short_help="Take redbucket's git hooks away again.")
@common
def uninstall(folder: Path, quiet: bool, verbose: bool) -> int:
    """Take redbucket's git hooks away, and put back those that were there.

    \b
      redbucket uninstall
    """
    from redbucket.edges import nativehooks
    from redbucket.edges.ledger import place_of
    from redbucket.edges.repository import Repository
    from redbucket.edges.saidalready import SaidAlready
    from redbucket.engine import install as scripts

    repository = Repository.discover(folder)
    SaidAlready.forget(repository.git_dir / "redbucket")
    place = nativehooks.hooks_folder(repository)
    lines = []
    for name in scripts.ALL:
        if done := nativehooks.uninstall(place.path, name, scripts.marker(name), scripts.KEPT):
            lines.append(f"{name}: {done}")
    lines = lines or ["no hook of redbucket's is there"]
    kept = place_of(os.environ, repository.common_dir)
    if kept is not None and kept.is_file():
        show = calling().here("redbucket budget")
        lines.append(f"{kept}: what was judged stays on record ({show}); delete it at any time")
    if not quiet:
        click.echo("\n".join([f"hooks folder: {place.path}", *lines]))
    return ACCEPTED


def _python() -> tuple[str, ...]:
    """The interpreter and the strictest option under which it finds redbucket.

    ``-I`` leaves out the user's own site-packages; an installation there needs ``-E`` instead.
    """
    test = [sys.executable, "-I", "-c", "import redbucket.app.native_run"]
    alone = subprocess.run(test, capture_output=True, check=False, cwd="/").returncode == 0
    return sys.executable, "-I" if alone else "-E"


def _protected(folder: Path) -> tuple[str, ...]:
    from redbucket.app.native_run import protected_now
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress

    with session(folder, Progress(quiet=True, steps=False)) as opened:
        return protected_now(opened)
