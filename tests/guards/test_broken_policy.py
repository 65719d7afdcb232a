from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.app.session import session
from redbucket.edges.progress import Progress
from redbucket.engine.subject import Request
from tests.gitkit import Link, Repo


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[gate]\nprotected_branch = ["main"]\n', "protected_branch"),
        ("[run]\nreruns = 0\n", "reruns"),
        ("[gate\n", "redbucket.toml"),
        (Link("elsewhere.toml"), "link"),
    ],
)
def test_a_policy_that_can_not_be_read_may_not_land_whoever_wrote_it(
    tmp_path: Path, text: str, says: str
) -> None:
    (finding,) = found(tmp_path, {"redbucket.toml": text})
    assert says in finding
    # or every later judgement would end with an error, the repair's too


@pytest.mark.parametrize(
    "files",
    [
        {"redbucket.toml": '[gate]\nprotected_branches = ["main", "next"]\n'},
        {"redbucket.toml": None},
        {"a.py": "x = 2\n"},
    ],
)
def test_a_readable_policy_passes(tmp_path: Path, files: dict[str, str | None]) -> None:
    assert found(tmp_path, files) == []


def found(tmp_path: Path, files: dict[str, str | None]) -> list[str]:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": "x = 1\n", "redbucket.toml": "[run]\nreruns = 3\n"})
    repo.branch("policy")
    repo.commit(files)
    with session(repo.path, Progress(quiet=True, steps=False)) as opened:
        report = opened.guard(Request(base="main", head="policy"), ["broken-policy"])
    return [finding.reason for finding in report.findings]
