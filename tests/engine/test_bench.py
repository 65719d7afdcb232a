"""Runs that take an address from each other are made again, alone; what one run takes from itself is its failure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from redbucket.core import records
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.bench import ParallelBench

IN_USE = "OSError: [Errno 98] Address already in use"


class Machine:
    """Runs that know how many were under way when they started; the first ``beside`` stand side by side."""

    def __init__(self, fails: Callable[[int], bool], message: str = IN_USE, beside: int = 1) -> None:
        self.fails, self.message = fails, message
        self.ran: list[RunSpec] = []
        self.runs: dict[Path, Run] = {}
        self._here = self._started = 0
        self._beside = beside
        self._lock = threading.Lock()
        self._meeting = threading.Barrier(beside)

    def run(self, spec: RunSpec) -> Path:
        with self._lock:
            self.ran.append(spec)
            self._started += 1
            meets = self._started <= self._beside
            self._here += 1
            place = self._here
        if meets:
            self._meeting.wait(30)
        failed = self.fails(place)
        outcome = Outcome.FAILED if failed else Outcome.PASSED
        test = records.Test(nodeid="t.py::x", outcome=outcome, message=self.message if failed else "")
        path = Path(spec.name)
        self.runs[path] = Run(run_id=spec.run_id, tests={"t.py::x": test}, seed="7")
        with self._lock:
            self._here -= 1
        return path


def bench(machine: Machine, jobs: int = 2) -> ParallelBench:
    return ParallelBench(machine, machine.runs.__getitem__, jobs, threading.Event())


def specs(count: int, first: int = 1) -> list[RunSpec]:
    return [RunSpec(n, "H", "tree", "7") for n in range(first, first + count)]


def outcomes(runs: list[Run]) -> list[str]:
    return [run.tests["t.py::x"].outcome.value for run in runs]


def test_runs_that_share_a_port_are_made_one_after_another() -> None:
    machine = Machine(lambda place: place > 1, beside=2)
    work = bench(machine)
    assert outcomes(work.run(specs(2))) == ["passed", "passed"]
    assert work.sharing == {"t.py::x"}
    assert len({spec.name for spec in machine.ran}) == 3
    # from now on none stands beside another
    machine.ran.clear()
    assert outcomes(work.run(specs(4, 3))) == ["passed"] * 4
    assert [spec.run_id for spec in machine.ran] == [3, 4, 5, 6]


def test_a_port_that_a_run_takes_from_itself_is_its_failure() -> None:
    machine = Machine(lambda place: True)
    work = bench(machine)
    assert outcomes(work.run(specs(2))) == ["failed", "failed"]
    assert not work.sharing
    asked = len(machine.ran)
    work.run(specs(3, 3))
    assert len(machine.ran) == asked + 3  # it is known by then


def test_other_failures_are_asked_once() -> None:
    machine = Machine(lambda place: True, "AssertionError: 98 != 48")
    assert outcomes(bench(machine).run(specs(3))) == ["failed"] * 3
    assert len(machine.ran) == 3


def test_a_run_that_stands_alone_is_believed() -> None:
    machine = Machine(lambda place: True)
    for work, count in ((bench(machine, jobs=1), 3), (bench(machine), 1)):
        machine.ran.clear()
        assert outcomes(work.run(specs(count))) == ["failed"] * count
        assert len(machine.ran) == count
