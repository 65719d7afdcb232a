"""Repositories and objects, with real git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from redbucket.core.errors import Misused, RedbucketError, Undecided, WorldFailed
from redbucket.core.patch import Entry, Hunk
from redbucket.edges.git import sealed_environment
from redbucket.edges.repository import Repository
from redbucket.edges.scratch import Scratch
from tests.gitkit import Executable, Link, Repo


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = Repo.init(tmp_path / "repo")
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.home))
    return made


def scratch_of(repo: Repo, tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "scratch", Repository.discover(repo.path))


# --- discovery


def test_it_is_found_from_a_subfolder(repo: Repo) -> None:
    repo.commit({"a/b/c.py": "1"})
    found = Repository.discover(repo.path / "a" / "b")
    assert found.work_tree == repo.path and found.git_dir == repo.path / ".git"
    assert not found.is_bare and not found.is_shallow and found.object_format == "sha1"
    assert found.objects_dirs == (repo.path / ".git" / "objects",)


def test_a_linked_work_tree_shares_objects_but_has_its_own_head(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1"})
    repo.git("worktree", "add", "-q", "-b", "agent/x", str(tmp_path / "linked"))
    found = Repository.discover(tmp_path / "linked")
    assert found.current_branch() == "agent/x" and found.head_ref() == "refs/heads/agent/x"
    assert found.common_dir == repo.path / ".git" and found.git_dir != found.common_dir
    assert found.objects_dirs == (repo.path / ".git" / "objects",)


def test_a_bare_repository_and_the_inside_of_a_git_folder(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oid = repo.commit({"a": "1"})
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    bare = Repository.discover(tmp_path / "bare.git")
    assert bare.is_bare and bare.work_tree is None and bare.resolve("main") == oid
    (repo.home / ".gitconfig").write_text("[safe]\n\tbareRepository = explicit\n")
    with pytest.raises(Misused):
        Repository.discover(tmp_path / "bare.git")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "bare.git"))  # as git tells its hooks
    assert Repository.discover(tmp_path / "bare.git") == bare
    assert Repository.discover(repo.path / ".git").work_tree == repo.path


def test_git_variables_of_a_hook_do_not_lead_astray(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oid = repo.commit({"a": "1"})
    other = Repo.init(tmp_path / "other")
    other.commit({"z": "1"})
    for name, value in {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": ".git/nowhere",
        "GIT_OBJECT_DIRECTORY": str(tmp_path),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_EXTERNAL_DIFF": "false",
    }.items():
        monkeypatch.setenv(name, value)
    found = Repository.discover(repo.path)
    assert found.resolve("HEAD") == oid and found.work_tree == repo.path and not found.is_bare
    sealed = {name for name in sealed_environment() if name.startswith("GIT_")}
    assert "GIT_DIR" not in sealed and "GIT_EXTERNAL_DIFF" not in sealed


def test_outside_of_any_repository(tmp_path: Path) -> None:
    with pytest.raises(Misused) as caught:
        Repository.discover(tmp_path)
    assert caught.value.code == "not-a-repository" and caught.value.remedy
    with pytest.raises(Misused):
        Repository.discover(tmp_path / "absent")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_somebody_elses_repository_names_the_remedy(repo: Repo) -> None:
    repo.commit({"a": "1"})
    os.chown(repo.path / ".git", 65534, 65534)
    os.chown(repo.path, 65534, 65534)
    with pytest.raises(WorldFailed) as caught:
        Repository.discover(repo.path)
    assert caught.value.code == "git-dubious-ownership" and "safe.directory" in caught.value.remedy
    (repo.home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.path}\n")
    assert Repository.discover(repo.path).work_tree == repo.path


def test_a_sha256_repository(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "long", "--object-format=sha256")
    base = repo.commit({"a": "1\n"})
    head = repo.commit({"a": "2\n", "b": "3"})
    found = Repository.discover(repo.path)
    assert found.object_format == "sha256" and found.resolve("HEAD") == head and len(head) == 64
    with scratch_of(repo, tmp_path) as scratch:
        assert scratch.merge_tree(base, head).tree == repo.tree()
        assert scratch.hunks(base, head)["a"] == (Hunk(1, 1, ("1",), ("2",)),)
        assert scratch.write_tree(repo.tree(base), {"a": None}) == scratch.write_tree(None, {})


# --- revisions


def test_revisions(repo: Repo) -> None:
    first = repo.commit({"a": "1"})
    repo.git("tag", "-a", "v1", "-m", "x", **repo.people())
    second = repo.commit({"a": "2"})
    found = Repository.discover(repo.path)
    assert found.resolve("v1") == first and found.resolve("HEAD~1") == first
    assert found.resolve("refs/heads/main") == found.resolve(second[:10]) == second
    repo.git("checkout", "-q", "--detach")
    assert found.current_branch() == "" == found.head_ref()
    assert found.has(first) and not found.has("0" * 40) and not found.has("HEAD")


@pytest.mark.parametrize("revision", ["", "-x", "--all", "nope", "HEAD..HEAD", "a\0b", "HEAD:a", "f" * 40])
def test_unknown_revisions(repo: Repo, revision: str) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(Misused) as caught:
        Repository.discover(repo.path).resolve(revision)
    assert caught.value.code == "unknown-revision" and caught.value.remedy


def test_a_name_that_is_almost_a_branch(repo: Repo) -> None:
    repo.commit({"a": "1"})
    repo.git("branch", "agent/fix-rounding")
    for wrong, meant in (("agnet/fix-rounding", "agent/fix-rounding"), ("mian", "main"), ("release-9", None)):
        with pytest.raises(Misused) as caught:
            Repository.discover(repo.path).resolve(wrong)
        assert (f"did you mean {meant!r}" in caught.value.remedy) is (meant is not None), wrong
        assert "did you mean" in caught.value.remedy or meant is None


def test_a_tag_that_poses_as_the_branch_is_refused(repo: Repo) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.git("tag", "main", first)
    found = Repository.discover(repo.path)
    with pytest.raises(Misused) as caught:
        found.resolve("main")
    assert caught.value.code == "ambiguous-revision" and "refs/heads/main" in caught.value.remedy
    assert found.resolve("refs/heads/main") == second


def test_a_branch_without_commits(repo: Repo) -> None:
    found = Repository.discover(repo.path)
    assert found.current_branch() == "main"
    with pytest.raises(Misused):
        found.resolve("HEAD")


def test_merge_bases(repo: Repo, tmp_path: Path) -> None:
    root = repo.commit({"a": "1"})
    repo.branch("f")
    head = repo.commit({"b": "1"})
    repo.switch("main")
    base = repo.commit({"c": "1"})
    repo.git("switch", "-q", "--orphan", "alone")
    alone = repo.commit({"z": "1"})
    found = Repository.discover(repo.path)
    assert found.merge_base(base, head) == root == found.merge_base(root, head)
    with pytest.raises(Undecided) as caught:
        found.merge_base(base, alone)
    assert caught.value.code == "no-merge-base"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    shallow = Repository.discover(tmp_path / "shallow")
    assert shallow.is_shallow
    with pytest.raises(Undecided) as caught:
        shallow.merge_base(alone, base)
    assert caught.value.code == "shallow-clone" and "--unshallow" in caught.value.remedy


def test_replace_refs_and_grafts_are_ignored(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    fake = repo.commit({"a": "evil"})
    repo.git("reset", "-q", "--hard", second)
    repo.git("replace", second, fake)
    (repo.path / ".git/info/grafts").write_text(f"{second}\n")
    found = Repository.discover(repo.path)
    assert found.merge_base(first, second) == first
    with scratch_of(repo, tmp_path) as scratch:
        assert scratch.tree_view(second).read("a") == b"2"


# --- commits


def test_commits_with_exact_messages_and_what_each_touched(repo: Repo) -> None:
    base = repo.commit({"a": "1", "n": "1"}, "base")
    repo.branch("f")
    one = repo.commit(
        {"b b": "1", "sub/é\n": "1"}, "one\n\nCo-authored-by: X <x@y>\n\n", author="Bot <b@o.t>"
    )
    two = repo.commit({"b b": None}, ":100644 100644 fake\n\x01 \x7f", committer="Eve <e@v.e>")
    empty = repo.commit(None, "")
    repo.switch("main")
    side = repo.commit({"c": "1", "n": "2"}, "side")
    repo.switch("f")
    merge = repo.merge("main", files={"d": "evil", "n": "3"}, message="merge")
    quiet = repo.commit(None, "last")
    commits = Repository.discover(repo.path).commits(base, quiet)
    by_oid = {commit.oid: commit for commit in commits}
    assert next(iter(by_oid)) == quiet and set(by_oid) == {quiet, merge, side, empty, two, one}
    assert by_oid[one].touched == ("b b", "sub/é\n")
    assert by_oid[one].message == "one\n\nCo-authored-by: X <x@y>\n\n"
    assert (by_oid[one].author.name, by_oid[one].author.email) == ("Bot", "b@o.t")
    assert by_oid[two].message == ":100644 100644 fake\n\x01 \x7f" and by_oid[two].committer.email == "e@v.e"
    assert by_oid[two].touched == ("b b",) and by_oid[empty].touched == () == by_oid[quiet].touched
    assert by_oid[empty].message == "" and by_oid[side].parents == (base,)
    assert by_oid[merge].touched == ("d", "n") and by_oid[merge].parents == (empty, side)


def test_a_forged_commit_object_is_read_as_it_is(repo: Repo) -> None:
    base = repo.commit({"a": "1"})
    raw = (
        f"tree {repo.tree()}\nparent {base}\nauthor A\x01 B <a@b> 1 +0000\ncommitter C <> 1 +0000\n"
        "encoding utf-7\n\n"
    ).encode() + b"caf\xff\0hidden: 1\n"
    oid = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw)
    (commit,) = Repository.discover(repo.path).commits(base, oid)
    assert commit.oid == oid and commit.parents == (base,) and commit.touched == ()
    assert commit.message.startswith("caf") and commit.committer.email == ""


def test_a_clean_merge_touches_nothing_itself(repo: Repo) -> None:
    base = repo.commit({"a": "1"})
    repo.branch("f")
    repo.commit({"b": "1"})
    repo.switch("main")
    repo.commit({"c": "1"})
    merge = repo.merge("f")
    assert {c.oid: c.touched for c in Repository.discover(repo.path).commits(base, merge)}[merge] == ()


def test_notes_and_foreign_encodings(repo: Repo) -> None:
    base = repo.commit({"a": "1"})
    latin1 = ("-c", "i18n.commitEncoding=ISO-8859-1")
    repo.git(*latin1, "commit", "-qF", "-", "--allow-empty", stdin=b"caf\xe9\n", **repo.people())
    latin = repo.head()
    bare = repo.commit(None, "no note")
    repo.git("notes", "--ref=ai", "add", "-m", "by a machine", latin, **repo.people())
    commits = Repository.discover(repo.path).commits(base, bare)
    assert [(c.message, c.notes.strip()) for c in commits] == [("no note", ""), ("café\n", "by a machine")]


def test_the_users_config_does_not_change_what_is_read(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a": "1", "sub/b": "1"})
    head = repo.commit({"a": None, "z": "1", "sub/b": "2"}, "x")
    plain = Repository.discover(repo.path).commits(base, head)
    (repo.home / ".gitconfig").write_text(
        "[diff]\n renames = copies\n noprefix = true\n external = false\n relative = true\n"
        " ignoreSubmodules = all\n[log]\n showSignature = true\n mailmap = true\n decorate = full\n"
        "[core]\n quotePath = true\n fsmonitor = false\n[format]\n pretty = oneline\n[color]\n ui = always\n"
    )
    assert Repository.discover(repo.path / "sub").commits(base, head) == plain
    assert plain[0].touched == ("a", "sub/b", "z")


# --- scratch: merges


def test_merging(repo: Repo, tmp_path: Path) -> None:
    root = repo.commit({"a": "1\n2\n3\n"})
    repo.branch("f")
    head = repo.commit({"a": "one\n2\n3\n", "new": "1"})
    repo.switch("main")
    base = repo.commit({"a": "1\n2\nthree\n"})
    with scratch_of(repo, tmp_path) as scratch:
        result = scratch.merge_tree(base, head)
        assert result.clean and result.conflicts == ()
        assert scratch.tree_view(result.tree).read("a") == b"one\n2\nthree\n"
        assert scratch.merge_tree(root, head).tree == scratch.tree_of(head)
        assert scratch.merge_tree(head, root).tree == scratch.tree_of(head)
        assert scratch.merge_tree(head, head).tree == scratch.tree_of(head)


def test_conflicts_are_named_exactly(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"é\n\t": "1\n", "b": "1\n"})
    repo.branch("f")
    head = repo.commit({"é\n\t": "2\n", "b": None})
    repo.switch("main")
    base = repo.commit({"é\n\t": "3\n", "b": "4\n"})
    with scratch_of(repo, tmp_path) as scratch:
        result = scratch.merge_tree(base, head)
    assert not result.clean and set(result.conflicts) == {"é\n\t", "b"} and len(result.tree) == 40


def test_criss_cross_and_unrelated_histories(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1\n"})
    repo.branch("f")
    f1 = repo.commit({"f": "1"})
    repo.switch("main")
    m1 = repo.commit({"m": "1"})
    m2 = repo.merge(f1)
    repo.switch("f")
    f2 = repo.merge(m1)
    head = repo.commit({"a": "2\n"})
    repo.git("switch", "-q", "--orphan", "alone")
    alone = repo.commit({"z": "1"})
    with scratch_of(repo, tmp_path) as scratch:
        assert scratch.merge_tree(m2, f2).clean
        assert scratch.tree_view(scratch.merge_tree(m2, head).tree).read("a") == b"2\n"
        with pytest.raises(Undecided) as caught:
            scratch.merge_tree(m2, alone)
        assert caught.value.code == "unrelated-histories"
        with pytest.raises(RedbucketError):
            scratch.merge_tree(m2, "f" * 40)


# --- scratch: trees


def test_entries_and_diff_know_every_kind(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a": "1", "d/x": "1", "l": "text", "old": "same", "m": "1"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},sub")
    head = repo.commit({"a": Executable(b"1"), "d": "file now", "l": Link("a"), "old": None, "new": "same"})
    with scratch_of(repo, tmp_path) as scratch:
        entries = scratch.entries(head)
        assert entries["a"].mode == "100755" and entries["l"].is_symlink and entries["sub"].is_gitlink
        changes = {change.path: change for change in scratch.diff(base, head)}
        assert list(changes) == ["a", "d", "d/x", "l", "new", "old", "sub"]
        assert changes["d/x"].deleted and changes["d"].added and changes["l"].type_changed
        assert changes["old"].deleted and changes["new"].added and changes["sub"].new == Entry("160000", base)
        view = scratch.tree_view(head)
        assert view.read("l") == b"a" and base.encode() in view.read("sub")
        view.prefetch(["a", "nope", "sub", "m"])
        with pytest.raises(KeyError):
            view.read("nope")


def test_blobs_in_bulk(repo: Repo, tmp_path: Path) -> None:
    files = {f"f{i}": f"{i}\n" * (i % 50) for i in range(1500)} | {"nul": b"\0\n\0", "big": b"x" * 3_000_000}
    head = repo.commit(files)
    with scratch_of(repo, tmp_path) as scratch:
        entries = scratch.entries(head)
        blobs = scratch.read_blobs(entry.oid for entry in entries.values())
        for path, content in files.items():
            assert blobs[entries[path].oid] == (content if isinstance(content, bytes) else content.encode())
        with pytest.raises(Undecided) as caught:
            scratch.read_blobs([entries["nul"].oid, "0" * 40, entries["f1"].oid])
        assert caught.value.code == "missing-object" and caught.value.remedy
        assert scratch.read(entries["big"].oid) == files["big"]
        with pytest.raises(Undecided):
            scratch.read(scratch.tree_of(head))
        scratch.close()
        assert scratch.read(entries["nul"].oid) == b"\0\n\0"


def test_a_corrupt_and_a_missing_object(repo: Repo, tmp_path: Path) -> None:
    head = repo.commit({"a": "one", "b": "two", "c/d": "three"})
    for path, spoil in (("a", True), ("b", False)):
        oid = repo.git("rev-parse", f"HEAD:{path}")
        place = repo.path / ".git/objects" / oid[:2] / oid[2:]
        place.chmod(0o644)
        if spoil:
            place.write_bytes(b"rubbish")
        else:
            place.unlink()
    with scratch_of(repo, tmp_path) as scratch:
        for path, code in (("a", {"corrupt-object", "missing-object"}), ("b", {"missing-object"})):
            with pytest.raises(Undecided) as caught:
                scratch.tree_view(head).read(path)
            assert caught.value.code in code
        assert scratch.tree_view(head).read("c/d") == b"three"


def test_a_partial_clone_is_never_filled_behind_our_back(repo: Repo, tmp_path: Path) -> None:
    head = repo.commit({"a": "one"})
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git(
        "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo.path}", str(tmp_path / "partial")
    )
    partial = Repository.discover(tmp_path / "partial")
    oid = repo.git("rev-parse", "HEAD:a")
    with Scratch(tmp_path / "scratch", partial) as scratch:
        with pytest.raises(Undecided) as caught:
            scratch.tree_view(head).read("a")
        assert caught.value.code == "missing-object" and "--no-filter" in caught.value.remedy
    assert not partial.has(oid)


def test_writing_trees(repo: Repo, tmp_path: Path) -> None:
    head = repo.commit({"a": "1", "d/x": "1", "d/y": "1", "f": "1"})
    with scratch_of(repo, tmp_path) as scratch:
        blob = scratch.write_blob(b"raw\r\n")
        entry = Entry("100755", blob)
        tree = scratch.write_tree(
            head_tree := scratch.tree_of(head), {"new\n/é": entry, "a": None, "gone": None}
        )
        assert set(scratch.entries(tree)) == {"new\n/é", "d/x", "d/y", "f"}
        assert scratch.entries(tree)["new\n/é"] == entry and scratch.read(blob) == b"raw\r\n"
        assert set(scratch.entries(scratch.write_tree(head_tree, {"d": entry}))) == {"a", "d", "f"}
        assert set(scratch.entries(scratch.write_tree(head_tree, {"f/g": entry, "f": None}))) == {
            "a", "d/x", "d/y", "f/g",
        }  # fmt: skip
        assert scratch.write_tree(head_tree, {}) == head_tree
        assert scratch.entries(scratch.write_tree(None, {})) == {}
        for bad in ({"x": entry, "x/y": entry}, {".git/config": entry}, {"../x": entry}, {"a//b": entry}):
            with pytest.raises(Undecided) as caught:
                scratch.write_tree(head_tree, bad)
            assert caught.value.code == "unusable-path"


# --- scratch: hunks


def test_hunks_whatever_the_names_and_the_bytes(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit(
        {
            "é\n b": "1\n2\n3\n",
            "bin": b"\0a\n\xff\n",
            "l": "t",
            "x": "1",
            "gone": "1\n2\n",
            "cr": b"a\r\nb\rc\n",
        }
    )
    repo.stage({".gitattributes": "* -diff\n"})
    head = repo.commit(
        {
            "é\n b": "1\ntwo\n3\n3b\n",
            "bin": b"\0a\n\xfe\n",
            "l": Link("t2"),
            "x": Executable(b"1"),
            "gone": None,
            "cr": b"a\r\nB\rc\n",
            "empty": "",
            "new": "--- a/x\n+++ b/x\n@@ -1 +1 @@\ndiff --git a/1 b/1\n\f\x85",
        }
    )
    with scratch_of(repo, tmp_path) as scratch:
        hunks = scratch.hunks(base, head)
        assert hunks["é\n b"] == (Hunk(2, 2, ("2",), ("two",)), Hunk(3, 4, (), ("3b",)))
        assert hunks["bin"] == (Hunk(2, 2, ("\udcff",), ("\udcfe",)),)
        assert hunks["cr"] == (Hunk(2, 2, ("b\rc",), ("B\rc",)),)
        assert hunks["l"] == (Hunk(1, 1, ("t",), ("t2",)),)
        assert hunks["x"] == hunks["empty"] == () and hunks.skipped == ()
        assert hunks["gone"] == (Hunk(1, 0, ("1", "2"), ()),)
        assert hunks["new"][0].added[:2] == ("--- a/x", "+++ b/x") and len(hunks["new"][0].added) == 5
        assert set(scratch.hunks(base, head, ["new", "nope"])) == {"new"}


def test_a_file_too_large_for_hunks_is_named(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a": "1\n"})
    head = repo.commit({"a": "2\n", "big": "x\n" * 3_000_000})
    with scratch_of(repo, tmp_path) as scratch:
        hunks = scratch.hunks(base, head)
    assert hunks.skipped == ("big",) and set(hunks) == {"a"}


# --- the index


def test_the_staged_tree(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1"})
    repo.stage({"a": "2", "new/b": "1"})
    repo.write({"a": "3", "untracked": "1"})
    before = repo.snapshot()
    with scratch_of(repo, tmp_path) as scratch:
        view = scratch.tree_view(scratch.write_index_tree())
        assert set(view.entries) == {"a", "new/b"} and view.read("a") == b"2"
    assert repo.snapshot() == before


@pytest.mark.parametrize("kind", ["split", "sparse", "v4", "absent"])
def test_indexes_of_every_form(repo: Repo, tmp_path: Path, kind: str) -> None:
    repo.commit({"a": "1", "d/e": "1", "f/g": "1"})
    expected = {"a", "d/e", "f/g", "new"}
    if kind == "split":
        repo.git("update-index", "--split-index")
    if kind == "sparse":
        repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
    if kind == "v4":
        repo.git("update-index", "--index-version=4")
    repo.stage({"new": "1"})
    if kind == "absent":
        (repo.path / ".git/index").unlink()
        expected = set()
    with scratch_of(repo, tmp_path) as scratch:
        assert set(scratch.entries(scratch.write_index_tree())) == expected


def test_another_index_and_an_unmerged_one(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1\n"})
    repo.branch("f")
    repo.commit({"a": "2\n"})
    repo.switch("main")
    repo.commit({"a": "3\n"})
    shutil.copy(repo.path / ".git/index", tmp_path / "named")
    repo.git("merge", "f", check=False, **repo.people())
    with (
        Scratch(tmp_path / "one", Repository.discover(repo.path)) as scratch,
        pytest.raises(Undecided) as caught,
    ):
        scratch.write_index_tree()
    assert caught.value.code == "unmerged-index"
    named = Repository.discover(repo.path, index_file=tmp_path / "named")
    with Scratch(tmp_path / "two", named) as scratch:
        assert scratch.write_index_tree() == repo.tree("main")


# --- other object folders


def test_alternates_and_a_quarantine_are_seen(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a": "1"})
    repo.git("clone", "-q", "--bare", "--shared", str(repo.path), str(tmp_path / "server.git"))
    quarantine = tmp_path / 'qua:ran"tine'
    (quarantine / "pack").mkdir(parents=True)
    other = Repo.init(tmp_path / "other")
    other.git("fetch", "-q", str(repo.path), "main")
    other.switch(base)
    head = other.commit({"a": "2"})
    for oid in (head, other.tree(), other.git("rev-parse", "HEAD:a")):
        target = quarantine / oid[:2] / oid[2:]
        target.parent.mkdir(exist_ok=True)
        shutil.copy(other.path / ".git/objects" / oid[:2] / oid[2:], target)
    found = Repository.discover(tmp_path / "server.git", quarantine=[quarantine])
    assert found.resolve(head) == head and found.merge_base(base, head) == base
    assert [commit.touched for commit in found.commits(base, head)] == [("a",)]
    with Scratch(tmp_path / "scratch", found) as scratch:
        assert scratch.tree_view(scratch.merge_tree(base, head).tree).read("a") == b"2"
    assert not Repository.discover(tmp_path / "server.git").has(head)
