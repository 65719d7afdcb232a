"""The SHA-256 of blobs hashed before: used where the policy allows it, and never a wrong answer by accident."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from redbucket.edges import knownids
from tests.gitkit import Repo
from tests.stories.test_fixtures import FILES, LOCK, ONE, TWO, fixtures, lock, verify

ALLOWED = "[fixtures]\nknown_ids = true\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({**FILES, LOCK: lock(FILES), "redbucket.toml": ALLOWED}, "a locked repository that keeps ids")
    return made


def known(repo: Repo) -> Path:
    return repo.path / ".git" / "redbucket" / knownids.NAME


def lose(repo: Repo, path: str) -> None:
    """Take a blob and its file away, so that nothing is left to hash."""
    oid = repo.git("rev-parse", f"HEAD:{path}").strip()
    (repo.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    (repo.path / path).unlink()


def test_what_was_hashed_once_is_not_read_again(repo: Repo) -> None:
    assert verify(repo, "--staged") == (0, {}, [])
    assert known(repo).is_file()
    lose(repo, ONE)
    assert verify(repo, "--staged") == verify(repo, "--rev", "HEAD") == (0, {}, [])
    assert fixtures(repo, "verify").exit_code != 0  # the files themselves are always read


def test_other_bytes_have_another_id(repo: Repo) -> None:
    assert verify(repo, "--staged") == (0, {}, [])
    repo.stage({ONE: "staged\n"})
    assert verify(repo, "--staged") == (1, {ONE: "mismatch refuse"}, [])
    assert verify(repo, "--staged") == (1, {ONE: "mismatch refuse"}, [])  # now known, and still wrong
    assert verify(repo, "--rev", "HEAD") == (0, {}, [])


def test_a_part_adds_to_what_is_known(repo: Repo) -> None:
    assert verify(repo, "--staged", ONE) == verify(repo, "--staged", TWO) == (0, {}, [])
    lose(repo, ONE)
    lose(repo, TWO)
    assert verify(repo, "--staged") == (0, {}, [])


def test_a_bare_repository_keeps_them_too(repo: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git", repo.home)
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(bare.path))
    assert verify(bare, "--rev", "main") == (0, {}, [])
    assert knownids.read(bare.path / "redbucket", "sha1")


def test_nothing_is_kept_or_believed_unasked(repo: Repo) -> None:
    repo.stage({"redbucket.toml": None})
    repo.commit({ONE: "other\n"}, "without leave, and with a wrong fixture")
    assert verify(repo, "--rev", "HEAD")[0] == 1
    assert not known(repo).exists()
    oid = repo.git("rev-parse", f"HEAD:{ONE}").strip()
    locked = hashlib.sha256(b'{"a": 1}\n').hexdigest()
    knownids.write(known(repo).parent, "sha1", {oid: locked})
    assert knownids.read(known(repo).parent, "sha1") == {oid: locked}
    assert verify(repo, "--rev", "HEAD") == verify(repo, "--staged") == (1, {ONE: "mismatch refuse"}, [])


def test_no_branch_gives_itself_the_leave(repo: Repo) -> None:
    repo.commit({"redbucket.toml": None})
    repo.branch("agent/y")
    repo.commit({"redbucket.toml": ALLOWED, ONE: "other\n"})
    oid = repo.git("rev-parse", f"HEAD:{ONE}").strip()
    knownids.write(known(repo).parent, "sha1", {oid: hashlib.sha256(b'{"a": 1}\n').hexdigest()})
    assert verify(repo, "--rev", "HEAD") == verify(repo, "--staged") == (1, {ONE: "mismatch refuse"}, [])


@pytest.mark.parametrize("kind", ["cut", "flipped", "empty", "garbage", "folder", "link", "pipe", "format"])
def test_a_damaged_file_is_as_none(repo: Repo, kind: str) -> None:
    assert verify(repo, "--staged") == (0, {}, [])
    place = known(repo)
    whole = place.read_bytes()
    place.unlink()
    if kind == "cut":
        place.write_bytes(whole[:-60])
    elif kind == "flipped":
        place.write_bytes(whole[:-5] + b"0000\n")
    elif kind == "empty":
        place.write_bytes(b"")
    elif kind == "garbage":
        place.write_bytes(b"\xff\x00" * 500)
    elif kind == "folder":
        place.mkdir()
    elif kind == "link":
        (place.parent / "elsewhere").write_bytes(whole)
        place.symlink_to("elsewhere")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(whole.replace(b" sha1 ", b" sha256 ", 1))
    assert knownids.read(place.parent, "sha1") == {}
    repo.stage({TWO: "staged\n"})
    assert verify(repo, "--staged") == (1, {TWO: "mismatch refuse"}, [])
    ended = fixtures(repo, "verify", "--staged")
    assert ended.exit_code == 1 and "Traceback" not in ended.err


def test_a_folder_that_can_not_be_written_costs_only_time(repo: Repo) -> None:
    (repo.path / ".git" / "redbucket").write_text("in the way\n")
    assert verify(repo, "--staged") == verify(repo, "--staged") == (0, {}, [])
