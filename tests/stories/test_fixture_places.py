"""Which files the fixture commands look at: PATHs, a bare repository, the lock in the work tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.checksums import HEADER
from tests.gitkit import Content, Link, Repo
from tests.stories.kit import Ended, redbucket, without_rights
from tests.stories.test_fixtures import FILES, LOCK, ONE, TWO, fixtures, lock, moved, sha, verify


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({**FILES, LOCK: lock(FILES), "app.py": "x = 1\n"}, "a locked repository")
    return made


# --- PATHs


@pytest.mark.parametrize(
    "words", [("verify",), ("verify", "--staged"), ("verify", "--rev", "HEAD"), ("diff",)]
)
@pytest.mark.parametrize("path", ["nosuch.json", "tests/data/one.jso", "tests/data/one.json/x"])
def test_a_path_at_which_nothing_is_is_an_error(repo: Repo, words: tuple[str, ...], path: str) -> None:
    """Also beside a right one: a typing error must not look like a verified fixture."""
    for paths in ((path,), (ONE, path)):
        ended = fixtures(repo, *words, *paths)
        assert (ended.exit_code, ended.errors, ended.out) == (3, ["nothing-there"], "")
        assert path in ended.err and ONE not in ended.err.replace(path, "")


def test_a_path_counts_from_the_current_folder(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path / "tests")
    assert redbucket("fixtures", "verify", ONE).errors == ["nothing-there"]
    assert redbucket("fixtures", "verify", "data/one.json").out.startswith("ACCEPTED  1 fixture ")
    assert redbucket("fixtures", "verify", ".").out.startswith("ACCEPTED  2 fixtures ")


def test_a_path_that_only_a_lock_a_commit_or_the_work_tree_has_is_there(repo: Repo) -> None:
    repo.stage({ONE: None})
    repo.write({TWO: None, "tests/data/new": "3\n", LOCK: lock(FILES)})
    assert verify(repo, ONE) == (1, {ONE: "missing refuse"}, [])
    assert verify(repo, TWO) == (1, {TWO: "missing refuse"}, [])
    assert verify(repo, "tests/data/new") == (1, {"tests/data/new": "unlisted refuse"}, [])
    assert verify(repo, "tests/data")[0] == 1
    assert fixtures(repo, "verify", "--staged", "tests/data/new").errors == ["nothing-there"]
    assert moved(repo, ONE, TWO) == {ONE: "gone", TWO: "gone"}
    assert moved(repo, "tests/data/new") == {"tests/data/new": "added"}


def test_a_path_without_a_fixture_is_said(repo: Repo) -> None:
    ended = fixtures(repo, "verify", "app.py")
    assert (ended.exit_code, ended.out) == (0, "") and "no recorded fixture is at app.py" in ended.err
    ended = fixtures(repo, "verify", "app.py", ONE)
    assert ended.out == "ACCEPTED  1 fixture as locked (fixtures.sha256)\n" and "app.py" in ended.err
    report = json.loads(fixtures(repo, "verify", "app.py", "--format", "json").out)
    assert [note["code"] for note in report["notes"]] == ["verified", "nothing-recorded"]
    assert fixtures(repo, "diff", "app.py").out == "no fixture moved\n"


def test_a_path_in_a_repository_without_a_lock(tmp_path: Path) -> None:
    plain = Repo.init(tmp_path / "plain")
    plain.commit(FILES)
    assert fixtures(plain, "verify", "nosuch").errors == ["nothing-there"]
    assert fixtures(plain, "verify", ONE).exit_code == 0


# --- a bare repository


def bare(repo: Repo, *words: str) -> Ended:
    place = repo.path.parent / "bare.git"
    if not place.exists():
        repo.git("clone", "-q", "--bare", str(repo.path), str(place))
    return redbucket("fixtures", words[0], "-C", place, *words[1:])


def test_in_a_bare_repository_head_is_verified(repo: Repo) -> None:
    ended = bare(repo, "verify")
    assert (ended.exit_code, ended.out) == (0, "ACCEPTED  2 fixtures as locked (fixtures.sha256)\n")
    assert bare(repo, "verify", ONE).out.startswith("ACCEPTED  1 fixture ")
    for words in (("verify", "--staged"), ("diff",), ("diff", "--staged"), ("diff", "--base", "HEAD")):
        assert (bare(repo, *words).exit_code, bare(repo, *words).errors) == (3, ["no-work-tree"]), words
    assert bare(repo, "diff", "--base", "HEAD", "--head", "HEAD").out == "no fixture moved\n"


def test_a_bare_repository_whose_head_is_off_its_lock(repo: Repo) -> None:
    repo.commit({ONE: "other\n"})
    ended = bare(repo, "verify")
    assert ended.exit_code == 1 and f"{ONE}\n      mismatch" in ended.out


# --- the lock in the work tree


def checksums_hold(repo: Repo) -> bool:
    done = subprocess.run(["sha256sum", "-c", "--strict", "--status", LOCK], cwd=repo.path, check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (lock(FILES).replace(sha(FILES[ONE] or "").encode(), b"0" * 64), "mismatch refuse"),
        (lock({ONE: FILES[ONE]}), "mismatch refuse"),
        (b"", "mismatch refuse"),
        (lock(FILES) + b"junk\n", "mismatch refuse"),
        (None, "missing refuse"),
        (Link("app.py"), "linked refuse"),
    ],
)
def test_the_lock_in_the_work_tree_is_looked_at(repo: Repo, raw: Content, said: str) -> None:
    """What ``sha256sum -c`` would go by, and what the next ``git add`` takes."""
    repo.write({LOCK: raw})
    assert verify(repo) == (1, {LOCK: said}, [])
    assert verify(repo, "--staged") == verify(repo, "--rev", "HEAD") == (0, {}, [])


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_in_the_place_of_the_lock(repo: Repo, make: Callable[[Path], None]) -> None:
    repo.write({LOCK: None})
    make(repo.path / LOCK)
    assert verify(repo) == (1, {LOCK: "unreadable refuse"}, [])


@pytest.mark.parametrize(
    "raw",
    [
        lock(FILES).replace(b"\n", b"\r\n"),
        b"# locked by Ada\n" + lock(FILES),
        b"".join(sorted(lock(FILES).removeprefix(HEADER).splitlines(keepends=True), reverse=True)),
    ],
)
def test_a_lock_that_says_the_same_in_other_bytes_passes(repo: Repo, raw: bytes) -> None:
    repo.write({LOCK: raw})
    assert verify(repo) == (0, {}, []) and checksums_hold(repo)


def test_a_path_that_the_changed_line_does_not_concern(repo: Repo) -> None:
    repo.write({LOCK: lock({ONE: FILES[ONE]})})
    assert verify(repo, ONE) == (0, {}, [])
    assert verify(repo, TWO) == (1, {LOCK: "mismatch refuse"}, [])
    assert TWO in fixtures(repo, "verify").out


def test_an_accepted_line_is_said_until_it_is_staged(repo: Repo) -> None:
    repo.stage({ONE: "2\n"})
    fixtures(repo, "refresh", ONE, "--accept", f"{ONE}={sha('2' + chr(10))}")
    assert verify(repo) == (1, {ONE: "mismatch refuse", LOCK: "mismatch refuse"}, [])
    repo.git("add", LOCK)
    assert verify(repo) == (0, {}, [])


def test_a_second_lock_that_git_does_not_track(repo: Repo) -> None:
    inner, side = "tests/data/fixtures.sha256", f"{ONE}.sha256"
    for name in (inner, side):
        repo.write({name: lock({"one.json": FILES[ONE]})})
        code, found, undecided = verify(repo)
        assert (code, found) == (2, {}) and undecided[0].startswith(f"{name} is in the work tree alone")
        assert f"add {name}\n" in fixtures(repo, "verify").out
        assert verify(repo, TWO) == (0, {}, [])
        repo.git("add", name)
        assert verify(repo) == (0, {}, [])
        repo.git("rm", "-q", "--cached", name)
        repo.write({name: None})
    repo.write({"tests/data/absent.json.sha256": lock({"other.json": "x"})})  # no lock of anything here
    assert verify(repo)[2] == []


def test_a_sparse_checkout_may_leave_the_lock_out(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/*", f"!/{LOCK}")
    assert not (repo.path / LOCK).exists()
    assert verify(repo) == (0, {}, [])


# --- what is no file


def drift(repo: Repo, *words: str) -> dict[str, Any]:
    """The one fixture that moved."""
    (found,) = json.loads(fixtures(repo, "diff", *words, "--format", "json").out)["fixtures"]
    assert isinstance(found, dict)
    return found


OLD = {"size": len(FILES[ONE] or ""), "sha256": sha(FILES[ONE] or "")}


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (os.mkdir, "a folder"),
        (os.mkfifo, "a pipe"),
        (lambda place: place.symlink_to("two.json"), "link to two.json"),
        (lambda place: place.symlink_to("nowhere"), "link to nowhere"),
    ],
)
def test_what_stands_in_a_fixtures_place_is_named_and_not_measured(
    repo: Repo, make: Callable[[Path], None], what: str
) -> None:
    repo.write({ONE: None, TWO: "other\n"})
    make(repo.path / ONE)
    seen = drift(repo, ONE)
    assert (seen["class"], seen["old"], seen["new"], seen["reason"]) == (
        "opaque",
        OLD,
        None,
        f"a file -> {what}",
    )
    told = fixtures(repo, "diff").out
    assert f"9 bytes {OLD['sha256'][:16]} -> {what}\n" in told and "+other" in told


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_a_file_that_can_not_be_read_is_told_and_the_others_are_shown(repo: Repo) -> None:
    repo.write({TWO: "other\n", "tests/data/new": "3\n"})
    for name in (ONE, "tests/data/new"):
        (repo.path / name).chmod(0)
    ended = without_rights("fixtures", "diff", "-C", repo.path, "--format", "json")
    found = {each["path"]: each for each in json.loads(ended.stdout)["fixtures"]}
    assert found[TWO]["class"] == "opaque" and found["tests/data/new"]["class"] == "added"
    assert (found[ONE]["class"], found[ONE]["old"], found[ONE]["new"]) == ("opaque", OLD, None)
    assert "Permission denied" in found[ONE]["reason"]


def test_untracked_links_and_repositories_do_not_end_the_diff(repo: Repo) -> None:
    inner = Repo(repo.path / "tests/data/emb", repo.home)
    inner.path.mkdir()
    inner.git("init", "-q")
    inner.commit({"x": "1\n"})
    repo.write({"tests/data/ld": Link("/tmp"), TWO: "other\n"})
    told = fixtures(repo, "diff").out
    assert "nothing -> link to /tmp\n" in told and "-two\n" in told
    assert f"tests/data/emb/: added\n      nothing -> repository at commit {inner.head()}\n" in told
    code, found, _ = verify(repo)
    assert (code, found["tests/data/ld"], found["tests/data/emb/"]) == (1, "linked refuse", "unlisted refuse")
    assert "into which git does not look" in fixtures(repo, "verify").out
    assert "not staged" not in fixtures(repo, "lock").err


def test_links_that_git_tracks(repo: Repo) -> None:
    repo.commit({"tests/data/link": Link("one.json")})
    assert moved(repo) == {}
    repo.write({"tests/data/link": Link("two.json")})
    assert drift(repo)["reason"] == "link to one.json -> link to two.json"
    repo.commit({"tests/data/link": "a file now\n"})
    assert moved(repo, "--base", "HEAD~", "--head", "HEAD") == {"tests/data/link": "opaque"}


def test_a_diff_in_a_sparse_checkout(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/*", f"!/{TWO}")
    assert moved(repo) == {TWO: "not materialised"}
    assert "left out by the sparse checkout" in fixtures(repo, "diff").out
    assert moved(repo, "--staged") == moved(repo, "--base", "HEAD", "--head", "HEAD") == {}
    (repo.path / ONE).unlink()
    assert moved(repo) == {ONE: "gone", TWO: "not materialised"}
    oid = repo.git("hash-object", "-w", "--stdin", stdin=b"zwei\n")
    repo.git("update-index", "--cacheinfo", f"100644,{oid},{TWO}")
    repo.git("update-index", "--skip-worktree", TWO)
    assert moved(repo, TWO) == {TWO: "opaque"}  # the index has something to show


# --- submodules


SUB = "tests/data/sub"


@pytest.fixture
def nested(repo: Repo, tmp_path: Path) -> Repo:
    """A repository with a submodule, nothing of which is locked yet."""
    inner = Repo.init(tmp_path / "inner")
    inner.commit({"x.json": "1\n", "deep/y": "y\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), SUB)
    repo.commit({})
    return repo


def test_the_files_of_a_submodule_are_locked_like_others(nested: Repo) -> None:
    code, found, absent = verify(nested)
    assert (code, absent) == (1, [])
    assert found == {f"{SUB}/x.json": "unlisted refuse", f"{SUB}/deep/y": "unlisted refuse"}
    assert moved(nested) == {}
    accepts = [f"{SUB}/x.json={sha('1' + chr(10))}", f"{SUB}/deep/y={sha('y' + chr(10))}"]
    ended = fixtures(nested, "lock")
    assert ended.exit_code == 2 and all(each in ended.err for each in accepts)
    ended = fixtures(nested, "lock", *(word for each in accepts for word in ("--accept", each)))
    assert ended.exit_code == 0, ended.err
    nested.git("add", LOCK)
    nested.commit()
    assert verify(nested) == verify(nested, "--staged") == verify(nested, "--rev", "HEAD") == (0, {}, [])
    nested.write({f"{SUB}/x.json": "2\n", f"{SUB}/new": "3\n"})
    assert verify(nested)[1] == {f"{SUB}/x.json": "mismatch refuse", f"{SUB}/new": "unlisted refuse"}
    assert moved(nested) == {f"{SUB}/x.json": "payload", f"{SUB}/new": "added"}


def test_a_submodule_moves_to_another_commit(nested: Repo) -> None:
    inner = Repo(nested.path / SUB, nested.home)
    old = nested.head()
    inner.commit({"x.json": "2\n", "z": "z\n"})
    both = {f"{SUB}/x.json": "payload", f"{SUB}/z": "added"}
    assert moved(nested) == both
    assert f"{SUB}/z" in verify(nested)[1]
    nested.git("add", SUB)
    assert moved(nested, "--staged") == both
    nested.commit()
    assert moved(nested, "--base", old, "--head", "HEAD") == both


def test_a_submodule_that_is_not_here(nested: Repo) -> None:
    nested.git("submodule", "deinit", "-f", "-q", SUB)
    assert verify(nested) == (2, {}, [SUB])
    told = fixtures(nested, "verify").out
    assert "submodule update --init" in told and "fixtures lock" in told
    assert moved(nested) == {SUB: "not materialised"}
    nested.git("-c", "protocol.file.allow=always", "submodule", "update", "--init", "-q")
    assert verify(nested)[0] == 1 and moved(nested) == {}


def test_a_commit_that_the_submodule_does_not_have(nested: Repo) -> None:
    nested.git("update-index", "--cacheinfo", f"160000,{'1' * 40},{SUB}")
    assert verify(nested, "--staged") == (2, {}, [SUB])
    assert drift(nested, "--staged")["class"] == "opaque"


def test_a_submodule_outside_of_the_fixture_paths_is_its_own_affair(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.init(tmp_path / "inner")
    inner.commit({"tests/cassettes/a.yaml": "a: 1\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "vendor/lib")
    repo.commit({})
    assert verify(repo) == (0, {}, []) and moved(repo) == {}
