"""The command line: argv to calls to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from redbucket import __version__
from redbucket.app.ending import ended
from redbucket.app.output import interrupted
from redbucket.commands.main import COMMANDS
from redbucket.core.errors import MISUSED


class Group(click.Group):
    """Lists the commands in the order in which they are needed."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names in the order of definition."""
        return list(self.commands)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("-C", "folder", type=click.Path(path_type=Path), help="Work in this folder.")
@click.version_option(__version__, prog_name="redbucket")
def app(folder: Path | None) -> None:
    """Judge a patch before it is merged: broken invariant, drifted fixture, or noise?

    \b
    Exit codes: 0 accepted, 1 refused, 2 cannot decide, 3 misused,
                4 the world failed, 70 a bug in redbucket, 130 interrupted.

    \b
      redbucket init                                  (sets a repository up)
      redbucket gate --base main --head agent/fix     (judges a branch)
      redbucket gate --help                           (more on a command, with examples)
    """


for _command in COMMANDS:
    app.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; every error ends in one line on stderr."""
    return ended(lambda: _invoke(arguments))


def _invoke(arguments: Sequence[str] | None) -> int:
    try:
        result = app.main(
            args=list(arguments) if arguments is not None else None,
            prog_name="redbucket",
            standalone_mode=False,
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Abort:
        return interrupted()
    except click.ClickException as error:
        error.show()
        return MISUSED


def entry() -> None:
    """The console script."""
    sys.exit(main())
