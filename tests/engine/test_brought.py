"""A bench with brought runs gives those where they were asked for, and runs the rest."""

from __future__ import annotations

from dataclasses import replace

from redbucket.core.records import Run
from redbucket.core.runspec import RunSpec
from redbucket.core.seals import spec_digest
from redbucket.engine.brought import Brought
from tests.engine.scripted import P, ScriptedBench, always

FIRST = [RunSpec(run_id=n, world="H", tree="t", seed="7") for n in (1, 2)]
RUNS = {spec_digest(spec): Run(run_id=spec.run_id, source="brought") for spec in FIRST}
B = RunSpec(run_id=3, world="B", tree="b", seed="7", condition="collect", collect_only=True)


def test_the_order_is_that_of_the_specs() -> None:
    inner = ScriptedBench({"t": always(P)})
    runs = Brought(inner, RUNS).run([FIRST[0], B, FIRST[1]])
    assert [(r.run_id, r.source) for r in runs] == [(1, "brought"), (3, ""), (2, "brought")]
    assert inner.ran == [B]


def test_a_spec_that_differs_is_run_here() -> None:
    inner = ScriptedBench({"t": always(P)})
    bench = Brought(inner, RUNS)
    for other in (replace(FIRST[0], seed="8"), replace(FIRST[0], tree="u"), replace(FIRST[1], only=("t",))):
        (run,) = bench.run([other])
        assert run.source == ""
        assert inner.ran.pop() == other


def test_a_home_of_another_machine_is_used_here_once() -> None:
    inner = ScriptedBench({"t": always(P)})
    scout = RunSpec(run_id=4, world="H", tree="t", seed="9", condition="scout", used_home="H-plain-1")
    bench = Brought(inner, RUNS)
    bench.run([scout, B])
    bench.run([scout])
    bench.run([replace(scout, used_home="H-scout-first-9")])
    first = replace(scout, condition="first use of HOME", used_home="")
    again = replace(scout, used_home=first.name)
    assert inner.ran == [first, again, B, again, replace(scout, used_home="H-scout-first-9")]
