"""What a shell may offer for an argument: revisions of the repository, names of guards and hooks."""

from __future__ import annotations

import re
from pathlib import Path

import click

# A shell puts what is offered onto the command line as it is, and a branch may be called "$(rm x)".
_HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./@+-]*")


def revisions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the branches and tags that begin with ``incomplete`` and whose names no shell reads as more."""
    import subprocess  # here alone: an agent's hook passes by this module before every edit

    folder = Path(context.find_root().params.get("folder") or "") / (context.params.get("folder") or "")
    words = ["git", "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"]
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return []
    names = ["HEAD", *done.stdout.decode("utf-8", "replace").splitlines()]
    return [name for name in names if name.startswith(incomplete) and _HARMLESS.fullmatch(name)]


def guards(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the guards that begin with ``incomplete``."""
    from redbucket.guards.registry import GUARDS

    return [name for name in GUARDS if name.startswith(incomplete)]


def native_hooks(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the native hooks that may follow in a list with commas."""
    from redbucket.engine.install import LOCAL

    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [before + comma + name for name in LOCAL if name.startswith(last) and name not in taken]
