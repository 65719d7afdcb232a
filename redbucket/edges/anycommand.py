"""Starts a test command of any language: no recorder joins it, so that it needs no interpreter to be known."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from redbucket.core.errors import WorldFailed
from redbucket.edges.interpreter import Launch, first_that_starts


def resolve(command: Sequence[str], work_tree: Path | None, env: Mapping[str, str]) -> Launch:
    """Return how to start ``command`` in a tree; its words are ``args``.

    ``python`` is the project's interpreter where there is one, and stands first on PATH for the command; a
    program named by a path is the tree's own, any other must be found. Raises WorldFailed "no-command".
    """
    program = command[0]
    if (
        "/" not in program
        and program != "python"
        and shutil.which(program, path=env.get("PATH", os.defpath)) is None
    ):
        raise WorldFailed(
            "no-command",
            f"run.command starts {program}, which is not on PATH",
            f"install {program}, or name it by its path",
        )
    return first_that_starts(tuple(command), work_tree, env)
