"""Payloads of the five agents, as values: what is recognised, and that nothing breaks the parser."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redbucket.core.agentcalls import LONGEST_NAME, Call, Edit, Kind, Verb, parse, patch_edits, shown


def read(payload: object) -> Call:
    return parse(json.dumps(payload).encode())


def claude(tool: str, **fields: object) -> dict[str, object]:
    return {
        "session_id": "5f1c",
        "transcript_path": "/home/ada/.claude/projects/shop/5f1c.jsonl",
        "cwd": "/repo",
        "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": fields,
        "tool_use_id": "toolu_01",
    }


def codex(tool: str, command: object) -> dict[str, object]:
    return {**claude(tool, command=command), "turn_id": "t-3", "model": "gpt-5-codex"}


def cursor(event: str, **fields: object) -> dict[str, object]:
    return {
        "conversation_id": "c-1",
        "generation_id": "g-1",
        "hook_event_name": event,
        "cursor_version": "2.3.1",
        "workspace_roots": ["/repo"],
        **fields,
    }


def gemini(tool: str, **fields: object) -> dict[str, object]:
    return {
        "session_id": "g-7",
        "transcript_path": "/home/ada/.gemini/tmp/g-7.json",
        "cwd": "/repo",
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-05-01T09:00:00Z",
        "tool_name": tool,
        "tool_input": fields,
    }


def copilot(tool: str, arguments: object) -> dict[str, object]:
    return {"timestamp": 1_767_000_000_000, "cwd": "/repo", "toolName": tool, "toolArgs": arguments}


PATCH = """*** Begin Patch
*** Add File: docs/how.md
+*** Update File: redbucket.toml
+text
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 *** Delete File: not/a/header.py
-    return 1
+    return 2
*** Delete File: old.py
*** End Patch
"""

EDITS = [
    pytest.param(claude("Write", file_path="/repo/a.py", content="x"), "claude", ["/repo/a.py"], id="Write"),
    pytest.param(
        claude("Edit", file_path="/repo/a.py", old_string="x", new_string="y", replace_all=False),
        "claude",
        ["/repo/a.py"],
        id="Edit",
    ),
    pytest.param(
        claude("MultiEdit", file_path="/repo/a.py", edits=[{"old_string": "x", "new_string": "y"}]),
        "claude",
        ["/repo/a.py"],
        id="MultiEdit",
    ),
    pytest.param(
        claude("NotebookEdit", notebook_path="/repo/n.ipynb", new_source="x", cell_id="3"),
        "claude",
        ["/repo/n.ipynb"],
        id="NotebookEdit",
    ),
    pytest.param(
        claude("mcp__filesystem__move_file", source="/repo/a", destination="/repo/b"),
        "claude",
        ["/repo/a", "/repo/b"],
        id="mcp move",
    ),
    pytest.param(
        claude("mcp__filesystem__copy_file", source="/repo/a", destination="/repo/b"),
        "claude",
        ["/repo/b"],
        id="mcp copy",
    ),
    pytest.param(
        claude("mcp__x__push_files_update", files=[{"path": "a", "content": "1"}, {"path": "b"}]),
        "claude",
        ["a", "b"],
        id="mcp several files",
    ),
    pytest.param(
        codex("apply_patch", PATCH),
        "codex",
        ["docs/how.md", "src/a.py", "src/a.py", "src/b.py", "old.py"],
        id="apply_patch",
    ),
    pytest.param(
        codex("apply_patch", ["apply_patch", "*** Begin Patch\n*** Delete File: x\n*** End Patch"]),
        "codex",
        ["x"],
        id="apply_patch as a list",
    ),
    pytest.param(
        codex("apply_patch", "--- a/one.py\n+++ b/two.py\n@@ -1 +1 @@\n-x\n+y\n"),
        "codex",
        ["one.py", "two.py"],
        id="apply_patch with a plain diff",
    ),
    pytest.param(
        cursor(
            "preToolUse", tool_name="Write", tool_input={"file_path": "a.py", "content": "x"}, cwd="/repo"
        ),
        "cursor",
        ["a.py"],
        id="cursor Write",
    ),
    pytest.param(
        cursor("preToolUse", tool_name="Delete", tool_input={"path": "a.py"}),
        "cursor",
        ["a.py"],
        id="cursor Delete",
    ),
    pytest.param(
        cursor("beforeMCPExecution", tool_name="write_file", tool_input='{"path": "a.py", "content": ""}'),
        "cursor",
        ["a.py"],
        id="cursor MCP, arguments as text",
    ),
    pytest.param(gemini("write_file", file_path="a.py", content="x"), "gemini", ["a.py"], id="write_file"),
    pytest.param(
        gemini("replace", file_path="/repo/a.py", old_string="x", new_string="y"),
        "gemini",
        ["/repo/a.py"],
        id="replace",
    ),
    pytest.param(
        copilot("edit", json.dumps({"path": "/repo/a.py", "old_str": "x", "new_str": "y"})),
        "copilot",
        ["/repo/a.py"],
        id="copilot text",
    ),
    pytest.param(
        copilot("create", {"path": "a.py", "file_text": "x"}), "copilot", ["a.py"], id="copilot object"
    ),
    pytest.param(
        copilot("apply_patch", PATCH),
        "copilot",
        ["docs/how.md", "src/a.py", "src/a.py", "src/b.py", "old.py"],
        id="copilot patch",
    ),
    pytest.param(
        {**claude("Edit"), "tool_input": "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch\n"},
        "claude",
        ["a.txt"],
        id="Edit with a patch text",
    ),
]


@pytest.mark.parametrize(("payload", "agent", "paths"), EDITS)
def test_edits_of_every_agent_are_read(payload: object, agent: str, paths: list[str]) -> None:
    call = read(payload)
    assert (call.kind, call.agent) == (Kind.EDIT, agent)
    assert [edit.path for edit in call.edits] == list(dict.fromkeys(paths)) or sorted(
        edit.path for edit in call.edits
    ) == sorted(paths)
    assert not call.trouble
    assert call.bases == ("/repo",)


@pytest.mark.parametrize(
    "payload",
    [
        claude("Bash", command="echo x > redbucket.toml"),
        claude("Read", file_path="/repo/redbucket.toml"),
        claude("Grep", pattern="x", path="redbucket.toml"),
        claude("TodoWrite", todos=[]),
        claude("mcp__linear__create_issue", title="x"),
        claude("mcp__filesystem__read_file", path="redbucket.toml"),
        {
            **claude("Write", file_path="redbucket.toml"),
            "hook_event_name": "PostToolUse",
            "tool_response": {},
        },
        {"session_id": "s", "cwd": "/repo", "hook_event_name": "Stop", "stop_hook_active": True},
        {"session_id": "s", "cwd": "/repo", "hook_event_name": "UserPromptSubmit", "prompt": "hi"},
        codex("Bash", "git apply x.patch"),
        cursor("beforeShellExecution", command="ls", cwd="/repo"),
        cursor("beforeReadFile", file_path="/repo/redbucket.toml", content=""),
        cursor("afterFileEdit", file_path="/repo/redbucket.toml", edits=[]),
        gemini("run_shell_command", command="ls", directory="."),
        gemini("read_many_files", paths=["redbucket.toml"]),
        copilot("bash", '{"command": "ls"}'),
        copilot("view", '{"path": "redbucket.toml"}'),
        copilot("str_replace_editor", {"command": "view", "path": "redbucket.toml"}),
        {**copilot("edit", '{"path": "redbucket.toml"}'), "toolResult": {"resultType": "success"}},
        {"timestamp": 1, "cwd": "/repo", "source": "new"},
    ],
)
def test_what_writes_no_file_is_harmless(payload: object) -> None:
    call = read(payload)
    assert (call.kind, call.edits, call.trouble) == (Kind.HARMLESS, (), "")


def test_what_an_edit_leaves_is_read_where_the_payload_says_it() -> None:
    assert read(claude("Write", file_path="a", content="x\n")).edits == (Edit("a", content="x\n"),)
    swap = read(claude("Edit", file_path="a", old_string="x", new_string="y", replace_all=True)).edits
    assert swap == (Edit("a", swaps=(("x", "y", True),)),)
    two = [{"old_string": "x", "new_string": "y"}, {"old_string": "y", "new_string": "z"}]
    assert read(claude("MultiEdit", file_path="a", edits=two)).edits[0].swaps == (
        ("x", "y", False),
        ("y", "z", False),
    )
    assert read(claude("MultiEdit", file_path="a", edits=[*two, 7])).edits == (Edit("a"),)
    assert read(cursor("preToolUse", tool_name="Delete", tool_input={"path": "a"})).edits == (
        Edit("a", Verb.DELETE),
    )


@pytest.mark.parametrize(
    "payload",
    [
        claude("Write", content="x"),
        claude("Edit", file_path=7),
        {**claude("Edit"), "tool_input": None},
        codex("apply_patch", "no patch at all"),
        copilot("edit", "{broken"),
        claude("Write", file_path="a\0b", content=""),
        claude("Write", file_path="a" * (LONGEST_NAME + 1), content=""),
    ],
)
def test_a_write_without_a_target_is_told_apart(payload: object) -> None:
    call = read(payload)
    assert (call.kind, call.edits) == (Kind.EDIT, ())
    assert call.trouble


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        (b"", []),
        (b" \n", []),
        (b"nonsense", []),
        (b"[]", []),
        (b"7", []),
        (b"{}", []),
        (b'{"file_path": "a.py"}', ["a.py"]),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "a.py", "content": "', ["a.py"]),
        (b'{"tool_name": "Read", "tool_input": {"file_path": "a.py"', []),
        (b'{"hook_event_name": "PostToolUse", "tool_input": {"file_path": "a.py"', []),
        (b'{"toolName": "apply_patch", "toolArgs": "*** Begin Patch\\n*** Delete File: a.py\\n', ["a.py"]),
        (b'{"hook_event_name": "PreToolUse", "tool_input": {"file_path": "a.py"}}', ["a.py"]),
        (b'{"hook_event_name": "PreToolUse", "tool_name": 7, "tool_input": {}}', []),
        (b"[" * 200_000, []),
        (b'{"tool_name": "Write", "x": ' + b"[" * 200_000, []),
        (b'{"n": ' + b"9" * 5000 + b', "path": "a.py"}', ["a.py"]),
    ],
)
def test_an_unreadable_payload_is_searched_for_names(raw: bytes, names: list[str]) -> None:
    call = parse(raw)
    assert call.kind is Kind.UNREADABLE
    assert [edit.path for edit in call.edits] == names
    assert call.trouble


def test_a_cut_payload_is_unreadable_though_it_parses() -> None:
    call = parse(json.dumps(claude("Write", file_path="a")).encode(), cut=True)
    assert (call.kind, [edit.path for edit in call.edits], call.bases) == (
        Kind.UNREADABLE,
        ["a"],
        ("/repo",),
    )


def test_names_in_other_encodings() -> None:
    lone = parse(b'{"cwd": "/r", "tool_name": "Write", "tool_input": {"file_path": "a\\ud800.py"}}')
    assert [edit.path for edit in lone.edits] == ["a\ufffd.py"]
    latin = parse(b'{"cwd": "/r", "tool_name": "Write", "tool_input": {"file_path": "a\xe9.py"}}')
    assert [edit.path for edit in latin.edits] == ["a\udce9.py"]  # as git's names are kept here
    marked = parse(b'\xef\xbb\xbf{"cwd": "/r", "tool_name": "Write", "tool_input": {"file_path": "a"}}')
    assert marked.kind is Kind.EDIT


def test_content_is_no_header() -> None:
    found = {edit.path: edit.verb for edit in patch_edits(PATCH)}
    assert set(found) == {"docs/how.md", "src/a.py", "src/b.py", "old.py"}
    assert found["old.py"] is Verb.DELETE
    assert found["src/b.py"] is Verb.MOVE


def test_a_field_called_path_in_the_content_is_no_target() -> None:
    call = read(claude("Write", file_path="a.json", content={"path": "redbucket.toml"}))
    assert [edit.path for edit in call.edits] == ["a.json"]


def test_messages_hold_no_control_characters() -> None:
    assert shown(["a\x1b[31m\n\u202eb"]) == "a\\x1b[31m\\n\\u202eb"
    assert shown(str(n) for n in range(12)).endswith("9 and 2 more")
    assert len(shown(["x" * 9999])) < 300


def one_of(text: str) -> st.SearchStrategy[str]:
    return st.sampled_from(text.split())


KEYS = one_of(
    "hook_event_name tool_name tool_input toolName toolArgs cwd workspace_roots timestamp conversation_id "
    "file_path path edits content command files source destination patch stop_hook_active"
)
WORDS = one_of(
    "PreToolUse PostToolUse Stop BeforeTool beforeMCPExecution Write Edit Bash apply_patch replace "
    "mcp__x__move_file a.py ../redbucket.toml ~/x file:///a"
) | st.sampled_from(["*** Begin Patch\n*** Update File: a\n*** Move to: b", '{"path": "a"}', "\ud800", "\0"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=25,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=10), st.data())
def test_any_object_is_read(payload: dict[str, object], data: st.DataObject) -> None:
    raw = json.dumps(payload).encode()
    for piece in (raw, raw[: data.draw(st.integers(0, len(raw)))]):
        call = parse(piece)
        assert call.kind in Kind
        assert all("\0" not in edit.path and len(edit.path) <= LONGEST_NAME for edit in call.edits)
        assert all(edit.path.encode("utf-8", "surrogateescape") for edit in call.edits)
        assert call.kind is not Kind.UNREADABLE or call.trouble


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(raw: bytes) -> None:
    assert parse(raw).kind in Kind


@pytest.mark.parametrize(
    "raw",
    [
        b'{"path":' * 500_000,
        b'"' * 4_000_000,
        b'{"tool_name":"Write","tool_input":{"content":"' + b"\\" * 4_000_000,
        b'"path":"' + b"a" * 4_000_000,
        json.dumps(codex("apply_patch", "*** Add File: a\n" * 100_000)).encode(),
        b" " * 4_000_000,
        b'"path" : ' + b" " * 4_000_000,
        b'"path"' * 600_000,
    ],
)
def test_a_large_payload_costs_little(raw: bytes) -> None:
    began = time.process_time()
    parse(raw)
    assert time.process_time() - began < 3
