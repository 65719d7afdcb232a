"""Bad input for the fixture commands: one clear finding or error, never a traceback, never silently green."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from redbucket.core.checksums import write
from redbucket.formats.clean import utf8
from tests.gitkit import Content, Repo
from tests.stories.kit import Ended, redbucket, without_rights

LOCK = "fixtures.sha256"
ONE = "tests/data/one.json"


def sha(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({ONE: "1\n", LOCK: write({ONE: sha("1\n")})})
    return made


def fixtures(repo: Repo, *words: str) -> Ended:
    ended = redbucket("fixtures", words[0], "-C", repo.path, *words[1:])
    assert "Traceback" not in ended.err + ended.out and ended.exit_code in (0, 1, 2, 3)
    return ended


def moved(repo: Repo, *words: str) -> list[tuple[str, str]]:
    found = json.loads(fixtures(repo, "diff", *words, "--format", "json").out)["fixtures"]
    return [(each["path"], each["class"]) for each in found]


def put(repo: Repo, name: bytes, data: bytes = b"x\n") -> None:
    place = repo.path / "tests/data" / os.fsdecode(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


@pytest.mark.parametrize(
    "name",
    [
        *(
            b" lead",
            b"trail ",
            b"a b",
            b"-rf",
            b"--help",
            b"*",
            b"[a]",
            b"#hash",
            b"q\"'",
            b"tab\t",
            b"back\\slash",
        ),
        *(b"new\nline", b"cr\r", b"caf\xe9", "caf\u00e9".encode(), b"$(touch x)", b"a;b", b"%s", b"deep/-/*"),
        *("\u202efdp".encode(), b"\x1b[31mred"),
    ],
)
def test_odd_names_are_seen_told_and_locked_or_refused(repo: Repo, name: bytes) -> None:
    put(repo, name)
    path = f"tests/data/{os.fsdecode(name)}"
    told = fixtures(repo, "verify")  # not tracked yet
    assert told.exit_code == 1 and "unlisted" in told.out and "\x1b" not in told.out
    repo.git("add", "-A")
    assert fixtures(repo, "verify", "--staged").exit_code == 1
    assert "added" in fixtures(repo, "diff", "--staged").out
    report = json.loads(fixtures(repo, "verify", "--format", "json").out)
    assert len(report["findings"]) == 1
    before = repo.head()
    repo.commit()
    told = fixtures(repo, "verify", "--rev", "HEAD")
    assert told.exit_code == 1 and "unlisted" in told.out
    assert moved(repo, "--base", before, "--head", "HEAD") == [(utf8(path), "added")]
    assert moved(repo) == []
    if set(name) & set(b"\\\n\r"):
        assert fixtures(repo, "lock").errors == ["unlockable-name"]
        return
    accepted = fixtures(repo, "lock", "--accept", f"{path}={sha(b'x' + bytes([10]))}")
    assert accepted.exit_code == 0, accepted.err
    repo.git("add", LOCK)
    assert fixtures(repo, "verify").exit_code == 0
    repo.commit()
    assert fixtures(repo, "verify", "--rev", "HEAD").exit_code == 0
    done = subprocess.run(["sha256sum", "-c", "--strict", "--quiet", LOCK], cwd=repo.path, check=False)
    assert done.returncode == 0
    put(repo, name, b"y\n")
    assert moved(repo) == [(utf8(path), "payload")]


@pytest.mark.parametrize("twin", ["TESTS/DATA/ONE.JSON", "tests/data/ONE.json"])
def test_case_twins(repo: Repo, twin: str) -> None:
    files: dict[str, Content] = {twin: "1\n"}
    repo.commit(files)
    told = fixtures(repo, "verify", "--staged")
    assert told.exit_code == (1 if twin.startswith("tests/data") else told.exit_code)
    lock = write({ONE: sha("1\n")}) + f"{sha('1' + chr(10))}  {twin}\n".encode()
    repo.commit({LOCK: lock})
    told = fixtures(repo, "verify", "--staged")
    assert told.exit_code == 1 and "folds case" in told.out


def test_nfc_and_nfd_twins(repo: Repo) -> None:
    repo.commit({"tests/data/caf\u00e9": "1\n", "tests/data/cafe\u0301": "2\n"})
    told = fixtures(repo, "verify", "--staged")
    assert told.exit_code == 1 and "normalises" in told.out


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"# nothing\n",
        b"\xef\xbb\xbf" + write({ONE: sha("1\n")}, header=False),
        write({ONE: sha("1\n")}, header=False).replace(b"\n", b"\0"),
        write({ONE: sha("1\n")}, header=False).replace(b"  ", b" "),
        write({ONE: sha("1\n")}).decode().encode("utf-16"),
        b"\0" * 1000,
        b"a" * 100_000,
        b"\xff" * 64 + b"  x\n",
    ],
)
def test_locks_that_can_not_be_trusted(repo: Repo, raw: bytes) -> None:
    repo.commit({LOCK: raw})
    for command in ("verify", "lock", "refresh"):
        told = fixtures(repo, command, *(() if command != "refresh" else (ONE,)))
        assert told.exit_code != 0, command


def test_a_lock_with_carriage_returns_is_taken(repo: Repo) -> None:
    repo.commit({LOCK: write({ONE: sha("1\n")}).replace(b"\n", b"\r\n")})
    assert fixtures(repo, "verify").exit_code == 0


def test_a_folder_a_pipe_and_a_link_in_the_place_of_the_lock(repo: Repo) -> None:
    place = repo.path / LOCK
    for make in (place.mkdir, lambda: os.mkfifo(place), lambda: place.symlink_to("/etc/passwd")):
        place.unlink() if place.is_file() or place.is_symlink() else None
        make()
        repo.write({ONE: "2\n"})
        assert fixtures(repo, "verify").exit_code == 1
        assert fixtures(repo, "lock").errors == ["not-a-file"]
        place.rmdir() if place.is_dir() else place.unlink()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_a_closed_file_and_a_closed_folder(repo: Repo) -> None:
    place = repo.path / ONE
    for closed in (place, place.parent):
        mode = closed.stat().st_mode
        closed.chmod(0)
        told = without_rights("fixtures", "verify", "-C", repo.path)
        closed.chmod(mode)
        assert (
            told.returncode == 1 and f"{ONE}\n      unreadable: in the work tree: unreadable" in told.stdout
        )


# Not getrusage: on Linux its maximum is that of the process before exec, too, which is the tests' own.
_MEASURED = """
import pathlib, resource, sys
from redbucket.cli import main
code = main(sys.argv[1:])
status = pathlib.Path("/proc/self/status")
if status.exists():
    peak = status.read_text().partition("VmHWM:")[2].split()[0]
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(code, peak)
"""


def peak(repo: Repo, *words: str) -> tuple[int, int]:
    """Return the exit code and the peak of the resident memory of redbucket's own process, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, "fixtures", *words, "-C", str(repo.path), "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    )
    code, kibibytes = done.stdout.split()[-2:]
    return int(code), int(kibibytes) >> (20 if sys.platform == "darwin" else 10)


def sparse(repo: Repo, size: int) -> None:
    with (repo.path / "tests/data/big.bin").open("wb") as stream:
        stream.truncate(size)


def test_a_large_fixture_is_streamed(repo: Repo) -> None:
    """Four times the size, no more memory: the file, and then the blob alone."""
    seen = {}
    for size in (16 << 20, 256 << 20):
        sparse(repo, size)
        repo.git("-c", "core.compression=1", "-c", "core.bigFileThreshold=1m", "add", "-A")
        _, seen[size] = peak(repo, "verify")
        (repo.path / "tests/data/big.bin").unlink()
        code, blob = peak(repo, "verify", "--staged")  # no file vouches: the blob itself is read
        assert code == 1 and blob < 150
    assert max(seen.values()) < 150


def test_what_is_too_large_to_be_read_is_said_by_its_own_size_and_checksum(repo: Repo) -> None:
    """Not by those of a text that stands for it; and nothing is called new that is only large."""
    big, size = "tests/data/big.bin", (64 << 20) + 1
    sparse(repo, size)
    repo.git("-c", "core.compression=1", "add", "-A")
    old = sha(bytes(size))
    repo.commit({LOCK: write({ONE: sha("1\n"), big: old})})
    with (repo.path / big).open("r+b") as stream:
        stream.seek(size - 1)
        stream.write(b"x")
    new = sha(bytes(size - 1) + b"x")
    sides = {"old": {"size": size, "sha256": old}, "new": {"size": size, "sha256": new}}
    for words in (["diff"], ["diff", "--staged"]):
        (moved,) = json.loads(fixtures(repo, *words, "--format", "json").out)["fixtures"]
        assert moved["class"] == "opaque" and {key: moved[key] for key in sides} == sides
        repo.git("-c", "core.compression=1", "add", "-A")
    said = fixtures(repo, "refresh", big).out
    assert f"{size:,} bytes {old[:16]} -> {size:,} bytes {new[:16]}" in said and "not in the last" not in said
    repo.git("rm", "-q", "--cached", big)
    assert fixtures(repo, "diff", "--staged").out.count(f"{size:,} bytes {old[:16]} -> nothing") == 1


@pytest.mark.slow
def test_a_fixture_of_five_gibibytes(repo: Repo) -> None:
    sparse(repo, 5 << 30)
    repo.git("-c", "core.compression=1", "-c", "core.bigFileThreshold=1m", "add", "-A")
    proposed = redbucket("fixtures", "lock", "-C", repo.path)
    line = next(line for line in proposed.err.splitlines() if "big.bin=" in line)
    dollar, name, *words = line.split()  # the command as it is printed
    assert (dollar, name) == ("$", "redbucket")
    assert redbucket(*words).exit_code == 0
    repo.git("add", LOCK)
    assert peak(repo, "verify")[0] == 0
    assert peak(repo, "verify")[1] < 150
    assert peak(repo, "diff")[1] < 150
