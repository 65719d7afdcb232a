"""What landed: along first parents, a merge with all that it brought."""

from __future__ import annotations

from redbucket.edges.landed import landed
from redbucket.edges.repository import Repository
from tests.gitkit import Repo


def test_commits_and_merges(tmp_path):
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": "1\n", "odd\nname": "x\n"}, "first")
    repo.branch("agent/fix", "main")
    repo.commit({"b.py": "1\n"}, "second")
    repo.commit({"c.py": "1\n"}, "third")
    repo.switch("main")
    repo.commit({"a.py": "2\n"}, "fourth\n\nwith a body")
    repo.merge("agent/fix", message="a merge")
    found = list(landed(Repository.discover(repo.path), "main", "1970-01-02"))
    assert [one.message.splitlines()[0] for one in found] == ["a merge", "fourth", "first"]
    assert [one.paths for one in found] == [{"b.py", "c.py"}, {"a.py"}, {"a.py", "odd\nname"}]
    assert all(one.at.endswith("Z") for one in found)
