"""``redbucket init`` in real repositories: what it proposes leads to a gate, and what is there stays."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import iniconfig
import pytest

from tests.gitkit import Link, Repo
from tests.stories.kit import CONSOLE, Ended, redbucket

READER = """\
import json
import pathlib

from shop import total

HERE = pathlib.Path(__file__).parent


def test_sample():
    assert total(json.loads((HERE / "samples/prices.json").read_text())) == 6


def test_log():
    (HERE / "log.txt").write_text("seen")
"""
FILES = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_shop.py": READER,
    "tests/samples/prices.json": "[1, 2, 3]",
    "tests/samples/unread.json": "[]",
    "tests/log.txt": "",
    "tests/test_laws.py": (
        "from hypothesis import given\nfrom hypothesis import strategies as st\nfrom shop import total\n\n\n"
        "@given(st.lists(st.integers()))\ndef test_order(x):\n    assert total(x) == total(x[::-1])\n"
    ),
    "CLAUDE.md": "hello\n",
    ".github/workflows/ci.yml": "on: push\njobs: {}\n",
}
ALL = {"redbucket.toml", "fixtures.sha256", ".pre-commit-config.yaml", ".github/workflows/redbucket.yml"}
ALL |= {".claude/settings.json"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "shop")
    repo.commit(FILES)
    return repo


def init(repo: Repo, *words: str) -> Ended:
    return redbucket("init", "-C", repo.path, *words)


def untracked(repo: Repo) -> set[str]:
    return set(repo.git("ls-files", "--others").splitlines())


def test_without_a_terminal_nothing_is_written(repo: Repo) -> None:
    before = repo.snapshot()
    ended = init(repo)
    assert ended.exit_code == 2
    assert repo.snapshot() == before
    assert all(f"+++ {path}" in ended.out for path in ALL)
    assert "--yes" in ended.err
    assert "not taken (tests write it): tests/log.txt" in ended.out
    assert "protected: tests/test_laws.py" in ended.out


@pytest.mark.slow
def test_what_it_says_leads_to_a_gate(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:{os.environ['PATH']}")
    repo.commit(
        {"shop.py": "def total(prices):\n    return sum(iter(prices))\n"}, "the last commit of their own"
    )
    ended = init(repo, "--yes")
    assert ended.exit_code == 0, ended.err
    assert untracked(repo) == ALL
    lock = (repo.path / "fixtures.sha256").read_text()
    # all of the folder that is read is locked; what a test writes is not
    assert "tests/samples/prices.json" in lock
    assert "tests/samples/unread.json" in lock
    assert "log.txt" not in lock
    subprocess.run(
        ["sha256sum", "-c", "--strict", "fixtures.sha256"], cwd=repo.path, check=True, capture_output=True
    )
    commands = [line.strip()[2:] for line in ended.out.splitlines() if line.strip().startswith("$ ")]
    assert commands[0] == f"cd {repo.path}"
    commit, hooks, forwards, doctor, gate = commands[1:6]
    environment = repo.environment(**{**repo.people(), "VIRTUAL_ENV": sys.prefix, "PATH": os.environ["PATH"]})
    for command in (commit, hooks, forwards, doctor, gate):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=repo.path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert "ACCEPT" in done.stdout and "Passed every time: 3" in done.stdout
    again = init(repo, "--yes")
    assert again.exit_code == 0
    assert "nothing to write" in again.out


def test_a_file_that_is_there_stays(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    repo.commit(
        {
            "redbucket.toml": "[gate]\n",
            ".pre-commit-config.yaml": "repos: []\n",
            ".claude": Link(str(outside)),
            ".github/workflows/redbucket.yml": "on: push\n",
        }
    )
    (repo.path / "fixtures.sha256").symlink_to("nowhere")
    before = repo.snapshot()
    ended = init(repo, "--yes")
    assert ended.exit_code == 0, ended.err
    assert repo.snapshot() == before
    assert list(outside.iterdir()) == []
    assert "fixtures.paths lacks tests/samples/**" in ended.out
    assert "it lacks the hooks" in ended.out
    assert "a link stands on the way" in ended.out
    assert "nothing to write" in ended.out


def test_kinds_can_be_left_out(repo: Repo) -> None:
    ended = init(
        repo, "--yes", "--quiet", "--without", "workflow", "--without", "agents", "--without", "lock"
    )
    assert ended.exit_code == 0
    assert untracked(repo) == {"redbucket.toml", ".pre-commit-config.yaml"}
    assert ended.out.splitlines() == ["wrote redbucket.toml", "wrote .pre-commit-config.yaml"]


def test_without_a_run_names_decide(repo: Repo) -> None:
    ended = init(repo, "--no-run", "--yes", "--branch", "trunk")
    assert ended.exit_code == 0
    policy = (repo.path / "redbucket.toml").read_text()
    assert 'protected_branches = ["trunk"]' in policy
    assert "samples" not in policy


def test_an_agent_may_look_and_not_write(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    ended = init(repo, "--yes")
    assert (ended.exit_code, ended.errors) == (1, ["human-only"])
    assert untracked(repo) == set()
    assert "+++ redbucket.toml" in ended.out


def test_unittest_projects_get_unittest(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "shop", branch="master")
    test = "import unittest\nfrom shop import total\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n"
    test += "        self.assertEqual(total([1]), 1)\n"
    repo.commit({"shop.py": FILES["shop.py"], "tests/__init__.py": "", "tests/test_a.py": test,
                 "Makefile": "test:\n\tpython3 -m unittest discover -s tests -t .\n"})  # fmt: skip
    ended = init(repo, "--yes")
    assert ended.exit_code == 0, ended.err
    policy = (repo.path / "redbucket.toml").read_text()
    assert 'protected_branches = ["master"]' in policy
    assert '"unittest", "discover", "-s", "tests", "-t", "."' in policy


@pytest.mark.slow
def test_from_a_folder_below_the_top_it_is_the_same(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.path / "shop.py").write_text("def total(prices):\n    return 0\n")
    monkeypatch.chdir(repo.path / "tests")
    ended = redbucket("init", "--yes")
    assert ended.exit_code == 0
    assert untracked(repo) == ALL
    assert f"$ cd {repo.path}" in ended.out
    # the change that is not committed is not what was run
    assert "tracked files differ" in ended.out
    assert "already, and will not block" not in ended.out
    monkeypatch.chdir(repo.path)
    assert "$ cd " not in redbucket("init", "--yes").out


def test_a_bare_repository_is_no_place_for_it(tmp_path: Path) -> None:
    ended = redbucket("init", "-C", Repo.init(tmp_path / "bare.git", "--bare").path)
    assert (ended.exit_code, ended.errors) == (3, ["no-work-tree"])


def test_red_tests_are_said(repo: Repo) -> None:
    repo.commit({"tests/test_red.py": "def test_red():\n    assert False\n"})
    ended = init(repo)
    assert "1 test fails already" in ended.out
    assert "tests/test_red.py::test_red" in ended.out


def test_what_it_says_to_commit_can_be_committed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run again it still asks for the commit; what git ignores is forced, but for an agent's own settings."""
    repo.commit({".gitignore": ".claude/\n*.toml\n"})
    (repo.path / ".claude").mkdir()
    monkeypatch.chdir(repo.path)
    for _ in range(2):
        ended = redbucket("init", "--yes")
        assert ended.exit_code == 0, ended.err
        (command,) = [row.strip()[2:] for row in ended.out.splitlines() if "git commit" in row]
    assert "nothing to write" in ended.out
    environment = repo.environment(**repo.people())
    subprocess.run(command, shell=True, check=True, env=environment, capture_output=True)
    assert untracked(repo) == {".claude/settings.json"}
    assert "git commit" not in redbucket("init", "--yes").out


def test_parts_whose_test_files_have_one_name(tmp_path: Path) -> None:
    """pytest's default way of importing refuses the second: its tests would be red in base for ever."""
    repo = Repo.init(tmp_path / "shop")
    repo.commit({f"{part}/tests/test_it.py": "def test_it():\n    pass\n" for part in ("cart", "stock")})
    ended = init(repo, "--yes")
    assert ended.exit_code == 0, ended.err
    assert "2 tests in 2 files" in ended.out
    assert "can't be imported" not in ended.out
    policy = (repo.path / "redbucket.toml").read_text()
    assert '"pytest", "--import-mode=importlib"]' in policy
    assert '"cart/tests/**", "stock/tests/**"]' in policy
    named = init(repo, "--", "python", "-m", "pytest", "cart", "stock")
    assert "1 file can't be imported by the tests" in named.out
    assert "--import-mode=importlib" in named.out


def test_no_tests_are_no_guess(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "shop")
    repo.commit({"shop.py": ""})
    before = repo.snapshot()
    ended = init(repo, "--yes")
    assert (ended.exit_code, ended.errors) == (2, ["no-tests-seen"])
    assert f"redbucket -C {repo.path} init -- COMMAND" in ended.err
    assert repo.snapshot() == before


def test_another_language_keeps_its_own_command_and_gets_the_rest(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "shop")
    repo.commit(
        {
            "shop.js": "",
            "test/shop.test.js": "",
            "test/fixtures/a.json": "{}",
            ".github/workflows/ci.yml": "on: push\n",
        }
    )
    ended = init(repo, "--yes")
    assert (ended.exit_code, ended.errors) == (2, ["no-tests-seen"])
    assert "docs/languages.md" in ended.err
    assert (init(repo, "--yes", "--no-run").exit_code, untracked(repo)) == (2, set())
    rules = '[run]\ncommand = ["node", "--test"]\nformat = "junit"\nreport = "junit.xml"\n'
    repo.commit({"redbucket.toml": rules + '[fixtures]\npaths = ["test/fixtures/**"]\n'})
    ended = init(repo, "--yes")
    assert ended.exit_code == 0, ended.err
    assert untracked(repo) == {
        "fixtures.sha256",
        ".pre-commit-config.yaml",
        ".github/workflows/redbucket.yml",
    }
    assert "pip install pytest" not in (repo.path / ".github/workflows/redbucket.yml").read_text()


def test_a_kept_policy_says_how_the_tests_are_run(repo: Repo) -> None:
    rules = [
        "[run]",
        'command = ["python", "-m", "pytest", "tests/test_built.py"]',
        """prepare = [["python", "-c", "open('built.py', 'w').write('A = 1')"]]""",
        'env = { B = "2" }',
    ]
    test = (
        "import os\n\nimport built\n\n\ndef test_it():\n    assert (built.A, os.environ['B']) == (1, '2')\n"
    )
    repo.commit({"redbucket.toml": "\n".join(rules), "tests/test_built.py": test})
    ended = init(repo)
    assert "1 test in 1 file" in ended.out
    assert "already" not in ended.out.partition("fixtures")[0]


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["--source", "redbucket"], 3, "bad-source"),
        (["--", "make", "test"], 3, "command-unsupported"),
    ],
)
def test_misuse(repo: Repo, words: list[str], code: int, error: str) -> None:
    ended = init(repo, *words)
    assert (ended.exit_code, ended.errors) == (code, [error])


def test_an_unborn_repository_is_told_to_commit(tmp_path: Path) -> None:
    ended = init(Repo.init(tmp_path / "shop"))
    assert (ended.exit_code, ended.errors) == (3, ["unborn-branch"])


def test_names_of_the_patch_can_not_move_the_cursor(repo: Repo) -> None:
    repo.commit({"tests/samples2/\x1b[31mred.json": "1", "tests/test_x.py": "def test_x():\n    import pathlib\n"
                 "    [p.read_text() for p in (pathlib.Path(__file__).parent / 'samples2').iterdir()]\n"})  # fmt: skip
    ended = init(repo)
    assert "\x1b" not in ended.out + ended.err
    assert "not taken (its name can't stand in a policy)" in " ".join(ended.out.split())


def test_a_person_at_a_terminal_is_asked(repo: Repo) -> None:
    """A real terminal: yes to the first, no to the second, and then enough."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [CONSOLE, "init", "-C", str(repo.path)],
        stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(slave)
    said = b""
    answers = [b"y\n", b"n\n", b"q\n"]
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        said += part
        if answers and said.count(b"[q]uit:") > 3 - len(answers):
            os.write(master, answers.pop(0))
    assert process.wait() == 0, said
    assert untracked(repo) == {"redbucket.toml"}
    assert b"Write fixtures.sha256?" in said


@pytest.mark.slow
def test_a_package_that_pytest_itself_imports_is_tested_from_the_tree(tmp_path: Path) -> None:
    """Without the proposed PYTHONPATH the copy in site-packages is in memory before the tree is on the path."""
    repo = Repo.init(tmp_path / "ini")
    source = "def twice(number):\n    return 2 * number\n"
    whole = Path(iniconfig.__file__).parent
    files = {f"src/iniconfig/{file.name}": file.read_text() for file in whole.glob("*.py")}
    files["src/iniconfig/__init__.py"] += f"\n\n{source}"
    repo.commit(
        {
            **files,
            "tests/test_ini.py": "import iniconfig\n\n\ndef test_twice():\n    assert iniconfig.twice(2) == 4\n",
        }
    )
    ended = init(repo, "--yes", "--without", "pre-commit", "--without", "workflow")
    assert ended.exit_code == 0, ended.err
    policy = (repo.path / "redbucket.toml").read_text()
    assert 'env = { "PYTHONPATH" = "src" }' in policy
    assert "PYTHONPATH=src they import the tree's own code" in " ".join(ended.out.split())
    repo.git("add", "--all")
    repo.commit({}, "set up")
    repo.git("switch", "--quiet", "--create", "agent/fix")
    repo.commit(
        {"src/iniconfig/__init__.py": files["src/iniconfig/__init__.py"].replace("2 *", "3 *")}, "wrong"
    )
    told = redbucket("gate", "-C", repo.path, "--format", "json")
    assert told.exit_code == 1, told.out
    assert [row["bucket"] for row in json.loads(told.out)["tests"]] == ["invariant_miss"]
