"""Whose patch it is: every mark, no false alarm, and each path by its last writer."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.identity import (
    decide,
    endorsed,
    endorsement_trailer,
    endorsements,
    marks_of_branch,
    marks_of_commit,
    marks_of_environment,
    suspicions_of_environment,
)
from redbucket.core.patch import Commit, Patch
from redbucket.core.policy import Identity, Policy
from redbucket.core.trailers import quote_path, trailers, unquote_path
from tests.core.trees import MemoryTree, commit, patch

POLICY = Policy()
AGENT = "Cursor Agent <cursoragent@cursor.com>"

AGENT_PEOPLE = [
    "Claude <noreply@anthropic.com>",
    "Codex <noreply@openai.com>",
    "Codex <codex@openai.com>",
    "x <CursorAgent@cursor.com>",
    "x <roomote@roocode.com>",
    "x <noreply@windsurf.com>",
    "x <noreply@codeium.com>",
    "openhands <openhands@all-hands.dev>",
    "Copilot <223556219+Copilot@users.noreply.github.com>",
    "x <198982749+Copilot@users.noreply.github.com>",
    "renamed <158243242+whatever@users.noreply.github.com>",
    "x <158243242+devin-ai-integration[bot]@users.noreply.github.com>",
    "x <161369871+google-labs-jules[bot]@users.noreply.github.com>",
    "x <1+factory-droid[bot]@users.noreply.github.com>",
    "devin-ai-integration[bot] <a@b.c>",
    "google-labs-jules[bot] <a@b.c>",
    "codegen-sh[bot] <a@b.c>",
    "copilot-swe-agent[bot] <a@b.c>",
    "cursor[bot] <a@b.c>",
    "claude[bot] <a@b.c>",
    "Ada Lovelace (aider) <ada@example.org>",
]
PEOPLE = [
    "Claude Shannon <claude@example.org>",
    "Claude <claude.debussy@anthropic.com>",
    "Devin Townsend <devin@devin.ai>",
    "Jules Verne <jules@google.com>",
    "Jane <jane@openai.com>",
    "Jane <xnoreply@anthropic.com>",
    "Jane <noreply@anthropic.com.example.org>",
    "Cursor Agent <jane@example.org>",
    "Copilot <copilot@users.noreply.github.com>",
    "GitHub <noreply@github.com>",
    "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
    "Jane <1+jane@users.noreply.github.com>",
    "Aider Jones <aider@example.org>",
]
AGENT_MESSAGES = [
    "Fix\n\nCo-Authored-By: Claude Opus 4.6 <noreply@anthropic.com>",
    "Fix\n\nco-authored-by: Codex <noreply@openai.com>\nSigned-off-by: Ada <a@b.c>",
    "Fix\n\nCo-authored-by: aider (gpt-4) <noreply@aider.chat>",
    "Fix\n\nCo-authored-by: Claude\n <noreply@anthropic.com>",
    "Fix\n\nCo-authored-by:\n\tClaude <noreply@anthropic.com>\nSigned-off-by: Ada <a@b.c>",
    "Fix\n\nCo-authored-by: noreply@anthropic.com",
    "Squash (#3)\n\n* one\n\nCo-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>\n\n* two\n",
    "Fix\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)\n\nmore",
    "Fix\n\nGenerated with [Claude Code](https://claude.ai/code)",
    "Fix\n\nClaude-Session: https://claude.ai/x",
    "Fix\n\nAssisted-by: Claude:claude-3-opus coccinelle",
    "Fix\r\n\r\nASSISTED-BY: ChatGPT\r\n",
    "Fix\n\nSigned-off-by: A <a@b.c>\nMade-with: Cursor",
    f"Squashed commit of the following:\n\ncommit {'a' * 40}\nAuthor: Cursor <cursoragent@cursor.com>\n\n    Fix\n",
    f"Mine\n\ncommit {'a' * 40}\nAuthor: Ada <a@b.c>\n\n    Fix\n\n    Co-authored-by: Codex <noreply@openai.com>\n",
]
PEOPLE_MESSAGES = [
    "Fix Claude's typo",
    "Fix\n\nCo-authored-by: Claude Shannon <claude@example.org>",
    "Fix\n\nAssisted-by: Jane Doe <jane@example.org>",
    "Say how to write Co-authored-by: Claude <noreply@anthropic.com>",
    "Quote\n\n> 🤖 Generated with [Claude Code](x)\n    Co-authored-by: Codex <noreply@openai.com>",
    f"Squashed commit of the following:\n\ncommit {'a' * 40}\nAuthor: Ada <a@b.c>\n\n    Fix\n",
    "Author: Cursor <cursoragent@cursor.com> wrote to us",
    "Docs generated with sphinx\n\nGenerated with sphinx",
    "Talk about assisted-by: it is a trailer\n\nAnd more prose, assisted-by: nobody.",
]


@pytest.mark.parametrize("who", AGENT_PEOPLE)
def test_agents_by_author_or_committer(who: str) -> None:
    assert marks_of_commit(commit("c", author=who), POLICY)
    message = f"Fix\n\nCo-authored-by: {who}"
    assert marks_of_commit(commit("c", message=message), POLICY)


@pytest.mark.parametrize("who", PEOPLE)
def test_people_carry_no_mark(who: str) -> None:
    assert marks_of_commit(commit("c", author=who), POLICY) == ()
    assert marks_of_commit(commit("c", message=f"Fix\n\nCo-authored-by: {who}"), POLICY) == ()


@pytest.mark.parametrize("message", AGENT_MESSAGES)
def test_agents_by_message(message: str) -> None:
    assert marks_of_commit(commit("c", message=message), POLICY)


@pytest.mark.parametrize("message", PEOPLE_MESSAGES)
def test_messages_of_people(message: str) -> None:
    assert marks_of_commit(commit("c", message=message), POLICY) == ()


@pytest.mark.parametrize(
    ("notes", "agent"),
    [
        ('a.py\n  h 1-4\n---\n{"schema_version": "authorship/3.0.0", "prompts": {"h": {}}}', True),
        ('---\n{"schema_version": "authorship/3.0.0", "prompts": {}}', False),
        ('---\n{"schema_version": "authorship/3.0.0", ', True),
        ('{"files": [{"conversations": [{"contributor": {"type": "ai"}}]}]}', True),
        ('{"files": [{"conversations": [{"contributor": {"type": "human"}}]}]}', False),
        ("Reviewed by Jane {see below}", False),
        ("{" * 3000, False),
    ],
)
def test_notes(notes: str, agent: bool) -> None:
    assert bool(marks_of_commit(commit("c", notes=notes), POLICY)) is agent


def test_policy_adds_marks() -> None:
    policy = Policy(
        identity=Identity(agent_authors=("our-bot[bot]", "*@agents.example.org", "Made-by: robot", "X-Bot:"))
    )
    for who in (
        "our-bot[bot] <a@b.c>",
        "x <7+our-bot[bot]@users.noreply.github.com>",
        "y <y@agents.example.org>",
    ):
        assert marks_of_commit(commit("c", author=who), policy)
    assert marks_of_commit(commit("c", message="Fix\n\nMade-by: Robot"), policy)
    assert marks_of_commit(commit("c", message="Fix\n\nx-bot: 7"), policy)
    assert marks_of_commit(commit("c", author="our-bot[bo <a@b.c>"), policy) == ()
    assert marks_of_commit(commit("c", message="Fix\n\nMade-by: Jane"), policy) == ()


@pytest.mark.parametrize(
    ("branch", "agent"),
    [
        ("claude/fix-1", True),
        ("copilot/a/b", True),
        ("refs/heads/codex/x", True),
        ("refs/remotes/upstream/cursor/x", True),
        ("origin/devin/1", True),
        ("Jules/x", True),
        ("feature/claude/x", False),
        ("claude", False),
        ("claudette/x", False),
        ("main", False),
        ("", False),
    ],
)
def test_branches(branch: str, agent: bool) -> None:
    assert bool(marks_of_branch(branch, POLICY)) is agent


def test_environment() -> None:
    strong = ["CLAUDECODE", "CLAUDE_CODE_REMOTE", "AI_AGENT", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI"]
    strong += ["COPILOT_CLI", "OPENCODE", "AUGMENT_AGENT", "JUNIE_DATA", "ANTIGRAVITY_AGENT", "CLINE_ACTIVE"]
    for name in strong:
        assert marks_of_environment({name: "1"}) == (f"environment {name}",)
        assert marks_of_environment({name: "0"}) == marks_of_environment({name: ""}) == ()
    assert marks_of_environment({"AGENT": "goose"})
    assert marks_of_environment({"AGENT": "jenkins-4"}) == ()
    assert marks_of_environment({"PATH": "/usr/bin:/opt/.devin/bin"})
    assert marks_of_environment({"PATH": "/usr/bin:/opt/.devinette"}) == ()
    weak = {"CURSOR_TRACE_ID": "1", "GOOSE_PROVIDER": "x", "REPL_ID": "y"}
    assert marks_of_environment(weak) == ()
    assert suspicions_of_environment(weak) == tuple(weak)


BASE = MemoryTree({"a": "1", "b": "1", "c": "1"})
HEAD = MemoryTree({"a": "2", "b": "2", "c": "1"})


def judged(*commits: Commit, branch: str = "", flag: bool = False, signers: bool = False, env=None):
    return decide(
        patch(BASE, HEAD, *commits, branch=branch),
        POLICY,
        environment=env,
        agent_flag=flag,
        signers_known=signers,
    )


def test_each_path_goes_by_its_last_writer() -> None:
    found = judged(
        commit("3", "a", parents=("2",)),
        commit("2", "a", "b", author=AGENT, parents=("1",)),
        commit("1", "b", "c"),
    )
    assert found.agent
    assert found.agent_paths == {"b"}
    assert found.put_back == {"c"}
    assert found.marks == (
        "author cursoragent@cursor.com (commit 2)",
        "committer cursoragent@cursor.com (commit 2)",
    )


def test_parallel_branches_can_not_hide_the_agent() -> None:
    merge = commit("m", parents=("human", "agent"))
    human = commit("human", "a", parents=("base",))
    agent = commit("agent", "a", author=AGENT, parents=("base",))
    for order in itertools.permutations((human, agent)):
        assert judged(merge, *order).agent_paths == {"a", "b"}  # nobody's commit touched b: least trusted
    later = commit("later", "a", "b", parents=("m",))
    assert judged(later, merge, human, agent).agent_paths == set()


def test_content_that_no_commit_touched() -> None:
    assert judged(commit("1", "a")).agent_paths == set()
    assert judged(commit("1", "a", author=AGENT)).agent_paths == {"a", "b"}


def test_marks_on_the_whole_patch() -> None:
    for found in (
        judged(commit("1", "a", "b"), branch="claude/x"),
        judged(commit("1", "a", "b"), flag=True),
        judged(env={"CLAUDECODE": "1"}),
    ):
        assert found.agent
        assert found.agent_paths == {"a", "b"}
    assert not judged(env={}).agent
    assert not judged(commit("1", "a", "b")).agent


def test_with_signers_an_unsigned_commit_is_an_agents() -> None:
    found = judged(commit("2", "a", signed_by="ada"), commit("1", "b"), signers=True)
    assert found.agent_paths == {"b"}
    assert "no signature of an allowed signer (commit 1)" in found.marks
    # A person's key on a machine where an agent works proves nothing.
    assert judged(commit("2", "a", author=AGENT, signed_by="ada"), signers=True).agent_paths == {"a", "b"}


def test_five_thousand_commits_stay_fast() -> None:
    commits = []
    for number in range(5000, 0, -1):
        parents = (str(number - 1), str(number - 7)) if number % 7 == 0 else (str(number - 1),)
        commits.append(
            commit(str(number), "a", "b", author=AGENT if number % 3 else "A <a@b>", parents=parents)
        )
    judged(*commits)


def test_trailers_as_git_reads_them() -> None:
    assert trailers("Subject\n\nBody\n\nA: 1\nb-C : 2\n folded\n") == [("A", "1"), ("b-C", "2 folded")]
    assert trailers("A: 1") == []
    assert trailers("Subject\n\nA: 1\n\nlast words") == []
    assert trailers("Subject\n\nsome prose\nA: 1\n") == []
    assert trailers("Subject\n\nsome prose\nA: 1\nSigned-off-by: x\n") == [("A", "1"), ("Signed-off-by", "x")]
    assert trailers("") == []


OID, ZEROS = "a" * 40, "0" * 40


def test_endorsements_need_a_signature_and_no_mark() -> None:
    lines = f"Endorse\n\nRedbucket-Endorse: {OID} tests/a b.py\nredbucket-endorse: {ZEROS} tests/gone.py\n"
    signed = commit("1", message=lines, signed_by="ada")
    expected = {(OID, "tests/a b.py"), (ZEROS, "tests/gone.py")}
    assert endorsements([signed]) == expected
    assert endorsements([commit("1", message=lines)]) == frozenset()
    assert endorsements([commit("1", message=lines, author=AGENT, signed_by="ada")]) == frozenset()
    assert endorsed(expected, "tests/a b.py", OID)
    assert endorsed(expected, "tests/gone.py", None)
    assert not endorsed(expected, "tests/a b.py", "b" * 40)
    assert not endorsed(expected, "tests/a b.py", None)


@pytest.mark.parametrize("line", [f"{OID}", f"{OID[:-1]} x", f"{OID} ", f'{OID} "x', f'{OID} "\\9"', "x y"])
def test_broken_endorsements_endorse_nothing(line: str) -> None:
    assert (
        endorsements([commit("1", message=f"E\n\nRedbucket-Endorse: {line}", signed_by="a")]) == frozenset()
    )


@given(st.binary(min_size=1).filter(lambda data: b"\0" not in data))
def test_any_path_survives_the_trailer(data: bytes) -> None:
    path = data.decode("utf-8", "surrogateescape")
    assert unquote_path(quote_path(path)) == path
    message = f"Endorse\n\n{endorsement_trailer(OID, path)}"
    assert endorsements([commit("1", message=message, signed_by="ada")]) == {(OID, path)}


def test_patch_type_is_enough() -> None:
    empty = Patch(base="", head="", merge_base="", changes=())
    found = decide(empty, POLICY, environment=None, agent_flag=False, signers_known=True)
    assert not found.agent
