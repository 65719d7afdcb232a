"""Changes of refs: what git's lines say, and what is refused before anything is judged."""

from __future__ import annotations

import pytest

from redbucket.core.errors import Misused
from redbucket.core.policy import Policy
from redbucket.engine.refupdates import Update, parse, refusal, source_branch

ZEROS, ONE, TWO = "0" * 40, "1" * 40, "2" * 40
MAIN = Update("refs/heads/main", ONE, TWO)


def test_lines() -> None:
    assert parse([f"{ONE} {TWO} refs/heads/main", f"{ZEROS} {ONE} refs/tags/v1"]) == [
        MAIN,
        Update("refs/tags/v1", ZEROS, ONE),
    ]
    assert (MAIN.branch, parse([f"{ZEROS} {ONE} refs/tags/v1"])[0].branch) == ("main", "")
    for line in ("", "x", f"{ONE} {TWO}", f"{ONE} {TWO} "):
        with pytest.raises(Misused):
            parse([line])


@pytest.mark.parametrize("server", [True, False])
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("marks", [(), ("environment CLAUDECODE",)])
@pytest.mark.parametrize("kind", ["moves", "creates", "deletes"])
def test_what_is_refused_unseen(server: bool, forward: bool, marks: tuple[str, ...], kind: str) -> None:
    update = {
        "moves": MAIN,
        "creates": Update("refs/heads/main", ZEROS, TWO),
        "deletes": Update("refs/heads/main", ONE, ZEROS),
    }[kind]
    found = refusal(update, forward=forward, server=server, marks=marks)
    expected = None
    if kind == "deletes":
        expected = "protected-branch-deleted"
    elif kind == "moves" and not forward and (server or marks):
        expected = "protected-branch-rewound"
    assert (found.rule if found else None) == expected
    if found:
        assert found.reason and found.remedy


@pytest.mark.parametrize(
    ("pointing", "branch"),
    [
        ([], ""),
        (["refs/heads/main", "refs/remotes/origin/main", "refs/remotes/origin/HEAD"], ""),
        (["refs/heads/main", "refs/heads/agent/x"], "refs/heads/agent/x"),
        (["refs/remotes/origin/codex/y"], "refs/remotes/origin/codex/y"),
        (["refs/heads/agent/x", "refs/heads/ada"], ""),
        (["refs/heads/ada"], ""),
    ],
)
def test_the_branch_that_a_tip_comes_from(pointing: list[str], branch: str) -> None:
    assert source_branch(pointing, MAIN, Policy()) == branch
