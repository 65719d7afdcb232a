"""What a report says of the fixtures that a patch moves; on a real repository, without a run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from redbucket.app.moved_fixtures import moved_fixtures
from redbucket.app.session import session
from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.core.report import GateReport, MovedFixture, Row, Verdict
from redbucket.edges.progress import Progress
from tests.formats import reports as r
from tests.gitkit import Content, Link, Repo

BASE: dict[str, Content] = {
    "tests/data/a.json": '{"rate": 1, "name": "x"}',
    "tests/data/b.txt": "one\ntwo\nthree\n",
    "tests/data/c.bin": b"\0\1\2",
    "tests/data/d.txt": "gone\n",
    "tests/data/link.txt": "file\n",
    "tests/data/key.json": '{"token": "a"}',
    "tests/data/same.json": "{}",
    "shop.py": "x = 1\n",
}
HEAD: dict[str, Content] = {
    "tests/data/a.json": '{"rate": 2, "name": "x"}',
    "tests/data/b.txt": "one\n2\nthree\n",
    "tests/data/c.bin": b"\0\1\3",
    "tests/data/d.txt": None,
    "tests/data/e.txt": "new\n",
    "tests/data/link.txt": Link("b.txt"),
    "tests/data/key.json": '{"token": "b"}',
    "shop.py": "x = 2\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "shop")


def moved(repo: Repo, head: dict[str, Content], rows: list[Row] | None = None) -> dict[str, MovedFixture]:
    base = repo.head()
    repo.commit(head)
    secret = Finding(rule="fixture-secret", severity=Severity.REFUSE, reason="", path="tests/data/key.json")
    with session(repo.path, Progress(quiet=True, steps=False)) as opened:
        report = GateReport(
            verdict=Verdict.REFUSE,
            exit_code=1,
            base=base,
            merge_tree=repo.tree(),
            findings=[secret],
            tests=rows or [],
        )
        found = moved_fixtures(report, opened.scratch, JudgeSide(Policy()))
    return {each.path.removeprefix("tests/data/"): each for each in found}


def test_each_kind_of_change(repo: Repo) -> None:
    repo.commit(BASE)
    found = moved(repo, HEAD)
    assert set(found) == {"a.json", "b.txt", "c.bin", "d.txt", "e.txt", "link.txt", "key.json"}
    assert found["a.json"].places == [("/rate", "1", "2")]
    assert found["b.txt"].lines == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]
    assert (found["c.bin"].kind, found["c.bin"].lines) == ("opaque", [])
    assert (found["d.txt"].kind, found["e.txt"].kind) == ("gone", "added")
    assert found["link.txt"].said == "a link or a submodule"
    # what may be a secret gets into no report
    assert found["key.json"] == MovedFixture(
        path="tests/data/key.json", kind="not shown", said="a secret was found in it"
    )


def test_long_changes_are_cut_and_the_cut_is_said(repo: Repo) -> None:
    old = "".join(f"{n}\n" for n in range(5000))
    repo.commit({"tests/data/long.txt": old, "tests/data/wide.txt": "a\n", "tests/data/huge.txt": "a\n"})
    new = {
        "tests/data/long.txt": old.replace("1", "x"),
        "tests/data/wide.txt": "b" * 10_000 + "\n",
        "tests/data/huge.txt": "b\n" * (2 << 20),
    }
    found = moved(repo, dict(new))
    assert found["long.txt"].more
    assert len(found["long.txt"].lines) <= 100
    assert max(map(len, found["wide.txt"].lines)) <= 400
    assert found["huge.txt"].said == "too large to be shown"


def test_those_of_the_tests_that_block_come_first_and_there_are_not_too_many(repo: Repo) -> None:
    repo.commit({f"tests/data/{n:03}.txt": "a\n" for n in range(80)})
    row = msgspec.structs.replace(r.DRIFT, fixtures=["tests/data/079.txt", "tests/data/gone.txt"])
    found = moved(repo, {f"tests/data/{n:03}.txt": "b\n" for n in range(80)}, [row])
    assert len(found) == 50
    assert next(iter(found)) == "079.txt"


def test_content_that_is_not_here_ends_no_report(repo: Repo) -> None:
    """As in a clone that left blobs out."""
    repo.commit({"tests/data/a.txt": "a\n", "tests/data/b.txt": "a\n"})
    oid = repo.git("hash-object", "--stdin", stdin=b"lost\n")
    repo.git("update-index", "--cacheinfo", f"100644,{oid},tests/data/b.txt")
    base = repo.head()
    repo.write({"tests/data/a.txt": "b\n"})
    repo.git("add", "tests/data/a.txt")
    tree = repo.git("write-tree", "--missing-ok")
    with session(repo.path, Progress(quiet=True, steps=False)) as opened:
        report = GateReport(verdict=Verdict.REFUSE, exit_code=1, base=base, merge_tree=tree)
        found = {each.path: each for each in moved_fixtures(report, opened.scratch, JudgeSide(Policy()))}
    assert found["tests/data/a.txt"].kind == "payload"
    assert found["tests/data/b.txt"].kind == "not shown"
    assert oid[:7] in found["tests/data/b.txt"].said
