"""Git's own hooks: real git moves a protected branch in every way it knows, and the hook judges it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from redbucket.engine.install import KEPT, LOCAL
from tests.edges.sshkit import Key, signed
from tests.gitkit import Executable, Repo
from tests.stories.kit import AGENT, SHOP, TESTS, Ended, Shop, assert_clear, policy, redbucket

TEST = "tests/test_shop.py"
GOOD: Mapping[str, str] = {"shop.py": SHOP + "\n\ndef nothing():\n    return 0\n"}
BAD: Mapping[str, str] = {TEST: TESTS.replace("self.assertEqual(total([1, 2, 3]), 6)", "pass")}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """main with tests; agent/bad weakens one, agent/good does not; a person's branch edits the policy."""
    made = Shop.open(tmp_path)
    made.patch(BAD, branch="agent/bad")
    made.patch(GOOD, branch="agent/good")
    made.patch({"redbucket.toml": policy() + "# more\n"}, branch="ada", author="Ada <ada@x>")
    return made


def install(repo: Repo, *words: str) -> Ended:
    ended = redbucket("install", "-C", repo.path, *words)
    assert ended.exit_code == 0, ended.err
    return ended


@dataclass(frozen=True)
class Git:
    """How a git command ended, and all that it and its hooks said."""

    code: int
    said: str


def git(repo: Repo, *words: str, stdin: str = "", **more: str) -> Git:
    done = subprocess.run(
        ["git", *words],
        cwd=repo.path,
        env=repo.environment(
            REDBUCKET_TMPDIR=os.environ["REDBUCKET_TMPDIR"], **repo.people("Ada <ada@x>"), **more
        ),
        input=stdin.encode(),
        capture_output=True,
        check=False,
    )
    return Git(done.returncode, os.fsdecode(done.stdout + done.stderr))


def tip(repo: Repo, branch: str = "main") -> str:
    return repo.git("rev-parse", f"refs/heads/{branch}")


# --- reference-transaction

WAYS = {
    "fast-forward": ("merge", "--ff-only", "{branch}"),
    "merge --no-verify": ("merge", "--no-ff", "--no-verify", "-m", "x", "{branch}"),
    "cherry-pick": ("cherry-pick", "{branch}"),
    "update-ref": ("update-ref", "refs/heads/main", "{branch}"),
    "reset": ("reset", "--hard", "{branch}"),
    "rebase": ("rebase", "{branch}", "main"),
    "pull": ("pull", "--ff-only", ".", "{branch}"),
    "fetch": ("fetch", "--update-head-ok", ".", "{branch}:main"),
    "am": ("am", "{branch}.patch"),
    "branch -f": ("branch", "-f", "main", "{branch}"),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_move_a_protected_branch_is_judged(shop: Shop, way: str) -> None:
    install(shop.repo, "--hooks", "reference-transaction")
    before = tip(shop.repo)
    if way == "branch -f":
        shop.repo.git("switch", "--quiet", "--detach")
    for branch in ("agent/bad", "agent/good", "ada"):
        patch = shop.path / f"{branch}.patch"
        patch.parent.mkdir(exist_ok=True)
        patch.write_text(shop.repo.git("format-patch", "-1", "--stdout", branch) + "\n")
    words = WAYS[way]
    done = git(shop.repo, *(word.format(branch="agent/bad") for word in words))
    assert done.code != 0 and tip(shop.repo) == before
    assert "altered-test" in done.said and TEST in done.said
    shutil.rmtree(shop.path / ".git/rebase-apply", ignore_errors=True)
    for command in ("cherry-pick", "rebase"):
        shop.repo.git(command, "--quit", check=False)
    shop.repo.git("checkout", "--quiet", "--force", *(["--detach"] if way == "branch -f" else []), "main")
    for branch in ("agent/good", "ada"):
        done = git(shop.repo, *(word.format(branch=branch) for word in words))
        assert done.code == 0, (branch, done.said)
        if way in ("update-ref", "fetch", "branch -f"):
            git(shop.repo, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/main", before)
        else:
            git(shop.repo, "-c", "core.hooksPath=/dev/null", "reset", "--hard", before)
    assert git(shop.repo, "-c", "core.hooksPath=/dev/null", "merge", "--ff-only", "agent/bad").code == 0


def test_a_person_works_on_main_as_ever(shop: Shop) -> None:
    install(shop.repo)
    shop.repo.write({"shop.py": SHOP + "x = 1\n", "redbucket.toml": policy() + "# x\n"})
    assert git(shop.repo, "commit", "-qam", "one").code == 0
    shop.repo.write({TEST: TESTS + "# two\n"})
    assert git(shop.repo, "commit", "-qam", "two").code == 0
    assert git(shop.repo, "commit", "--amend", "-qm", "two, again").code == 0
    assert git(shop.repo, "reset", "-q", "--hard", "HEAD~1").code == 0
    assert git(shop.repo, "branch", "topic").code == 0
    assert git(shop.repo, "branch", "-D", "topic").code == 0
    assert git(shop.repo, "pack-refs", "--all", "--prune").code == 0
    assert git(shop.repo, "gc", "-q").code == 0
    assert git(shop.repo, "stash", "list").code == 0


def test_an_agent_at_the_keyboard_rewinds_nothing(shop: Shop) -> None:
    install(shop.repo, "--hooks", "reference-transaction")
    shop.repo.commit({"a": "1"}, "one")
    done = git(shop.repo, "reset", "--hard", "HEAD~1", CLAUDECODE="1")
    assert done.code != 0 and "[protected-branch-rewound]" in done.said
    assert git(shop.repo, "reset", "--hard", "HEAD~1").code == 0


def test_a_protected_branch_is_not_deleted(shop: Shop) -> None:
    install(shop.repo, "--hooks", "reference-transaction")
    shop.repo.switch("agent/good")
    done = git(shop.repo, "branch", "-D", "main")
    assert done.code != 0 and "[protected-branch-deleted]" in done.said and tip(shop.repo)
    shop.repo.git("pack-refs", "--all")
    assert not (shop.path / ".git" / "refs" / "heads" / "main").exists()
    assert git(shop.repo, "branch", "-D", "main").code != 0 and tip(shop.repo)
    assert git(shop.repo, "branch", "-D", "ada").code == 0


def test_a_person_can_move_what_an_agents_new_branch_points_to(shop: Shop) -> None:
    install(shop.repo, "--hooks", "reference-transaction")
    shop.repo.git("branch", "agent/next", "ada")  # an agent is about to start there
    assert git(shop.repo, "update-ref", "refs/heads/main", "ada").code == 0


def test_an_unmarked_commit_on_an_agents_branch_is_known_by_the_branch(shop: Shop) -> None:
    shop.patch(BAD, branch="agent/quiet", author="Ada <ada@x>")
    install(shop.repo, "--hooks", "reference-transaction")
    done = git(shop.repo, "merge", "--ff-only", "agent/quiet")
    assert done.code != 0 and "altered-test" in done.said
    assert git(shop.repo, "update-ref", "refs/heads/main", tip(shop.repo, "agent/quiet")).code != 0


# --- pre-commit and pre-merge-commit


def test_an_agents_commit_is_judged_in_the_index(shop: Shop) -> None:
    install(shop.repo, "--hooks", "pre-commit")
    shop.repo.branch("agent/more")
    shop.repo.stage(BAD)
    done = git(shop.repo, "commit", "-m", "x")
    assert done.code == 1 and "altered-test" in done.said
    shop.repo.git("reset", "--hard", "--quiet")
    shop.repo.stage(GOOD)
    assert git(shop.repo, "commit", "-m", "x").code == 0


def test_the_first_commit_of_all(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "new")
    install(repo)
    repo.stage({"a": "1"})
    done = git(repo, "commit", "-qm", "first")
    assert done.code == 0, done.said


def test_a_conflict_resolved_by_hand_is_judged_as_resolved(shop: Shop) -> None:
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")}, branch="agent/good2")
    shop.patch({**BAD, "shop.py": SHOP.replace("sum(prices)", "0 + sum(prices)")}, branch="agent/bad2")
    shop.repo.commit({"shop.py": SHOP.replace("sum(prices)", "sum(prices, 0)")}, "meanwhile")
    before = tip(shop.repo)
    install(shop.repo, "--hooks", "pre-commit")
    for branch, code in (("agent/good2", 0), ("agent/bad2", 1)):
        assert git(shop.repo, "merge", "--no-edit", branch).code == 1
        shop.repo.stage({"shop.py": SHOP})
        done = git(shop.repo, "commit", "--no-edit")
        assert done.code == code, done.said
        git(shop.repo, "-c", "core.hooksPath=/dev/null", "reset", "--hard", before)
    assert "altered-test" in done.said and "merge-conflict" not in done.said


def test_a_merge_that_ends_in_commit_is_known_by_the_branch(shop: Shop) -> None:
    shop.patch(BAD, branch="agent/quiet", author="Ada <ada@x>")
    shop.patch(BAD, branch="ada", author="Ada <ada@x>")
    install(shop.repo, "--hooks", "pre-commit")
    assert git(shop.repo, "merge", "--no-ff", "--no-commit", "agent/quiet").code == 0
    done = git(shop.repo, "commit", "--no-edit")
    assert done.code == 1 and "branch agent/quiet" in done.said
    assert git(shop.repo, "merge", "--abort").code == 0
    assert git(shop.repo, "merge", "--no-ff", "--no-commit", "ada").code == 0
    done = git(shop.repo, "commit", "--no-edit")
    assert done.code == 0, done.said


@pytest.mark.slow
def test_a_merge_is_judged_by_the_whole_gate(shop: Shop) -> None:
    install(shop.repo, "--hooks", "pre-merge-commit")
    before = tip(shop.repo)
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "0")}, branch="agent/wrong")
    done = git(shop.repo, "merge", "--no-ff", "-m", "x", "agent/wrong")
    assert done.code != 0 and "test_total" in done.said and tip(shop.repo) == before
    git(shop.repo, "merge", "--abort")
    assert git(shop.repo, "merge", "--no-ff", "-m", "x", "agent/good").code == 0


# --- pre-push and the server


def bare(shop: Shop, *words: str) -> Repo:
    """A server's repository with main, and the shop's remote."""
    place = shop.path.parent / "server.git"
    shop.repo.git("clone", "--quiet", "--bare", "--single-branch", "--no-local", str(shop.path), str(place))
    shop.repo.git("remote", "add", "origin", str(place))
    shop.repo.git("fetch", "--quiet", "origin")
    server = Repo(place, shop.repo.home)
    if words:
        install(server, *words)
    return server


def test_every_pushed_ref_is_judged_not_only_the_first(shop: Shop) -> None:
    server = bare(shop)
    install(shop.repo, "--hooks", "pre-push")
    done = git(shop.repo, "push", "origin", "ada", "agent/good", "agent/bad")
    assert done.code != 0 and "altered-test" in done.said
    assert server.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    shop.repo.git("tag", "v1", "agent/bad")
    assert git(shop.repo, "push", "origin", "ada", "agent/good", "v1").code == 0
    assert git(shop.repo, "push", "origin", ":ada").code == 0


@pytest.mark.slow
def test_a_push_to_a_protected_branch_is_judged_by_the_whole_gate(shop: Shop) -> None:
    bare(shop)
    install(shop.repo, "--hooks", "pre-push")
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "0")}, branch="agent/wrong")
    done = git(shop.repo, "push", "origin", "agent/wrong:main")
    assert done.code != 0 and "test_total" in done.said
    assert git(shop.repo, "push", "origin", "agent/wrong").code == 0  # it lands nowhere yet


def test_the_server_judges_what_is_still_in_quarantine(shop: Shop) -> None:
    server = bare(shop, "--server")
    before = tip(server)
    done = git(shop.repo, "push", "origin", "agent/bad:main")
    assert done.code != 0 and "altered-test" in done.said and "pre-receive hook declined" in done.said
    assert tip(server) == before
    assert git(server, "cat-file", "-e", tip(shop.repo, "agent/bad")).code != 0
    assert git(shop.repo, "push", "origin", "agent/bad").code == 0  # no protected branch
    done = git(shop.repo, "push", "origin", "ada:refs/heads/ada", "agent/bad:main")
    assert done.code != 0 and tip(server) == before
    assert git(shop.repo, "push", "origin", "agent/good:main").code == 0
    shop.repo.git("tag", "v1", "agent/bad")
    assert git(shop.repo, "push", "origin", "v1").code == 0


def test_the_server_refuses_deletion_and_lost_commits(shop: Shop) -> None:
    server = bare(shop, "--server")
    server.git("config", "receive.denyDeleteCurrent", "ignore")
    before = tip(server)
    shop.repo.commit({"a": "1"}, "one more")
    assert git(shop.repo, "push", "origin", "main").code == 0
    done = git(shop.repo, "push", "--force", "origin", f"{before}:main")
    assert done.code != 0 and "[protected-branch-rewound]" in done.said
    done = git(shop.repo, "push", "origin", ":main")
    assert done.code != 0 and "[protected-branch-deleted]" in done.said
    assert tip(server) == tip(shop.repo)
    assert git(shop.repo, "push", "origin", "ada").code == 0
    assert git(shop.repo, "push", "origin", ":ada").code == 0


def test_an_empty_server_takes_the_first_push(shop: Shop) -> None:
    server = Repo.init(shop.path.parent / "empty.git", "--bare")
    install(server, "--server")
    done = git(shop.repo, "push", str(server.path), "main", "agent/bad")
    assert done.code == 0 and "main is new" in done.said
    assert git(shop.repo, "push", str(server.path), "agent/bad:main").code != 0


def test_a_second_protected_branch_is_judged_against_the_first(shop: Shop) -> None:
    rules = policy(more='[gate]\nprotected_branches = ["main", "release"]\n')
    shop.repo.commit({"redbucket.toml": rules}, "two branches")
    shop.repo.switch("agent/bad")
    shop.repo.git("rebase", "--quiet", "main", **shop.repo.people(AGENT))
    shop.repo.switch("main")
    bare(shop, "--server")
    assert git(shop.repo, "push", "origin", "agent/bad:release").code != 0
    assert git(shop.repo, "push", "origin", "main:release").code == 0
    assert git(shop.repo, "push", "origin", "agent/bad:release").code != 0


def test_the_server_verifies_signatures_by_its_own_list(shop: Shop, tmp_path: Path) -> None:
    ada, eve = Key.make(tmp_path / "keys", "ada"), Key.make(tmp_path / "keys", "eve")
    rules = policy(more='[identity]\nallowed_signers = ".redbucket/allowed_signers"\n')
    shop.repo.commit({"redbucket.toml": rules, ".redbucket/allowed_signers": ada.line()}, "signers")
    bare(shop, "--server")
    shop.repo.branch("topic")
    signed(shop.repo, eve, BAD, author="Ada <ada@example.org>")
    assert git(shop.repo, "push", "origin", "topic:main").code != 0
    shop.repo.git("reset", "--hard", "--quiet", "main")
    signed(shop.repo, ada, BAD)
    done = git(shop.repo, "push", "origin", "topic:main")
    assert done.code == 0, done.said


@pytest.mark.slow
def test_the_server_runs_the_tests_where_it_is_told_to(shop: Shop) -> None:
    server = bare(shop, "--server")
    shop.patch({"shop.py": SHOP.replace("sum(prices)", "0")}, branch="agent/wrong")
    server.git("config", "redbucket.hook.full", "true")
    done = git(shop.repo, "push", "origin", "agent/wrong:main")
    assert done.code != 0 and "test_total" in done.said
    server.git("config", "--unset", "redbucket.hook.full")
    assert git(shop.repo, "push", "origin", "agent/wrong:main").code == 0


# --- installing


def hooks(repo: Repo) -> dict[str, tuple[bytes, int]]:
    folder = repo.path / ".git" / "hooks"
    return {
        place.name: (
            os.fsencode(place.readlink()) if place.is_symlink() else place.read_bytes(),
            place.lstat().st_mode,
        )
        for place in folder.iterdir()
        if not place.name.endswith(".sample")
    }


def test_hooks_that_are_there_run_first_and_come_back_to_the_byte(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = shop.path.parent / "log"
    folder = shop.path / ".git" / "hooks"
    shop.repo.write(
        {
            ".git/hooks/pre-push": Executable(
                b'#!/bin/sh\necho "push $1: $(cat)" >> %b\n' % os.fsencode(log)
            ),
            ".git/hooks/pre-commit": "#!/bin/sh\nexit 1\n",  # not executable: git does not run it, and so do we
            ".git/hooks/real": Executable(
                b'#!/bin/sh\necho "ref $1: $(cat)" >> %b\nexit $FAIL\n' % os.fsencode(log)
            ),
        }
    )
    (folder / "reference-transaction").symlink_to("real")
    before = hooks(shop.repo)
    said = install(shop.repo).out
    assert (
        f"hooks folder: {folder}\n" in said
        and "pre-push: installed; the hook that was there runs first" in said
    )
    once = hooks(shop.repo)
    assert f"redbucket -C {shop.path} install --full" in said
    assert "pre-push: unchanged" in install(shop.repo).out and hooks(shop.repo) == once
    assert install(shop.repo, "--full").out.count("updated") == len(LOCAL)
    bare(shop)
    assert git(shop.repo, "push", "origin", "ada").code == 0
    told = log.read_text()
    assert f"push origin: refs/heads/ada {tip(shop.repo, 'ada')} refs/heads/ada {'0' * 40}" in told
    assert "ref prepared:" in told and "ref committed:" in told
    assert git(shop.repo, "update-ref", "refs/heads/x", "ada", FAIL="3").code != 0
    shop.repo.stage({"a": "1"})
    assert git(shop.repo, "commit", "-qm", "x").code == 0
    said_before = shop.path / ".git/redbucket/said.jsonl"
    said_before.parent.mkdir(exist_ok=True)
    said_before.touch()
    out = redbucket("uninstall", "-C", shop.path).out
    assert "pre-push: put back" in out and "pre-merge-commit: removed" in out
    assert not said_before.exists()
    assert hooks(shop.repo) == before
    told = redbucket("uninstall", "-C", shop.path).out
    assert "no hook of redbucket's" in told and "on record" not in told
    monkeypatch.delenv("REDBUCKET_LEDGER", raising=False)  # the stories keep none
    place = shop.path / ".git/redbucket/ledger.sqlite"
    place.parent.mkdir(exist_ok=True)
    place.touch()
    assert f"{place}: what was judged stays on record" in redbucket("uninstall", "-C", shop.path).out


@pytest.mark.parametrize("where", ["../shared-hooks", "githooks"])
def test_the_effective_folder_is_used_and_named(shop: Shop, where: str) -> None:
    place = Path(os.path.normpath(shop.path / where))
    shop.repo.git("config", "core.hooksPath", where)
    ended = install(shop.repo, "--hooks", "reference-transaction")
    assert f"hooks folder: {place} (core.hooksPath, local)" in ended.out
    assert ("a patch can change its hooks" in ended.err) == (where == "githooks")
    assert git(shop.repo, "merge", "--ff-only", "agent/bad").code != 0
    assert redbucket("uninstall", "-C", shop.path).exit_code == 0 and not place.exists()
    assert git(shop.repo, "merge", "--ff-only", "agent/bad").code == 0


def test_a_global_folder_is_said_to_serve_everything(shop: Shop) -> None:
    place = Path(os.environ["HOME"], "hooks")
    Path(os.environ["HOME"], ".gitconfig").write_text("[core]\n\thooksPath = ~/hooks\n")
    ended = install(shop.repo, "--hooks", "pre-commit")
    assert f"{place} (core.hooksPath, global)" in ended.out and "every repository" in ended.err


def test_linked_work_trees_share_the_hooks(shop: Shop) -> None:
    linked = Repo(shop.path.parent / "linked", shop.repo.home)
    shop.repo.git("switch", "--quiet", "--detach")
    shop.repo.git("worktree", "add", "--quiet", str(linked.path), "main")
    said = install(linked).out
    assert f"hooks folder: {shop.path / '.git' / 'hooks'}\n" in said
    assert git(linked, "merge", "--ff-only", "agent/bad").code != 0
    assert git(shop.repo, "branch", "-f", "agent/x", "agent/bad").code == 0
    assert git(linked, "merge", "--ff-only", "agent/good").code == 0
    assert git(shop.repo, "update-ref", "refs/heads/main", "agent/bad").code != 0


def test_a_python_that_is_gone_fails_closed(shop: Shop) -> None:
    install(shop.repo)
    for name in LOCAL:
        place = shop.path / ".git" / "hooks" / name
        place.write_text(place.read_text().replace(f"python={sys.executable}", "python=/gone/python"))
    shop.repo.stage({"a": "1"})
    done = git(shop.repo, "commit", "-m", "x")
    assert done.code == 1 and "[interpreter-gone]" in done.said and "redbucket install" in done.said
    assert git(shop.repo, "update-ref", "refs/heads/main", "ada").code != 0
    assert git(shop.repo, "update-ref", "refs/heads/free", "ada").code == 0


def test_a_patch_cannot_put_itself_in_the_place_of_redbucket(shop: Shop) -> None:
    install(shop.repo, "--hooks", "reference-transaction")
    trap = "import os\nos._exit(0)\n"
    shop.repo.write(
        {"redbucket/__init__.py": trap, "click.py": trap, "msgspec.py": trap, "sitecustomize.py": trap}
    )
    assert git(shop.repo, "merge", "--ff-only", "agent/bad", PYTHONPATH=str(shop.path)).code != 0


def test_a_killed_installation_is_finished_or_taken_back(shop: Shop) -> None:
    hook = b"#!/bin/sh\nexit 0\n"
    shop.repo.write({f".git/hooks/pre-push{KEPT}": Executable(hook)})  # moved, and nothing written yet
    assert "pre-push: put back" in redbucket("uninstall", "-C", shop.path).out
    assert hooks(shop.repo)["pre-push"][0] == hook
    shop.repo.write({"x": "1", ".git/hooks/pre-push": None, f".git/hooks/pre-push{KEPT}": Executable(hook)})
    install(shop.repo, "--hooks", "pre-push")
    assert hooks(shop.repo)[f"pre-push{KEPT}"][0] == hook
    shop.repo.write({".git/hooks/pre-push": Executable(b"#!/bin/sh\n# somebody else's\n")})
    assert_clear(redbucket("install", "-C", shop.path, "--hooks", "pre-push"), 3, "hook-overwritten")
    assert "left alone" in redbucket("uninstall", "-C", shop.path).out


@pytest.mark.slow
def test_pre_commits_own_hooks_chain_in_either_order(shop: Shop) -> None:
    config = (
        "repos:\n- repo: local\n  hooks:\n  - {id: say, name: say, language: system, "
        "entry: sh -c 'echo pre-commit was here', always_run: true, pass_filenames: false, verbose: true}\n"
    )
    shop.repo.commit({".pre-commit-config.yaml": config}, "config")
    theirs = [sys.executable, "-m", "pre_commit", "install"]
    environment = shop.repo.environment(PRE_COMMIT_HOME=str(shop.path.parent / "store"))
    subprocess.run(theirs, cwd=shop.path, env=environment, check=True, capture_output=True)
    before = hooks(shop.repo)
    install(shop.repo, "--hooks", "pre-commit")
    shop.repo.branch("agent/y")
    for order in ("redbucket last", "pre-commit last"):
        shop.repo.stage(BAD)
        done = git(shop.repo, "commit", "-m", "x", PRE_COMMIT_HOME=environment["PRE_COMMIT_HOME"])
        assert done.code == 1 and "altered-test" in done.said, (order, done.said)
        assert "pre-commit was here" in done.said, (order, done.said)
        redbucket("uninstall", "-C", shop.path)
        assert hooks(shop.repo) == before
        if order == "redbucket last":
            (shop.path / ".git" / "hooks" / "pre-commit").unlink()
            install(shop.repo, "--hooks", "pre-commit")
            subprocess.run(theirs, cwd=shop.path, env=environment, check=True, capture_output=True)
            assert "chained by pre-commit" in install(shop.repo, "--hooks", "pre-commit").out


def test_beside_pre_commits_hooks_a_finding_is_said_once(shop: Shop) -> None:
    """pre-commit that is installed last runs redbucket's native hook and its own, whatever the first says."""
    hook = Path(sys.prefix, "bin", "redbucket-untrusted-tests")
    config = (
        "repos:\n- repo: local\n  hooks:\n  - {id: untrusted, name: untrusted, language: system, "
        f"entry: {hook}, always_run: true, pass_filenames: false}}\n"
    )
    shop.repo.commit({".pre-commit-config.yaml": config}, "config")
    install(shop.repo, "--hooks", "pre-commit")
    environment = shop.repo.environment(PRE_COMMIT_HOME=str(shop.path.parent / "store"))
    theirs = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(theirs, cwd=shop.path, env=environment, check=True, capture_output=True)
    shop.repo.branch("agent/y")
    shop.repo.stage(BAD)
    done = git(shop.repo, "commit", "-m", "x", PRE_COMMIT_HOME=environment["PRE_COMMIT_HOME"])
    assert done.code == 1
    assert done.said.count("refuse altered-test") == 1, done.said
    assert "said in full by the git hook of redbucket" in " ".join(done.said.split())
    assert "exit code: 1" in done.said


def test_which_hooks(shop: Shop) -> None:
    assert_clear(redbucket("install", "-C", shop.path, "--hooks", "post-commit"), 3, "unknown-hook")
    server = bare(shop)
    assert_clear(redbucket("install", "-C", server.path), 3, "bare-repository")
    assert "pre-receive: installed" in install(server, "--server").out
    assert "pre-receive: removed" in redbucket("uninstall", "-C", server.path).out
