"""A project that keeps its fixtures in Git LFS: with git-lfs, without it, and with contents that are not here."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.checksums import write
from redbucket.edges import staged
from tests.gitkit import Repo
from tests.stories.kit import Ended, redbucket

ONE, TWO, LOCK = "tests/data/one.json", "tests/data/two.json", "fixtures.sha256"
OLD, NEW = '{"a": 1}\n', '{"a": 2}\n'
ATTRIBUTES = "tests/data/*.json filter=lfs diff=lfs merge=lfs -text\n"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def pointer_to(text: str) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha(text)}\nsize {len(text)}\n"


def place(repo: Repo, text: str) -> Path:
    name = sha(text)
    return repo.path / ".git/lfs/objects" / name[:2] / name[2:4] / name


def real(repo: Repo) -> None:
    """Let git-lfs itself clean and smudge."""
    repo.git("lfs", "install", "--local")


def told(repo: Repo) -> None:
    """What git-lfs would leave, by a clean filter of our own: a pointer staged, the content in its folder."""
    for text in (OLD, NEW, "[]\n"):
        place(repo, text).parent.mkdir(parents=True, exist_ok=True)
        place(repo, text).write_text(text)
    script = repo.path / ".git/clean"
    script.write_text(
        "import hashlib, sys\nraw = sys.stdin.buffer.read()\n"
        "print(f'version https://git-lfs.github.com/spec/v1\\noid sha256:{hashlib.sha256(raw).hexdigest()}\\n"
        "size {len(raw)}')\n"
    )
    repo.git("config", "filter.lfs.clean", f"python3 {script}")
    # as git-lfs leaves it; nothing of redbucket's may start it
    repo.git("config", "filter.lfs.required", "true")


@pytest.fixture(params=[real, told])
def repo(tmp_path: Path, request: pytest.FixtureRequest) -> Repo:
    keep: Callable[[Repo], None] = request.param
    if keep is real and shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not installed")
    made = Repo.init(tmp_path / "repo")
    keep(made)
    made.write({".gitattributes": ATTRIBUTES, ONE: OLD, TWO: "[]\n"})
    made.write({LOCK: write({ONE: sha(OLD), TWO: sha("[]\n")}).decode()})
    made.git("add", "-A")
    made.commit()
    assert made.git("cat-file", "blob", f"HEAD:{ONE}") + "\n" == pointer_to(OLD)
    return made


def fixtures(repo: Repo, *words: str) -> Ended:
    return redbucket("fixtures", words[0], "-C", repo.path, *words[1:])


def moved(repo: Repo, *words: str) -> list[tuple[str, str, int, int]]:
    found = json.loads(fixtures(repo, "diff", *words, "--format", "json").out)["fixtures"]
    return [(each["path"], each["class"], each["old"]["size"], each["new"]["size"]) for each in found]


def test_a_clean_checkout_is_quiet(repo: Repo) -> None:
    for words in ([], ["--staged"], ["--rev", "HEAD"]):
        ended = fixtures(repo, "verify", *words)
        assert (ended.exit_code, ended.out) == (0, "ACCEPTED  2 fixtures as locked (fixtures.sha256)\n")
    assert fixtures(repo, "diff").out == fixtures(repo, "diff", "--staged").out == "no fixture moved\n"
    assert fixtures(repo, "refresh", ONE).out.startswith("nothing to do")


def test_what_moved_is_compared_by_its_content(repo: Repo) -> None:
    repo.write({ONE: NEW})
    assert moved(repo) == [(ONE, "payload", 9, 9)]
    assert fixtures(repo, "refresh", ONE).errors == ["not-staged"]
    repo.git("add", "-A")
    assert moved(repo) == moved(repo, "--staged") == [(ONE, "payload", 9, 9)]
    ended = fixtures(repo, "verify")
    assert ended.exit_code == 1 and ended.out.count("mismatch:") == 1
    ended = fixtures(repo, "refresh", ONE)
    assert "/a: 1 -> 2" in ended.out and f"{sha(OLD)} -> {sha(NEW)}" in ended.out
    assert fixtures(repo, "refresh", ONE, "--accept", f"{ONE}={sha(NEW)}").exit_code == 0
    repo.git("add", LOCK)
    assert fixtures(repo, "verify").exit_code == fixtures(repo, "verify", "--staged").exit_code == 0
    repo.commit()
    assert moved(repo, "--base", "HEAD~1", "--head", "HEAD") == [(ONE, "payload", 9, 9)]


def test_without_the_content_its_size_and_checksum_are_told(repo: Repo) -> None:
    place(repo, OLD).unlink()
    repo.write({ONE: NEW})
    repo.git("add", "-A")
    assert moved(repo) == [(ONE, "not materialised", 9, 9)]
    out = fixtures(repo, "refresh", ONE).out
    assert "not materialised" in out and f"9 bytes {sha(OLD)[:16]} -> 9 bytes {sha(NEW)[:16]}" in out
    repo.write({ONE: OLD})
    assert moved(repo) == []  # the file is what the old pointer says
    repo.write({ONE: pointer_to(OLD)})
    ended = fixtures(repo, "verify")
    assert (ended.exit_code, moved(repo)) == (1, [])


def test_no_filter_is_started(repo: Repo) -> None:
    """git-lfs may be missing where fixtures are looked at; and a filter is a program of somebody's."""
    plain = "tests/data/plain.txt"
    repo.commit({plain: "1\n"})
    repo.write({ONE: NEW, LOCK: write({ONE: sha(OLD), TWO: sha("[]\n"), plain: sha("1\n")})})
    for key in ("clean", "smudge", "process"):
        repo.git("config", f"filter.lfs.{key}", "no-such-program-7")
    for words in (["verify"], ["diff"], ["refresh", ONE], ["lock"]):
        assert fixtures(repo, *words).exit_code in (0, 1, 3), words
    assert fixtures(repo, "refresh", ONE).errors == ["not-staged"]
    repo.write({ONE: OLD})
    assert fixtures(repo, "refresh", ONE).out.startswith("nothing to do")
    repo.git("config", "filter.own.process", "no-such-program-8")
    repo.git("config", "filter.own.required", "true")
    repo.write({plain: "2\n"})
    assert fixtures(repo, "refresh", plain).errors == ["not-staged"]
    repo.write({".gitattributes": "*.txt filter=own\n"})
    assert fixtures(repo, "refresh", plain).exit_code == 0  # its filter alone knows what would be staged


def test_many_pointers_cost_no_process_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, ...]] = []

    def counted(folder: Path, extra: object, *words: str, **more: Any) -> Any:
        calls.append(words)
        return git(folder, extra, *words, **more)

    git = staged._git
    monkeypatch.setattr(staged, "_git", counted)
    counts = []
    for many in (3, 40):
        made = Repo.init(tmp_path / str(many))
        texts = {f"tests/data/{n}.json": f"[{n}]\n" for n in range(many)}
        made.commit({path: pointer_to(text) for path, text in texts.items()})
        lock = write({path: sha(text) for path, text in texts.items()})
        made.commit({LOCK: lock, ".gitattributes": ATTRIBUTES})
        calls.clear()
        assert fixtures(made, "verify").exit_code == 2
        assert fixtures(made, "verify", "--staged").exit_code == 0
        counts.append(len(calls))
    assert counts[0] == counts[1]
