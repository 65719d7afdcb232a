"""What a coin shows once is no finding; what head always does and base never does is one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from redbucket.core import records
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.confirming import Confirmed, Confirming

Shown = Callable[[str], bool]
NEVER, ALWAYS = (lambda world: False), (lambda world: True)


def in_head(world: str) -> bool:
    return world == "H"


@dataclass
class Scripted:
    """``tests`` maps a name to whether a run in a world shows it, ``in_company`` does so for a run of all tests.

    Runs of ``broken`` worlds break off.
    """

    tests: dict[str, Shown]
    broken: tuple[str, ...] = ()
    runs: int = 0
    asked: list[tuple[str, ...]] = field(default_factory=list)
    in_company: dict[str, Shown] = field(default_factory=dict)

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        return [self.one(spec.world, spec.only or ()) for spec in specs]

    def one(self, world: str, names: Sequence[str]) -> Run:
        self.runs += 1
        self.asked.append(tuple(names))
        shows = {**self.tests, **self.in_company} if len(names) == len(self.tests) else self.tests
        shown = {name: shows[name](world) for name in names}
        return Run(
            run_id=self.runs,
            world=world,
            broken="cut off" if world in self.broken else "",
            tests={
                name: records.Test(nodeid=name, outcome=Outcome.PASSED if yes else Outcome.FAILED)
                for name, yes in shown.items()
            },
        )

    def look(self, first: Run | None = None, over: Callable[[], bool] = lambda: False) -> Confirmed:
        def make(world: str, names: Sequence[str]) -> RunSpec:
            return RunSpec(world=world, condition="contrary", run_id=1, tree="t", seed="s", only=tuple(names))

        def shows(run: Run, name: str) -> bool:
            return name in run.tests and run.tests[name].outcome is Outcome.PASSED

        confirming = Confirming(self, make, shows, over)
        return confirming.look(first or self.one("H", list(self.tests)), list(self.tests))


def test_what_head_always_does_and_base_never_is_confirmed() -> None:
    bench = Scripted({"bad": in_head, "weak": ALWAYS, "good": NEVER})
    assert bench.look() == Confirmed(["bad"])
    # the weak one costs a single pair, the good one nothing
    assert bench.asked[1:3] == [("bad", "weak")] * 2
    assert set(bench.asked[3:]) == {("bad",)}
    assert bench.runs == 1 + 2 * 6


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_coin_is_not(rate: float) -> None:
    chance = random.Random(f"coin {rate}")
    blamed = sum(
        bool(Scripted({"coin": lambda world: chance.random() < rate}).look().names) for _ in range(3000)
    )
    # by one pair alone a fair coin is blamed one time in eight
    assert blamed <= 15


def test_what_only_mostly_happens_in_head_is_confirmed_all_the_same() -> None:
    chance = random.Random("mostly")
    found = sum(
        bool(Scripted({"sly": lambda world: world == "H" and chance.random() < 0.9}).look().names)
        for _ in range(300)
    )
    assert found >= 0.85 * 300


def test_what_shows_in_company_alone_is_looked_at_in_company() -> None:
    tests = {"left behind": NEVER, "sly": NEVER, "good": NEVER}
    bench = Scripted(tests)
    # one passes after what another test leaves behind, in base, too; one wherever the patch counts three tests
    bench.in_company = {"left behind": ALWAYS, "sly": in_head}
    assert bench.look() == Confirmed(["sly"])
    alone, company = ("left behind", "sly"), tuple(tests)
    assert bench.asked[1:5] == [alone, alone, company, company]
    assert set(bench.asked[5:]) == {company}


def test_what_was_seen_once_is_not_chased() -> None:
    bench = Scripted({"coin": NEVER, "good": NEVER})
    first = Scripted({"coin": ALWAYS, "good": NEVER}).one("H", ["coin", "good"])
    assert bench.look(first) == Confirmed()
    assert bench.runs == 4


def test_a_run_that_breaks_off_in_head_alone_is_said() -> None:
    bench = Scripted({"good": NEVER}, broken=("H",))
    assert bench.look() == Confirmed([], "cut off")


def test_what_head_shows_is_not_forgotten_where_base_breaks_off() -> None:
    assert Scripted({"bad": in_head}, broken=("B",)).look() == Confirmed(unsure="cut off")
    assert Scripted({"bad": in_head}, broken=("B", "H")).look() == Confirmed(unsure="cut off")


def test_nothing_is_said_where_nothing_shows_and_base_breaks_off_too() -> None:
    assert Scripted({"good": NEVER}, broken=("B", "H")).look() == Confirmed()


def test_one_broken_run_in_the_beginning_is_no_evidence() -> None:
    bench = Scripted({"good": NEVER})
    first = Run(run_id=0, world="H", broken="cut off")
    assert bench.look(first) == Confirmed()


def test_nobody_is_blamed_by_less_when_time_is_up() -> None:
    bench = Scripted({"bad": in_head})
    ends = iter([False, False, True])
    assert bench.look(over=lambda: next(ends)).names == []
