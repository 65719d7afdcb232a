"""Which files the fixture commands look at: PATHs, a bare repository, the lock in the work tree."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from redbucket.core.checksums import HEADER
from tests.gitkit import Content, Link, Repo
from tests.stories.kit import Ended, redbucket
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
        assert verify(repo) == (1, {name: "flawed lock refuse"}, [])
        assert verify(repo, TWO) == (0, {}, [])
        repo.git("add", name)
        assert verify(repo) == (0, {}, [])
        repo.git("rm", "-q", "--cached", name)
        repo.write({name: None})
    repo.write({"tests/data/absent.json.sha256": lock({"absent.json": "x"})})
    assert "tests/data/absent.json.sha256" not in verify(repo)[1]


def test_a_sparse_checkout_may_leave_the_lock_out(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/*", f"!/{LOCK}")
    assert not (repo.path / LOCK).exists()
    assert verify(repo) == (0, {}, [])
