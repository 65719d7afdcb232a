"""A person verifies the lock, sees what moved, locks and refreshes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.checksums import read, write
from tests.gitkit import Content, Link, Repo
from tests.stories.kit import Ended, redbucket

ONE, TWO, LOCK = "tests/data/one.json", "tests/data/two.json", "fixtures.sha256"
FILES: dict[str, Content] = {ONE: '{"a": 1}\n', TWO: "two\n"}


def sha(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def lock(files: Mapping[str, Content]) -> bytes:
    return write({path: sha(data) for path, data in files.items() if data is not None})


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({**FILES, LOCK: lock(FILES), "app.py": "x = 1\n"}, "a locked repository")
    return made


def fixtures(repo: Repo, *words: str | Path) -> Ended:
    return redbucket("fixtures", words[0], "-C", repo.path, *words[1:])


def verify(repo: Repo, *words: str) -> tuple[int, dict[str, str], list[str]]:
    """The exit code, {path: kind and severity}, and what is not materialised."""
    ended = fixtures(repo, "verify", *words, "--format", "json")
    report: dict[str, Any] = json.loads(ended.out)
    assert report["exit_code"] == ended.exit_code
    found = {f["path"]: f"{f['reason'].partition(':')[0]} {f['severity']}" for f in report["findings"]}
    assert all(f["remedy"] for f in report["findings"]) and all(p["remedy"] for p in report["undecided"])
    return ended.exit_code, found, [p["reason"].partition(":")[0] for p in report["undecided"]]


# --- verify


def test_all_is_well(repo: Repo) -> None:
    before = repo.snapshot()
    ended = fixtures(repo, "verify")
    assert (ended.exit_code, ended.out) == (0, "ACCEPTED  2 fixtures as locked (fixtures.sha256)\n")
    assert verify(repo) == verify(repo, "--staged") == verify(repo, "--rev", "HEAD") == (0, {}, [])
    assert fixtures(repo, "verify", "--quiet").out == ""
    assert repo.snapshot() == before


def test_a_repository_without_a_lock(tmp_path: Path) -> None:
    bare = Repo.init(tmp_path / "bare")
    bare.commit(FILES)
    ended = fixtures(bare, "verify")
    assert (ended.exit_code, ended.out) == (0, "")
    assert "nothing to verify" in ended.err


def test_an_edit_that_git_is_told_not_to_see(repo: Repo) -> None:
    for bit in ("--assume-unchanged", "--skip-worktree"):
        repo.write({ONE: '{"a": 2}\n'})
        repo.git("update-index", bit, ONE)
        assert repo.git("status", "--porcelain") == ""
        assert verify(repo) == (1, {ONE: "mismatch refuse"}, []), bit
        repo.git("update-index", bit.replace("--", "--no-"), ONE)
        repo.write({ONE: FILES[ONE]})


def test_an_edit_with_the_old_size_and_time(repo: Repo) -> None:
    place = repo.path / ONE
    seen = place.stat()
    place.write_bytes(b'{"a": 3}\n')
    os.utime(place, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert verify(repo) == (1, {ONE: "mismatch refuse"}, [])


def test_the_index_is_what_counts_when_it_is_staged(repo: Repo) -> None:
    repo.stage({ONE: "staged\n"})
    repo.write({ONE: FILES[ONE]})
    assert verify(repo, "--staged") == verify(repo) == (1, {ONE: "mismatch refuse"}, [])
    assert verify(repo, "--rev", "HEAD")[0] == 0
    repo.write({TWO: "only in the work tree"})
    assert verify(repo, "--staged", TWO)[0] == 0
    assert verify(repo, TWO) == (1, {TWO: "mismatch refuse"}, [])


def test_a_checkout_with_other_line_ends_is_said_and_passes(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    for name in FILES:
        (repo.path / name).unlink()
    repo.git("checkout", "--", *FILES)
    assert (repo.path / TWO).read_bytes() == b"two\r\n" and repo.git("status", "--porcelain") == ""
    assert verify(repo) == (0, {ONE: "line ends only warn", TWO: "line ends only warn"}, [])
    assert "blob is right" in fixtures(repo, "verify").out


def test_a_blob_with_other_line_ends_is_refused(repo: Repo) -> None:
    repo.commit({TWO: "two\r\n"})
    assert verify(repo) == (1, {TWO: "line ends only refuse"}, [])


def test_a_lock_that_was_checked_out_with_crlf(repo: Repo) -> None:
    repo.commit({LOCK: lock(FILES).replace(b"\n", b"\r\n")})
    assert verify(repo) == (0, {}, [])


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"", "lists nothing"),
        (b"\xef\xbb\xbf" + lock(FILES), "byte order mark"),
        (lock(FILES).replace(b"\n", b"\0"), "-z"),
        (lock(FILES).replace(b"  ", b" "), "reversed"),
        (lock(FILES) + b"junk\n", "two spaces"),
    ],
)
def test_a_lock_that_can_not_be_trusted(repo: Repo, raw: bytes, word: str) -> None:
    repo.commit({LOCK: raw})
    ended = fixtures(repo, "verify")
    assert ended.exit_code == 1 and word in ended.out and "Traceback" not in ended.err


def test_pointers_and_their_content(repo: Repo) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha('two' + chr(10))}\nsize 4\n"
    attributes = {".gitattributes": "tests/data/two.json filter=lfs -text\n"}
    repo.commit({TWO: pointer, **attributes})
    assert verify(repo) == (2, {}, [TWO])
    # its own checksum says that it stands for the locked bytes
    assert verify(repo, "--staged") == verify(repo, "--rev", "HEAD") == (0, {}, [])
    repo.write({TWO: FILES[TWO]})  # what git lfs pull leaves there
    assert verify(repo) == verify(repo, "--staged") == (0, {}, [])
    repo.write({TWO: "zwei\n"})
    assert verify(repo) == (1, {TWO: "mismatch refuse"}, [])  # changed, and not staged
    repo.git(
        "config",
        "filter.lfs.clean",
        f"printf '{pointer.replace(sha('two' + chr(10)), sha('zwei' + chr(10)))}'",
    )
    repo.git("add", TWO)
    ended = fixtures(repo, "verify")  # one finding: the file is what is staged
    assert ended.out.count("mismatch:") == 1 and "its LFS pointer names" in ended.out


@pytest.mark.parametrize("attributes", ["", "*.json -filter\n", "*.bin filter=lfs\n", "*.json filter=lfss\n"])
def test_a_pointer_that_nothing_replaces_is_a_mismatch(repo: Repo, attributes: str) -> None:
    """No ``git lfs pull`` will ever put the locked bytes there: tests read the pointer."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha('two' + chr(10))}\nsize 4\n"
    repo.commit({TWO: pointer, ".gitattributes": attributes})
    for words in ([], ["--staged"], ["--rev", "HEAD"]):
        ended = fixtures(repo, "verify", *words)
        assert ended.exit_code == 1 and "mismatch: an LFS pointer is there that nothing replaces" in ended.out
        assert "git lfs pull" not in ended.out


LINES = f"oid sha256:{sha('two' + chr(10))}\nsize 4\n"


@pytest.mark.parametrize(
    "rest", ["size 4\n", LINES[:76], f"{LINES}and more\n", f"ext-0-x sha256:{'a' * 64}\n{LINES}"]
)
def test_what_only_begins_like_a_pointer_vouches_for_nothing(repo: Repo, rest: str) -> None:
    text = f"version https://git-lfs.github.com/spec/v1\n{rest}"
    repo.commit({TWO: text, ".gitattributes": "*.json filter=lfs\n"})
    assert verify(repo, "--staged") == (2, {}, [TWO])


def test_a_sparse_checkout(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/*", "!/tests/data/two.json")
    assert not (repo.path / TWO).exists()
    assert verify(repo) == (2, {}, [TWO])
    assert verify(repo, "--staged") == (0, {}, [])


def test_a_submodule_that_is_not_initialised(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.init(tmp_path / "inner")
    inner.commit({"x.json": "x\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "tests/data/sub")
    files = {**FILES, "tests/data/sub/x.json": "x\n"}
    repo.commit({LOCK: lock(files)})
    assert verify(repo) == verify(repo, "--staged") == (0, {}, [])
    repo.git("submodule", "deinit", "-f", "-q", "tests/data/sub")
    assert verify(repo) == (2, {}, ["tests/data/sub/x.json"])


def test_a_linked_work_tree_and_a_bare_repository(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert redbucket("fixtures", "verify", "-C", tmp_path / "linked").exit_code == 0
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    assert redbucket("fixtures", "verify", "-C", tmp_path / "bare.git", "--rev", "main").exit_code == 0


def test_links_folders_and_pipes_in_the_work_tree(repo: Repo) -> None:
    outside = repo.path / "outside"
    outside.write_bytes(b"two\n")
    repo.write({TWO: Link("../../outside")})
    assert verify(repo)[1] == {TWO: "linked refuse"}
    repo.write({TWO: None})
    assert verify(repo)[1] == {TWO: "missing refuse"}
    (repo.path / TWO).mkdir()
    assert verify(repo)[1] == {TWO: "unreadable refuse"}


def test_new_files_after_a_run(repo: Repo) -> None:
    repo.write({"tests/cassettes/new.yaml": "x", "notes.txt": "x"})
    assert verify(repo) == (1, {"tests/cassettes/new.yaml": "unlisted refuse"}, [])
    repo.stage({"tests/cassettes/new.yaml": "x"})
    assert verify(repo, "--staged")[1] == {"tests/cassettes/new.yaml": "unlisted refuse"}


def test_odd_names(repo: Repo) -> None:
    odd = {
        f"tests/data/{name}": f"{name}\n"
        for name in (" lead", "-rf", "*star", "#hash", "q\"'", "\u00e9", "tab\t")
    }
    files = {**FILES, **odd}
    repo.commit({**odd, LOCK: lock(files)})
    raw = os.fsencode(repo.path) + b"/tests/data/caf\xe9"
    Path(os.fsdecode(raw)).write_bytes(b"latin\n")
    repo.write({LOCK: lock({**files, "tests/data/caf\udce9": "latin\n"})})
    repo.git("add", "-A")
    assert verify(repo) == (0, {}, [])
    done = subprocess.run(["sha256sum", "-c", "--strict", "--quiet", LOCK], cwd=repo.path, check=False)
    assert done.returncode == 0


def test_names_that_no_lock_can_hold_are_findings(repo: Repo) -> None:
    repo.commit({"tests/data/back\\slash": "x", "tests/data/new\nline": "x"})
    code, found, _ = verify(repo)
    assert (code == 1 and set(found.values()) == {"unlisted refuse", "duplicated refuse"}) or len(found) == 2
    assert "\\n" in fixtures(repo, "verify").out


@pytest.mark.parametrize(
    "words", [("--rev", "nope"), ("--rev", "--all"), ("../elsewhere",), ("--staged", "--rev", "HEAD")]
)
def test_misuse_is_one_clear_error(repo: Repo, words: tuple[str, ...]) -> None:
    ended = fixtures(repo, "verify", *words)
    assert ended.exit_code == 3 and ended.out == "" and "Traceback" not in ended.err


def test_sarif_names_the_rule_and_the_place(repo: Repo) -> None:
    repo.commit({ONE: "other\n"})
    report = json.loads(fixtures(repo, "verify", "--format", "sarif").out)
    (result,) = report["runs"][0]["results"]
    assert result["ruleId"] == "fixture-checksum"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == ONE


def test_what_is_verified_is_no_patch_in_any_format(repo: Repo, tmp_path: Path) -> None:
    """No base to put files back from, no gate to run, nothing that a patch added."""
    report = tmp_path / "report"
    assert fixtures(repo, "verify", "-o", report).exit_code == 0
    assert report.read_text() == "ACCEPTED  2 fixtures are listed (fixtures.sha256)\n"
    good = fixtures(repo, "verify", "--format", "markdown").out
    assert "2 fixtures are listed" in good.split("\n")[2] and "nothing to do" in good
    repo.stage({ONE: "1\n", "tests/data/new.json": "2\n"})
    bad = fixtures(repo, "verify", "--format", "markdown").out
    assert "human refreshes the lock" in bad and f"`{ONE}`" in bad and "redbucket fixtures verify -C" in bad
    (repo.path / LOCK).unlink()
    repo.git("rm", "-q", "--cached", LOCK)
    none = fixtures(repo, "verify", "--format", "markdown").out
    assert "no lock here" in none and "redbucket fixtures lock" in none
    for text in (good, bad, none):
        assert not re.search(r"BASE|patch|redbucket gate|guards alone|no test was run|review|branch", text)
    assert fixtures(repo, "verify", "-o", report).exit_code == 0 and "no lock here" in report.read_text()


def test_sarif_places_what_is_not_here_at_its_file(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "/*", "!/tests/data/two.json")
    (result,) = json.loads(fixtures(repo, "verify", "--format", "sarif").out)["runs"][0]["results"]
    assert result["ruleId"] == "undecided"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == TWO
    (problem,) = json.loads(fixtures(repo, "verify", "--format", "json").out)["undecided"]
    assert problem["path"] == TWO


def test_in_the_hook_the_index_is_judged(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRE_COMMIT", "1")
    repo.stage({ONE: "other\n"})
    ended = redbucket("hook", "fixture-checksums", "-C", repo.path)
    assert ended.exit_code == 1 and "mismatch" in ended.out


def test_it_does_without_gitpython(repo: Repo) -> None:
    program = (
        "import sys; from redbucket.cli import main; code = main(['fixtures', 'verify']);"
        "print(code, [m for m in ('git', 'rich', 'pathspec', 'unidiff', 'tomlkit') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repo.path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert done.stdout.splitlines()[-1] in ("0 []", "0 ['pathspec']")


# --- diff


def moved(repo: Repo, *words: str) -> dict[str, str]:
    ended = fixtures(repo, "diff", *words, "--format", "json")
    assert ended.exit_code == 0
    found: dict[str, Any] = json.loads(ended.out)
    assert found["schema"] == "redbucket.fixtures-diff/1"
    return {each["path"]: each["class"] for each in found["fixtures"]}


def test_what_moved_between_commits_the_index_and_the_work_tree(repo: Repo) -> None:
    assert moved(repo) == {}
    assert fixtures(repo, "diff").out == "no fixture moved\n"
    old = repo.head()
    repo.commit({ONE: '{"a":1}', TWO: "two\r\n"})
    both = {ONE: "representation only", TWO: "line ends only"}
    assert moved(repo, "--base", old) == moved(repo, "--base", old, "--head", "HEAD") == both
    assert moved(repo, "--base", old, TWO) == {TWO: "line ends only"}
    repo.stage({ONE: '{"a": true}', "app.py": "x = 2\n"})
    repo.write({TWO: None, "tests/cassettes/new.yaml": "a: 1\n"})
    assert moved(repo, "--staged") == {ONE: "payload"}
    assert moved(repo) == {ONE: "payload", TWO: "gone", "tests/cassettes/new.yaml": "added"}
    assert "/a: 1 -> true" in fixtures(repo, "diff").out


def test_a_diff_shows_carriage_returns_and_a_missing_last_newline(repo: Repo) -> None:
    repo.write({TWO: "two\r"})
    told = fixtures(repo, "diff").out
    assert "-two\n" in told and "+two\\r\n" in told and "No newline at end of file" in told


def test_a_long_diff_is_cut(repo: Repo) -> None:
    lines = [f"line {number}\n" for number in range(36_000)]
    repo.commit({TWO: "".join(lines)})
    repo.write({TWO: "".join(f"x{line}" if n % 7 == 0 else line for n, line in enumerate(lines))})
    told = fixtures(repo, "diff", "--lines", "5").out
    assert "more lines differ" in told and told.count("\n") < 12


def test_rules_of_the_policy_make_a_change_volatile(repo: Repo) -> None:
    rule = '[[fixtures.volatile]]\npointer = "/id"\ngrammar = "uuid"\n'
    one, two = (json.dumps({"id": f"{n}23e4567-e89b-42d3-a456-426614174000"}) for n in "12")
    repo.commit({"redbucket.toml": rule, ONE: one})
    repo.write({ONE: two})
    assert moved(repo) == {ONE: "volatile only"}
    assert verify(repo)[0] == 1  # a shorter review, never a lock


def test_links_and_pointers_are_told(repo: Repo) -> None:
    repo.write({ONE: Link("../../app.py")})
    assert moved(repo) == {ONE: "opaque"} or moved(repo) == {ONE: "payload"}
    repo.write({ONE: f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1\n"})
    assert moved(repo) == {ONE: "opaque"}  # no attribute has it replaced: JSON that is none


# --- lock and refresh


def locked(repo: Repo) -> dict[str, str]:
    found = read((repo.path / LOCK).read_bytes())
    assert found.flaws == ()
    return {line.path: line.sha256 for line in found.lines}


def test_new_files_are_proposed_and_accepted_by_checksum(repo: Repo) -> None:
    three = "tests/data/three.json"
    repo.stage({three: "3\n"})
    before = (repo.path / LOCK).read_bytes()
    ended = fixtures(repo, "lock")
    assert ended.exit_code == 2 and f"--accept {three}={sha('3' + chr(10))}" in ended.err
    assert (repo.path / LOCK).read_bytes() == before
    pending = repo.path / ".git/redbucket/pending" / LOCK
    assert "pending" not in repo.git("status", "--porcelain")
    assert three in pending.read_text()
    ended = fixtures(
        repo, "lock", "--accept", f"{three}={sha('3' + chr(10))}", "--reason", "new", "--source", "hand"
    )
    assert ended.exit_code == 0 and not pending.exists()
    assert locked(repo) == {three: sha("3\n"), ONE: sha(FILES[ONE] or ""), TWO: sha("two\n")}
    assert f"Fixture-Locked: {three} {sha('3' + chr(10))[:16]}" in ended.out
    assert "Fixture-Reason: new\n" in ended.out and "Fixture-Source: hand\n" in ended.out
    repo.git("add", "-A")
    assert verify(repo) == (0, {}, [])


def test_a_first_lock_is_made_whole_by_its_own_checksum(tmp_path: Path) -> None:
    fresh = Repo.init(tmp_path / "fresh")
    files = {f"tests/data/{n}.json": f"{n}\n" for n in range(5)}
    fresh.commit({**files, "tests/test_x.py": ""})
    ended = fixtures(fresh, "lock")
    proposed = sha((fresh.path / ".git/redbucket/pending" / LOCK).read_bytes())
    assert ended.exit_code == 2 and f"--accept {LOCK}={proposed}" in ended.err
    assert fixtures(fresh, "lock", "--accept", f"{LOCK}={proposed}").exit_code == 0
    assert locked(fresh) == {path: sha(data) for path, data in files.items()}
    done = subprocess.run(["sha256sum", "-c", "--strict", "--quiet", LOCK], cwd=fresh.path, check=False)
    assert done.returncode == 0
    fresh.commit({})
    fresh.git("add", "-A")
    assert verify(fresh) == (0, {}, [])
    assert fixtures(fresh, "lock").out == "nothing to do: what is staged is what is locked\n"


def test_refresh_takes_only_what_is_named_and_shows_what_moved(repo: Repo) -> None:
    repo.stage({ONE: '{"a": 2}\n', TWO: "zwei\n"})
    ended = fixtures(repo, "refresh", ONE)
    assert ended.exit_code == 2 and "/a: 1 -> 2" in ended.out and TWO not in ended.out
    new = sha('{"a": 2}\n')
    assert fixtures(repo, "refresh", ONE, "--accept", f"{ONE}={new}").exit_code == 0
    assert locked(repo) == {ONE: new, TWO: sha("two\n")}
    assert fixtures(repo, "refresh", ONE).out.startswith("nothing to do")


def test_locked_bytes_that_no_commit_holds_are_not_called_nothing(repo: Repo) -> None:
    repo.commit({LOCK: lock({**FILES, ONE: "never committed\n"})})
    out = fixtures(repo, "refresh", ONE).out
    assert f"bytes {sha('never committed' + chr(10))[:16]}, which are not here -> 9 bytes" in out
    assert "added" not in out and "there is nothing to compare with" in out


def test_what_is_not_staged_is_said_with_the_way_to_stage_it(repo: Repo) -> None:
    repo.write({ONE: '{"a": 2}\n'})
    ended = fixtures(repo, "refresh", ONE)
    assert (ended.exit_code, ended.errors) == (3, ["not-staged"])
    assert f"git -C {repo.path} add {ONE}" in ended.err
    # beside one that is staged, too; a file that is only touched, or gone, is no change to stage
    repo.stage({TWO: "zwei\n"})
    assert fixtures(repo, "refresh", TWO, ONE).errors == ["not-staged"]
    repo.git("checkout", "-q", "--", ONE)
    os.utime(repo.path / ONE, (1, 1))
    assert fixtures(repo, "refresh", ONE).out.startswith("nothing to do")
    (repo.path / ONE).unlink()
    assert fixtures(repo, "refresh", ONE).out.startswith("nothing to do")


def test_what_is_no_file_is_not_called_locked(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.init(tmp_path / "inner")
    inner.commit({"x.json": "x\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "tests/data/sub")
    repo.git("submodule", "deinit", "-f", "-q", "tests/data/sub")
    repo.stage({"tests/data/link.json": Link("one.json")})
    for path, said in (("link.json", "symbolic link"), ("sub", "submodule update --init tests/data/sub")):
        ended = fixtures(repo, "lock", f"tests/data/{path}")
        assert (ended.exit_code, ended.errors) == (3, ["not-a-file"]) and said in ended.err
    assert fixtures(repo, "lock", ONE).out.startswith("nothing to do")


def test_before_the_first_commit_all_is_added(tmp_path: Path) -> None:
    fresh = Repo.init(tmp_path / "fresh")
    fresh.git("checkout", "-q", "--orphan", "feature/new")
    fresh.stage({ONE: "1\n"})
    assert moved(fresh, "--staged") == moved(fresh) == {ONE: "added"}
    assert fixtures(fresh, "diff", "--base", "HEAD").errors == ["unknown-revision"]
    fresh.commit()
    assert moved(fresh, "--staged") == moved(fresh) == {}


def test_a_new_fixture_that_git_does_not_track_is_said(repo: Repo) -> None:
    repo.write({"tests/data/new.json": "3\n", "tests/notes.py": ""})
    ended = fixtures(repo, "lock")
    assert ended.out.startswith("nothing to do") and "a recorded fixture is not staged" in ended.err
    (command,) = [row.strip().removeprefix("$ ") for row in ended.err.splitlines() if " add " in row]
    repo.git(*shlex.split(command)[1:])
    ended = fixtures(repo, "lock")
    assert ended.exit_code == 2 and "not staged" not in ended.err


def test_line_ends_of_the_checkout_are_no_change_to_stage(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    (repo.path / TWO).unlink()
    repo.git("checkout", "-q", "--", TWO)
    assert (repo.path / TWO).read_bytes() == b"two\r\n"
    assert fixtures(repo, "refresh", TWO).out.startswith("nothing to do")


@pytest.mark.parametrize("words", [("lock",), ("refresh", ONE, TWO)])
def test_the_whole_command_is_printed_ready_to_paste(repo: Repo, words: tuple[str, ...]) -> None:
    repo.stage({ONE: '{"a": 2}\n', TWO: "zwei\n", "tests/data/it's new.json": "3\n"})
    ended = fixtures(repo, *words, "--reason", "it's new")
    (command,) = [row.strip().removeprefix("$ ") for row in ended.err.splitlines() if " --accept " in row]
    said = shlex.split(command)
    assert said[:3] == ["redbucket", "fixtures", words[0]]
    again = redbucket(*said[1:])
    assert again.exit_code == 0, again.err
    assert "Fixture-Reason: it's new" in again.out
    wanted = {"tests/data/it's new.json"} if words == ("lock",) else {ONE, TWO}
    before = {ONE: sha(FILES[ONE] or ""), TWO: sha("two\n")}
    assert {path for path, line in locked(repo).items() if before.get(path) != line} == wanted


def test_comments_stay_and_carriage_returns_go(repo: Repo) -> None:
    raw = b"# who: Ada\r\n" + lock(FILES).replace(b"\n", b"\r\n")
    repo.write({LOCK: raw})
    repo.stage({ONE: "x\n"})
    fixtures(repo, "refresh", ONE, "--accept", f"{ONE}={sha('x' + chr(10))}")
    text = (repo.path / LOCK).read_bytes()
    assert b"# who: Ada\n" in text and b"\r" not in text and text.count(b"# redbucket lock") == 1


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("refresh", "app.py"), "not-locked"),
        (("refresh", "tests/data/none"), "not-locked"),
        (("refresh", ONE, "--accept", f"{ONE}={'0' * 64}"), "not-as-shown"),
        (("refresh", ONE, "--accept", f"{TWO}={'0' * 64}"), "not-proposed"),
        (("lock", "--accept", "nonsense"), "not-proposed"),
        (("lock", "tests/data/none"), "not-staged"),
    ],
)
def test_misused_edits(repo: Repo, words: tuple[str, ...], error: str) -> None:
    repo.stage({ONE: "x\n"})
    before = repo.snapshot()
    ended = fixtures(repo, *words)
    assert (ended.exit_code, ended.errors) == (3, [error])
    assert repo.snapshot() == before


def test_refresh_never_deletes(repo: Repo) -> None:
    repo.git("rm", "-q", ONE)
    assert fixtures(repo, "refresh", ONE).errors == ["not-staged"]
    repo.stage({TWO: "zwei\n"})
    fixtures(repo, "refresh", TWO, "--accept", f"{TWO}={sha('zwei' + chr(10))}")
    assert set(locked(repo)) == {ONE, TWO}


def test_a_flawed_lock_is_not_written_over(repo: Repo) -> None:
    repo.write({LOCK: lock(FILES) + b"junk\n"})
    repo.stage({ONE: "x\n"})
    assert fixtures(repo, "refresh", ONE).errors == ["flawed-lock"]


@pytest.mark.parametrize("command", [("lock",), ("refresh", ONE)])
def test_agents_lock_nothing(repo: Repo, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    repo.stage({ONE: "x\n"})
    accept = ("--accept", f"{ONE}={sha('x' + chr(10))}")
    with monkeypatch.context() as patched:
        patched.setenv("CLAUDECODE", "1")
        ended = fixtures(repo, *command, *accept)
        assert (ended.exit_code, ended.errors) == (1, ["human-only"])
    repo.branch("agent/fix")
    assert fixtures(repo, *command, *accept).errors == ["human-only"]
    assert locked(repo)[ONE] == sha(FILES[ONE] or "")


def test_two_at_once_lose_nothing(repo: Repo) -> None:
    names = [f"tests/data/new{n}.json" for n in range(4)]
    repo.stage({name: f"{name}\n" for name in names})
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "redbucket",
                "fixtures",
                "lock",
                "--accept",
                f"{name}={sha(name + chr(10))}",
            ],
            cwd=repo.path,
            stdout=subprocess.DEVNULL,
        )
        for name in names
    ]
    assert [process.wait() for process in running] == [0] * 4
    assert set(locked(repo)) == {ONE, TWO, *names}


def test_a_line_that_moved_meanwhile_is_not_taken(repo: Repo) -> None:
    from redbucket.core.errors import Misused
    from redbucket.core.lockedit import Proposal, edited

    raw = lock(FILES)
    with pytest.raises(Misused) as caught:
        edited(raw, LOCK, [Proposal(ONE, LOCK, ONE, "0" * 64, "1" * 64)])
    assert caught.value.code == "lock-moved"


def test_a_human_answers_at_a_terminal(repo: Repo) -> None:
    import pty

    repo.stage({ONE: '{"a": 2}\n', TWO: "zwei\n", "tests/data/three": "3\n"})
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "redbucket", "fixtures", "refresh", ONE, TWO],
        cwd=repo.path,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    os.write(leader, b"n\ny\n")
    out = (process.communicate()[0] or b"").decode()
    os.close(leader)
    assert process.returncode == 0, out
    assert "/a: 1 -> 2" in out and "-two" in out and "+zwei" in out
    assert locked(repo) == {ONE: sha(FILES[ONE] or ""), TWO: sha("zwei\n")}
    assert not (repo.path / ".git/redbucket/pending" / LOCK).exists()


def test_an_lfs_pointer_is_locked_by_its_content(repo: Repo) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha('big')}\nsize 3\n"
    repo.stage({".gitattributes": "tests/data/big filter=lfs -text\n", "tests/data/big": pointer})
    assert fixtures(repo, "lock", "--accept", f"tests/data/big={sha('big')}").exit_code == 0
    repo.stage({LOCK: (repo.path / LOCK).read_bytes()})
    assert verify(repo) == (2, {}, ["tests/data/big"])
    assert verify(repo, "--staged") == (0, {}, [])


def test_a_name_that_no_lock_can_hold_is_refused(repo: Repo) -> None:
    repo.stage({"tests/data/back\\slash": "x"})
    assert fixtures(repo, "lock").errors == ["unlockable-name"]


def test_a_sidecar_is_refreshed_where_it_stands(repo: Repo) -> None:
    side = write({"big.bin": sha("big")}, header=False)
    repo.commit({"tests/data/big.bin": "big", "tests/data/big.bin.sha256": side})
    repo.stage({"tests/data/big.bin": "bigger"})
    fixtures(repo, "refresh", "tests/data/big.bin", "--accept", f"tests/data/big.bin={sha('bigger')}")
    assert (
        (repo.path / "tests/data/big.bin.sha256")
        .read_bytes()
        .endswith(f"{sha('bigger')}  big.bin\n".encode())
    )


def test_a_fixture_whose_object_is_not_here_is_told_and_the_others_are_shown(repo: Repo) -> None:
    old = repo.head()
    repo.commit({ONE: "{}\n", TWO: "zwei\n"})
    oid = repo.git("rev-parse", f"HEAD:{ONE}")
    (repo.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    assert moved(repo, "--base", old, "--head", "HEAD") == {ONE: "not materialised", TWO: "opaque"}
    ended = fixtures(repo, "verify", "--rev", "HEAD")
    assert (ended.exit_code, ended.out) == (1, ended.out)  # the file of the same blob id vouches for it
    (repo.path / ONE).unlink()
    assert fixtures(repo, "verify", "--rev", "HEAD").errors == ["missing-object"]


ONE_LINE = "1\n"


def test_a_lock_that_git_does_not_have_yet_is_not_called_none(tmp_path: Path) -> None:
    """Right after ``fixtures lock``, before ``git add``: nothing was verified, and "no lock here" is not true."""
    repo = Repo.init(tmp_path / "fresh")
    repo.commit({ONE: ONE_LINE, "tests/test_a.py": "def test_a(): 0\n"})
    assert "no lock here" in fixtures(repo, "verify").err
    assert fixtures(repo, "lock", "--accept", f"{ONE}={sha(ONE_LINE)}").exit_code == 0
    ended = fixtures(repo, "verify")
    assert ended.exit_code == 2
    assert ended.out.startswith("UNDECIDED  1 lock not staged\n")
    assert "no lock" not in ended.out + ended.err
    (command,) = [row.partition("-> ")[2] for row in ended.out.splitlines() if "-> " in row]
    assert command == f"git -C {repo.path} add fixtures.sha256"
    repo.git(*shlex.split(command)[1:])
    assert fixtures(repo, "verify").out.startswith("ACCEPTED  1 fixture as locked")
    # the index alone was asked for: there it is true
    repo.git("rm", "-q", "--cached", "fixtures.sha256")
    assert fixtures(repo, "verify", "--staged").exit_code == 0
