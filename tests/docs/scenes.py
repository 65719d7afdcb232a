"""What a reader has before the first command of a sheet."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.app.demo import build
from tests.docs.shell import Shell


def empty(shell: Shell) -> None:
    """A home folder."""


def bucketizer(shell: Shell, runner: str = "unittest") -> None:
    """The worked example, and the reader stands in it."""
    shell.folder = shell.home / "bucketizer"
    shell.folder.mkdir()
    build(shell.folder, runner=runner)


SCENES: dict[str, Callable[[Shell], None]] = {"empty": empty, "bucketizer": bucketizer}
