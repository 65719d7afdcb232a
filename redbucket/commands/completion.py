"""``redbucket completion``: the script that teaches a shell redbucket's words; click makes it."""

from __future__ import annotations

import click

from redbucket.app.output import emit
from redbucket.core.errors import ACCEPTED

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the script that completes redbucket in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print the script that completes redbucket's commands, options and revisions in a shell.

    \b
      redbucket completion bash > ~/.local/share/bash-completion/completions/redbucket
      redbucket completion zsh > ~/.zfunc/_redbucket      (a folder of fpath, before compinit)
      redbucket completion fish > ~/.config/fish/completions/redbucket.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    root = click.get_current_context().find_root().command
    emit(made(root, {}, "redbucket", "_REDBUCKET_COMPLETE").source(), None)
    return ACCEPTED
