"""``redbucket endorse``: a human's signed approval of exact bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from redbucket.commands.completing import revisions
from redbucket.commands.options import common, request_of, revision
from redbucket.core.errors import ACCEPTED, REFUSED, Misused

if TYPE_CHECKING:
    from redbucket.edges.objects import Objects
    from redbucket.engine.endorse import Item
    from redbucket.engine.subject import Request


@click.command(short_help="Approve what the patch does to PATHs, by a signature.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--base",
    callback=revision,
    metavar="REV",
    shell_complete=revisions,
    help="The commit that receives the patch.",
)
@click.option(
    "--head",
    callback=revision,
    metavar="BRANCH",
    shell_complete=revisions,
    help="The branch that is endorsed. Default: the current one.",
)
@click.option(
    "--accept",
    "accept",
    multiple=True,
    metavar="PATH=OID",
    help="Accept these bytes without a terminal; PATH is from the top of the repository. Repeatable.",
)
@click.option("--key", type=click.Path(path_type=Path), help="The SSH key. Default: git's user.signingKey.")
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="A policy from the launcher instead of base's redbucket.toml.",
)
@click.option("--message", "-m", default="", help="Subject of the commit.")
@common
def endorse(
    paths: tuple[str, ...],
    base: str | None,
    head: str | None,
    accept: tuple[str, ...],
    key: Path | None,
    policy: Path | None,
    message: str,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Approve what the patch does to PATHs: show the diff, ask, and sign an empty commit.

    An endorsement binds to exact bytes: a later change needs another one. Your key must be
    in the allowed signers of the protected branch. A folder stands for what is suspect in it.

    \b
      redbucket endorse tests/test_rounding.py
      redbucket endorse --head agent/fix tests/
      redbucket endorse --accept tests/data/a.json=0a1b...  (40 or 64 digits)
    """

    pairs = [_pair(text) for text in accept]
    if not paths and not pairs:
        raise click.UsageError("name the paths to endorse")
    _refuse_agents(os.environ)
    asked = request_of(base, head, policy)
    return _endorse(folder, paths, pairs, asked, key, message, quiet=quiet)


def _endorse(
    folder: Path,
    paths: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    asked: Request,
    key: Path | None,
    text: str,
    *,
    quiet: bool,
) -> int:
    from redbucket.app.session import UserHistory, session
    from redbucket.edges import endorsing, signatures
    from redbucket.edges.progress import Progress
    from redbucket.engine import endorse as engine
    from redbucket.engine.subject import examine

    with session(folder, Progress(quiet=quiet, steps=False)) as opened:
        repository, scratch = opened.repository, opened.scratch
        history = UserHistory(repository)
        pen = endorsing.Pen(repository, os.environ)
        branch = pen.branch(asked.head)
        flags = pen.flags(key)
        wanted = [endorsing.inside(repository, folder, path) for path in paths]
        asked = replace(asked, head=branch.tip, head_ref=branch.name)
        subject = examine(asked, history, scratch, runs=False)  # type: ignore[arg-type]
        chosen = engine.items(subject, scratch, [*wanted, *(path for path, _ in pairs)])
        if not chosen:
            click.echo("redbucket: these bytes are endorsed already", err=True)
            return ACCEPTED
        said = engine.hints(subject, chosen)
        if pairs:
            engine.accepted(chosen, pairs)
        else:
            _require_terminal(chosen)
            for item in chosen:
                diff = endorsing.difference(scratch, subject.base_tree, subject.merged_tree, item.path)
                _show(item, diff, said[item.path], scratch.objects)
            names = "these bytes" if len(chosen) == 1 else f"the bytes of these {len(chosen)} files"
            if not click.confirm(f"Endorse {names} as {branch.name or 'HEAD'} has them?", err=True):
                click.echo("redbucket: nothing was endorsed", err=True)
                return REFUSED
        commit = pen.commit(branch, engine.message(chosen, text), flags)
        # Judged before the branch moves: what does not count is never seen by anybody.
        again = replace(asked, base=subject.patch.base, head=commit)
        judged = examine(again, history, scratch, runs=False)  # type: ignore[arg-type]
        signed = signatures.signature(
            repository,
            commit,
            scratch.tree_view(judged.base_tree).read(judged.policy.identity.allowed_signers),
        )
        made = next(c for c in judged.patch.commits if c.oid == commit)
        engine.check(judged, made, chosen, signed.letter, signed.key, signed.principal)
        pen.move(branch, commit)
    if not quiet:
        count = f"{len(chosen)} file" + ("s" if len(chosen) > 1 else "")
        click.echo(f"endorsed {count} as {signed.principal}: commit {commit[:12]} on {branch.name or 'HEAD'}")
    return ACCEPTED


def _pair(text: str) -> tuple[str, str]:
    path, _, oid = text.rpartition("=")
    if not path or len(oid) not in (40, 64) or set(oid) - set("0123456789abcdef"):
        raise click.UsageError(f"--accept takes PATH=OID with a full object id, not {text!r}")
    return path, oid


def _refuse_agents(environment: Mapping[str, str]) -> None:
    from redbucket.core.identity import marks_of_environment

    marks = marks_of_environment(environment)
    if marks:
        raise Misused(
            "agent-environment",
            f"this runs in a coding agent's environment ({', '.join(marks)}), and only a human endorses",
            "run it yourself, in a terminal of your own",
        )


def _require_terminal(chosen: Sequence[Item]) -> None:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return
    from redbucket.formats.clean import shell

    words = [f"--accept {shell(f'{i.path}={i.oid}')}" for i in chosen]
    raise Misused(
        "no-terminal",
        "an endorsement is asked for on a terminal, and this is none",
        "run it in a terminal, or say which bytes you looked at: redbucket endorse " + " ".join(words),
    )


def _show(item: Item, diff: bytes | None, said: Sequence[str], objects: Objects) -> None:
    from redbucket.formats.clean import line

    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    click.echo(click.style(line(item.path), bold=True) if bold else line(item.path))
    for sentence in said:
        click.echo(f"  {line(sentence)}")
    if diff is None:
        for word, entry in (("base", item.old), ("patch", item.new)):
            if entry is None:
                click.echo(f"  {word}: none")
            else:
                size = objects.sizes([entry.oid])[entry.oid]
                click.echo(f"  {word}: binary, {size} bytes, {entry.oid}")
        return
    for raw in diff.decode("utf-8", "surrogateescape").split("\n"):
        text = "\t".join(line(part) for part in raw.split("\t"))
        color = {"+": "green", "-": "red", "@": "cyan"}.get(raw[:1]) if bold else None
        click.echo(click.style(text, fg=color) if color else text)
