"""Every command's --help has examples, and each of them is a command line that redbucket takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from redbucket.cli import app
from tests.stories.kit import redbucket

# prose stands two columns to the right, an example four
EXAMPLE = re.compile(r"^ {4,}(redbucket(?: .*)?)$", re.MULTILINE)


def commands(group: click.Group, *above: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield above, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        else:
            yield (*above, name), command


ALL = dict(commands(app))


def examples(words: tuple[str, ...]) -> list[str]:
    """The examples of one command's help: lines of their own, before the list of options."""
    ended = redbucket(*words, "--help")
    assert (ended.exit_code, ended.err) == (0, "")
    # the folding of the words must not break a line
    before = ended.out.partition("\nOptions:")[0].replace("\\\n", " ")
    return [line for line in EXAMPLE.findall(before) if "[OPTIONS]" not in line]


@pytest.mark.parametrize("words", ALL, ids=lambda words: " ".join(words) or "redbucket")
def test_the_help_has_examples_of_the_command(words: tuple[str, ...]) -> None:
    found = examples(words)
    assert any(line.split()[1 : 1 + len(words)] == list(words) for line in found), found


def test_the_lists_of_commands_are_whole_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words, command in ALL.items():
        if isinstance(command, click.Group):
            listed = redbucket(*words, "--help").out.partition("\nCommands:\n")[2].splitlines()
            assert len(listed) == sum(not each.hidden for each in command.commands.values())
            assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("words", ALL, ids=lambda words: " ".join(words) or "redbucket")
def test_an_empty_line_stands_before_the_examples(words: tuple[str, ...]) -> None:
    rows = redbucket(*words, "--help").out.splitlines()
    first = next(number for number, row in enumerate(rows) if EXAMPLE.match(row))
    assert rows[first - 1].strip() == ""


@pytest.mark.parametrize("words", ALL, ids=lambda words: " ".join(words) or "redbucket")
def test_each_example_is_taken(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in examples(words):
        # a remark stands in parentheses, far behind; a shell's own signs end the command
        for part in re.split(r" {2,}\(|;", line):
            if part.strip().startswith("redbucket"):
                taken(shlex.split(re.split(r"[<>|]", part)[0])[1:])


def taken(words: list[str]) -> None:
    """Parse as click would before it calls the command; raises click.ClickException otherwise."""
    if "--help" in words:
        words.remove("--help")
    context = app.make_context("redbucket", list(words))
    while isinstance(context.command, click.Group):
        if context.command.invoke_without_command and not [*context._protected_args, *context.args]:
            return
        name, command, rest = context.command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        assert command is not None
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("line", ["gate --no-such", "no-such", "guard --scope all", "fixtures no-such"])
def test_an_example_that_is_not_taken_is_noticed(line: str) -> None:
    with pytest.raises(click.ClickException):
        taken(line.split())
