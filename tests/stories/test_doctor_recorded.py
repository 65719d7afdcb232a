"""``doctor`` and recorded fixtures: their lock, who may rewrite them, how a checkout changes them; and freezes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from redbucket.app.recorded_health import checks
from redbucket.app.session import session
from redbucket.core.attributes import Attributes
from redbucket.core.checksums import write
from redbucket.edges.progress import Progress
from redbucket.engine.doctor import Check
from redbucket.engine.doctor_recorded import line_ends
from redbucket.engine.protected import policy_at
from tests.gitkit import Content, Repo

ONE, LOCK = "tests/data/one.json", "fixtures.sha256"
TEXT = '{"a": 1}\n'
FILES: dict[str, Content] = {
    ONE: TEXT,
    LOCK: write({ONE: hashlib.sha256(TEXT.encode()).hexdigest()}),
    ".gitattributes": "tests/data/** -text\n",
}
FIXER = "repos:\n- repo: x\n  hooks:\n  - id: end-of-file-fixer\n    exclude: {}\n"


def look(repo: Repo) -> dict[str, Check]:
    with session(repo.path, Progress(quiet=True, steps=False)) as opened:
        scratch = opened.scratch
        head = opened.repository.resolve("HEAD")
        entries = scratch.entries(scratch.tree_of(head))
        return {check.check: check for check in checks(opened, entries, policy_at(scratch, head))}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit(FILES)
    return made


def states(repo: Repo) -> dict[str, str]:
    return {name: check.state.value for name, check in look(repo).items()}


def test_all_is_well(repo: Repo) -> None:
    repo.write({".pre-commit-config.yaml": FIXER.format("^tests/")})
    found = look(repo)
    assert {name: check.state.value for name, check in found.items()} == {
        "fixture-lock": "ok",
        "freezes": "ok",
    }
    assert "1 fixture is listed" in found["fixture-lock"].detail


def test_the_lock_is_verified(repo: Repo) -> None:
    repo.commit({ONE: "other\n"})
    check = look(repo)["fixture-lock"]
    assert check.state.value == "fail" and ONE in check.detail and "mismatch" in check.detail
    repo.commit({ONE: TEXT})
    repo.write({ONE: "edited\n"})
    assert states(repo)["fixture-lock"] == "fail"
    repo.commit({ONE: TEXT, LOCK: None})
    assert states(repo)["fixture-lock"] == "warn"
    repo.commit({ONE: None})
    assert states(repo) == {"fixture-lock": "ok", "freezes": "ok"}


def test_fixtures_that_are_not_here_are_no_failure(repo: Repo) -> None:
    sha = hashlib.sha256(TEXT.encode()).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha}\nsize 9\n"
    repo.commit({ONE: pointer, ".gitattributes": f"{ONE} filter=lfs -text\n"})
    check = look(repo)["fixture-lock"]
    assert check.state.value == "warn" and "git lfs pull" in check.remedy


def test_fixers_of_pre_commit(repo: Repo) -> None:
    repo.write({".pre-commit-config.yaml": FIXER.format("^docs/")})
    check = look(repo)["fixture-fixers"]
    assert check.state.value == "warn"
    assert f"end-of-file-fixer gets {ONE}" in check.detail and "exclude" in check.remedy
    repo.write({".pre-commit-config.yaml": "[[["})
    assert "fixture-fixers" not in look(repo)


@pytest.mark.parametrize(
    ("attributes", "warned"),
    [
        (None, True),
        ("* text=auto\n", True),
        ("*.json text eol=crlf\n", True),
        ("tests/** -text\ntests/data/*.json text\n", True),
        ("tests/** binary\n", False),
        ("* text=auto eol=lf\n", False),
        ("tests/data/** -text\n", False),
    ],
)
def test_line_ends(repo: Repo, attributes: str | None, warned: bool) -> None:
    repo.commit({".gitattributes": attributes})
    found = look(repo)
    assert ("fixture-line-ends" in found) is warned
    if warned:
        assert "tests/data/** -text" in found["fixture-line-ends"].remedy


def test_line_ends_are_pinned_by_the_patterns_that_reach_the_fixtures(repo: Repo) -> None:
    policy = '[fixtures]\npaths = ["a/**", "b/**", "c/**", "!tests/data/x", "tests/data/*.json", "tests/my data/**"]\n'
    repo.commit({"redbucket.toml": policy, "tests/my data/y.txt": "1\n", ".gitattributes": None})
    remedy = look(repo)["fixture-line-ends"].remedy
    assert remedy.endswith(': tests/data/*.json -text, "tests/my data/**" -text'), remedy
    lines = remedy.partition(": ")[2].split(", ")
    repo.commit({".gitattributes": "\n".join(lines) + "\n"})
    assert "fixture-line-ends" not in look(repo)


def test_many_patterns_are_not_all_told() -> None:
    check = line_ends(Attributes([]), [f"d{n}/a.txt" for n in range(50)], [f"d{n}/**" for n in range(60)])
    assert check is not None
    assert check.remedy == (
        "give each of [fixtures] paths a line in .gitattributes: d0/** -text, d1/** -text, d2/** -text, and so on"
    )


def test_what_has_no_line_ends_is_not_changed_by_any(repo: Repo) -> None:
    files: dict[str, Content] = {ONE: "{}", "tests/data/b.npz": b"\0\n", ".gitattributes": None, LOCK: None}
    repo.commit(files)
    assert "fixture-line-ends" not in look(repo)


def test_freezes_are_checked(repo: Repo) -> None:
    repo.write({"flakes.toml": '["tests/test_x.py::test_y"]\nowner = "ada"\n'})
    check = look(repo)["freezes"]
    assert check.state.value == "fail" and "test_y" in check.detail
