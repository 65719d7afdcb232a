from __future__ import annotations

from redbucket.core.patch import Entry
from redbucket.core.worlds import Sides, judged, moved_fixtures, other_fixtures, reverted


def e(oid: str) -> Entry:
    return Entry("100644", oid)


BASE = {
    "pkg.py": e("p0"),
    "tests/t.py": e("t0"),
    "tests/data/a": e("a0"),
    "tests/data/b": e("b0"),
    "cfg": e("c0"),
}
MERGED = {
    "pkg.py": e("p1"),
    "tests/t.py": e("t1"),
    "tests/new.py": e("n1"),
    "tests/data/a": e("a1"),
    "tests/data/b": e("b1"),
    "cfg": e("c1"),
}


def sides(distrusted: set[str], composed: dict[str, Entry | None] | None = None) -> Sides:
    return Sides(
        base=BASE,
        merged=MERGED,
        is_judge=lambda p: p.startswith("tests/"),
        is_fixture=lambda p: p.startswith("tests/data/"),
        distrusted=frozenset(distrusted),
        composed=composed or {},
    )


def world(base: dict[str, Entry], updates: dict[str, Entry | None]) -> dict[str, str]:
    tree = {**base, **updates}
    return {path: entry.oid for path, entry in tree.items() if entry is not None}


AGENT = {"tests/t.py", "tests/new.py", "tests/data/a", "tests/data/b"}


def test_head_is_judged_by_bases_judge_side() -> None:
    assert world(MERGED, judged(sides(AGENT))) == {
        "pkg.py": "p1",
        "tests/t.py": "t0",
        "tests/data/a": "a0",
        "tests/data/b": "b0",
        "cfg": "c1",
    }


def test_what_a_trusted_hand_wrote_judges() -> None:
    assert world(MERGED, judged(sides(set()))) == {p: x.oid for p, x in MERGED.items()}


def test_a_shared_file_is_composed() -> None:
    assert world(MERGED, judged(sides(AGENT, {"cfg": e("c-mixed")})))["cfg"] == "c-mixed"


def test_the_fixture_world_has_the_patchs_fixtures_and_bases_tests() -> None:
    s = sides(AGENT)
    assert moved_fixtures(s) == {"tests/data/a", "tests/data/b"}
    seen = world(MERGED, other_fixtures(s, moved_fixtures(s)))
    assert (seen["tests/data/a"], seen["tests/data/b"], seen["tests/t.py"]) == ("a1", "b1", "t0")
    assert "tests/new.py" not in seen


def test_a_trusted_fixture_is_turned_the_other_way() -> None:
    s = sides({"tests/data/a"})
    seen = world(MERGED, other_fixtures(s, moved_fixtures(s)))
    assert (seen["tests/data/a"], seen["tests/data/b"]) == ("a1", "b0")


def test_the_reverted_world_has_bases_source_and_the_patchs_tests() -> None:
    assert world(BASE, reverted(sides(AGENT))) == {
        "pkg.py": "p0",
        "tests/t.py": "t1",
        "tests/new.py": "n1",
        "tests/data/a": "a1",
        "tests/data/b": "b1",
        "cfg": "c0",
    }
