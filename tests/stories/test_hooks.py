"""Real merges, commits and pushes, with the real pre-commit and with a hook script of one's own."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.gitkit import HUMAN
from tests.stories.kit import AGENT, CONSOLE, SHOP, TESTS, Shop, policy

PRE_COMMIT = str(Path(sys.prefix) / "bin" / "pre-commit")
TOP = Path(__file__).parents[2]

WRONG = SHOP.replace("sum(prices)", "len(prices)")
FINE = SHOP.replace("sum(prices)", "sum(list(prices))")
BENT = TESTS.replace("total([1, 2, 3]), 6", "total([1, 2, 3]), 3")

CONFIG = f"""\
repos:
- repo: local
  hooks:
  - id: gate
    name: gate
    entry: {CONSOLE}-gate
    language: system
    stages: [pre-merge-commit, pre-push, manual]
    always_run: true
    pass_filenames: false
    require_serial: true
    verbose: true
  - id: untrusted
    name: untrusted
    entry: {CONSOLE}-untrusted-tests
    language: system
    stages: [pre-commit, pre-merge-commit, pre-push, manual]
    always_run: true
    pass_filenames: false
    require_serial: true
    verbose: true
"""


@dataclass(frozen=True)
class Tried:
    """How a git command ended, and what the hooks said."""

    code: int
    said: str


@dataclass(frozen=True)
class Hooked(Shop):
    """A shop whose repository runs hooks."""

    @classmethod
    def ready(cls, place: Path, config: str = CONFIG) -> Hooked:
        shop = Shop.open(place, {".pre-commit-config.yaml": config}, rules=policy(timeout=20))
        hooked = cls(shop.repo)
        hooked.run(PRE_COMMIT, "install", *(w for t in _STAGES for w in ("-t", t)))
        return hooked

    def run(self, *words: str, **environment: str) -> Tried:
        """Run a command in the work tree as a person at a terminal would."""
        person = self.repo.people(HUMAN)
        done = subprocess.run(
            words,
            cwd=self.path,
            env=self.repo.environment(
                VIRTUAL_ENV=sys.prefix,
                REDBUCKET_TMPDIR=os.environ["REDBUCKET_TMPDIR"],
                PRE_COMMIT_HOME=str(self.repo.home / "pre-commit"),
                **person,
                **environment,
            ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Tried(done.returncode, done.stdout + done.stderr)

    def git(self, *words: str) -> Tried:
        return self.run("git", *words)

    def tip(self, name: str = "main") -> str:
        return self.repo.git("rev-parse", name)


_STAGES = ("pre-commit", "pre-merge-commit", "pre-push")


@pytest.fixture
def shop(tmp_path: Path) -> Hooked:
    return Hooked.ready(tmp_path)


def test_a_clean_merge(shop: Hooked) -> None:
    shop.patch({"shop.py": FINE})
    tried = shop.git("merge", "--no-ff", "--no-edit", "agent/fix")
    assert tried.code == 0, tried.said
    assert "ACCEPT" in tried.said
    assert "agent/fix" in tried.said  # the mark: its branch is known though no MERGE_HEAD is there
    assert len(shop.repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


def test_a_merge_that_breaks_an_invariant(shop: Hooked) -> None:
    shop.patch({"shop.py": WRONG})
    before = shop.tip()
    tried = shop.git("merge", "--no-ff", "--no-edit", "agent/fix")
    assert tried.code != 0
    assert "REFUSE" in tried.said
    assert "test_total" in tried.said
    assert shop.tip() == before


def test_a_finding_is_said_once_and_refused_by_each_hook(shop: Hooked) -> None:
    """The first hook that looks says it in full, the others name that hook, and all fail."""
    shop.patch({"tests/test_shop.py": BENT})
    before = shop.tip()
    for _ in range(2):  # what an earlier merge said is no reason to be silent
        tried = shop.git("merge", "--no-ff", "--no-edit", "agent/fix")
        assert tried.code != 0
        assert tried.said.count("refuse altered-test  tests/test_shop.py") == 1, tried.said
        assert tried.said.count("hook id: ") == 2
        assert tried.said.count("exit code: 1") == 2, tried.said
        assert "said-already" in tried.said
        assert "redbucket-gate" in tried.said
        assert shop.tip() == before
        shop.git("merge", "--abort")
    alone = shop.run(
        PRE_COMMIT,
        "run",
        "untrusted",
        "--hook-stage",
        "manual",
        "--from-ref",
        "main",
        "--to-ref",
        "agent/fix",
    )
    assert alone.code != 0
    assert "refuse altered-test  tests/test_shop.py" in alone.said


def test_a_pull(shop: Hooked, tmp_path: Path) -> None:
    """git tells a pull's hook the commit only; who wrote it is told by the commit itself."""
    shop.patch({"tests/test_shop.py": BENT, "shop.py": WRONG}, branch="fix")
    shop.repo.git("clone", "--quiet", "--bare", str(shop.path), str(tmp_path / "hub.git"))
    shop.repo.git("remote", "add", "hub", str(tmp_path / "hub.git"))
    tried = shop.git("pull", "--no-rebase", "--no-ff", "--no-edit", "hub", "fix")
    assert tried.code != 0
    assert "altered-test" in tried.said


def test_an_octopus(shop: Hooked) -> None:
    shop.patch({"one.txt": "1\n"}, branch="agent/one")
    shop.patch({"shop.py": WRONG}, branch="agent/two")
    tried = shop.git("merge", "--no-edit", "agent/one", "agent/two")
    assert tried.code != 0
    assert "test_total" in tried.said
    # refused, and git leaves the merge for a plain commit to finish; that one is looked at, too
    shop.git("merge", "--abort")


def test_a_merge_into_a_branch_is_nobodys_patch(shop: Hooked) -> None:
    shop.patch({"NEWS": "1\n"}, branch="work", author=HUMAN)
    shop.repo.commit({"shop.py": WRONG}, "landed somehow", author=AGENT)
    shop.repo.switch("work")
    tried = shop.git("merge", "--no-edit", "main")
    assert tried.code == 0, tried.said


def test_no_commit_and_commit(shop: Hooked) -> None:
    shop.patch({"tests/test_shop.py": BENT})
    assert shop.git("merge", "--no-ff", "--no-commit", "agent/fix").code == 0
    tried = shop.git("commit", "--no-edit")
    assert tried.code != 0
    assert "altered-test" in tried.said
    assert "tests/test_shop.py" in tried.said


def test_a_merge_that_was_refused_and_is_committed(shop: Hooked) -> None:
    shop.patch({"tests/test_shop.py": BENT})
    assert shop.git("merge", "--no-ff", "--no-edit", "agent/fix").code != 0
    tried = shop.git("commit", "--no-edit")
    assert tried.code != 0
    assert "altered-test" in tried.said


def test_a_merge_that_ends_in_commit_is_known_by_the_branch(shop: Hooked) -> None:
    """git tells `git commit` no name: the branch that points at what comes in says whose it is."""
    shop.patch({"tests/test_shop.py": BENT}, branch="agent/quiet", author=HUMAN)
    shop.patch({"tests/test_shop.py": BENT}, branch="ada", author=HUMAN)
    before = shop.tip()
    for ways in (("--no-ff", "--no-commit"), ("--no-ff", "--no-edit")):
        shop.git("merge", *ways, "agent/quiet")
        tried = shop.git("commit", "--no-edit")
        assert tried.code != 0
        assert "branch agent/quiet" in tried.said
        assert shop.git("merge", "--abort").code == 0
    assert shop.tip() == before
    assert shop.git("merge", "--no-ff", "--no-commit", "ada").code == 0
    tried = shop.git("commit", "--no-edit")
    assert tried.code == 0, tried.said


def test_a_conflict_that_is_resolved_and_committed(shop: Hooked) -> None:
    """What the agent changed elsewhere is looked at; that there was a conflict is no reason to refuse."""
    shop.patch({"shop.py": FINE, "tests/test_more.py": "x = 1\n"}, branch="agent/fix")
    shop.patch({"shop.py": FINE, "tests/test_shop.py": BENT}, branch="agent/bent")
    shop.repo.commit({"shop.py": SHOP.replace("sum(prices)", "sum(prices, 0)")}, "meanwhile")
    for branch, refused in (("agent/bent", True), ("agent/fix", False)):
        assert "CONFLICT" in shop.git("merge", "--no-ff", branch).said
        shop.repo.stage({"shop.py": FINE})
        tried = shop.git("commit", "--no-edit")
        assert (tried.code != 0) is refused, tried.said
        assert ("altered-test" in tried.said) is refused
        assert "refuse merge-conflict" not in tried.said
        if refused:
            shop.git("merge", "--abort")


def test_squash_and_commit(shop: Hooked) -> None:
    """What is squashed is whose the commits are that git names in SQUASH_MSG, whoever commits it."""
    shop.patch({"tests/test_shop.py": BENT})
    shop.patch({"tests/test_shop.py": BENT}, branch="ada", author=HUMAN)
    assert shop.git("merge", "--squash", "agent/fix").code == 0
    by_person = shop.git("commit", "-m", "squashed")
    assert by_person.code != 0
    assert "altered-test" in by_person.said
    assert "undo it: git reset --merge" in by_person.said
    assert shop.git("reset", "--merge").code == 0
    assert shop.git("merge", "--squash", "ada").code == 0
    by_agent = shop.run("git", "commit", "-m", "squashed", CLAUDECODE="1")
    assert by_agent.code != 0
    assert "altered-test" in by_agent.said
    tried = shop.git("commit", "-m", "squashed")
    assert tried.code == 0, tried.said


UNSEEN = {
    "fast-forward": ("merge", "--ff-only", "agent/fix"),
    "no verify": ("merge", "--no-ff", "--no-verify", "--no-edit", "agent/fix"),
    "cherry-pick": ("cherry-pick", "agent/fix"),
    "rebase": ("rebase", "agent/fix", "main"),
    "revert": ("revert", "--no-edit", "HEAD"),
    "am": ("am", "fix.patch"),
}


@pytest.mark.parametrize("way", UNSEEN)
def test_where_git_runs_no_hook_of_pre_commits(shop: Hooked, way: str) -> None:
    """Why these hooks are the early warning only: nobody is asked (git 2.39, pre-commit 4)."""
    shop.patch({"tests/test_shop.py": BENT})
    (shop.path / "fix.patch").write_text(shop.repo.git("format-patch", "-1", "--stdout", "agent/fix") + "\n")
    if way == "revert":
        shop.repo.commit({"more.txt": "1\n"}, "more")
    before = shop.tip()
    tried = shop.git(*UNSEEN[way])
    assert tried.code == 0, tried.said
    assert shop.tip() != before
    assert "Passed" not in tried.said and "altered-test" not in tried.said


def test_the_first_commit_of_all(tmp_path: Path) -> None:
    shop = Hooked.ready(tmp_path)
    shop.repo.git("checkout", "--quiet", "--orphan", "fresh")
    tried = shop.git("commit", "-m", "first")
    assert tried.code == 0, tried.said


def hub(shop: Hooked, tmp_path: Path) -> Path:
    place = tmp_path / "hub.git"
    shop.repo.git("clone", "--quiet", "--bare", str(shop.path), str(place))
    shop.repo.git("remote", "add", "origin", str(place))
    shop.repo.git("fetch", "--quiet", "origin")
    return place


def test_a_push_through_pre_commit(shop: Hooked, tmp_path: Path) -> None:
    hub(shop, tmp_path)
    shop.patch({"shop.py": WRONG})
    shop.repo.switch("agent/fix")
    tried = shop.git("push", "origin", "HEAD:main")
    assert tried.code != 0
    assert "test_total" in tried.said
    assert "agent/fix" in tried.said
    new = shop.git("push", "origin", "agent/fix")
    assert new.code != 0
    assert "test_total" in new.said
    shop.repo.git("tag", "v1")
    tag = shop.git("push", "origin", "v1")
    assert tag.code == 0, tag.said


def test_the_manual_stage(shop: Hooked) -> None:
    shop.patch({"shop.py": WRONG})
    tried = shop.run(
        *(PRE_COMMIT, "run", "gate", "--hook-stage", "manual", "--from-ref", "main", "--to-ref", "agent/fix")
    )
    assert tried.code != 0
    assert "test_total" in tried.said
    fine = shop.run(
        *(PRE_COMMIT, "run", "gate", "--hook-stage", "manual", "--from-ref", "main", "--to-ref", "main")
    )
    assert fine.code == 0, fine.said


def script(shop: Hooked, name: str, text: str) -> None:
    place = shop.path / ".git" / "hooks" / name
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    "arguments", ['"$@"', pytest.param("", marks=pytest.mark.slow)], ids=["arguments", "input-alone"]
)
def test_a_push_of_several_refs_through_a_script(tmp_path: Path, arguments: str) -> None:
    """pre-commit judges the first ref only; git's own hook is told all of them."""
    base = Shop.open(tmp_path)
    shop = Hooked(base.repo)
    hub(shop, tmp_path)
    script(shop, "pre-push", f'exec "{CONSOLE}" hook gate {arguments}')
    shop.patch({"README": "fine\n"}, branch="agent/a")
    shop.patch({"shop.py": WRONG}, branch="agent/b")
    tried = shop.git("push", "origin", "agent/a", "agent/b")
    assert tried.code != 0
    assert tried.said.count("ACCEPT") == tried.said.count("REFUSE") == 1
    assert "test_total" in tried.said
    alone = shop.git("push", "origin", "agent/a")
    assert alone.code == 0, alone.said
    nothing = shop.git("push", "origin", "agent/a")
    assert nothing.code == 0, nothing.said
    gone = shop.git("push", "origin", ":agent/a")
    assert gone.code == 0, gone.said


def test_all_guards_at_a_commit_of_some_paths(tmp_path: Path) -> None:
    """A hook script of one's own with all guards: git hands it the index of the commit, not all that is staged."""
    shop = Hooked(Shop.open(tmp_path).repo)
    script(shop, "pre-commit", f'exec "{CONSOLE}" guard --staged --quiet')
    shop.repo.git("switch", "--quiet", "--create", "agent/x")
    shop.repo.stage({"tests/test_shop.py": BENT, "notes.txt": "fine\n"})
    alone = shop.git("commit", "--message", "Notes", "notes.txt")
    assert alone.code == 0, alone.said
    refused = shop.git("commit", "--message", "Rest")
    assert refused.code != 0
    assert "altered-test" in refused.said


def test_a_branch_that_conflicts_may_be_pushed_but_not_land(tmp_path: Path) -> None:
    base = Shop.open(tmp_path)
    shop = Hooked(base.repo)
    shop.patch({"shop.py": WRONG})
    shop.repo.commit({"shop.py": FINE}, "meanwhile")
    hub(shop, tmp_path)
    script(shop, "pre-push", f'exec "{CONSOLE}" hook gate "$@"')
    shop.repo.switch("agent/fix")
    shop.repo.commit({"NEWS": "1\n"}, "more", author=AGENT)
    said = shop.git("push", "origin", "agent/fix")
    assert said.code == 0
    assert "merge-conflict" in said.said
    landing = shop.git("push", "--force", "origin", "agent/fix:main")
    assert landing.code != 0
    assert "merge-conflict" in landing.said


@pytest.mark.slow
def test_the_published_hooks(tmp_path: Path) -> None:
    """pre-commit clones a repository, builds its environment, and runs the entry points that it names."""
    if shutil.which("git") is None or not (TOP / ".pre-commit-hooks.yaml").exists():
        pytest.skip("this is no checkout of redbucket")
    source = tmp_path / "redbucket"
    for name in ("redbucket", "hooks"):
        shutil.copytree(TOP / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE"):
        if (TOP / name).exists():
            shutil.copy(TOP / name, source / name)
    there = Shop.open(tmp_path, name="unused").repo
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "redbucket")):
        there.git("-C", str(source), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words)
    rev = there.git("-C", str(source), "rev-parse", "HEAD")
    config = (
        f"repos:\n- repo: file://{source}\n  rev: {rev}\n  hooks:\n"
        "  - id: redbucket-gate\n    verbose: true\n  - id: redbucket-protected-paths\n"
        "  - id: redbucket-untrusted-tests\n"
    )
    shop = Hooked.ready(tmp_path, config)
    built = shop.run(PRE_COMMIT, "install-hooks")
    if built.code and "No matching distribution" in built.said:
        pytest.skip("the registry can't be reached")
    assert built.code == 0, built.said
    shop.patch({"shop.py": WRONG})
    tried = shop.git("merge", "--no-ff", "--no-edit", "agent/fix")
    assert tried.code != 0
    assert "test_total" in tried.said
    # the hook's own environment has a pytest, too: it must not be what runs the project's tests
    assert f"{shop.repo.home}/pre-commit" not in tried.said
    shop.git("merge", "--abort")
    shop.patch({"shop.py": FINE}, branch="agent/fine")
    fine = shop.git("merge", "--no-ff", "--no-edit", "agent/fine")
    assert fine.code == 0, fine.said
    assert "ACCEPT" in fine.said
