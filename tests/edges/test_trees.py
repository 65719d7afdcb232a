"""Trees on disk: exact bytes, whatever attributes say, and nothing of the user's moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from redbucket.core.errors import Undecided, WorldFailed
from redbucket.core.patch import Entry
from redbucket.edges.git import failure
from redbucket.edges.repository import Repository
from redbucket.edges.scratch import Scratch
from redbucket.edges.trees import digest, layout
from tests.gitkit import Executable, Link, Repo

ATTRIBUTES = """\
[attr]tricky text eol=crlf
*.crlf text eol=crlf
*.auto text=auto
*.id ident
*.lfs filter=lfs diff=lfs merge=lfs -text
*.u16 text working-tree-encoding=UTF-16
secret* export-ignore
*.subst export-subst
*.mac tricky
*.bad filter=evil
"""

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "repo")


def raw_commit(repo: Repo, files: dict[str, bytes], message: str = "x") -> str:
    """Commit exact bytes, past git's own conversions at ``git add``."""
    for path, content in files.items():
        oid = repo.git("hash-object", "-w", "--stdin", "--no-filters", stdin=content)
        repo.git("update-index", "--add", "--cacheinfo", f"100644,{oid},{path}")
    repo.git("commit", "-q", "-m", message, **repo.people())
    return repo.head()


def test_no_attribute_and_no_config_changes_a_byte(repo: Repo, tmp_path: Path) -> None:
    files = {
        ".gitattributes": ATTRIBUTES.encode(),
        "sub/.gitattributes": b"* text eol=crlf ident\n",
        "a.crlf": b"1\n2\n",
        "b.auto": b"1\r\n2\n",
        "c.id": b"$Id$ and $Id: 123 $\n",
        "d.lfs": POINTER,
        "e.u16": "é\n".encode(),
        "secret.py": b"x\n",
        "f.subst": b"$Format:%H$\n",
        "g.mac": b"1\n",
        "h.bad": b"1\n",
        "sub/x": b"$Id$\n",
        "nul": b"\0\r\n\xff",
        "empty": b"",
    }
    commit = raw_commit(repo, files)
    for name, value in {
        "core.autocrlf": "true",
        "core.eol": "crlf",
        "filter.evil.smudge": "echo evil",
        "filter.evil.required": "true",
        "filter.lfs.smudge": "false",
        "filter.lfs.required": "true",
        "core.symlinks": "false",
        "core.fileMode": "false",
    }.items():
        repo.git("config", name, value)
    (repo.path / ".git/info/attributes").write_text("* text eol=crlf\n")
    with Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch:
        result = layout(scratch, scratch.tree_of(commit), tmp_path / "out")
    found = {
        str(p.relative_to(tmp_path / "out")): p.read_bytes()
        for p in (tmp_path / "out").rglob("*")
        if p.is_file()
    }
    assert found == files
    assert result.lfs_pointers == ("d.lfs",) == result.not_materialised


def test_modes_links_and_submodules(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit(
        {"x": Executable(b"#!"), "plain": "1", "l": Link("../outside"), "d/l2": Link("no where\n")}
    )
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},vendor/sub")
    commit = repo.commit(None, "submodule")
    with Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch:
        out = layout(scratch, scratch.tree_of(commit), tmp_path / "out").folder
        again = layout(scratch, scratch.tree_of(commit), tmp_path / "again")
    assert (out / "x").stat().st_mode & 0o111 and not (out / "plain").stat().st_mode & 0o111
    assert (str((out / "l").readlink()), str((out / "d/l2").readlink())) == ("../outside", "no where\n")
    assert again.submodules == ("vendor/sub",) and list((out / "vendor/sub").iterdir()) == []
    assert not (out / ".git").exists() and not (tmp_path / "outside").exists()


def test_odd_names(repo: Repo, tmp_path: Path) -> None:
    names = ["a\nb", "-x", 'q"uote', "é", "e\u0301", "Case", "case", "t\tab", " lead", "b\udcff", "d/*?[x]"]
    commit = repo.commit({name: name.encode("utf-8", "surrogateescape") for name in names})
    with Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch:
        out = layout(scratch, scratch.tree_of(commit), tmp_path / "out").folder
    for name in names:
        assert (out / name).read_bytes() == os.fsencode(name)


def hand_made(repo: Repo, lines: list[tuple[str, str, str]]) -> str:
    stdin = "".join(
        f"{mode} {'tree' if mode == '040000' else 'blob'} {oid}\t{name}\0" for mode, oid, name in lines
    )
    return repo.git("mktree", "-z", stdin=stdin.encode())


def test_names_that_no_checkout_can_hold(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1"})
    blob = repo.git("rev-parse", "HEAD:a")
    inner = hand_made(repo, [("100644", blob, "config")])
    bad = [
        hand_made(repo, [("040000", inner, ".git")]),
        hand_made(repo, [("040000", inner, "..")]),
        hand_made(repo, [("100644", blob, ".GIT")]),
        hand_made(repo, [("100644", blob, "n" * 300)]),
    ]
    with Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch:
        for number, tree in enumerate(bad):
            with pytest.raises(Undecided) as caught:
                layout(scratch, tree, tmp_path / f"out{number}")
            assert caught.value.code == "unusable-path", number


def test_a_forged_tree_can_not_write_through_a_link(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1", "l": Link(str(tmp_path / "outside"))})
    (tmp_path / "outside").mkdir()
    blob, link = repo.git("rev-parse", "HEAD:a"), repo.git("rev-parse", "HEAD:l")
    inner = hand_made(repo, [("100644", blob, "x")])
    forged = hand_made(repo, [("120000", link, "d"), ("040000", inner, "d")])
    with Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch:
        try:
            layout(scratch, forged, tmp_path / "out")
        except (Undecided, WorldFailed) as problem:
            assert problem.remedy
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_missing_blob_is_undecided(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit({"a": "1", "b": "2"})
    oid = repo.git("rev-parse", "HEAD:a")
    (repo.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with (
        Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch,
        pytest.raises(Undecided) as caught,
    ):
        layout(scratch, scratch.tree_of(commit), tmp_path / "out")
    assert caught.value.code == "missing-object"


def test_a_folder_in_use_or_impossible(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit({"a": "1"})
    (tmp_path / "file").write_text("")
    with Scratch(tmp_path / "s", Repository.discover(repo.path)) as scratch:
        for place, code in ((repo.path, "not-empty"), (tmp_path / "file" / "x", "not-writable")):
            with pytest.raises(WorldFailed) as caught:
                layout(scratch, scratch.tree_of(commit), place)
            assert caught.value.code == code and caught.value.remedy


def test_a_full_disk_is_said() -> None:
    error = failure(("checkout-index",), 128, "error: unable to write file x\nfatal: No space left on device")
    assert isinstance(error, WorldFailed) and error.code == "disk-full" and error.remedy


def test_nothing_of_the_users_repository_moves(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "1\n2\n3\n", "d/x": "1"})
    repo.branch("f")
    head = repo.commit({"a": "one\n2\n3\n"})
    repo.switch("main")
    base = repo.commit({"a": "1\n2\nthree\n"})
    repo.stage({"d/x": "staged"})
    repo.write({"d/x": "worked on", "untracked": "1"})
    before = repo.snapshot()
    found = Repository.discover(repo.path)
    with Scratch(tmp_path / "s", found) as scratch:
        merged = scratch.merge_tree(base, head)
        blob = scratch.write_blob(b"never seen before")
        tree = scratch.write_tree(merged.tree, {"new": Entry("100644", blob), "d/x": None})
        layout(scratch, tree, tmp_path / "out")
        scratch.write_index_tree()
        scratch.hunks(base, head)
        found.commits(found.merge_base(base, head), head)
        assert (tmp_path / "out/new").read_bytes() == b"never seen before"
    assert repo.snapshot() == before
    assert not found.has(blob) and not found.has(merged.tree)


def test_digests_see_every_kind_of_tampering(tmp_path: Path) -> None:
    for name in ("same", "changed", "deleted", "linked", "piped", "emptied", "d/x", "e/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    paths = ["same", "changed", "deleted", "linked", "piped", "emptied", "d/x", "e/x", "never"]
    before = digest(tmp_path, paths)
    assert before["never"] == "" and len(before["same"]) == 64
    (tmp_path / "changed").write_text("other")
    (tmp_path / "emptied").write_text("")
    for name in ("deleted", "linked", "piped"):
        (tmp_path / name).unlink()
    (tmp_path / "linked").symlink_to("same")
    os.mkfifo(tmp_path / "piped")
    (tmp_path / "d").rename(tmp_path / "moved")
    (tmp_path / "d").symlink_to("moved")
    (tmp_path / "e/x").unlink()
    (tmp_path / "e").rmdir()
    (tmp_path / "e").write_text("a file now")
    after = digest(tmp_path, paths)
    assert {path for path in paths if before[path] != after[path]} == set(paths) - {"same", "never"}
    assert after["linked"] == "link:same" and after["deleted"] == "" == after["e/x"]
    assert after["d/x"] == "behind a link:d" and after["piped"].startswith("not a file")
