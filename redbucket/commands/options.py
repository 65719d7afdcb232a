"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from redbucket.app.calling import work_in
from redbucket.app.output import read_file
from redbucket.commands.completing import revisions
from redbucket.core.errors import WorldFailed

if TYPE_CHECKING:
    from redbucket.core.seals import Ticket
    from redbucket.engine.subject import Request

# Options that change where a report goes, not what is judged: a command that is to be repeated needs none of them.
_NOT_REPEATED = frozenset({"form", "output", "keep", "captures", "quiet", "verbose"})


def revision(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty name: in a CI job it is a variable that is not set, and no HEAD."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty; is a variable not set?", context, parameter)
    return value


FORMATS = ("text", "json", "sarif", "junit", "markdown", "html", "github")


def _within(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """``redbucket -C DIR COMMAND`` means the same as ``redbucket COMMAND -C DIR``; both add up, as in git."""
    place = Path(context.find_root().params.get("folder") or "") / folder
    work_in(place)
    return place


def writable(context: click.Context, parameter: click.Parameter, output: Path | None) -> Path | None:
    """Refuse a place that can't take the report before the work is done, not after it."""
    if output is not None and not output.parent.is_dir():
        raise WorldFailed(
            "not-writable", f"the folder {output.parent} does not exist", "make it, or name another --output"
        )
    if output is not None and output.is_dir():
        raise WorldFailed("not-writable", f"{output} is a folder", "name a file with --output")
    return output


def as_typed() -> str:
    """Return the running command with the options that say what is judged, ready for a shell."""
    from redbucket.formats.clean import shell

    context = click.get_current_context()
    words = context.command_path.split()
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if name in _NOT_REPEATED or value in (None, (), Path()) or value == parameter.get_default(context):
            continue
        if isinstance(parameter, click.Argument):
            words += [shell(str(v)) for v in (value if isinstance(value, tuple) else (value,))]
            continue
        option = max(parameter.opts, key=len)
        for given in value if isinstance(value, tuple) else (value,):
            words += [option] if given is True else [option, shell(str(given))]
    return " ".join(words)


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command has."""
    for option in reversed(
        (
            click.option(
                "-C",
                "folder",
                type=click.Path(path_type=Path),
                default=Path(),
                callback=_within,
                help="Work in this folder.",
            ),
            click.option("--quiet", "-q", is_flag=True, help="No progress, no text on success."),
            click.option("--verbose", "-v", is_flag=True, help="Show the evidence of each row."),
        )
    ):
        command = option(command)
    return command


def reporting(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--format`` (the first name is the default) and ``--output``."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option(
            "--output",
            "-o",
            type=click.Path(path_type=Path),
            callback=writable,
            help="Write the report there.",
        )(command)
        return click.option(
            "--format",
            "form",
            type=click.Choice(names),
            default=names[0],
            show_default=True,
            help="Form of the report.",
        )(command)

    return add


def missed(values: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Return the node ids that ``--miss`` names, those of a gate's JSON report included."""
    from redbucket.core.missed import misses

    found: list[str] = []
    for value in values:
        if value.endswith(".json") and "::" not in value:
            found += misses(read_file(folder / value), value)
        else:
            found.append(value)
    return tuple(dict.fromkeys(found))


def answering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--miss``: what the patch is to answer."""
    return click.option(
        "--miss",
        "misses",
        multiple=True,
        metavar="NODEID|GATE.json",
        help="An invariant miss that the patch is to answer with a property; may be given again.",
    )(command)


def request_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is judged."""
    for option in reversed(
        (
            click.option(
                "--base",
                callback=revision,
                metavar="REV",
                shell_complete=revisions,
                help="The commit that receives the patch.",
            ),
            click.option(
                "--head",
                callback=revision,
                metavar="REV",
                shell_complete=revisions,
                help="The commit that is offered. Default: HEAD.",
            ),
            click.option(
                "--head-ref", metavar="NAME", default="", help="The branch whose name counts as a mark."
            ),
            click.option(
                "--policy",
                type=click.Path(path_type=Path),
                help="A policy from the launcher instead of base's redbucket.toml.",
            ),
            click.option(
                "--agent", is_flag=True, help="Treat the patch as an agent's, whatever its marks say."
            ),
        )
    ):
        command = option(command)
    return command


def request_of(
    base: str | None,
    head: str | None,
    policy: Path | None,
    *,
    head_ref: str = "",
    agent: bool = False,
    runner: str | None = None,
) -> Request:
    """Return what is asked by those options; a policy of the launcher's is read here."""
    from redbucket.engine.subject import Request

    rules = read_file(policy) if policy else None
    name = str(policy) if policy else "redbucket.toml"
    return Request(
        base=base, head=head, head_ref=head_ref, policy=rules, policy_name=name, agent=agent, runner=runner
    )


def ticket_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--ticket``: the gate that a run belongs to."""
    return click.option(
        "--ticket",
        metavar="FILE",
        help="The ticket of a gate in several jobs (redbucket ticket); - reads it from standard input.",
    )(command)


def read_given_ticket(name: str, folder: Path) -> Ticket:
    """Return the ticket of a file or, for "-", of standard input, and shut others out of this process.

    Raises Misused "bad-ticket" or "unreadable-file".
    """
    from redbucket.core.seals import read_ticket
    from redbucket.edges.closed import close_process, read_secret

    close_process()
    raw = read_secret() if name == "-" else read_file(folder / name)
    return read_ticket(raw, "standard input" if name == "-" else name)


def runner_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--runner``: where runs happen."""
    return click.option(
        "--runner",
        metavar="WHERE",
        help="Where runs happen: local, ssh://[USER@]HOST[:PORT][/DIR][?python=INTERPRETER] or "
        "dask://HOST[:PORT][/DIR][?python=INTERPRETER] (docs/remote.md). "
        "Default: [run] runner.",
    )(command)


def shards_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--shards``: into how many parts a whole run is split."""
    return click.option(
        "--shards",
        type=click.IntRange(1, 1000),
        help="Parts that each whole run is split into, to run at the same time (docs/remote.md). "
        "Default: [run] shards.",
    )(command)
