"""The search for what an order depends on, as the gate does it for one failing test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from redbucket.core.runspec import RunSpec
from redbucket.core.trials import Trials, all_failed
from redbucket.engine.found import Culprits
from redbucket.engine.orders import OrderSearch
from redbucket.engine.ports import Bench
from redbucket.engine.specs import Specs


def search_of(
    name: str,
    order: Sequence[str],
    trials: Trials,
    specs: Specs,
    bench: Bench,
    say: Callable[[str], None],
    over: Callable[[], bool],
) -> OrderSearch:
    """Return the search for a test that fails in head's ``order``.

    Alone it passes: something before it breaks it. Alone it fails, and reversed it passes: something
    that comes later in ``order`` sets up what it needs.
    """
    alone_fails = all_failed(trials.outcomes(name, "H", "alone"))

    def make(condition: str, **values: Any) -> RunSpec:
        return specs.make("H", condition, **values)

    return OrderSearch(
        name, order if not alone_fails else tuple(reversed(order)), alone_fails, make, bench, say, over
    )


def sentence(found: Culprits, alone_fails: bool) -> str:
    """Return what the search found, for a row's reason."""
    if not found.confirmed:
        return f"Which test does it was not found: {found.why_not}."
    names = " and ".join(found.tests)
    does = "It needs what is set up by" if alone_fails else "It is broken by what is left by"
    if found.imported:
        does = "It depends on the import of the file of"
    state = f" ({', '.join(found.state)})" if found.state else ""
    return f"{does} {names}{state}: 3 of 3 with it, 0 of 3 without."
