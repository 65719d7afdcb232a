"""What the fixture commands advise leads somewhere: the advice is followed, and what was said is gone."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from redbucket.core.checksums import HEADER, write
from tests.gitkit import Content, Repo
from tests.stories.kit import redbucket, without_rights
from tests.stories.test_fixtures import FILES, LOCK, ONE, TWO, fixtures, lock, locked, moved, sha, verify


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({**FILES, LOCK: lock(FILES), "app.py": "x = 1\n"}, "a locked repository")
    return made


def remedies(repo: Repo, *words: str) -> dict[str, str]:
    found = json.loads(fixtures(repo, "verify", *words, "--format", "json").out)["findings"]
    return {each["path"]: each["remedy"] for each in found}


def type_(repo: Repo, advice: str, start: str) -> None:
    """Type the command of a remedy that begins with ``start``, as it stands there."""
    command = start + advice.partition(start)[2].partition(";")[0].partition(", and then")[0]
    words = shlex.split(command)
    assert words[0] == "git", advice
    repo.git(*words[1:])


@pytest.mark.parametrize("name", ["it's new.json", "-x y.json", "plain.json"])
def test_commands_can_be_typed_as_they_stand(tmp_path: Path, name: str) -> None:
    repo = Repo.init(tmp_path / "repo")
    path = name if name.startswith("-") else f"tests/data/{name}"
    files: dict[str, Content] = {"redbucket.toml": '[fixtures]\npaths = ["*.json"]\n', path: "1\n"}
    repo.commit({**files, LOCK: lock({path: "1\n"})})
    repo.write({path: "2\n"})
    type_(repo, remedies(repo)[path], "git checkout --")
    assert verify(repo) == (0, {}, [])
    (repo.path / path).unlink()
    type_(repo, remedies(repo)[path], "git checkout --")
    assert verify(repo) == (0, {}, [])
    repo.write({path: "2\n"})
    type_(repo, remedies(repo)[path], "git add ")
    words = shlex.split(remedies(repo)[path].partition("redbucket ")[2])
    assert words[:2] == ["fixtures", "refresh"]
    assert fixtures(repo, *words[1:], "--accept", f"{path}={sha('2' + chr(10))}").exit_code == 0
    repo.git("add", LOCK)
    assert verify(repo) == (0, {}, [])
    repo.write({path: "3\n"})
    repo.git("update-index", "--assume-unchanged", "--", path)
    advice = remedies(repo)[path]
    type_(repo, advice, "git update-index")
    type_(repo, advice, "git checkout --")
    assert verify(repo) == (0, {}, [])
    repo.commit({LOCK: None, path: None})
    repo.commit({LOCK: lock({"other.json": "1\n"}), "other.json": "1\n"})
    repo.write({path: "1\n"})
    type_(repo, remedies(repo)[path], "git add ")
    assert verify(repo)[1] == {path: "duplicated refuse"}


def accept_all(repo: Repo) -> None:
    proposed = sha((repo.path / ".git/redbucket/pending" / LOCK).read_bytes())
    ended = fixtures(repo, "lock", "--accept", f"{LOCK}={proposed}")
    assert ended.exit_code == 0, ended.err
    repo.git("add", LOCK)


@pytest.mark.parametrize(
    "raw",
    [
        lock(FILES).replace(b"\n", b"\0"),
        lock(FILES).replace(b"redbucket lock 1", b"redbucket lock 2"),
        b"\\" + lock(FILES).removeprefix(HEADER).replace(b"tests/", b"tests\\t/", 1),
    ],
)
def test_a_lock_that_can_not_be_read_is_deleted_and_written_anew(repo: Repo, raw: bytes) -> None:
    repo.commit({LOCK: raw})
    for advice in (remedies(repo)[LOCK], fixtures(repo, "lock").err):
        assert "delete it, and let a human write it anew:" in advice and "fixtures lock" in advice
    (repo.path / LOCK).unlink()
    assert fixtures(repo, "lock").exit_code == 2
    accept_all(repo)
    assert verify(repo) == (0, {}, [])


@pytest.mark.parametrize("raw", [b"", b"# locked by Ada\n"])
def test_a_lock_that_lists_nothing_is_filled(repo: Repo, raw: bytes) -> None:
    repo.commit({LOCK: raw})
    assert "redbucket fixtures lock" in remedies(repo)[LOCK]
    assert fixtures(repo, "lock").exit_code == 2
    accept_all(repo)
    assert verify(repo) == (0, {}, []) and raw in (repo.path / LOCK).read_bytes()


def test_a_sidecar_is_written_anew(repo: Repo) -> None:
    name = "tests/data/it's here"
    side = f"{name}.sha256"
    repo.commit({name: "x\n", side: lock({"other": "x\n", "it's here": "x\n"})})
    advice = remedies(repo)[side]
    command = advice.removeprefix("write it anew, in its folder: ")
    assert command != advice
    subprocess.run(["bash", "-c", command], cwd=(repo.path / side).parent, check=True)
    repo.git("add", side)
    assert verify(repo) == (0, {}, [])


@pytest.mark.parametrize("name", ["back\\slash", "new\nline", "cr\r"])
def test_a_name_that_no_lock_can_hold_is_to_be_renamed(repo: Repo, name: str) -> None:
    path = f"tests/data/{name}"
    repo.write({path: "x\n", "tests/data/plain": "y\n"})
    for words in ((), ("--staged",)):
        assert remedies(repo, *words)[path].startswith("rename it")
        assert "fixtures lock" in remedies(repo, *words)["tests/data/plain"]
        repo.git("add", "-A")
    repo.write({path: "two\n"})
    repo.git("add", "-A")
    assert verify(repo, path)[1] == {path: "duplicated refuse"} and remedies(repo, path)[path].startswith(
        "rename"
    )


def test_words_that_git_itself_puts_into_a_file(repo: Repo) -> None:
    text = "a\n$Id$\n"
    files: dict[str, Content] = {**FILES, TWO: text}
    repo.commit({".gitattributes": "*.json ident\n", TWO: text, LOCK: lock(files)})
    (repo.path / TWO).unlink()
    repo.git("checkout", "--", TWO)
    assert repo.git("status", "--porcelain") == "" and b"$Id: " in (repo.path / TWO).read_bytes()
    assert "give it -ident" in remedies(repo)[TWO]
    repo.commit({".gitattributes": "*.json -ident\n"})
    (repo.path / TWO).unlink()
    repo.git("checkout", "--", TWO)
    assert verify(repo) == (0, {}, [])
    repo.write({TWO: "b\n$Id: 1 $\n"})
    assert remedies(repo)[TWO].startswith("if it is meant: git add")


@pytest.mark.parametrize(
    ("attribute", "named"),
    [("working-tree-encoding=UTF-16LE", "working-tree-encoding"), ("filter=up", "the filter up")],
)
def test_a_file_that_an_attribute_has_git_rewrite(repo: Repo, attribute: str, named: str) -> None:
    repo.git("config", "filter.up.smudge", "tr a-z A-Z")
    repo.git("config", "filter.up.clean", "tr A-Z a-z")
    repo.commit({".gitattributes": f"two.json {attribute}\n"})
    (repo.path / TWO).unlink()
    repo.git("checkout", "--", TWO)
    assert repo.git("status", "--porcelain") == ""
    advice = remedies(repo)
    assert advice.keys() == {TWO} and f"take {named} off it in .gitattributes" in advice[TWO]
    repo.commit({".gitattributes": ""})
    (repo.path / TWO).unlink()
    repo.git("checkout", "--", TWO)
    assert verify(repo) == (0, {}, [])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_a_closed_lock_that_git_does_not_have(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", LOCK)
    (repo.path / LOCK).chmod(0)
    ended = without_rights("fixtures", "verify", "-C", repo.path)
    assert ended.returncode == 2 and LOCK in ended.stdout and "bug" not in ended.stderr


@pytest.mark.parametrize("bit", ["assume-unchanged", "skip-worktree"])
def test_a_file_at_which_git_is_told_not_to_look(repo: Repo, bit: str) -> None:
    repo.write({ONE: "2\n", TWO: "3\n"})
    repo.git("update-index", f"--{bit}", ONE)
    advice = remedies(repo)
    assert (
        advice[TWO].startswith("if it is meant: git add")
        and "--no-assume-unchanged --no-skip-worktree" in advice[ONE]
    )
    repo.git("update-index", "--no-assume-unchanged", ONE)
    repo.git("update-index", "--no-skip-worktree", ONE)
    repo.git("add", ONE)
    assert "redbucket fixtures refresh" in remedies(repo)[ONE]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_an_index_that_can_not_be_read(repo: Repo) -> None:
    (repo.path / ".git/index").chmod(0)
    ended = without_rights("fixtures", "verify", "-C", repo.path)
    (repo.path / ".git/index").chmod(0o644)
    assert (
        ended.returncode == 4 and "[not-readable]" in ended.stderr and "REDBUCKET_TMPDIR" not in ended.stderr
    )


# --- two things said of one file


def test_a_lock_that_says_two_things_of_one_file_says_nothing_of_its_bytes(repo: Repo) -> None:
    twice = lock(FILES) + f"{sha('two' + chr(10))}  {ONE}\n".encode()
    repo.commit({LOCK: twice})
    assert verify(repo) == (1, {LOCK: "flawed lock refuse"}, [])
    repo.commit({TWO: "zwei\n", LOCK: twice})
    assert verify(repo) == (1, {LOCK: "flawed lock refuse", TWO: "mismatch refuse"}, [])
    same = lock(FILES) + f"{sha(FILES[ONE] or '')}  {ONE}\n".encode()
    repo.commit({ONE: "2\n", LOCK: same})
    assert verify(repo)[1] == {LOCK: "flawed lock refuse", ONE: "mismatch refuse", TWO: "mismatch refuse"}


# --- lock writes what its reader takes


@pytest.mark.parametrize("twin", ["tests/data/ONE.json", "tests/data/\u0130ne.json", "TESTS/data/one.json"])
def test_a_twin_is_not_locked(repo: Repo, twin: str) -> None:
    other = "tests/data/i\u0307ne.json"
    if "\u0130" in twin:
        repo.commit({other: "i\n", LOCK: lock({**FILES, other: "i\n"})})
    before = (repo.path / LOCK).read_bytes()
    repo.stage({twin: "x\n", "tests/data/free": "f\n"})
    ended = fixtures(repo, "lock", twin, "--accept", f"{twin}={sha('x' + chr(10))}")
    assert (ended.exit_code, ended.errors) == (3, ["twin-name"])
    assert (repo.path / LOCK).read_bytes() == before
    # what is no twin is locked all the same
    ended = fixtures(repo, "lock", "tests/data/free", "--accept", f"tests/data/free={sha('f' + chr(10))}")
    assert ended.exit_code == 0, ended.err


def test_a_twin_in_another_lock_is_not_locked_and_a_refresh_goes_on(repo: Repo) -> None:
    inner, twin = "tests/fixtures.sha256", "TESTS/data/ONE.json"
    repo.commit({LOCK: lock({TWO: FILES[TWO]}), inner: write({"data/one.json": sha(FILES[ONE] or "")})})
    assert verify(repo) == (0, {}, [])
    rules = '[fixtures]\npaths = ["tests/data/**", "TESTS/data/**"]\n'
    repo.commit({"redbucket.toml": rules, twin: "x\n"})
    ended = fixtures(repo, "lock", "--accept", f"{twin}={sha('x' + chr(10))}")
    assert ended.errors == ["twin-name"]
    repo.stage({TWO: "zwei\n"})
    assert fixtures(repo, "refresh", TWO, "--accept", f"{TWO}={sha('zwei' + chr(10))}").exit_code == 0


# --- what git only intends to add, and folders that it can't open


def test_a_file_that_git_only_intends_to_add_is_not_staged(repo: Repo) -> None:
    new, empty = "tests/data/new", "tests/data/empty"
    repo.write({new: "3\n", empty: ""})
    repo.git("add", "-N", new)
    repo.git("add", empty)
    ended = fixtures(repo, "lock")
    assert f"--accept {empty}={sha('')}" in ended.err and f"{new}={sha('')}" not in ended.err
    (command,) = [row.strip().removeprefix("$ ") for row in ended.err.splitlines() if " add " in row]
    assert shlex.split(command)[-1] == f":/{new}"
    assert fixtures(repo, "lock", new).errors == ["not-staged"]
    assert verify(repo) == (1, {new: "unlisted refuse", empty: "unlisted refuse"}, [])
    assert verify(repo, "--staged") == (1, {empty: "unlisted refuse"}, [])
    assert moved(repo) == {new: "added", empty: "added"}
    assert moved(repo, "--staged") == {empty: "added"}
    repo.git("add", new)
    ended = fixtures(repo, "lock", "--accept", f"{new}={sha('3' + chr(10))}")
    assert ended.exit_code == 0 and locked(repo)[new] == sha("3\n")


def test_an_intended_file_in_the_place_of_one_that_head_has(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", ONE)
    repo.git("add", "-N", ONE)
    assert verify(repo, "--staged") == (1, {ONE: "missing refuse"}, [])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_a_folder_that_can_not_be_looked_into(repo: Repo) -> None:
    for folder in ("tests/data/closed", "var/closed"):
        repo.write({f"{folder}/new": "x\n"})
        (repo.path / folder).chmod(0)
    ended = without_rights("fixtures", "verify", "-C", repo.path)
    told = without_rights("fixtures", "diff", "-C", repo.path)
    alone = without_rights("fixtures", "verify", "-C", repo.path, ONE)
    for folder in ("tests/data/closed", "var/closed"):
        (repo.path / folder).chmod(0o755)
    assert ended.returncode == 1 and "tests/data/closed/\n      unreadable: this folder" in ended.stdout
    assert "var" not in ended.stdout
    assert "tests/data/closed/: added\n      nothing -> a folder that can't be read" in told.stdout
    assert alone.returncode == 0, alone.stdout
    assert redbucket("fixtures", "verify", "-C", repo.path).exit_code == 1  # open, its file is unlisted
