"""protected-path on a real repository: every kind of change of every kind of protected file."""

from __future__ import annotations

import pytest

from tests.gitkit import Content, Executable, Link, Repo
from tests.guards.attacked import Attacked, Edits, gravest

POLICY = """\
[run]
command = ["./scripts/check.sh", "-x"]
prepare = [["make", "ext"]]
[protect]
paths = ["secure/**"]
"""
BASE: dict[str, Content] = {
    "redbucket.toml": POLICY,
    "flakes.toml": "",
    "fixtures.sha256": "",
    ".redbucket/allowed_signers": "",
    ".pre-commit-config.yaml": "repos: []\n",
    ".github/workflows/ci.yml": "on: push\n",
    ".github/CODEOWNERS": "* @ada\n",
    ".gitlab-ci.yml": "x: 1\n",
    ".claude/settings.json": "{}\n",
    ".cursor/hooks.json": "{}\n",
    ".codex/config.toml": "",
    "scripts/check.sh": "pytest\n",
    "Makefile": "ext:\n",
    "secure/keys.py": "X = 1\n",
    "src/lib.py": "X = 1\n",
    "docs/a.md": "a\n",
}
OTHERS = sorted(BASE.keys() - {"redbucket.toml", "src/lib.py", "docs/a.md"})


def submodule(path: str) -> Edits:
    def edit(repo: Repo) -> None:
        repo.git("rm", "-rq", "--cached", path)
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{'6' * 40},{path}")

    return edit


def folder_link(repo: Repo) -> None:
    repo.git("rm", "-rq", ".redbucket")
    repo.stage({"mine/allowed_signers": "x\n", ".redbucket": Link("mine")})


KINDS: dict[str, Edits] = {
    "changed": {"redbucket.toml": POLICY + "# more\n"},
    "deleted": {"redbucket.toml": None},
    "renamed": {"redbucket.toml": None, "docs/policy.toml": POLICY},
    "made executable": {"redbucket.toml": Executable(POLICY.encode())},
    "a link": {"redbucket.toml": Link("docs/a.md")},
    "a submodule": submodule("redbucket.toml"),
    "a folder": {"redbucket.toml": None, "redbucket.toml/x": "x\n"},
    "another case": {"RedBucket.toml": "[gate]\n"},
    "a linked folder": folder_link,
    "a folder as a submodule": submodule(".redbucket"),
    "a new workflow": {".github/workflows/more.yml": "on: push\n"},
    "new owners": {"CODEOWNERS": ""},
    "another make file": {"GNUmakefile": "ext:\n"},
}
HONEST: dict[str, Edits] = {
    "product": {"src/lib.py": "X = 2\n"},
    "documentation": {"docs/a.md": "b\n"},
    "agent's instructions": {"CLAUDE.md": "x\n", ".claude/commands/x.md": "x\n"},
    "issue template": {".github/ISSUE_TEMPLATE.md": "x\n"},
    "another script": {"scripts/release.sh": "x\n"},
    "a folder of that name below": {"docs/redbucket.toml": "x = 1\n"},
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    return Attacked(tmp_path_factory.mktemp("protected") / "repo", "protected-path", BASE)


@pytest.mark.parametrize("edits", KINDS.values(), ids=KINDS)
def test_every_kind_of_change_is_refused(attacked: Attacked, edits: Edits) -> None:
    findings = attacked.judge(edits)
    assert gravest(findings) == "refuse"
    assert all(finding.rule == "protected-path" and finding.path and finding.remedy for finding in findings)
    assert attacked.judge(edits, agent=False) == []


@pytest.mark.parametrize("path", OTHERS)
def test_every_kind_of_file_is_protected(attacked: Attacked, path: str) -> None:
    (finding,) = attacked.judge({path: f"{BASE[path]}# more\n"})
    assert (finding.severity.value, finding.path) == ("refuse", path)


@pytest.mark.parametrize("edits", HONEST.values(), ids=HONEST)
def test_honest_patches_pass(attacked: Attacked, edits: Edits) -> None:
    assert attacked.judge(edits) == []


def test_put_back_within_the_range_is_a_note(attacked: Attacked) -> None:
    def edit(repo: Repo) -> None:
        repo.commit({"redbucket.toml": ""}, "Away")
        repo.stage({"redbucket.toml": POLICY})

    (finding,) = attacked.judge(edit)
    assert (finding.severity.value, finding.path) == ("note", "redbucket.toml")
