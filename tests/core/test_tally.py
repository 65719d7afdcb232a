"""What the experiments are counted as, and when one flips or is confirmed."""

from __future__ import annotations

from itertools import product

import pytest

from redbucket.core.classification import FAILING
from redbucket.core.experiments import Experiment, Tries, joined, unconfirmed
from redbucket.core.records import Outcome
from redbucket.core.tally import Tally, flips, of_gate

P, F, S = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED


def by_condition(experiments: list[Experiment]) -> dict[str, Experiment]:
    return {one.condition: one for one in experiments}


@pytest.mark.parametrize("outcomes", [*product(Outcome), *product(Outcome, repeat=2)])
def test_a_flip_is_what_it_does_not_do_by_itself(outcomes: tuple[Outcome, ...]) -> None:
    assert flips(outcomes, None) is None
    assert flips(outcomes, False) is bool(FAILING & set(outcomes))
    # that it was skipped, or expected to fail, makes nothing pass
    assert flips(outcomes, True) is (P in outcomes)
    assert flips((), True) is flips((), False) is None


def test_a_tally_counts_both_worlds_and_leaves_out_what_was_skipped() -> None:
    tally = Tally(True)
    for outcome in (F, P, S, P):
        tally.add("clock", "noon", outcome)
    tally.add("clock", "noon", P, world="B")
    tally.add("clock", "as it is", F, aside=True)
    noon, plain = tally.experiments(["noon"])
    assert noon == Experiment(
        condition="noon",
        changes="clock",
        head=Tries(failed=1, runs=3),
        base=Tries(failed=0, runs=1),
        flipped=True,
        confirmed=True,
    )
    assert (plain.condition, plain.flipped, plain.confirmed, plain.base) == ("as it is", None, False, None)


def test_the_gates_conditions_stand_side_by_side_in_both_worlds() -> None:
    seen = {
        ("H", "plain"): (F, F, F),
        ("B", "plain"): (P,),
        ("H", "alone"): (P, P, P),
        ("B", "alone"): (P, P, P),
        ("H", "hash-seed 1"): (F,),
        ("H", "scout first"): (F,),
        ("H", "scout used HOME"): (P,),
        ("F", "plain"): (P, F, F),
        ("P", "plain"): (P,),
    }
    found = by_condition(of_gate(seen, "alone"))
    assert list(found) == [
        "plain",
        "alone",
        "hash-seed 1",
        "scout first",
        "scout used HOME",
        "other-fixtures",
    ]
    assert (found["plain"].flipped, found["plain"].base) == (None, Tries(failed=0, runs=1))
    assert (found["alone"].changes, found["alone"].flipped, found["alone"].confirmed) == ("order", True, True)
    assert (found["hash-seed 1"].changes, found["hash-seed 1"].flipped) == ("hash order", False)
    assert (found["scout first"].changes, found["scout first"].flipped) == ("", None)
    assert (found["scout used HOME"].changes, found["scout used HOME"].flipped) == ("leftover files", True)
    assert found["other-fixtures"].head == Tries(failed=2, runs=3)
    assert [one.condition for one in found.values() if one.confirmed] == ["alone"]


def test_of_a_mixed_test_nothing_flips() -> None:
    found = of_gate({("H", "plain"): (F, P), ("H", "alone"): (P,)})
    assert {one.flipped for one in found} == {None}


def test_what_being_alone_does_is_no_flip_of_the_seeds_that_are_tried_so() -> None:
    seen = {
        ("H", "plain"): (F, F, F),
        ("H", "alone"): (P, P, P),
        ("H", "reversed"): (P,),
        ("H", "hash-seed 1"): (P,),
        ("H", "seed 1"): (F,),
        ("H", "scout seed"): (P,),
    }
    found = by_condition(of_gate(seen, "alone"))
    assert {name: one.flipped for name, one in found.items()} == {
        "plain": None,
        "alone": True,
        "reversed": True,
        "hash-seed 1": False,
        "seed 1": False,
        "scout seed": True,
    }


def test_one_condition_from_two_places_is_one() -> None:
    one = Experiment(condition="alone", changes="order", head=Tries(failed=1, runs=3), flipped=None)
    two = Experiment(
        condition="alone",
        changes="order",
        head=Tries(failed=2, runs=2),
        base=Tries(failed=0, runs=1),
        flipped=True,
        confirmed=True,
    )
    other = Experiment(condition="alone", changes="clock")
    (both, apart) = joined([one], [two, other])
    assert (both.head, both.base) == (Tries(failed=3, runs=5), Tries(failed=0, runs=1))
    assert (both.flipped, both.confirmed) == (True, True)
    assert apart == other
    assert [each.confirmed for each in unconfirmed([both, apart])] == [False, False]
