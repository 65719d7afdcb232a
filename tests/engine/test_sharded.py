"""The bench that splits whole runs, over a bench that does what each spec says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from redbucket.core import records
from redbucket.core.records import Header, Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.sharded import Sharded, notes_on

BASE = ["a.py::one", "a.py::two", "b.py::one", "c.py::one"]
PATHS = {"a.py", "b.py", "c.py"}


@dataclass
class Plain:
    """Runs the ids of a world as a spec selects them."""

    ids: dict[str, list[str]]
    ran: list[RunSpec] = field(default_factory=list)

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        self.ran += specs
        return [self._one(spec) for spec in specs]

    def _one(self, spec: RunSpec) -> Run:
        def wanted(nodeid: str) -> bool:
            file = nodeid.partition("::")[0]
            return (
                (not spec.files or file in spec.files)
                and file not in spec.without
                and (spec.only is None or nodeid in spec.only)
            )

        ids = tuple(filter(wanted, self.ids[spec.world]))
        tests = {} if spec.collect_only else {i: records.Test(nodeid=i, outcome=Outcome.PASSED) for i in ids}
        header = Header(
            run_id=spec.run_id, world=spec.world, seed=spec.seed, tree=spec.tree, shard=spec.shard
        )
        return Run(
            run_id=spec.run_id,
            source=spec.name,
            world=spec.world,
            seed=spec.seed,
            tree=spec.tree,
            tests=tests,
            collected=ids,
            header=header,
        )


def spec(world: str = "H", **over: object) -> RunSpec:
    return RunSpec(**{"run_id": 1, "world": world, "tree": world, "seed": "7", **over})  # type: ignore[arg-type]


def sharded(head: Sequence[str] = BASE, shards: int = 2) -> tuple[Sharded, Plain]:
    bench = Plain({"B": BASE, "H": list(head)})
    names = count(1)
    made = Sharded(bench, shards, {}, PATHS, lambda: f"whole-{next(names)}")
    made.decide(bench.run([spec("B", collect_only=True)])[0])
    bench.ran.clear()
    return made, bench


def test_each_world_and_run_is_split_alike() -> None:
    made, bench = sharded()
    runs = made.run([spec("H"), spec("H", run_id=2), spec("B", run_id=3)])
    assert [list(run.tests) for run in runs] == [BASE, BASE, BASE]
    assert [run.broken for run in runs] == ["", "", ""]
    assert made.shards == 2
    assert [s.name for s in bench.ran[:3]] == ["H-plain-1-shard-1", "H-plain-1-shard-2", "H-plain-2-shard-1"]
    parts = [(s.files, s.without) for s in bench.ran]
    assert parts == [((), ("b.py", "c.py")), (("b.py", "c.py"), ())] * 3
    assert {s.shard.split for s in bench.ran if s.shard is not None} == {
        made.split.name if made.split else ""
    }


def test_what_is_new_in_head_goes_along() -> None:
    """A new test with its file, a new file with the lightest shard; what is gone is missing, and no loss."""
    made, _ = sharded(["a.py::one", "a.py::new", "new.py::one", "b.py::one"])
    (run,) = made.run([spec()])
    assert run.broken == ""
    assert [part.ids for part in run.shards] == [("a.py::one", "a.py::new", "new.py::one"), ("b.py::one",)]


def test_tests_of_two_shards_are_never_in_one_process() -> None:
    made, bench = sharded()
    only = ("c.py::one", "a.py::one", "b.py::one")
    (run,) = made.run([spec(only=only, order="given")])
    assert [(s.name, s.only) for s in bench.ran] == [
        ("H-plain-1-shard-1", ("a.py::one",)),
        ("H-plain-1-shard-2", ("c.py::one", "b.py::one")),
    ]
    assert (run.broken, set(run.tests)) == ("", set(only))


def test_what_is_of_one_shard_or_never_counts_is_one_run() -> None:
    made, bench = sharded()
    few = [
        spec(only=("c.py::one", "b.py::one"), order="given"),
        spec(files=("b.py",)),
        spec("B", collect_only=True),
    ]
    made.run(few)
    assert bench.ran == few


def test_a_test_is_of_the_shard_in_which_it_ran() -> None:
    """A new file is of the lightest, whatever its name says."""
    made, bench = sharded([*BASE, "new.py::one"])
    made.run([spec()])
    bench.ran.clear()
    made.run([spec(only=("new.py::one", "a.py::one")), spec(only=("new.py::one", "b.py::one"))])
    assert [s.only for s in bench.ran] == [("new.py::one", "a.py::one"), ("new.py::one",), ("b.py::one",)]


def test_the_home_of_a_whole_run_is_used_again_by_each_shard() -> None:
    made, bench = sharded()
    made.run([spec()])
    bench.ran.clear()
    only = ("c.py::one", "a.py::two", "b.py::one")
    (run,) = made.run([spec(condition="scout", only=only, used_home="H-plain-1", run_id=5)])
    assert [(s.only, s.used_home) for s in bench.ran] == [
        (("a.py::two",), "H-plain-1-shard-1"),
        (("c.py::one", "b.py::one"), "H-plain-1-shard-2"),
    ]
    assert (run.broken, sorted(run.tests)) == ("", sorted(only))
    bench.ran.clear()
    (run,) = made.run([spec(condition="scout", only=("b.py::one",), used_home="H-plain-1", run_id=6)])
    assert [s.used_home for s in bench.ran] == ["H-plain-1-shard-2"]
    assert (run.broken, list(run.tests)) == ("", ["b.py::one"])


def test_a_suite_of_one_file_stays_whole() -> None:
    bench = Plain({"B": BASE[:2], "H": BASE[:2]})
    made = Sharded(bench, 4, {}, PATHS, str)
    made.decide(bench.run([spec("B", collect_only=True)])[0])
    assert made.shards == 1
    (run,) = made.run([spec()])
    assert run.shards == ()
    assert [note.code for note in notes_on(made.shards, 4)] == ["shards-unused"]
    assert [note.code for note in notes_on(2, 4)] == ["shards"]
    assert notes_on(1, 1) == []
