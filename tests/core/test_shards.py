"""How a suite is split into shards, and how their runs are one run again."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core import records
from redbucket.core.records import Header, Outcome, Run, Shard
from redbucket.core.shards import Split, join, split, whole_runs

SUITES = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50)), min_size=1, max_size=9)


def suite(shape: list[tuple[int, int]]) -> tuple[list[str], dict[str, float], set[str]]:
    """Ids, their seconds and the files, from (tests, seconds each) a file."""
    ids = [f"tests/test_{n}.py::test_{i}" for n, (count, _) in enumerate(shape) for i in range(count)]
    seconds = {i: float(shape[int(i.partition("_")[2].partition(".")[0])][1]) for i in ids}
    return ids, seconds, {i.partition("::")[0] for i in ids}


@given(SUITES, st.integers(2, 12))
def test_every_file_is_in_one_shard_and_the_order_is_kept(shape: list[tuple[int, int]], count: int) -> None:
    ids, seconds, paths = suite(shape)
    found = split(ids, seconds, count, paths)
    if len(paths) < 2:
        assert found is None
        return
    assert found is not None
    assert len(found.files) == min(count, len(paths))
    assert all(found.files)
    assert [f for files in found.files for f in files] == list(
        dict.fromkeys(i.partition("::")[0] for i in ids)
    )
    assert split(ids, seconds, count, paths) == found


@given(SUITES, st.integers(2, 5))
def test_the_longest_shard_is_as_short_as_it_can_be(shape: list[tuple[int, int]], count: int) -> None:
    ids, seconds, paths = suite(shape)
    found = split(ids, seconds, count, paths)
    if found is None:
        return
    loads = [max(0.001, s) * n for n, s in shape]
    shards = len(found.files)
    every = (
        max(sum(loads[a:b]) for a, b in zip((0, *cuts), (*cuts, len(loads)), strict=True))
        for cuts in combinations(range(1, len(loads)), shards - 1)
    )
    weight = dict(zip(sorted(paths), loads, strict=True))
    mine = [sum(weight[f] for f in files) for files in found.files]
    assert max(mine) <= min(every) + 1e-6
    assert mine[found.rest] == min(mine)


def test_what_took_an_unknown_time_takes_what_others_take() -> None:
    ids = [f"test_{n}.py::test" for n in "abcd"]
    paths = {f"test_{n}.py" for n in "abcd"}
    assert split(ids, {"test_a.py::test": 9.0}, 2, paths) == Split(
        (("test_a.py", "test_b.py"), ("test_c.py", "test_d.py")), 0
    )
    known = {"test_a.py::test": 6.0, "test_b.py::test": 1.0, "test_c.py::test": 2.0}
    assert split(ids, known, 2, paths) == Split((("test_a.py",), ("test_b.py", "test_c.py", "test_d.py")), 0)


def test_what_a_ledger_may_hold() -> None:
    ids = ["a.py::t", "b.py::t", "c.py::t"]
    odd = {"a.py::t": float("nan"), "b.py::t": float("inf"), "c.py::t": -5.0}
    found = split(ids, odd, 3, {"a.py", "b.py", "c.py"})
    assert found is not None
    assert found.files == (("a.py",), ("b.py",), ("c.py",))


def test_ids_of_no_file_are_the_rest() -> None:
    """And so is what base did not have: ``without`` leaves out the files of the others alone."""
    ids = ["tests.test_a.T.test", "made up::test", "tests.test_b.T.test"]
    found = split(ids, {}, 5, {"tests/test_a.py", "tests/test_b.py"})
    assert found == Split((("tests/test_a.py",), ("tests/test_b.py",)), 0)
    assert found.without(found.rest) == ("tests/test_b.py",)
    assert found.name != Split(found.files, 1).name


def part(
    number: int, outcomes: Mapping[str, Outcome], *, of: int = 2, whole: str = "w", **over: object
) -> Run:
    files = sorted({i.partition("::")[0] for i in outcomes})
    shard = Shard(number=number, of=of, whole=whole, split="s", files=files)
    run = Run(
        run_id=1,
        source=f"part-{number}",
        world="H",
        seed="7",
        tree="t",
        nonce=f"n{number}",
        tests={i: records.Test(nodeid=i, outcome=o, seed="7") for i, o in outcomes.items()},
        collected=tuple(outcomes),
        header=Header(run_id=1, world="H", tree="t", seed="7", shard=shard),
        duration=float(number),
    )
    return msgspec.structs.replace(run, **over)


P, F = Outcome.PASSED, Outcome.FAILED
ONE, TWO = {"a.py::x": P, "a.py::y": F}, {"b.py::x": P}


def test_parts_are_one_run() -> None:
    one = part(1, ONE, foreign={"m": "x"}, tampered=("a.py",))
    two = part(2, TWO, errors={"c.py": "no"}, patched=("len",), sentinels="odd")
    run = join([two, one])
    assert (run.broken, run.shards[0].source, run.sources) == ("", "part-1", ("part-1", "part-2"))
    assert {i: t.outcome for i, t in run.tests.items()} == {**ONE, **TWO}
    assert run.collected == ("a.py::x", "a.py::y", "b.py::x")
    assert (run.foreign, run.errors, run.tampered, run.patched) == (
        {"m": "x"},
        {"c.py": "no"},
        ("a.py",),
        ("len",),
    )
    assert (run.sentinels, run.duration) == ("odd", 2.0)
    assert run.header is not None
    assert run.header.shard is None
    assert run.beside("b.py::x") == ("b.py::x",)
    assert run.beside("a.py::y") == ("a.py::x", "a.py::y")


def test_a_lost_shard_is_no_run() -> None:
    assert "shard 2 of 2 has no record" in join([part(1, ONE)]).broken
    cut = part(2, TWO, broken="part-2: it has no footer, so the run did not end")
    run = join([part(1, ONE), cut])
    assert run.broken == "part-1: shard 2 of 2: it has no footer, so the run did not end"


def test_a_shard_that_is_there_twice() -> None:
    assert (
        "shard 2 of 2 has 2 records" in join([part(1, ONE), part(2, TWO), part(2, TWO, nonce="other")]).broken
    )
    (again,) = whole_runs([part(1, ONE), part(2, TWO), part(2, TWO)])
    assert again.broken == ""


def test_shards_of_other_runs() -> None:
    for odd in ({"tree": "u"}, {"seed": "8"}, {"world": "B"}, {"run_id": 2}):
        assert "not of one run" in join([part(1, ONE), part(2, TWO, **odd)]).broken
    assert "not of one run" in join([part(1, ONE), part(2, TWO), part(3, {"c.py::x": P})]).broken


def test_a_test_that_two_shards_report_is_forged() -> None:
    run = join([part(1, {"a.T.x": P, "a.T.y": P}), part(2, {"b.T.x": P, "a.T.x": P})])
    assert "shards 1 and 2 both report a.T.x" in run.broken


def test_a_test_of_another_shard_is_forged() -> None:
    """The shard that it is of was kept from telling of it."""
    one = part(1, {"a.py::x": P})
    stolen = part(1, {"a.py::x": P, "b.py::y": P})
    assert one.header is not None
    thief = msgspec.structs.replace(stolen, header=one.header)
    assert "shard 1 reports b.py::y, which is shard 2's" in join([thief, part(2, TWO)]).broken


def test_what_several_shards_play_is_not_said_to_be_unplayed() -> None:
    def reading(number: int, name: str, cassette: str, left: dict[str, int]) -> Run:
        tests = {name: records.Test(nodeid=name, outcome=P, fixtures=(cassette,))}
        return part(number, {name: P}, tests=tests, unplayed=left)

    both = join([reading(1, "a.py::x", "c.yaml", {"c.yaml": 2}), reading(2, "b.py::x", "c.yaml", {})])
    assert both.unplayed == {}
    alone = join([reading(1, "a.py::x", "c.yaml", {"c.yaml": 2}), reading(2, "b.py::x", "d.yaml", {})])
    assert alone.unplayed == {"c.yaml": 2}


def test_whole_runs_are_left_alone() -> None:
    plain = Run(run_id=1)
    runs = whole_runs(
        [plain, part(1, ONE, whole="v"), plain, part(1, ONE), part(2, TWO), part(2, TWO, whole="v")]
    )
    assert [len(run.shards) for run in runs] == [0, 2, 0, 2]
