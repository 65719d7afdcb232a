"""Counts the runs of one test into experiments: what flips it, and what does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from redbucket.core.classification import FAILING
from redbucket.core.experiments import Experiment, Tries
from redbucket.core.records import Outcome

PLAIN = "plain"
# What a condition of the gate's changes, by the word that its name begins with.
_CHANGES = {
    "alone": "order",
    "reversed": "order",
    "shuffled": "order",
    "hash-seed": "hash order",
    "seed": "seed",
    "scout seed": "seed",
    "scout hash-seed": "hash order",
    "scout shuffled": "order",
    "scout used HOME": "leftover files",
    "scout first": "",
    "scout": "several at once",
}
_SEEDS = ("hash-seed", "seed")


@dataclass
class Tally:
    """Counts the runs of one test by what they change, in the order in which they were begun.

    ``usual`` is whether it fails by itself, None if it is mixed. ``asides`` are conditions that change nothing: what
    stands between the runs of another one.
    """

    usual: bool | None
    seen: dict[tuple[str, str], dict[str, list[Outcome]]] = field(default_factory=dict)
    asides: set[tuple[str, str]] = field(default_factory=set)

    def add(
        self, changes: str, condition: str, outcome: Outcome, *, world: str = "H", aside: bool = False
    ) -> None:
        """Count one run in which the test was there; skipped runs say nothing and are left out."""
        if outcome is Outcome.SKIPPED:
            return
        key = (changes, condition)
        self.seen.setdefault(key, {}).setdefault(world, []).append(outcome)
        if aside:
            self.asides.add(key)

    def experiments(self, confirmed: Iterable[str] = ()) -> list[Experiment]:
        """Return what was counted; ``confirmed`` are the conditions that the cause rests on."""
        sure = frozenset(confirmed)
        return [
            Experiment(
                condition=condition,
                changes=changes,
                head=tries(worlds.get("H", ())),
                base=tries(worlds.get("B", ())),
                flipped=None
                if (changes, condition) in self.asides
                else flips(worlds.get("H", ()), self.usual),
                confirmed=condition in sure,
            )
            for (changes, condition), worlds in self.seen.items()
        ]


def of_gate(seen: Mapping[tuple[str, str], Iterable[Outcome]], confirmed: str = "") -> list[Experiment]:
    """Return the experiments among what was seen of a test by (world, condition); ``confirmed`` is one of them."""
    conditions = dict.fromkeys(condition for world, condition in seen if world in ("H", "B"))
    plain = tuple(seen.get(("H", PLAIN), ()))
    usual = kind(plain)
    # other seeds are tried without the tests that pass: what being alone does is not theirs
    lone = flips(seen.get(("H", "alone"), ()), usual)
    found = []
    for condition in conditions:
        head, base = (tuple(seen.get((world, condition), ())) for world in ("H", "B"))
        changes = next((c for word, c in _CHANGES.items() if condition.startswith(word)), "")
        flipped = flips(head, usual)
        found.append(
            Experiment(
                condition=condition,
                changes=changes,
                head=tries(head),
                base=tries(base),
                flipped=(flipped and not (lone and condition.startswith(_SEEDS))) if changes else None,
                confirmed=condition == confirmed,
            )
        )
    other = tuple(seen.get(("F", PLAIN), ()))
    if other:
        flipped = flips(other, usual)
        found.append(
            Experiment(condition="other-fixtures", changes="fixture", head=tries(other), flipped=flipped)
        )
    return found


def tries(outcomes: Iterable[Outcome]) -> Tries | None:
    """Return the counts, None of no run."""
    every = tuple(outcomes)
    return Tries(failed=sum(o in FAILING for o in every), runs=len(every)) if every else None


def kind(outcomes: Iterable[Outcome]) -> bool | None:
    """Return True if it fails each time, False if never, None if it is mixed or was not run."""
    kinds = {outcome in FAILING for outcome in outcomes}
    return kinds.pop() if len(kinds) == 1 else None


def flips(outcomes: Iterable[Outcome], usual: bool | None) -> bool | None:
    """Return whether some run did what is not ``usual``; None where there is no usual, or no run."""
    every = tuple(outcomes)
    if usual is None or not every:
        return None
    return any(o is Outcome.PASSED if usual else o in FAILING for o in every)
