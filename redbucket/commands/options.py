"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

FORMATS = ("text", "json", "sarif", "junit", "markdown")


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command has."""
    for option in reversed(
        (
            click.option(
                "-C", "folder", type=click.Path(path_type=Path), default=Path(), help="Work in this folder."
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
            "--output", "-o", type=click.Path(path_type=Path), help="Write the report there."
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


def request_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is judged."""
    for option in reversed(
        (
            click.option("--base", metavar="REV", help="The commit that receives the patch."),
            click.option("--head", metavar="REV", help="The commit that is offered. Default: HEAD."),
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
