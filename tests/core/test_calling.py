"""Commands in sentences, as they work where the reader stands."""

from __future__ import annotations

import pytest

from redbucket.commands.main import COMMANDS as REAL
from redbucket.core.calling import AS_WRITTEN, COMMANDS, Calling

AWAY = Calling("/opt/v/bin/redbucket", "my repo")


def test_every_command_is_known() -> None:
    assert sorted(COMMANDS) == sorted(str(command.name) for command in REAL)


@pytest.mark.parametrize(
    ("written", "away"),
    [
        ("redbucket gate --head BRANCH", "/opt/v/bin/redbucket -C 'my repo' gate --head BRANCH"),
        ("redbucket agent-hook x", "/opt/v/bin/redbucket -C 'my repo' agent-hook x"),
        (
            "look: `redbucket fixtures diff`, or",
            "look: `/opt/v/bin/redbucket -C 'my repo' fixtures diff`, or",
        ),
        ("git checkout 1f2e -- a.py", "git -C 'my repo' checkout 1f2e -- a.py"),
        ("git add a && git commit", "git -C 'my repo' add a && git -C 'my repo' commit"),
        ("pre-commit install", "cd 'my repo' && pre-commit install"),
        # what names no command, or no place of a repository
        ("the redbucket gatekeeper", "the redbucket gatekeeper"),
        ("redbucket's gate", "redbucket's gate"),
        ("pipx install /src/redbucket gate", "pipx install /src/redbucket gate"),
        ("git config --global --add safe.directory X", "git config --global --add safe.directory X"),
        ("git 2.38", "git 2.38"),
    ],
)
def test_from_another_folder(written: str, away: str) -> None:
    assert AWAY.here(written) == away
    assert AS_WRITTEN.here(written) == written


def test_what_is_written_is_where_the_next_command_reads_it() -> None:
    assert AWAY.here("redbucket gate --output R.json") == (
        "/opt/v/bin/redbucket -C 'my repo' gate --output 'my repo'/R.json"
    )
    assert AWAY.named("redbucket gate -C x --output R.json").endswith(" -C x --output 'my repo'/R.json")
    assert AS_WRITTEN.here("redbucket gate --output R.json") == "redbucket gate --output R.json"


def test_a_command_that_has_its_place_gets_the_name_alone() -> None:
    assert AWAY.named("redbucket gate -C x") == "/opt/v/bin/redbucket gate -C x"
    assert AWAY.named("git commit") == "git commit"
    assert Calling(folder="x").named("redbucket gate -C x") == "redbucket gate -C x"
    assert Calling("/v/redbucket").here("git add x; redbucket gate") == "git add x; /v/redbucket gate"
