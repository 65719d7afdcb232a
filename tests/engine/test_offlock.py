"""Fixtures that a lock does not vouch for, and what the table makes of the tests that read them."""

from __future__ import annotations

from hashlib import sha256

from redbucket.core import records
from redbucket.core.buckets import Bucket
from redbucket.core.checksums import write
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.core.records import Outcome, Run
from redbucket.core.rows import Facts, row_of
from redbucket.core.trials import Trials
from redbucket.engine.offlock import off_lock
from tests.core.trees import MemoryTree

SIDE = JudgeSide(Policy())
ONE, TWO = "tests/data/one", "tests/data/two"


def lock(**files: str) -> bytes:
    return write({f"tests/data/{name}": sha256(data.encode()).hexdigest() for name, data in files.items()})


def test_only_listed_files_with_other_bytes() -> None:
    tree = MemoryTree(
        {ONE: "1", TWO: "drifted", "tests/data/free": "x", "fixtures.sha256": lock(one="1", two="2")}
    )
    assert off_lock(tree, SIDE, [ONE, TWO, "tests/data/free", "tests/data/none"]) == {TWO}
    assert off_lock(MemoryTree({ONE: "1"}), SIDE, [ONE]) == frozenset()


def test_a_pointer_to_the_locked_bytes_is_not_off() -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(b'1').hexdigest()}\nsize 1\n"
    files = {ONE: pointer, "fixtures.sha256": lock(one="1"), ".gitattributes": "tests/data/* filter=lfs\n"}
    assert off_lock(MemoryTree(files), SIDE, [ONE]) == frozenset()
    del files[".gitattributes"]  # tests read the pointer
    assert off_lock(MemoryTree(files), SIDE, [ONE]) == {ONE}


def row(base: Outcome, **facts: object) -> tuple[Bucket, str, str, list[str]]:
    def run(number: int, world: str, outcome: Outcome) -> Run:
        test = records.Test(
            nodeid="t", outcome=outcome, seed="7", fixture_hash="h", fixtures=(ONE,), message="boom"
        )
        return Run(run_id=number, world=world, seed="7", tests={"t": test}, collected=("t",))

    trials = Trials()
    for made_run in (*(run(n, "H", Outcome.FAILED) for n in (1, 2, 3)), run(4, "B", base)):
        trials.add(made_run)
    made = row_of("t", trials, Facts(asked=3, off_lock=(ONE,), **facts))  # type: ignore[arg-type]
    return made.bucket, made.state, made.why, made.fixtures


def test_a_test_that_is_red_on_a_fixture_off_its_lock_is_drift() -> None:
    bucket, state, why, fixtures = row(Outcome.FAILED)
    assert (bucket, state, fixtures) == (Bucket.FIXTURE_DRIFT, "already red", [ONE])
    assert f"{ONE} differs from its lock in base already" in why


def test_where_base_passes_both_are_said() -> None:
    bucket, state, why, _ = row(Outcome.PASSED)
    assert (bucket, state) == (Bucket.FIXTURE_DRIFT, "introduced")
    assert "differs from its lock" in why and "the patch breaks it besides" in why
