"""The matrix of what git and pre-commit tell a hook, row by row (seen with git 2.39 and pre-commit 4.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from redbucket.core.errors import Misused
from redbucket.engine.hookbase import Offer, offers

A, B, C = "a" * 40, "b" * 40, "c" * 40
ZERO = "0" * 40


def told(
    environment: Mapping[str, str] | None = None,
    pushed: Sequence[str] = (),
    merge_heads: Sequence[str] = (),
    *,
    known: Sequence[str] = (A, B, C),
    current: str = "",
) -> list[Offer]:
    return offers(environment or {}, pushed, merge_heads, known.__contains__, ("main", "release"), current)


@pytest.mark.parametrize(
    ("environment", "merge_heads", "expected"),
    [
        pytest.param(
            {"GIT_REFLOG_ACTION": "merge agent/fix", f"GITHEAD_{A}": "agent/fix"},
            [],
            [Offer("HEAD", A, "agent/fix")],
            id="a clean merge leaves no MERGE_HEAD",
        ),
        pytest.param(
            {"GIT_REFLOG_ACTION": "merge origin/agent/fix", f"GITHEAD_{A}": "origin/agent/fix"},
            [],
            [Offer("HEAD", A, "agent/fix")],
            id="a merge of a remote's branch",
        ),
        pytest.param(
            {"GIT_REFLOG_ACTION": "pull --no-rebase origin agent/fix", f"GITHEAD_{A}": A},
            [],
            [Offer("HEAD", A)],
            id="a pull names the commit only",
        ),
        pytest.param(
            {"GIT_REFLOG_ACTION": "pull", f"GITHEAD_{'d' * 64}": "d" * 64},
            [],
            [Offer("HEAD", "d" * 64)],
            id="a pull with SHA-256 names",
        ),
        pytest.param(
            {"GIT_REFLOG_ACTION": "merge one two", f"GITHEAD_{B}": "two", f"GITHEAD_{A}": "one"},
            [],
            [Offer("HEAD", A, "one"), Offer("HEAD", B, "two")],
            id="an octopus has several heads",
        ),
        pytest.param({}, [A], [Offer("HEAD", A)], id="no-commit and commit"),
        pytest.param({}, [A, B], [Offer("HEAD", A), Offer("HEAD", B)], id="conflict of several and commit"),
        pytest.param({}, [], [Offer(None, "HEAD")], id="squash and commit, or any commit"),
        pytest.param(
            {f"GITHEAD_{A}": "agent/fix", "GIT_REFLOG_ACTION": "rebase (pick)"},
            [],
            [Offer(None, "HEAD")],
            id="a stale GITHEAD outside a merge",
        ),
        pytest.param(
            {"GIT_REFLOG_ACTION": "merge x"}, [], [Offer(None, "HEAD")], id="a merge that says no head"
        ),
    ],
)
def test_merges(environment: dict[str, str], merge_heads: list[str], expected: list[Offer]) -> None:
    assert told(environment, merge_heads=merge_heads) == expected


def push(local_ref: str, local: str, remote_ref: str, remote: str) -> str:
    return f"{local_ref} {local} {remote_ref} {remote}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            push("refs/heads/main", A, "refs/heads/main", B),
            [Offer(B, A, "main")],
            id="to a protected branch",
        ),
        pytest.param(
            push("refs/heads/agent/fix", A, "refs/heads/main", B),
            [Offer(B, A, "agent/fix")],
            id="the name that counts is the local one",
        ),
        pytest.param(
            push("refs/heads/main", A, "refs/heads/main", "9" * 40),
            [Offer(None, A, "main")],
            id="the remote has a commit that is not here",
        ),
        pytest.param(
            push("refs/heads/main", A, "refs/heads/main", ZERO),
            [Offer(None, A, "main")],
            id="the protected branch is new there",
        ),
        pytest.param(
            push("refs/heads/agent/fix", A, "refs/heads/agent/fix", ZERO),
            [Offer(None, A, "agent/fix", lands=False)],
            id="a new branch",
        ),
        pytest.param(
            push("refs/heads/agent/fix", A, "refs/heads/agent/fix", B),
            [Offer(None, A, "agent/fix", lands=False)],
            id="a branch that is there: what it lands on is the base",
        ),
        pytest.param(
            push("HEAD", A, "refs/heads/main", B), [Offer(B, A, "agent/now")], id="HEAD is the current branch"
        ),
        pytest.param(push("HEAD~1", A, "refs/heads/main", B), [Offer(B, A)], id="an expression has no name"),
        pytest.param(
            push("refs/tags/v1", A, "refs/heads/main", B), [Offer(B, A)], id="a tag pushed to a branch"
        ),
        pytest.param(push("(delete)", ZERO, "refs/heads/main", B), [], id="a deletion"),
        pytest.param(push("(delete)", "0" * 64, "refs/heads/main", "b" * 64), [], id="a SHA-256 deletion"),
        pytest.param(push("refs/tags/v1", A, "refs/tags/v1", ZERO), [], id="a tag"),
        pytest.param(push("refs/notes/x", A, "refs/notes/x", B), [], id="notes"),
    ],
)
def test_one_pushed_ref(line: str, expected: list[Offer]) -> None:
    assert told(pushed=[line], current="agent/now") == expected


def test_several_pushed_refs_are_all_judged() -> None:
    lines = [
        push("refs/heads/agent/one", A, "refs/heads/agent/one", ZERO),
        push("refs/tags/v1", A, "refs/tags/v1", ZERO),
        push("refs/heads/main", B, "refs/heads/main", A),
        push("refs/heads/old", C, "refs/heads/release", B),
    ]
    assert told(pushed=[*lines, ""]) == [
        Offer(None, A, "agent/one", lands=False),
        Offer(A, B, "main"),
        Offer(B, C, "old"),
    ]


def test_what_is_pushed_outweighs_a_merge_under_way() -> None:
    line = push("refs/heads/main", A, "refs/heads/main", B)
    assert told({"GIT_REFLOG_ACTION": "merge x", f"GITHEAD_{C}": "x"}, [line], [C]) == [Offer(B, A, "main")]
    assert told({}, [push("(delete)", ZERO, "refs/heads/x", A)], [C]) == []


@pytest.mark.parametrize("line", ["hello", "a b c", "a b c d e"])
def test_input_that_git_did_not_write(line: str) -> None:
    with pytest.raises(Misused) as caught:
        told(pushed=[line])
    assert caught.value.code == "bad-hook-input"


def through_pre_commit(**names: str) -> list[Offer]:
    return told({f"PRE_COMMIT_{name}": value for name, value in names.items()}, current="agent/now")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(
            {
                "FROM_REF": B,
                "TO_REF": A,
                "REMOTE_BRANCH": "refs/heads/main",
                "LOCAL_BRANCH": "refs/heads/main",
            },
            [Offer(B, A, "main")],
            id="a push to a protected branch",
        ),
        pytest.param(
            {
                "FROM_REF": B,
                "TO_REF": A,
                "REMOTE_BRANCH": "refs/heads/agent/fix",
                "LOCAL_BRANCH": "refs/heads/agent/fix",
            },
            [Offer(None, A, "agent/fix", lands=False)],
            id="a push to another branch",
        ),
        pytest.param(
            {"FROM_REF": B, "TO_REF": A, "REMOTE_BRANCH": "refs/heads/main", "LOCAL_BRANCH": "HEAD"},
            [Offer(B, A, "agent/now")],
            id="a push of HEAD",
        ),
        pytest.param(
            {"FROM_REF": B, "TO_REF": A, "REMOTE_BRANCH": "refs/tags/v1", "LOCAL_BRANCH": "refs/tags/v1"},
            [],
            id="a push of a tag",
        ),
        pytest.param(
            {"FROM_REF": "9" * 40, "TO_REF": A, "REMOTE_BRANCH": "refs/heads/main"},
            [Offer(None, A)],
            id="a base that is not here",
        ),
        pytest.param(
            {"FROM_REF": ZERO, "TO_REF": A, "REMOTE_BRANCH": "refs/heads/main"},
            [Offer(None, A)],
            id="no base at all",
        ),
        pytest.param({"FROM_REF": B, "TO_REF": A}, [Offer(B, A)], id="the manual stage in CI"),
        pytest.param(
            {"FROM_REF": "origin/main", "TO_REF": "HEAD"}, [Offer("origin/main", "HEAD")], id="names"
        ),
        pytest.param({"FROM_REF": B, "TO_REF": ZERO}, [Offer(None, "HEAD")], id="nothing to go to"),
        pytest.param({"FROM_REF": B, "TO_REF": ""}, [Offer(None, "HEAD")], id="empty"),
    ],
)
def test_what_pre_commit_says(names: dict[str, str], expected: list[Offer]) -> None:
    assert through_pre_commit(**names) == expected
