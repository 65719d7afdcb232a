"""``agent-hook`` before and after an agent's calls, in real repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redbucket.cli import main
from redbucket.engine.agenthook import AGENTS
from tests.core.test_agentcalls import PATCH, VALUES, claude, codex, copilot, cursor, gemini
from tests.gitkit import Link, Repo

POLICY = '[protect]\npaths = ["redbucket.toml", "flakes.toml", "tests/properties/**", "secrets/**"]\n'
PROPERTY = "def test_total():\n    assert total([]) == 0\n"
FILES = {
    "redbucket.toml": POLICY,
    "tests/properties/test_money.py": PROPERTY,
    "tests/test_shop.py": "def test_shop():\n    pass\n",
    "secrets/key.txt": "1\n",
    "secrets/caf\u00e9.txt": "1\n",
    ".github/workflows/ci.yml": "on: push\n",
    "src/shop.py": "x = 1\n",
    "src/rules.py": Link("../tests/properties/test_money.py"),
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo = Repo.init(tmp_path / "shop")
    repo.commit(FILES)
    repo.branch("fix-rounding")
    monkeypatch.setenv("HOME", str(repo.home))
    monkeypatch.chdir(repo.path)
    return repo


Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def ask(repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Hand a payload to the hook; return the exit code and stderr. Stdout must stay empty."""

    def run(payload: object, *words: str) -> tuple[int, str]:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        place = repo.home / "payload.json"
        place.write_bytes(raw)
        with place.open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            code = main(["agent-hook", *words])
        out, err = capfd.readouterr()
        assert out == ""
        return code, err

    return run


def at(repo: Repo, payload: dict[str, object], folder: str = "") -> dict[str, object]:
    """Return the payload as sent from the repository, or from a folder of it."""
    place = str(repo.path / folder) if folder else str(repo.path)
    if "workspace_roots" in payload:
        return {**payload, "workspace_roots": [place]}
    return {**payload, "cwd": place}


FORBIDDEN = [
    pytest.param(claude("Write", file_path="redbucket.toml", content="x"), id="claude Write"),
    pytest.param(
        claude("Edit", file_path="flakes.toml", old_string="a", new_string="b"),
        id="claude Edit of a new file",
    ),
    pytest.param(
        claude("MultiEdit", file_path="secrets/key.txt", edits=[{"old_string": "1", "new_string": "2"}]),
        id="claude MultiEdit",
    ),
    pytest.param(
        claude("NotebookEdit", notebook_path="tests/properties/n.ipynb", new_source=""), id="claude notebook"
    ),
    pytest.param(claude("mcp__fs__move_file", source="src/shop.py", destination="secrets/x"), id="move in"),
    pytest.param(claude("mcp__fs__move_file", source="secrets/key.txt", destination="a"), id="move away"),
    pytest.param(claude("mcp__fs__move_file", source="secrets", destination="old"), id="move a folder away"),
    pytest.param(claude("mcp__fs__delete_path", path=".github"), id="delete a folder"),
    pytest.param(codex("apply_patch", PATCH.replace("src/b.py", "secrets/b.py")), id="codex Move to"),
    pytest.param(
        codex("apply_patch", "*** Begin Patch\n*** Delete File: secrets/key.txt\n*** End Patch"),
        id="codex Delete File",
    ),
    pytest.param(
        codex("apply_patch", "*** Begin Patch\n*** Add File: .github/workflows/x.yml\n+on: push\n"),
        id="codex Add File",
    ),
    pytest.param(
        cursor("preToolUse", tool_name="Write", tool_input={"file_path": "redbucket.toml", "content": ""}),
        id="cursor Write",
    ),
    pytest.param(
        cursor("preToolUse", tool_name="Delete", tool_input={"path": "secrets/key.txt"}), id="cursor Delete"
    ),
    pytest.param(
        cursor("beforeMCPExecution", tool_name="write_file", tool_input='{"path": "redbucket.toml"}'),
        id="cursor MCP",
    ),
    pytest.param(gemini("write_file", file_path="redbucket.toml", content="x"), id="gemini write_file"),
    pytest.param(
        gemini("replace", file_path="redbucket.toml", old_string="a", new_string="b"), id="gemini replace"
    ),
    pytest.param(copilot("edit", '{"path": "redbucket.toml", "old_str": "a"}'), id="copilot edit"),
    pytest.param(copilot("create", {"path": "secrets/new", "file_text": ""}), id="copilot create"),
    pytest.param(
        copilot("apply_patch", "*** Begin Patch\n*** Update File: redbucket.toml\n@@\n"), id="copilot patch"
    ),
]


@pytest.mark.parametrize("payload", FORBIDDEN)
def test_an_edit_of_a_protected_file_is_refused(payload: dict[str, object], repo: Repo, ask: Ask) -> None:
    before = repo.snapshot()
    code, err = ask(at(repo, payload))
    assert code == 2, err
    assert "[protected-path]" in err
    assert "do this" in err
    assert repo.snapshot() == before


@pytest.mark.parametrize(
    "payload",
    [
        claude("Write", file_path="src/shop.py", content="x = 2\n"),
        claude("Edit", file_path="tests/test_shop.py", old_string="pass", new_string="assert 1"),
        claude("Write", file_path="tests/test_new.py", content=""),
        claude("Write", file_path="docs/redbucket.toml.md", content=""),
        claude("Bash", command="echo > redbucket.toml"),
        claude("Read", file_path="redbucket.toml"),
        codex("apply_patch", PATCH),
        cursor("preToolUse", tool_name="Write", tool_input={"file_path": "src/new.py", "content": ""}),
        cursor("beforeReadFile", file_path="redbucket.toml", content=POLICY),
        gemini("replace", file_path="src/shop.py", old_string="1", new_string="2"),
        copilot("edit", {"path": "pyproject.toml"}),
        copilot("view", {"path": "redbucket.toml"}),
    ],
)
def test_everything_else_is_allowed_and_nothing_printed(
    payload: dict[str, object], repo: Repo, ask: Ask
) -> None:
    assert ask(at(repo, payload)) == (0, "")


@pytest.mark.parametrize(
    "spelling",
    [
        "{top}/secrets/key.txt",
        "{top}//src/../secrets/./key.txt",
        "./secrets/key.txt",
        "SECRETS/Key.txt",
        "secrets/caf\u00e9.txt",
        unicodedata.normalize("NFD", "secrets/caf\u00e9.txt"),
        "src/rules.py",
        "{top}/src/rules.py",
        "file://{top}/secrets/key.txt",
        "file://{top}/secrets%2Fkey.txt",
        "link/key.txt",
        "link/../secrets/key.txt",
        "{other}/shop-link/secrets/key.txt",
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
    ],
)
def test_spellings_of_one_file(spelling: str, repo: Repo, ask: Ask) -> None:
    repo.write({"link": Link("secrets")})
    (repo.home / "shop-link").symlink_to(repo.path)
    path = spelling.format(top=repo.path, other=repo.home)
    code, err = ask(at(repo, claude("Write", file_path=path, content="")))
    assert (code, "[protected-path]" in err) == (2, True), err


def test_a_relative_path_starts_at_the_payloads_folder(repo: Repo, ask: Ask) -> None:
    write = claude("Write", file_path="key.txt", content="")
    assert ask(at(repo, write, "secrets"))[0] == 2
    assert ask(at(repo, write, "src")) == (0, "")
    assert ask(at(repo, claude("Write", file_path="../secrets/key.txt", content=""), "src"))[0] == 2
    assert ask(at(repo, claude("Write", file_path="redbucket.toml", content=""), "no/such/folder"))[0] == 2
    no_folder = {k: v for k, v in gemini("write_file", file_path="redbucket.toml").items() if k != "cwd"}
    assert ask(no_folder)[0] == 2  # the hook's own folder, where agents start it


def test_a_link_out_of_the_repository_is_not_ours(repo: Repo, ask: Ask, tmp_path: Path) -> None:
    repo.write({"notes": Link(str(tmp_path))})
    for path in (f"{tmp_path}/redbucket.toml", "/nowhere/redbucket.toml", "notes/secrets.txt"):
        assert ask(at(repo, claude("Write", file_path=path, content=""))) == (0, "")


def test_the_folder_of_the_file_decides_not_that_of_the_agent(repo: Repo, ask: Ask, tmp_path: Path) -> None:
    write = claude("Write", file_path=f"{repo.path}/secrets/key.txt", content="")
    assert ask({**write, "cwd": str(tmp_path)})[0] == 2
    worktree = tmp_path / "linked"
    repo.git("worktree", "add", "-q", str(worktree))
    assert ask(at(repo, claude("Write", file_path=f"{worktree}/secrets/key.txt", content="")))[0] == 2
    assert ask(at(repo, claude("Write", file_path=f"{worktree}/.git", content="")))[0] == 2


def test_a_repository_inside(repo: Repo, ask: Ask) -> None:
    other = Repo.init(repo.path / "vendor/other")
    other.commit({"redbucket.toml": "[protect]\npaths = ['own/**']\n", "own/a": "1"})
    inside = str(other.path)
    assert ask(at(repo, claude("Write", file_path=f"{inside}/own/a", content="")))[0] == 2
    assert ask(at(repo, claude("Write", file_path=f"{inside}/secrets/a", content=""))) == (0, "")
    # a repository made over base's own files takes none of them away
    repo.git("init", "-q", str(repo.path / "secrets"))
    assert ask(at(repo, claude("Write", file_path="secrets/key.txt", content="")))[0] == 2
    (repo.path / "tests/properties/.git").write_text("nonsense")
    assert ask(at(repo, claude("Write", file_path="tests/properties/test_money.py", content="")))[0] == 2


def test_the_policy_comes_from_the_protected_branch(repo: Repo, ask: Ask) -> None:
    write = at(repo, claude("Write", file_path="secrets/key.txt", content=""))
    repo.write({"redbucket.toml": "[protect]\npaths = []\n"})
    assert ask(write)[0] == 2
    repo.commit({"redbucket.toml": "[protect]\npaths = []\n"})
    assert ask(write)[0] == 2
    repo.commit({"redbucket.toml": "broken"})
    assert ask(write)[0] == 2
    repo.git("branch", "-f", "main", "HEAD")
    code, err = ask(write)
    assert code == 0
    assert "built-in rules alone" in err
    assert "policy-syntax" in err
    assert ask(at(repo, claude("Write", file_path="redbucket.toml", content="")))[0] == 2


def test_without_a_protected_branch_the_built_in_rules_count(repo: Repo, ask: Ask) -> None:
    repo.git("branch", "-m", "main", "trunk")
    code, err = ask(at(repo, claude("Write", file_path="src/shop.py", content="")))
    assert (code, "no-base" in err) == (0, True)
    assert ask(at(repo, claude("Write", file_path=".github/workflows/ci.yml", content="")))[0] == 2


def test_an_empty_repository(ask: Ask, tmp_path: Path) -> None:
    empty = Repo.init(tmp_path / "empty")
    assert ask(at(empty, claude("Write", file_path="redbucket.toml", content="")))[0] == 2
    code, err = ask(at(empty, claude("Write", file_path="a.py", content="")))
    assert (code, "built-in rules alone" in err) == (0, True)


def test_putting_base_bytes_back_is_allowed(repo: Repo, ask: Ask) -> None:
    repo.write({"secrets/key.txt": "2\n", "secrets/more.txt": "new\n"})

    def said(tool: str, **fields: object) -> int:
        return ask(at(repo, claude(tool, **fields)))[0]

    assert said("Write", file_path="secrets/key.txt", content="1\n") == 0
    assert said("Write", file_path="secrets/key.txt", content="1") == 2
    assert said("Edit", file_path="secrets/key.txt", old_string="2", new_string="1") == 0
    assert said("Edit", file_path="secrets/key.txt", old_string="2", new_string="3") == 2
    assert said("Edit", file_path="secrets/key.txt", old_string="9", new_string="1") == 2
    drop = codex("apply_patch", "*** Begin Patch\n*** Delete File: secrets/more.txt\n*** End Patch")
    assert ask(at(repo, drop))[0] == 0
    # through a link the bytes are another file's
    assert said("Write", file_path="src/rules.py", content=PROPERTY) == 0
    assert said("Write", file_path="src/rules.py", content="x") == 2


@pytest.mark.parametrize(
    ("raw", "code", "sign"),
    [
        (b"", 0, "empty"),
        (b"not json", 0, "not JSON"),
        (b"[]", 0, "not a JSON object"),
        (b"{}", 0, "no agent"),
        (b"[" * 100_000, 0, "nested too deeply"),
        (b'{"hook_event_name": "PreToolUse"}', 0, "names no tool"),
        (b'{"tool_name": "Write", "tool_input": {"content": "x"}}', 2, "agent-call-unreadable"),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "a\\u0000b"}}', 2, "NUL"),
        (b'{"toolName": "edit", "toolArgs": "{"}', 2, "agent-call-unreadable"),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "secrets/key.txt", "con', 2, "protected-path"),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "src/shop.py", "con', 0, "not JSON"),
        (b'{"tool_name": "Bash", "tool_input": {"command": "cat secrets/key.txt', 0, "not JSON"),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "src/caf\xe9.py"}}', 0, ""),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "secrets/\\ud800"}}', 2, "protected-path"),
        (b'{"tool_name": "Write", "tool_input": {"file_path": "secrets/\xff"}}', 2, "protected-path"),
        (b'{"cwd": "a\\u0000", "tool_name": "Write", "tool_input": {"file_path": "src/a"}}', 0, ""),
    ],
)
def test_malformed_payloads(raw: bytes, code: int, sign: str, ask: Ask) -> None:
    found, err = ask(raw)
    assert found == code, err
    assert sign in err
    assert bool(sign) == bool(err)


def test_more_than_the_limit_is_not_read(repo: Repo, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redbucket.commands.agent.LIMIT", 1000)
    big = claude("Write", file_path="src/a.py", content="x" * 5000)
    assert ask(at(repo, big))[0] == 0
    assert "too large" in ask(at(repo, big))[1]
    assert ask(at(repo, claude("Write", file_path="secrets/key.txt", content="x" * 5000)))[0] == 2


def test_an_agent_that_leaves_its_end_open(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redbucket.commands.agent.PATIENCE", 0.2)
    reader, writer = os.pipe()
    payload = at(repo, claude("Write", file_path="secrets/key.txt", content=""))
    os.write(writer, json.dumps(payload).encode())
    with os.fdopen(reader) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert main(["agent-hook"]) == 2
    os.close(writer)


def test_a_name_of_many_levels(repo: Repo, ask: Ask) -> None:
    deep = "a/" * 8000
    assert ask(at(repo, claude("Write", file_path=f"{deep}x", content=""))) == (0, "")
    assert ask(at(repo, claude("Write", file_path=f"secrets/{deep}x", content="")))[0] == 2
    up = "a/" * 2000 + "../" * 2000
    assert ask(at(repo, claude("Write", file_path=f"{up}redbucket.toml", content="")))[0] == 2


def test_a_patch_over_many_files(repo: Repo, ask: Ask) -> None:
    lines = "".join(f"*** Update File: src/part{n % 50}/file{n}.py\n" for n in range(3000))
    assert ask(at(repo, codex("apply_patch", f"*** Begin Patch\n{lines}*** End Patch"))) == (0, "")
    bad = f"*** Begin Patch\n{lines}*** Delete File: flakes.toml\n*** Delete File: redbucket.toml\n"
    code, err = ask(at(repo, codex("apply_patch", bad)))
    assert (code, "redbucket.toml" in err) == (2, True)


def test_names_in_a_refusal_are_printable(repo: Repo, ask: Ask) -> None:
    code, err = ask(at(repo, claude("Write", file_path="secrets/\x1b[2Jx\nredbucket: allowed", content="")))
    assert code == 2
    assert "\x1b" not in err
    assert len(err.splitlines()) == 2


def test_git_is_missing_or_refuses(repo: Repo, tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    payload = json.dumps(at(repo, claude("Write", file_path="redbucket.toml", content=""))).encode()
    for raw, code in ((payload, 2), (payload.replace(b"redbucket.toml", b"src/a.py"), 0)):
        done = subprocess.run(
            [sys.executable, "-m", "redbucket", "agent-hook"],
            input=raw,
            capture_output=True,
            env={**repo.environment(), "PATH": str(empty)},
            cwd=repo.path,
            check=False,
        )
        assert (done.returncode, done.stdout) == (code, b""), done.stderr
        assert code or b"git-missing" in done.stderr


def test_check_compares_the_work_tree_with_base(repo: Repo, ask: Ask) -> None:
    stop = at(repo, {"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": False})
    assert ask(stop, "--check") == (0, "")
    repo.write({"src/shop.py": "x = 2\n", "tests/test_shop.py": "", "notes.txt": "1"})
    assert ask(stop, "--check") == (0, "")

    def changed(files: dict[str, str | None], name: str) -> None:
        repo.write(files)
        code, err = ask(stop, "--check")
        assert (code, name in err) == (2, True), err
        repo.git("checkout", "-q", "main", "--", "secrets", "redbucket.toml", ".github", "tests")
        repo.git("clean", "-qfdx", "secrets", "tests")
        assert ask(stop, "--check") == (0, "")

    changed({"redbucket.toml": "[protect]\npaths = []\n"}, "redbucket.toml")
    changed({"secrets/key.txt": None}, "secrets/key.txt")
    changed({"secrets/key.txt": Link("caf\u00e9.txt")}, "secrets/key.txt")
    changed({"tests/properties/test_more.py": ""}, "tests/properties/test_more.py")


def test_check_sees_what_the_index_hides(repo: Repo, ask: Ask) -> None:
    stop = at(repo, {"session_id": "s", "hook_event_name": "Stop"})
    repo.git("update-index", "--assume-unchanged", "secrets/key.txt")
    repo.write({"secrets/key.txt": "2\n"})
    assert ask(stop, "--check")[0] == 2
    repo.write({"secrets/key.txt": "1\n"})
    shutil.move(repo.path / "secrets", repo.path / "elsewhere")
    (repo.path / "secrets").symlink_to("elsewhere")
    assert ask(stop, "--check")[0] == 2


def test_check_sees_a_commit_and_lets_the_agent_stop_the_second_time(repo: Repo, ask: Ask) -> None:
    repo.commit({"secrets/key.txt": "2\n"})
    stop = at(repo, {"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": False})
    code, err = ask(stop, "--check")
    assert (code, "git checkout" in err) == (2, True)
    code, err = ask({**stop, "stop_hook_active": True}, "--check")
    assert (code, "secrets/key.txt" in err) == (0, True)


def test_check_takes_an_older_base_for_unchanged(repo: Repo, ask: Ask) -> None:
    repo.switch("main")
    repo.commit({"secrets/key.txt": "3\n"})
    repo.switch("fix-rounding")
    stop = at(repo, {"session_id": "s", "hook_event_name": "Stop"})
    assert ask(stop, "--check") == (0, "")
    repo.write({"secrets/key.txt": "3\n"})
    assert ask(stop, "--check") == (0, "")
    repo.write({"secrets/key.txt": "4\n"})
    assert ask(stop, "--check")[0] == 2


def test_check_knows_line_ends_that_git_converts(repo: Repo, ask: Ask) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write({"secrets/key.txt": "1\r\n"})
    assert ask(at(repo, {"session_id": "s", "hook_event_name": "Stop"}), "--check") == (0, "")


def test_check_outside_of_any_repository(ask: Ask, tmp_path: Path) -> None:
    stop = {"session_id": "s", "hook_event_name": "Stop", "cwd": str(tmp_path)}
    assert ask(stop, "--check") == (0, "")


@pytest.mark.parametrize("agent", AGENTS)
def test_settings_are_json_with_an_absolute_command(
    agent: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert main(["agent-hook", "--settings", agent]) == 0
    out, err = capfd.readouterr()
    hooks = json.loads(out)["hooks"]
    commands = [
        handler.get("command", handler.get("bash"))
        for groups in hooks.values()
        for group in groups
        for handler in group.get("hooks", [group])
    ]
    assert all(command.startswith("/") and " agent-hook" in command for command in commands)
    assert sum(command.endswith("--check") for command in commands) >= 1
    assert "put this into" in err


def test_on_a_terminal_it_says_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["agent-hook"]) == 3


def test_the_settings_snippet_works_as_the_agent_runs_it(repo: Repo) -> None:
    command = [sys.executable, "-m", "redbucket", "agent-hook"]
    payload = json.dumps(at(repo, claude("Write", file_path="secrets/key.txt", content=""))).encode()
    for raw, code in ((payload, 2), (payload.replace(b"secrets/key.txt", b"src/shop.py"), 0)) * 2:
        done = subprocess.run(
            command, input=raw, capture_output=True, env=repo.environment(), cwd="/", check=False
        )
        assert (done.returncode, done.stdout) == (code, b"")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.builds(lambda value: claude("Write", file_path=value), VALUES),
        st.builds(lambda value: {**codex("apply_patch", ""), "tool_input": value}, VALUES),
        st.builds(lambda value: {**gemini("replace"), "cwd": value, "tool_input": {"path": "a"}}, VALUES),
        st.builds(lambda value: copilot("edit", value), VALUES),
        st.builds(lambda text: claude("Write", file_path=text, content=""), st.text(max_size=60)),
        st.builds(lambda text: cursor("preToolUse", tool_name=text, tool_input=text), st.text(max_size=60)),
    )
)
def test_no_payload_breaks_it(ask: Ask, payload: dict[str, object]) -> None:
    code, err = ask(payload)
    assert code in (0, 2)
    assert "Traceback" not in err
    assert "bug in redbucket" not in err
    assert code == 0 or "[" in err
