"""What people and machines give by mistake: one clear line, a remedy, the documented exit code."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gitkit import HUMAN, Content, Link, Repo
from tests.recorder.envs import venv
from tests.stories.kit import PYTEST, SHOP, TESTS, Shop, assert_clear, policy, redbucket, reported

WRONG = SHOP.replace("sum(prices)", "len(prices)")


# -- the repository ---------------------------------------------------------------------------------


def test_not_a_repository(tmp_path: Path) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    ended = redbucket("gate", "-C", place)
    assert_clear(ended, 3, "not-a-repository")
    assert "run inside a git repository, or name it with -C" in ended.err


def test_no_such_folder(tmp_path: Path) -> None:
    assert_clear(redbucket("gate", "-C", tmp_path / "nowhere"), 3, "not-a-repository")


def test_a_bare_repository_works(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG})
    shop.repo.git("clone", "--quiet", "--bare", str(shop.path), str(tmp_path / "bare.git"))
    bare = Repo(tmp_path / "bare.git", shop.repo.home)
    before = bare.snapshot()
    told = reported("gate", "-C", bare.path, "--base", "main", "--head", "agent/fix")
    assert told.exit_code == 1
    assert told.row("test_total")["bucket"] == "invariant_miss"
    assert set(bare.snapshot()) == set(before)


def test_an_unknown_revision(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    for words in (("--base", "main", "--head", "no/such"), ("--base", "no/such"), ("--head", "0" * 40)):
        ended = shop.refused(*words)
        assert_clear(ended, 3, "unknown-revision")
        assert "names no commit here" in ended.err


def test_a_branch_and_a_tag_of_one_name(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG})
    shop.repo.git("tag", "main", "agent/fix")
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert_clear(ended, 3, "ambiguous-revision")
    assert "refs/heads/main" in ended.err


def test_no_merge_base(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.repo.git("checkout", "--quiet", "--orphan", "agent/other")
    shop.repo.commit({"other.py": "x = 1\n"}, "another history")
    shop.repo.switch("main")
    assert_clear(shop.refused("--base", "main", "--head", "agent/other"), 2, "no-merge-base")


def test_a_shallow_clone(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": WRONG})
    shop.patch({"shop.py": SHOP})
    shop.repo.git(
        *("clone", "--quiet", "--depth=1", "--no-single-branch"),
        *(f"file://{shop.path}", str(tmp_path / "shallow")),
    )
    ended = redbucket("gate", "-C", tmp_path / "shallow", "--base", "main", "--head", "origin/agent/fix")
    assert_clear(ended, 2, "shallow-clone")
    assert f"git -C {tmp_path / 'shallow'} fetch --unshallow" in ended.err


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
def test_a_partial_clone_is_said_and_the_remedy_fills_it(tmp_path: Path, left_out: str) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    shop.repo.git("config", "uploadpack.allowFilter", "true")
    shop.repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    shop.repo.git(
        "clone", "-q", "--no-checkout", f"--filter={left_out}", shop.path.as_uri(), str(tmp_path / "part")
    )
    words = ("gate", "-C", tmp_path / "part", "--base", "origin/main", "--head", "origin/agent/fix")
    ended = redbucket(*words)
    assert_clear(ended, 2, "missing-object")
    (command,) = re.findall("`git (.*? fetch --refetch .*?)`", ended.err)
    shop.repo.git(*command.split())
    assert redbucket(*words).exit_code == 0


def test_an_empty_repository(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "empty")
    for words in ((), ("--base", "main"), ("--head", "main")):
        ended = redbucket("gate", "-C", repo.path, *words)
        assert ended.exit_code == 3
        assert "Traceback" not in ended.err
    ended = redbucket("gate", "-C", repo.path)
    assert_clear(ended, 3, "unborn-branch")
    assert "no commit" in ended.err


def test_an_unborn_branch(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.repo.git("checkout", "--quiet", "--orphan", "fresh")
    ended = shop.refused()
    assert_clear(ended, 3, "unborn-branch")
    assert "fresh" in ended.err


def test_no_protected_branch(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.repo.git("branch", "--move", "main", "trunk")
    ended = shop.refused()
    assert_clear(ended, 3, "no-base")
    assert f"redbucket -C {shop.path} gate --base REV" in ended.err


def test_a_dirty_work_tree_is_irrelevant_and_said(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP + "\n# more\n"}, branch="work", author=HUMAN)
    shop.repo.switch("work")
    shop.repo.write({"shop.py": WRONG, "untracked.py": "x = 1\n"})
    shop.repo.git("add", "untracked.py")
    before = shop.snapshot()
    told = reported("gate", "-C", shop.path)
    assert shop.snapshot() == before
    assert told.exit_code == 0
    assert told.report["head"] == shop.repo.head()
    (note,) = told.report["notes"]
    assert note["code"] == "uncommitted"
    # where another commit is named, the work tree has nothing to do with it
    assert shop.gate("work").report["notes"] == []


# -- the patch ---------------------------------------------------------------------------------------


def test_base_equals_head(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    told = shop.gate("main")
    assert (told.exit_code, told.report["verdict"], told.report["tests"]) == (0, "accept", [])
    assert [n["code"] for n in told.report["notes"]] == ["nothing-to-judge", "first-commit"]


def test_head_is_behind_base(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.repo.git("branch", "old")
    shop.repo.commit({"NEWS": "news\n"}, "more")
    told = shop.gate("old")
    assert told.exit_code == 0
    assert [n["code"] for n in told.report["notes"]] == ["nothing-to-judge", "first-commit"]


def test_an_empty_patch(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({})
    told = shop.gate()
    assert told.exit_code == 0
    assert [n["code"] for n in told.report["notes"]] == ["nothing-to-judge"]


def test_a_patch_of_binary_files_only(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"logo.png": b"\x89PNG\r\n\x1a\n\0\0one"})
    shop.patch({"logo.png": b"\x89PNG\r\n\x1a\n\0\0two", "new.bin": bytes(range(256))})
    told = shop.gate()
    assert (told.exit_code, told.report["counts"]) == (0, {"stable_pass": 3})


@pytest.mark.parametrize("runner", ["unittest", "pytest"])
def test_no_tests(tmp_path: Path, runner: str) -> None:
    files: dict[str, Content] = {"tests/test_shop.py": None, "tests/__init__.py": None}
    shop = Shop.open(tmp_path, files, rules=policy(f'["python", "-m", "{runner}"]'))
    shop.patch({"shop.py": WRONG})
    told = shop.gate()
    assert (told.exit_code, told.problems) == (2, ["no-tests"])
    assert "run" in told.report["undecided"][0]["remedy"]


@pytest.mark.parametrize("runner", ["unittest", "pytest"])
def test_tests_that_base_cannot_import(tmp_path: Path, runner: str) -> None:
    files = {"tests/test_shop.py": "import no_such_module\n" + TESTS}
    shop = Shop.open(tmp_path, files, rules=policy(f'["python", "-m", "{runner}"]'))
    shop.patch({"shop.py": WRONG})
    told = shop.gate()
    assert (told.exit_code, told.problems) == (2, ["no-tests"])
    assert "no_such_module" in told.report["undecided"][0]["reason"]


@pytest.mark.slow
def test_one_file_that_base_cannot_import_is_already_red(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {"tests/test_broken.py": "import no_such_module\n"}, rules=policy(PYTEST))
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    told = shop.gate()
    assert told.exit_code == 0
    row = told.row("tests/test_broken.py")
    assert (row["state"], row["introduced"], row["blocks"]) == ("already red", False, False)
    assert told.row("test_total")["bucket"] == "stable_pass"


def test_a_patch_after_which_nothing_can_be_imported(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": "def total(:\n"})
    told = shop.gate()
    assert told.exit_code == 1
    assert told.row("ShopTests.test_total")["bucket"] == "invariant_miss"
    assert told.findings("vanished-test")


def test_names_and_sources_that_are_not_utf_8(tmp_path: Path) -> None:
    latin = "# Grüße\nNAME = 'é'\n".encode("latin-1")
    shop = Shop.open(tmp_path, {"latin.py": b"# -*- coding: latin-1 -*-\n" + latin})
    odd = os.fsdecode(b"caf\xe9 \xff.py")
    shop.patch(
        {
            odd: latin,
            "tests/" + os.fsdecode(b"test_\xe9.py"): b"# \xff\n",
            "latin.py": b"# -*- coding: latin-1 -*-\n" + latin + b"X = 1\n",
            'a "quoted"\tname\nwith a line.txt': "x\n",
            "shop.py": SHOP.encode() + "\nNAME = 'é'\n".encode("latin-1"),
        }
    )
    told = shop.gate()
    # shop.py has become bytes that Python can't read
    assert told.exit_code == 1
    assert told.row("ShopTests.test_total")["bucket"] == "invariant_miss"
    text = redbucket("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--reruns", "1")
    assert text.exit_code == 1
    assert text.err == ""


@pytest.mark.slow
def test_node_ids_with_odd_characters(tmp_path: Path) -> None:
    odd = ["a b", "ü", "[x]::y", "-q", "new\nline", "é" * 300, "\x1b[31mred", "#", '"', "\ud800"]
    tests = (
        "import pytest\nfrom shop import total\n\n\n"
        f"@pytest.mark.parametrize('word', {[ascii(w) for w in odd]!r}, ids={odd!r})\n".replace(
            "'\\ud800'", "'\\ud800'"
        )
        + "def test_word(word):\n    assert total([1, 2, 3]) == 6\n"
    )
    shop = Shop.open(tmp_path, {"tests/test_odd.py": tests, "tests/test_shop.py": None}, rules=policy(PYTEST))
    shop.patch({"shop.py": WRONG.replace("len(prices)", "len(prices) + 4")})
    told = shop.gate()
    assert told.exit_code == 1
    assert len(told.report["tests"]) == len(odd)
    assert {row["bucket"] for row in told.report["tests"]} == {"invariant_miss"}
    assert {row["introduced"] for row in told.report["tests"]} == {True}


# -- the policy --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "error", "says"),
    [
        ('[run]\ncomand = ["python"]\n', "policy-unknown-key", "did you mean `command`"),
        ('[run]\ncommand = "python"\n', "policy-type", "run.command: expected a list"),
        ("[run]\nreruns = 0\n", "policy-value", "run.reruns"),
        ("[run\n", "policy-syntax", "not TOML"),
        (b'[run]\ncommand = ["\xff"]\n', "policy-encoding", "is not UTF-8"),
        (Link("elsewhere.toml"), "policy-not-a-file", "is a link"),
        ('[run]\ncommand = ["make", "test"]\n', "command-unsupported", "make test"),
    ],
    ids=["unknown-key", "type", "value", "syntax", "encoding", "link", "runner"],
)
def test_a_bad_policy(tmp_path: Path, rules: Content, error: str, says: str) -> None:
    shop = Shop.open(tmp_path, {"redbucket.toml": rules})
    shop.patch({"shop.py": WRONG})
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert_clear(ended, 3, error)
    assert says in ended.err
    if error.startswith("policy"):
        assert "redbucket.toml at" in ended.err


def test_a_bad_policy_of_the_launcher_is_named_by_its_file(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    mine = tmp_path / "mine.toml"
    mine.write_text("[gat]\n")
    ended = shop.refused("--policy", str(mine))
    assert_clear(ended, 3, "policy-unknown-key")
    assert f"{mine}: gat: unknown" in ended.err
    assert_clear(shop.refused("--policy", str(tmp_path / "none.toml")), 3, "unreadable-file")


# -- the world ---------------------------------------------------------------------------------------


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy('["no/such/python", "-m", "unittest"]'))
    shop.patch({"shop.py": WRONG})
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert_clear(ended, 4, "no-interpreter")
    assert "no/such/python" in ended.err


def test_an_interpreter_without_pytest(tmp_path: Path) -> None:
    python = venv(f"3.{sys.version_info.minor}")
    shop = Shop.open(tmp_path, rules=policy(f'["{python}", "-m", "pytest"]'))
    shop.patch({"shop.py": WRONG})
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert_clear(ended, 4, "no-interpreter")
    assert f"{python} (no pytest)" in ended.err


def test_a_pytest_that_is_too_old(tmp_path: Path) -> None:
    """An interpreter that says so of itself; the check reads nothing else."""
    python = tmp_path / "python"
    for name in ("_pytest", "pytest"):
        package = tmp_path / "old" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text('__version__ = "6.2.5"\n')
    python.write_text(
        f'#!{sys.executable}\nimport runpy, sys\nsys.path.insert(0, "{tmp_path / "old"}")\nexec(sys.argv[2])\n'
    )
    python.chmod(0o755)
    shop = Shop.open(tmp_path, rules=policy(f'["{python}", "-m", "pytest"]'))
    shop.patch({"shop.py": WRONG})
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert_clear(ended, 2, "old-pytest")
    assert "pytest 6.2.5" in ended.err
    assert "-m pip install 'pytest>=7'" in ended.err


def test_no_git(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "redbucket", "gate", "-C", str(shop.path)],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stderr.splitlines()[0].endswith("[git-missing]")
    assert "install git 2.38 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def unwritable(tmp_path: Path) -> Path:
    """A folder in which nothing can be made: also root can't in /proc."""
    if os.getuid() == 0:
        return Path("/proc/self") if Path("/proc/self").exists() else tmp_path / "file" / "below"
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    return place


IN_VENV = '[".venv/bin/python", "-m", "unittest"]'


def test_a_linked_work_tree_without_the_environment_that_the_policy_names(tmp_path: Path) -> None:
    """What git ignores is in the main work tree alone, and the remedy must not name what is set already."""
    shop = Shop.open(tmp_path, {".gitignore": ".venv\n"}, rules=policy(IN_VENV))
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    linked = tmp_path / "linked"
    shop.repo.git("worktree", "add", str(linked), "agent/fix")
    words = ("gate", "-C", linked, "--base", "main", "--head", "agent/fix")
    ended = redbucket(*words)
    assert_clear(ended, 4, "no-interpreter")
    assert f"{linked}/.venv/bin/python, which run.command names, is not there" in ended.err
    assert "ln -s" not in ended.err  # the main work tree has none either
    assert ".venv/bin/python" not in ended.err.splitlines()[1]
    (shop.path / ".venv").symlink_to(sys.prefix)
    ended = redbucket(*words)
    assert_clear(ended, 4, "no-interpreter")
    advised = f"ln -s {shop.path}/.venv {linked}/.venv"
    assert ended.err.splitlines()[1].endswith(advised)
    subprocess.run(advised.split(), check=True)
    assert redbucket(*words).exit_code == 0


def test_an_interpreter_that_is_there_and_does_not_start(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, {".gitignore": ".venv\n"}, rules=policy(IN_VENV))
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    python = shop.path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("no program\n")
    python.chmod(0o755)
    ended = shop.refused("--base", "main", "--head", "agent/fix")
    assert_clear(ended, 4, "no-interpreter")
    assert "(does not start)" in ended.err


def test_a_temporary_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop.open(tmp_path)
    monkeypatch.setenv("REDBUCKET_TMPDIR", str(unwritable(tmp_path)))
    ended = shop.refused()
    assert_clear(ended, 4, "not-writable")
    assert "REDBUCKET_TMPDIR" in ended.err


def test_a_temporary_folder_that_is_not_there_is_named_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop.open(tmp_path)
    monkeypatch.setenv("REDBUCKET_TMPDIR", str(tmp_path / "no" / "such"))
    ended = shop.refused()
    assert_clear(ended, 4, "not-writable")
    assert f"{tmp_path}/no/such: No such file or directory" in ended.err
    assert not (tmp_path / "no").exists()


def test_a_temporary_folder_that_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop.open(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REDBUCKET_TMPDIR", str(tmp_path / "file"))
    assert_clear(shop.refused(), 4, "not-writable")


@contextlib.contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of its own that is soon full."""
    place.mkdir()
    if os.getuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("kilobytes", [4, 32, 64, 160, 320])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int) -> None:
    shop = Shop.open(tmp_path, {"big.bin": os.urandom(600_000)})
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
    with small_disk(tmp_path / "small", kilobytes) as disk:
        monkeypatch.setenv("REDBUCKET_TMPDIR", str(disk))
        ended = shop.refused("--base", "main", "--head", "agent/fix")
        assert_clear(ended, 4, "disk-full")
        assert "free some space, or set REDBUCKET_TMPDIR" in ended.err
        assert [place.name for place in disk.iterdir()] == []


# -- the command line --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["gat"],
        ["gate", "--no-such-option"],
        ["gate", "--reruns", "0"],
        ["gate", "--scope", "some"],
        ["gate", "--doubt", "2"],
        ["gate", "--format", "yaml"],
        ["guard", "--staged", "--base", "main"],
        ["classify"],
    ],
    ids=" ".join,
)
def test_misuse(words: list[str]) -> None:
    ended = redbucket(*words)
    assert ended.exit_code == 3
    assert ended.out == ""
    assert "Error: " in ended.err
    assert "Traceback" not in ended.err


def test_an_unknown_guard_and_an_unknown_hook(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    assert_clear(redbucket("guard", "nonsense", "-C", shop.path), 3, "unknown-guard")
    assert_clear(redbucket("hook", "nonsense", "-C", shop.path), 3, "unknown-hook")


def test_help_and_version() -> None:
    for words in (["--help"], ["gate", "--help"], ["--version"]):
        ended = redbucket(*words)
        assert (ended.exit_code, ended.err) == (0, "")
        assert ended.out


@pytest.mark.parametrize("option", ["--base", "--head"])
def test_a_revision_that_is_empty_is_no_head(tmp_path: Path, option: str) -> None:
    """In a CI job it is a variable that is not set, and "nothing to judge" would be green."""
    other = "--head" if option == "--base" else "--base"
    ended = Shop.open(tmp_path).refused(other, "main", option, "")
    assert ended.exit_code == 3
    assert f"'{option}': it is empty; is a variable not set?" in ended.err
