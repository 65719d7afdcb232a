"""The challenge of a property: fresh seeds, and all that must not matter changed at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from redbucket.core.answers import is_green, is_red
from redbucket.core.axes import LEAP_DAY, instants
from redbucket.core.conditions import Conditions
from redbucket.core.records import Run, Test

if TYPE_CHECKING:
    from redbucket.engine.review import Review

_CONFIRMED = 3


class Steadiness:
    """One property's challenge in base and in the patch.

    ``held`` of ``fresh`` seeds passed in base, ``found`` of ``fresh_patch`` failed with the patch by what it draws,
    its explicit examples left out; ``flips`` says in words what flipped it, three of three and not without.
    """

    def __init__(self, review: Review, name: str, seeds: int) -> None:
        self._review, self._name, self._seeds = review, name, seeds
        self.flips: list[str] = []
        self.tests: list[Test] = []
        self.held = self.fresh = self.found = self.fresh_patch = 0
        self.tried = "not challenged: an answer before this one speaks against it"

    def run(self) -> None:
        """Run the challenge in both worlds: on base it must go on passing, on the patch failing."""
        review = self._review
        review.say("challenging it: fresh seeds; another day, folder order, hash order, zone, and no network")
        other = review.specs.other_seed
        seeds = [other(f"review {n}") for n in range(1, self._seeds + 1)]
        worlds = ("B", "H")
        specs = [
            review.spec(w, "review seed", seed=s, hash_seed=s, drawing=w == "H")
            for s in seeds
            for w in worlds
        ]
        count = len(specs)
        for number, changed in enumerate(self._at_once(), 1):
            hash_seed = other(f"review hash {number}")
            specs += [
                review.spec(w, "review at once", conditions=changed, hash_seed=hash_seed) for w in worlds
            ]
        runs = review.bench.run(specs)
        for run in runs[:count]:
            tests = self._mine(run)
            if run.world == "B":
                self.fresh += 1
                self.held += is_green(tests)
            else:
                self.fresh_patch += 1
                self.found += is_red(tests)
        if self.held < self.fresh:
            self.flips.append(
                f"the seed: with fresh seeds it holds on base {self.held} times of {self.fresh}"
            )
        self.tried = (
            "clock, folder order, hash order, zone, locale, umask, HOME, network and entropy changed: no flip"
        )
        for world in worlds:
            if any(r.world == world and self._flipped(r) for r in runs[count:]):
                self._single_out(world)

    def _at_once(self) -> list[Conditions]:
        soon = dict(_named(self._review.now))
        return [
            Conditions(
                clock=soon[LEAP_DAY],
                listing="descending",
                no_network=True,
                empty_home=True,
                umask=0o77,
                entropy="1",
                env={"TZ": "Pacific/Auckland", "LC_ALL": "C", "LANG": "C", "COLUMNS": "40"},
            ),
            Conditions(clock=soon["just after midnight"], entropy="2", env={"TZ": "America/Los_Angeles"}),
        ]

    def _single_out(self, world: str) -> None:
        """Name what flips it: each condition by itself, then three times against the plain run."""
        review = self._review
        axes = self._axes()
        runs = review.bench.run([review.spec(world, f"review {n}", **change) for n, change in axes.items()])
        suspects = [name for name, run in zip(axes, runs, strict=True) if self._flipped(run)]
        for name in suspects:
            specs = []
            for _ in range(_CONFIRMED - 1):
                specs += [
                    review.spec(world, f"review {name}", **axes[name]),
                    review.spec(world, "review plain"),
                ]
            again = [self._flipped(run) for run in review.bench.run(specs)]
            if all(again[::2]) and not any(again[1::2]):
                where = "base" if world == "B" else "the patch"
                did = "fails" if world == "B" else "passes"
                self.flips.append(f"{name}: with it changed, it {did} on {where} 3 times of 3")
        if not self.flips:
            where = "base" if world == "B" else "the patch"
            self.flips.append(f"wall time or chance: it flips on {where} with everything changed at once")

    def _axes(self) -> dict[str, dict[str, Any]]:
        soon = dict(_named(self._review.now))
        found: dict[str, dict[str, Any]] = {
            f"wall time ({LEAP_DAY})": {"conditions": Conditions(clock=soon[LEAP_DAY])},
            "wall time (after midnight)": {"conditions": Conditions(clock=soon["just after midnight"])},
            "directory order": {"conditions": Conditions(listing="descending")},
            "network": {"conditions": Conditions(no_network=True)},
            "unpinned entropy (1)": {"conditions": Conditions(entropy="1")},
            "unpinned entropy (2)": {"conditions": Conditions(entropy="2")},
            "hash order": {"hash_seed": self._review.specs.other_seed("review hash 1")},
            "hash order (2)": {"hash_seed": self._review.specs.other_seed("review hash 2")},
            "home folder": {"conditions": Conditions(empty_home=True)},
            "umask": {"conditions": Conditions(umask=0o77)},
        }
        for name, value in (("TZ", "Pacific/Auckland"), ("LC_ALL", "C"), ("COLUMNS", "40")):
            found[f"environment ({name})"] = {"conditions": Conditions(env={name: value})}
        return found

    def _flipped(self, run: Run) -> bool:
        tests = self._mine(run)
        if run.broken:
            return False
        return is_red(tests) if run.world == "B" else is_green(tests)

    def _mine(self, run: Run) -> Sequence[Test]:
        found = self._review.mine(self._name, run)
        self.tests += found
        return found


def _named(now: float) -> list[tuple[str, float]]:
    return [(name.partition(" (")[0], at) for name, at in instants(now)]
