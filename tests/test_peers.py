"""benchmarks/peer_tools.py reads what other tools printed; the texts are theirs, cut to what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.peer_tools import (
    OTHER_THAN_ORDER,
    SEEDS,
    TOOLS,
    Answer,
    outcomes,
    read_dependencies,
    read_doctor,
    read_exorcist,
    read_flakerate,
    read_ipflakies,
    read_pollution,
    read_reruns,
    read_whyflaky,
)
from benchmarks.peers import Judged, Told, family, lists, table
from tests.zoo.animals import ANIMALS

X = "tests/test_m.py::test_x"
POLLUTER = "tests/test_m.py::test_polluter"
NAMED = {tool.name: tool for tool in TOOLS}

REPEATED = """\
=========================== short test summary info ============================
PASSED tests/test_a.py::test_one[1-10]
PASSED tests/test_m.py::test_x[4-10]
PASSED tests/test_m.py::test_x[5-10]
FAILED tests/test_m.py::test_x[6-10] - assert 0.6328770089023708 < 0.5
FAILED tests/test_m.py::test_xy[7-10] - assert 0.5124387659410372 < 0.5
5 failed, 5 passed in 2.11s
"""
BISECTED = """\
discovering all tests...
-> discovered 6 tests!
ensuring test passes by itself...
-> OK!
running step 2:
- 3 tests remaining (about 2 steps)
double checking we found it...
-> the polluting test is: tests/test_m.py::test_polluter
"""
DEPENDENT = """\
============================== Results ===============================
Run dependency analysis for 6 tests.
Dependent tests:
  tests/test_m.py::test_x depends on tests/test_m.py::test_polluter

Dependency test FAILED
"""


def test_outcomes_are_those_of_the_test_and_of_no_other() -> None:
    assert outcomes(REPEATED, X) == ["PASSED", "PASSED", "FAILED"]
    assert outcomes(
        "FAILED tests/test_m.py::test_x[<object object at 0x7f0a2b3c4d50>-3] - x\n", X + "[…]"
    ) == ["FAILED"]


@pytest.mark.parametrize("name", ["pytest-repeat", "pytest-flakefinder", "pytest-randomly"])
def test_tools_that_repeat(name: str) -> None:
    read = NAMED[name].read
    assert read(REPEATED, X) == Answer(True)
    assert read(REPEATED.replace("PASSED tests/test_m", "FAILED tests/test_m"), X) == Answer(False)
    assert read("no tests ran in 0.01s\n", X) == Answer()


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("RERUN tests/test_m.py::test_x\nPASSED tests/test_m.py::test_x\n", Answer(True)),
        ("RERUN tests/test_m.py::test_x\nFAILED tests/test_m.py::test_x - assert 45 == 55\n", Answer(False)),
        ("PASSED tests/test_m.py::test_x\n", Answer()),
    ],
)
def test_reruns(lines: str, answer: Answer) -> None:
    assert read_reruns(lines, X) == answer


def test_polluters() -> None:
    found = Answer(True, ("order",), (POLLUTER,))
    assert read_pollution(BISECTED, X) == found
    assert (
        read_pollution("ensuring test passes by itself...\n-> test failed! (output printed above)\n", X)
        == Answer()
    )
    assert read_dependencies(DEPENDENT, X) == found
    assert read_dependencies("No dependent tests found.\n\nDependency test PASSED\n", X) == Answer()


def test_flakerate() -> None:
    row = {"nodeid": X, "failures": 9, "runs": 20, "rate": 0.45, "cause": "order-dependent"}
    said: dict[str, Any] = {"runs": 20, "tests": 6, "flaky": [row], "always_failed": []}
    assert read_flakerate(json.dumps(said), X) == Answer(True, ("order",))
    row["cause"] = "nondeterministic"
    assert read_flakerate(json.dumps(said), X) == Answer(True, OTHER_THAN_ORDER)
    assert read_flakerate(json.dumps(said | {"flaky": [], "always_failed": [X]}), X) == Answer(False)


def exorcised(**finding: Any) -> str:
    row = {"node_id": X, "verdict": "flaky", "primary_cause": None, "polluter_node_id": None} | finding
    said = {"findings": [row], "genuinely_failing": [], "environment_dependent": []}
    return "Estimated runs: 10-50 (broad scan 10)\n" + json.dumps(said, indent=2)


def test_exorcist() -> None:
    seed = {"root_cause": "seed", "confidence": 0.43, "fix_hint": "Seed the RNG in a fixture."}
    assert read_exorcist(exorcised(primary_cause=seed), X) == Answer(True, SEEDS)
    order = {"root_cause": "order", "confidence": 0.57, "fix_hint": ""}
    assert read_exorcist(exorcised(primary_cause=order, polluter_node_id=POLLUTER), X) == Answer(
        True, ("order",), (POLLUTER,)
    )
    assert read_exorcist(exorcised(verdict="inconclusive"), X) == Answer()
    zone = {"node_id": X, "trigger": {"TZ": "varied", "LC_ALL": "varied", "LANG": "varied"}, "fix_hint": ""}
    none = {"findings": [], "genuinely_failing": [X], "environment_dependent": []}
    assert read_exorcist(json.dumps(none), X) == Answer(False)
    assert read_exorcist(json.dumps(none | {"environment_dependent": [zone]}), X) == Answer(
        True, ("time zone", "locale")
    )
    assert read_exorcist("Estimated runs: 10-50", X) == Answer()


def diagnosed(verdict: str, *labels: str) -> str:
    evidence = [{"label": label, "runs": 10, "failed": 10, "note": ""} for label in labels]
    said = {"format": "flakedoctor-report", "nodeid": X, "verdict": verdict, "evidence": evidence}
    return json.dumps(said, indent=2)


def test_doctor() -> None:
    order = diagnosed("flaky-order", "after full suite prefix (5 tests)", f"VERIFY: after {POLLUTER}")
    assert read_doctor(order, X) == Answer(True, ("order",), (POLLUTER,))
    assert read_doctor(diagnosed("flaky-hashseed", "VERIFY: PYTHONHASHSEED=2"), X) == Answer(
        True, ("hash order",)
    )
    assert read_doctor(diagnosed("flaky-unattributed"), X) == Answer(True)
    assert read_doctor(diagnosed("not-flaky"), X) == Answer(False)
    assert read_doctor(diagnosed("deterministic-failure"), X) == Answer(False)
    assert read_doctor(diagnosed("held-side-effects"), X) == Answer()
    assert read_doctor(diagnosed("not-flaky"), "tests/test_a.py::test_x") == Answer()


def test_whyflaky() -> None:
    def said(kind: str, **diagnosis: Any) -> str:
        return json.dumps({"flakes": [{"test_id": X, "kind": kind, "diagnosis": diagnosis}]})

    order = said(
        "order-dependent (victim)", cause="test-order dependence (state pollution)", polluters=[POLLUTER]
    )
    assert read_whyflaky(order, X) == Answer(True, ("order",), (POLLUTER,))
    assert read_whyflaky(said("non-order-dependent", implicated=["PYTHONHASHSEED"]), X) == Answer(True, SEEDS)
    assert read_whyflaky(said("non-order-dependent", implicated=[]), X) == Answer(True)
    assert read_whyflaky(
        said("always failing (brittle or broken)", cause="fails even in isolation"), X
    ) == Answer(False)
    assert read_whyflaky('{"flakes": []}', X) == Answer(False)
    # what was stopped for time left no whole report
    assert read_whyflaky('{"flakes": [{"test_id"', X) == Answer()


def test_ipflakies() -> None:
    first = (
        f"[iDFlakies] {X} is a flaky test, checking whether it is non-deterministic or order-dependent...\n"
    )
    order = f"{first}[iDFlakies] {X} is order-dependent, checking whether it is a victim or a brittle...\n"
    assert read_ipflakies(order, X) == Answer(True, ("order",))
    assert read_ipflakies(first, X) == Answer(True)
    assert read_ipflakies(f"{first}[iDFlakies] {X} is Non-deterministic.\n", X) == Answer(
        True, OTHER_THAN_ORDER
    )
    assert read_ipflakies("Complete.\n", X) == Answer()
    assert read_ipflakies("Complete.\n0 flaky test(s) found in this project: \n", X) == Answer(False)


def test_every_pin_is_exact() -> None:
    assert all("==" in pin for tool in TOOLS for pin in tool.pins)
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)


def test_the_table_counts_each_answer_where_it_belongs() -> None:
    animals = {animal.name: animal for animal in ANIMALS}
    assert [family(animals[name]) for name in ("global", "random", "time zone", "off by one", "sound")] == [
        "order",
        "chance",
        "surroundings",
        "failures",
        "sound",
    ]
    answers = {
        "global": Answer(True, ("order",), (POLLUTER,)),
        "cwd": Answer(True, ("clock",), ("tests/test_m.py::test_one",)),
        "random": Answer(False),
        "time zone": Answer(),
        "off by one": Answer(True),
        "sound": Answer(False),
    }
    rows = [Judged("a tool", animals[name], answer, 9.0, 2.0, 4.0) for name, answer in answers.items()]
    head, rule, line = table(rows, {"a tool": "much"}).splitlines()
    assert head.count("|") == rule.count("|") == line.count("|")
    assert line == (
        "| a tool | much | 2, 0 of 2 | 0, 1 of 1 | 0, 0 of 1 | 1 of 4 | 1 of 2 | 1 of 1, 0 of 1 | 2.0, 4 | 9 |"
    )
    told = [Told("slow", "sound", "", True, 60.0, 9.0, 0.6, 0.5, 1.0)]
    assert lists(rows, told) == [
        ("a tool calls flaky", "off by one"),
        ("a tool calls steady", "random"),
        ("slow was stopped for time at", "sound"),
    ]
