"""A human endorses what an agent changed: exact bytes, by a signature that base's list knows."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from redbucket.app.session import UserHistory, session
from redbucket.edges.progress import Progress
from redbucket.engine.subject import Request, examine
from tests.edges.sshkit import Key, signed
from tests.gitkit import Executable, Link
from tests.stories.kit import CONSOLE, TESTS, Ended, Shop, Told, assert_clear, policy, redbucket, reported

SIGNERS = ".redbucket/allowed_signers"
RULES = policy(more=f'[identity]\nallowed_signers = "{SIGNERS}"\n')
WEAK = TESTS.replace("self.assertEqual(total([1, 2, 3]), 6)", "self.assertTrue(total([1, 2, 3]))")
TEST = "tests/test_shop.py"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Key]:
    folder = tmp_path_factory.mktemp("keys")
    return {name: Key.make(folder, name) for name in ("ada", "eve")}


@pytest.fixture
def shop(tmp_path: Path, keys: Mapping[str, Key]) -> Shop:
    """A shop with allowed signers, an agent's branch that weakens a test, Ada at the keyboard on it."""
    made = Shop.open(tmp_path, {SIGNERS: keys["ada"].line(), "tests/data/a.bin": b"\0\1"}, rules=RULES)
    made.patch({TEST: WEAK, "shop.py": "def total(prices):\n    return 0 + sum(prices)\n\n\nlabel = str\n"})
    made.repo.switch("agent/fix")
    sits(made, "Ada", keys["ada"])
    return made


def sits(shop: Shop, name: str, key: Key | None) -> None:
    """Somebody sits down: the user's git settings are theirs."""
    lines = f"[user]\n\tname = {name}\n\temail = {name.lower()}@example.org\n"
    if key is not None:
        lines += f"\tsigningKey = {key.path}.pub\n[gpg]\n\tformat = ssh\n"
    Path(os.environ["HOME"], ".gitconfig").write_text(lines)


def oid(shop: Shop, path: str = TEST, revision: str = "agent/fix") -> str:
    return shop.repo.git("rev-parse", f"{revision}:{path}")


def endorse(shop: Shop, *words: str) -> Ended:
    return redbucket("endorse", "-C", shop.path, *words)


def accept(shop: Shop, *paths: str) -> Ended:
    """Endorse without a terminal."""
    words = [word for path in paths for word in ("--accept", f"{path}={oid(shop, path)}")]
    return endorse(shop, *words)


def guard(shop: Shop, *words: str, head: str = "agent/fix") -> Told:
    return reported("guard", "-C", shop.path, "--base", "main", "--head", head, *words)


def refused(told: Told) -> list[tuple[str, Any]]:
    return sorted({(f["rule"], f["path"]) for f in told.report["findings"] if f["severity"] == "refuse"})


def by_hand(shop: Shop, key: Key, pairs: Sequence[tuple[str, str]], **more: Any) -> str:
    lines = "\n".join(f"Redbucket-Endorse: {blob} {path}" for blob, path in pairs)
    return signed(shop.repo, key, message=f"I looked\n\n{lines}\n", **more)


# --- what an endorsement does


def test_an_endorsed_test_counts_as_trusted_and_is_taken_from_head(shop: Shop) -> None:
    assert ("altered-test", TEST) in refused(guard(shop))
    before, tip = shop.snapshot(), shop.repo.head()
    ended = accept(shop, TEST)
    assert ended.exit_code == 0, ended.err
    commit = shop.repo.head()
    assert ended.out == f"endorsed 1 file as ada@example.org: commit {commit[:12]} on agent/fix\n"
    assert shop.repo.git("log", "-1", "--format=%P %s") == f"{tip} Endorse {TEST}"
    assert shop.repo.tree(commit) == shop.repo.tree(tip)
    assert {k for k, v in shop.snapshot().items() if before.get(k, v) != v and k != ".git"} <= {
        *(".git/refs/heads/agent", ".git/refs/heads/agent/fix", ".git/logs/HEAD"),
        ".git/logs/refs/heads/agent/fix",
    }
    assert refused(guard(shop)) == []


@pytest.mark.slow
def test_the_gate_runs_the_endorsed_bytes(shop: Shop) -> None:
    shop.repo.commit({TEST: TESTS.replace(", 6)", ", 7)")}, "wrong", author="Eve <e@x>")
    told = reported("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    assert {row["bucket"] for row in told.rows("test_total")} == {"stable_pass", "untrusted"}
    assert accept(shop, TEST).exit_code == 0
    told = reported("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    assert told.row("test_total")["bucket"] == "invariant_miss"  # head's own bytes were run, three times


def test_other_bytes_need_another_endorsement(shop: Shop) -> None:
    assert accept(shop, TEST).exit_code == 0
    shop.repo.commit({TEST: WEAK + "\n\nassert True\n"}, "one more thing")
    assert ("altered-test", TEST) in refused(guard(shop))
    assert accept(shop, TEST).exit_code == 0
    assert refused(guard(shop)) == []
    assert "endorsed already" in accept(shop, TEST).err


def test_an_endorsement_does_not_survive_a_change_by_base(shop: Shop, keys: Mapping[str, Key]) -> None:
    assert accept(shop, TEST).exit_code == 0
    shop.repo.switch("main")
    signed(shop.repo, keys["ada"], {TEST: TESTS.replace("import unittest", "import unittest  # noqa")})
    assert ("altered-test", TEST) in refused(guard(shop))  # the merge gives bytes that nobody looked at
    shop.repo.switch("agent/fix")
    assert_clear(accept(shop, TEST), 3, "base-moved")
    shop.repo.merge("main")
    assert accept(shop, TEST).exit_code == 0
    assert refused(guard(shop)) == []


def test_a_deletion_and_odd_names(shop: Shop) -> None:
    odd = 'tests/data/ä "b\\\t\n.json'
    shop.repo.commit({odd: "{}", "tests/data/a.bin": None, "tests/data/plain name.json": "1"}, "moves")
    told = endorse(shop, "tests/data")
    assert_clear(told, 3, "no-terminal")
    zeros = "0" * 40
    ended = endorse(
        shop,
        *("--accept", f"tests/data/a.bin={zeros}", "--accept", f"{odd}={oid(shop, odd)}"),
        *("--accept", f"tests/data/plain name.json={oid(shop, 'tests/data/plain name.json')}"),
    )
    assert ended.exit_code == 0, ended.err
    assert shop.repo.git("log", "-1", "--format=%B").splitlines()[2:5] == [
        f"Redbucket-Endorse: {zeros} tests/data/a.bin",
        f"Redbucket-Endorse: {oid(shop, 'tests/data/plain name.json')} tests/data/plain name.json",
        f'Redbucket-Endorse: {oid(shop, odd)} "tests/data/\\303\\244 \\"b\\\\\\t\\n.json"',
    ]
    assert accept(shop, TEST).exit_code == 0
    assert refused(guard(shop)) == []


def test_a_policy_edit_and_the_list_itself_can_be_endorsed_but_count_only_once_landed(
    shop: Shop, keys: Mapping[str, Key]
) -> None:
    shop.repo.commit({SIGNERS: keys["ada"].line() + keys["eve"].line("eve@example.org")}, "add Eve")
    by_hand(shop, keys["eve"], [(oid(shop, SIGNERS), SIGNERS), (oid(shop), TEST)])
    assert {("protected-path", SIGNERS), ("altered-test", TEST)} <= set(refused(guard(shop)))
    assert accept(shop, SIGNERS, TEST).exit_code == 0
    assert refused(guard(shop)) == []


# --- what does not count


def test_a_key_that_base_does_not_know(shop: Shop, keys: Mapping[str, Key]) -> None:
    by_hand(shop, keys["eve"], [(oid(shop), TEST)])
    assert ("altered-test", TEST) in refused(guard(shop))


def test_an_unsigned_endorsement(shop: Shop) -> None:
    shop.repo.commit(message=f"ok\n\nRedbucket-Endorse: {oid(shop)} {TEST}\n")
    assert ("altered-test", TEST) in refused(guard(shop))


def test_an_endorsement_with_an_agents_mark(shop: Shop, keys: Mapping[str, Key]) -> None:
    by_hand(shop, keys["ada"], [(oid(shop), TEST)], author="Claude <noreply@anthropic.com>")
    assert ("altered-test", TEST) in refused(guard(shop))


def test_an_endorsement_of_another_path_or_of_other_bytes(shop: Shop, keys: Mapping[str, Key]) -> None:
    by_hand(shop, keys["ada"], [(oid(shop), "tests/test_other.py"), (oid(shop, TEST, "main"), TEST)])
    by_hand(shop, keys["ada"], [("0" * 40, TEST)])
    assert ("altered-test", TEST) in refused(guard(shop))


def test_without_allowed_signers_no_endorsement_counts(tmp_path: Path, keys: Mapping[str, Key]) -> None:
    plain = Shop.open(tmp_path)
    plain.patch({TEST: WEAK})
    plain.repo.switch("agent/fix")
    sits(plain, "Ada", keys["ada"])
    by_hand(plain, keys["ada"], [(oid(plain), TEST)])
    assert ("altered-test", TEST) in refused(guard(plain))
    assert_clear(accept(plain, TEST), 3, "no-allowed-signers")


def test_endorsed_bytes_do_not_count_as_a_link(tmp_path: Path, keys: Mapping[str, Key]) -> None:
    # the id of a link is the id of a file that holds its target
    path = "tests/data/kind"
    made = Shop.open(tmp_path, {SIGNERS: keys["ada"].line()}, rules=RULES)
    sits(made, "Ada", keys["ada"])
    made.patch({path: "../../shop.py"})
    made.repo.switch("agent/fix")
    assert accept(made, path).exit_code == 0
    assert trusted(made) == {path}
    made.repo.commit({path: Link("../../shop.py")}, "another kind")
    assert trusted(made) == set()
    assert accept(made, path).exit_code == 0  # a link can be endorsed as the link that it is
    assert trusted(made) == {path}


def trusted(shop: Shop) -> set[str]:
    """The paths that count as endorsed in what agent/fix would bring to main."""
    with session(shop.path, Progress(quiet=True, steps=False)) as opened:
        request = Request(base="main", head="agent/fix")
        history: Any = UserHistory(opened.repository)
        subject = examine(request, history, opened.scratch)
        assert not subject.endorsed & subject.distrusted
        taken = opened.scratch.entries(subject.h_tree)
        assert all(taken.get(path) == subject.merged.entries.get(path) for path in subject.endorsed)
        return set(subject.endorsed)


# --- who counts as whom


def test_signed_is_a_humans_and_unsigned_an_agents(shop: Shop, keys: Mapping[str, Key]) -> None:
    shop.repo.switch("main")
    shop.repo.branch("tidy")
    signed(shop.repo, keys["ada"], {TEST: WEAK})
    assert guard(shop, head="tidy").report["identity"] == {"agent": False, "marks": []}
    assert refused(guard(shop, head="tidy")) == []
    shop.repo.commit({TEST: WEAK + "# more\n"}, "unsigned, by Ada")
    told = guard(shop, head="tidy")
    assert told.report["identity"]["marks"][0].startswith("no signature of an allowed signer")
    assert ("altered-test", TEST) in refused(told)
    signed(shop.repo, keys["ada"], {TEST: WEAK + "# signed again\n"})
    assert refused(guard(shop, head="tidy")) == []
    signed(shop.repo, keys["eve"], {TEST: WEAK + "# a stranger\n"})
    assert ("altered-test", TEST) in refused(guard(shop, head="tidy"))


def test_a_list_that_is_not_there_or_is_a_link(shop: Shop, keys: Mapping[str, Key]) -> None:
    shop.repo.switch("main")
    signed(shop.repo, keys["ada"], {SIGNERS: Link("../mine")})
    ended = redbucket("guard", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    assert_clear(ended, 3, "no-allowed-signers")


# --- the command


def test_it_never_works_for_an_agent(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    tip = shop.repo.head()
    assert_clear(accept(shop, TEST), 3, "agent-environment")
    assert shop.repo.head() == tip


def test_without_a_terminal_the_bytes_must_be_named(shop: Shop) -> None:
    tip = shop.repo.head()
    ended = endorse(shop, TEST)
    assert_clear(ended, 3, "no-terminal")
    assert f"--accept {TEST}={oid(shop)}" in ended.err
    assert_clear(endorse(shop, "--accept", f"{TEST}={'1' * 40}"), 3, "not-accepted")
    assert_clear(endorse(shop, "tests/", "--accept", f"shop.py={oid(shop, 'shop.py')}"), 3, "not-accepted")
    assert endorse(shop, "--accept", TEST).exit_code == 3
    assert endorse(shop).exit_code == 3
    assert shop.repo.head() == tip


def test_a_key_that_would_not_count_moves_nothing(shop: Shop, keys: Mapping[str, Key]) -> None:
    before = shop.repo.git("for-each-ref"), shop.repo.head()
    sits(shop, "Eve", keys["eve"])
    ended = accept(shop, TEST)
    assert_clear(ended, 3, "endorsement-does-not-count")
    assert SIGNERS in ended.err and "SHA256:" in ended.err
    sits(shop, "Ada (aider)", keys["ada"])
    assert_clear(accept(shop, TEST), 3, "endorsement-does-not-count")
    sits(shop, "Ada", None)
    assert_clear(accept(shop, TEST), 3, "no-signing-key")
    sits(shop, "Ada", Key(keys["ada"].path.with_name("gone")))
    assert_clear(accept(shop, TEST), 3, "signing-failed")
    assert (shop.repo.git("for-each-ref"), shop.repo.head()) == before
    sits(shop, "Ada", None)
    assert (
        endorse(
            shop, "--key", str(keys["ada"].path), "--accept", f"{TEST}={oid(shop)}", "-m", "Fine by me"
        ).exit_code
        == 0
    )
    assert shop.repo.git("log", "-1", "--format=%s") == "Fine by me"


def test_paths_that_ask_for_nothing(shop: Shop) -> None:
    assert_clear(endorse(shop, "README"), 3, "nothing-to-endorse")
    assert_clear(endorse(shop, "../elsewhere"), 3, "outside-repository")
    assert_clear(endorse(shop, "--head", "nobody", TEST), 3, "head-not-a-branch")


def test_staged_and_unstaged_work_stays_as_it_is(shop: Shop) -> None:
    shop.repo.stage({"staged.py": "1"})
    shop.repo.write({TEST: "broken", "run": Executable(b"x")})
    status = shop.repo.git("status", "--porcelain")
    assert accept(shop, TEST).exit_code == 0
    assert shop.repo.git("status", "--porcelain") == status
    assert shop.repo.git("diff", "--name-only", "HEAD~1", "HEAD") == ""


def test_another_branch_is_endorsed_from_where_one_stands(shop: Shop) -> None:
    shop.repo.switch("main")
    main, tip = shop.repo.head(), shop.repo.git("rev-parse", "agent/fix")
    blob = oid(shop)
    assert endorse(shop, "--head", "agent/fix", "--accept", f"{TEST}={blob}").exit_code == 0
    assert (shop.repo.head(), shop.repo.git("rev-parse", "agent/fix~1")) == (main, tip)


def test_on_a_terminal_it_shows_the_diff_and_asks(shop: Shop) -> None:
    shop.repo.commit(
        {TEST: WEAK.replace("class", "# \x1b[8mhidden\x1b[0m \u202e\nclass"), "tests/data/a.bin": b"\0\2"}
    )
    tip = shop.repo.head()
    code, shown = at_terminal(shop, "n\n", "tests")
    assert (code, shop.repo.head()) == (1, tip)
    assert "-        self.assertEqual(total([1, 2, 3]), 6)" in shown
    assert "altered-test: " in shown
    assert "\\x1b[8mhidden\\x1b[0m \\u202e" in shown
    assert f"patch: binary, 2 bytes, {oid(shop, 'tests/data/a.bin')}" in shown
    assert "nothing was endorsed" in shown
    code, shown = at_terminal(shop, "y\n", "tests")
    assert code == 0 and "endorsed 2 files as ada@example.org" in shown
    assert refused(guard(shop)) == []


def at_terminal(shop: Shop, typed: str, *words: str) -> tuple[int, str]:
    """Run the command on a pseudo terminal, type, and return its exit code and what was shown."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [CONSOLE, "endorse", "-C", str(shop.path), *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "NO_COLOR": "1"},
        start_new_session=True,
    )
    os.close(theirs)
    os.write(mine, typed.encode())
    shown = b""
    while True:
        try:
            part = os.read(mine, 65536)
        except OSError:  # Linux says EIO when the other side is gone
            break
        if not part:
            break
        shown += part
    os.close(mine)
    return process.wait(), shown.decode().replace("\r\n", "\n")
