"""The gate's own search for what an order depends on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from redbucket.core import records
from redbucket.core.records import Outcome
from redbucket.core.runspec import RunSpec
from redbucket.core.trials import Trials
from redbucket.engine.found import Culprits
from redbucket.engine.polluters import search_of, sentence
from redbucket.engine.specs import Specs
from tests.engine.test_explain import NAMES, Process, X


def search(rule, names: Sequence[str], *, alone: Outcome, limit: int = 10**9):  # type: ignore[no-untyped-def]
    trials = Trials()
    trials.results[X] = {("H", "alone"): [records.Test(nodeid=X, outcome=alone)]}
    specs = Specs(trees={"H": "h"}, seed="7", roots=(".",), timeout=1)
    ticks = itertools.count()
    return search_of(
        X, names, trials, specs, Process(rule, names), lambda step: None, lambda: next(ticks) > limit
    )


def test_a_victim_in_the_gate() -> None:
    made = search(lambda spec, before: NAMES[3] in before, [*NAMES, X], alone=Outcome.PASSED)
    found = made.find()
    assert sentence(found, made.alone_fails) == (
        f"It is broken by what is left by {NAMES[3]}: 3 of 3 with it, 0 of 3 without."
    )


def test_a_brittle_test_whose_helper_comes_later() -> None:
    made = search(lambda spec, before: NAMES[3] not in before, [X, *NAMES], alone=Outcome.FAILED)
    found = made.find()
    assert sentence(found, made.alone_fails).startswith(f"It needs what is set up by {NAMES[3]}:")


def test_no_time_no_name() -> None:
    made = search(lambda spec, before: NAMES[3] in before, [*NAMES, X], alone=Outcome.PASSED, limit=0)
    found = made.find()
    assert not found.confirmed
    assert sentence(found, made.alone_fails) == (
        "Which test does it was not found: time was up before the bisection had ended."
    )


def test_a_coin_blames_nobody() -> None:
    turn = itertools.count()

    def rule(spec: RunSpec, before: Sequence[str]) -> bool:
        return next(turn) % 3 > 0

    for _ in range(5):
        found = search(rule, [*NAMES, X], alone=Outcome.PASSED).find()
        assert not found.confirmed and not found.tests


def test_an_import_is_named_as_one() -> None:
    said = sentence(Culprits(tests=["b.py::test"], imported=True, confirmed=True), alone_fails=False)
    assert said.startswith("It depends on the import of the file of b.py::test")
