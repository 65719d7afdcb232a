"""Which candidates a draft proposes, by what the runs on base and on the patch say of them."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from redbucket.core import records
from redbucket.core.calls import Parameter, Target
from redbucket.core.candidates import Candidate, candidates, proposal
from redbucket.core.filescope import read_scope
from redbucket.core.probing import Found, Probe, chosen
from redbucket.core.records import Outcome, Run

PLACE = "tests/p.py"
PATIENCE = 10.0
HOME = read_scope(ast.parse("def f(text): ..."))
TARGET = Target(
    "f",
    ("from m import f",),
    HOME,
    HOME.functions["f"],
    (Parameter("text", ("one", "two words")),),
    seen=(("one",), ("two words",)),
)
EVERY = candidates(TARGET, "def f(text):\n    return text", crash=False)
PROBE = Probe(EVERY, 10)
BASE = [n for n, one in enumerate(EVERY) if one.by == "base"]
SHORT = [n for n, one in enumerate(EVERY) if one.law.name == "no_longer"]


def run(outcome: Outcome = Outcome.PASSED, seconds: float = 0.1, **other: Outcome) -> Run:
    """Return a run in which every test of the probe ended alike, but for those that are named."""
    names = [n.name for n in ast.parse(PROBE.source()).body if isinstance(n, ast.FunctionDef)]
    tests = {
        f"{PLACE}::{name}": records.Test(
            nodeid=f"{PLACE}::{name}", outcome=other.get(name, outcome), duration=seconds
        )
        for name in names
        if name.startswith("test_")
    }
    return Run(run_id=1, tests=tests)


def found(base: Run, head: Run) -> list[Found]:
    return PROBE.found(PROBE.held(base, PLACE), base, head, PLACE, PATIENCE)


def named(some: list[Found]) -> dict[str, Found]:
    return {one.one.law.name: one for one in some}


def test_the_widest_domain_whose_draws_fail_on_the_patch_is_taken() -> None:
    _, second, *_ = BASE
    head = run(
        **{
            f"test_literal_{BASE[0]}": Outcome.FAILED,
            f"test_literal_{second}": Outcome.FAILED,
            f"test_candidate_{second}": Outcome.FAILED,
        }
    )
    (one,) = chosen(found(run(), head))
    assert (one.drawn, one.one.variant) == (True, EVERY[second].variant)


def test_where_no_draw_finds_the_fault_the_widest_domain_is_told_to_rest_on_its_examples() -> None:
    head = run(**{f"test_literal_{number}": Outcome.FAILED for number in BASE})
    (one,) = chosen(found(run(), head))
    assert (one.drawn, one.literal, one.one.variant) == (False, True, 0)


def test_a_law_of_a_result_that_never_varies_is_none_and_base_as_the_oracle_is_one() -> None:
    head = run(
        **{
            f"test_candidate_{SHORT[0]}": Outcome.FAILED,
            f"test_candidate_{BASE[0]}": Outcome.FAILED,
        }
    )
    assert {"no_longer", "as_base"} <= set(named(chosen(found(run(), head))))
    alike = run(**{f"test_results_{number}": Outcome.FAILED for number in range(len(EVERY))})
    assert set(named(chosen(found(alike, head)))) == {"as_base"}


@pytest.mark.parametrize(("seconds", "said"), [(0.1, True), (9.0, False)])
def test_a_time_out_says_something_only_where_base_is_far_from_it(seconds: float, said: bool) -> None:
    head = run(**{f"test_candidate_{BASE[0]}": Outcome.TIMEOUT})
    assert bool(chosen(found(run(seconds=seconds), head))) is said


def test_what_base_fails_or_did_not_come_to_is_not_proposed() -> None:
    number = BASE[0]
    head = run(Outcome.FAILED)
    for base in (
        run(**{f"test_candidate_{number}": Outcome.FAILED}),
        run(**{f"test_literal_{number}": Outcome.FAILED}),
        Run(run_id=1, tests={k: v for k, v in run().tests.items() if not k.endswith(f"_{number}")}),
    ):
        assert EVERY[number] not in PROBE.held(base, PLACE)
        assert all(one.one.variant > 0 for one in chosen(found(base, head)) if one.one.by == "base")
    assert PROBE.ran(Run(run_id=1), PLACE) == 0
    assert PROBE.ran(run(), PLACE) == len(EVERY)


def test_the_call_that_fails_on_the_patch_is_the_first_example() -> None:
    number = BASE[0]
    assert EVERY[number].examples == ("text='one'", "text='two words'")
    head = run(**{f"test_candidate_{number}": Outcome.FAILED, f"test_row_{number}_1": Outcome.FAILED})
    asked = PROBE.asked([EVERY[number]], PLACE)
    assert f"{PLACE}::test_row_{number}_1" in asked
    (one,) = chosen(found(run(), head))
    assert one.one.examples == ("text='two words'", "text='one'")


def test_a_proposal_shows_a_few_examples() -> None:
    many: Candidate = replace(EVERY[0], examples=tuple(f"text={word!r}" for word in "abcdefg"))
    assert proposal(many, "t.py::test").count("@example(") == 3
