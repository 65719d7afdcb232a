"""From runs to evidence: which outcomes, seeds and failures belong to one test.

Only what the records say is used. A confirmed cause, or what a fixture's lock
says, is for whoever made the experiments to add.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

from redbucket.core.buckets import Cause, Evidence, FixtureState
from redbucket.core.classification import FAILING
from redbucket.core.fingerprint import MESSAGE_LIMIT, fingerprint, normalise
from redbucket.core.records import Outcome, Run, Test

_Key = tuple[str, str]  # world, condition

PLAIN = "plain"
PASSING = frozenset({Outcome.PASSED, Outcome.XFAILED})
# Four fifths of the suite red in both worlds is no verdict on a patch; in a tiny suite it says little.
SUITE_RED, SUITE_LEAST = 0.8, 5

# hypothesis.errors: Flaky and its subclasses; older releases say Flaky only.
_FLAKY = re.compile(r"(?:hypothesis\.errors\.)?Flaky(?:Failure|Replay|StrategyDefinition|BackendFailure)?")
_FLAKY_MESSAGE = re.compile(r"hypothesis\.errors\.Flaky")
_STARVED = re.compile(r"MemoryError\b|(?:OSError: )?\[Errno (?:12|28|122)\]")
# All of a test that evidence is made of, but for its id (an outcome's _value_ hashes faster than the member).
_FACTS = attrgetter(
    "outcome._value_",
    "seed",
    "fixture_hash",
    "message",
    "exception",
    "fingerprint",
    "fixtures",
    "wrote",
    "attempts",
)
# What a condition changes against the plain runs, by the first word of its name.
_CAUSES = {
    "alone": Cause.ORDER,
    "reversed": Cause.ORDER,
    "order": Cause.ORDER,
    "shuffled": Cause.ORDER,
    "hash-seed": Cause.HASH_ORDER,
    "seed": Cause.SEED,
    "clock": Cause.CLOCK,
    "concurrency": Cause.CONCURRENCY,
    "network": Cause.NETWORK,
    "leftovers": Cause.LEFTOVERS,
    "environment": Cause.ENVIRONMENT,
}


def failure_print(test: Test) -> str:
    """Return what tells this failure from another: the record's own fingerprint, or one made here.

    A crash or a timeout is never the same failure as a failed assertion.
    """
    if test.fingerprint:
        return test.fingerprint
    phase = "failed" if test.outcome is Outcome.ERROR else test.outcome.value
    return fingerprint(phase, test.exception, "", normalise(test.message[:MESSAGE_LIMIT]))


def is_inconsistent(test: Test) -> bool:
    """Return whether a rerun inside the process disagreed, or Hypothesis reported ``Flaky``."""
    if len(set(test.attempts)) > 1:
        return True
    if test.outcome in PASSING:
        return False
    return bool(_FLAKY.fullmatch(test.exception) or _FLAKY_MESSAGE.match(test.message))


def distrust(run: Run) -> str:
    """Return why ``run`` can't be counted on, "" if it can."""
    if run.broken:
        return run.broken
    name = run.source or f"run {run.run_id}"
    if run.sentinels:
        return f"{name}: a sentinel misbehaved: {run.sentinels}"
    if run.tampered:
        return f"{name}: judge-side files differ after the run ({', '.join(run.tampered[:3])})"
    outside = {**run.foreign, **run.elsewhere}
    if outside:
        module = min(outside)
        return f"{name}: tested code was imported from somewhere else ({module} from {outside[module]})"
    if run.collected and not run.tests:
        return f"{name}: tests were collected, and none was run"
    return ""


def base_passes(outcomes: Sequence[Outcome]) -> bool | None:
    """Return True if all passed, False if all failed, None if mixed, skipped or unknown."""
    if not outcomes:
        return None
    if all(o in PASSING for o in outcomes):
        return True
    return False if all(o in FAILING for o in outcomes) else None


def ran(outcomes: Iterable[Outcome]) -> bool:
    """Return whether the test did its work at least once: it passed or failed."""
    return any(o is Outcome.PASSED or (o in FAILING and o is not Outcome.MISSING) for o in outcomes)


def gather(runs: Sequence[Run], asked: int) -> list[Evidence]:
    """Return the evidence for each test of ``runs``, in the order of the first run that has it."""
    gatherer = Gatherer(runs, asked)
    return [gatherer.evidence(nodeid) for nodeid in gatherer.ids]


class Gatherer:
    """Collects the evidence for one test after the other.

    The plain runs of world H are judged (else those of no world, else those of
    the first world there is); B, F and other conditions of the same world serve
    as comparison. A test that one of the plain runs does not have is missing
    there; a test that only base has vanished. ``ids`` are all tests, in order.
    """

    def __init__(self, runs: Sequence[Run], asked: int) -> None:
        world = self._world = _subject(runs)
        self._asked = asked
        self._plain = [r for r in runs if r.world == world and r.condition == PLAIN]
        self._groups = _other_groups(runs, world)
        base = self._groups.get(("B", PLAIN), [])
        moved = self._groups.get(("F", PLAIN), [])
        doubtful = map(distrust, [*self._plain, *base, *moved])
        self._broken = next(filter(None, doubtful), "") or _all_red(self._plain, base)
        self._everything = [run.tests for run in [*self._plain, *chain(*self._groups.values())]]
        ids: dict[str, None] = {}
        for run in [*self._plain, *base]:
            ids.update(dict.fromkeys(run.tests))
            ids.update(dict.fromkeys(run.errors))
        self.ids = tuple(ids)
        self._uncollected = set(chain(*(run.errors for run in self._plain)))

    def key(self, nodeid: str) -> Hashable:
        """Return a value that is equal for two tests whose evidence differs in nothing but the id."""
        facts = [test and _FACTS(test) for test in [tests.get(nodeid) for tests in self._everything]]
        return nodeid if nodeid in self._uncollected else tuple(facts)

    def evidence(self, nodeid: str) -> Evidence:
        """Return the evidence for ``nodeid``."""
        seen = _seen(nodeid, self._groups)
        return _evidence(nodeid, self._plain, self._asked, self._broken, self._world, seen)


def _subject(runs: Sequence[Run]) -> str:
    worlds = list(dict.fromkeys(run.world for run in runs))
    for world in ("H", ""):
        if world in worlds:
            return world
    return worlds[0] if worlds else ""


def _other_groups(runs: Sequence[Run], world: str) -> dict[_Key, list[Run]]:
    """Return the runs that are compared with, by world and condition; broken experiments say nothing."""
    groups: dict[_Key, list[Run]] = {}
    for run in runs:
        judged = run.world == world and run.condition == PLAIN
        if not judged and (run.condition == PLAIN or not distrust(run)):
            groups.setdefault((run.world, run.condition), []).append(run)
    return groups


def _seen(nodeid: str, groups: Mapping[_Key, list[Run]]) -> dict[_Key, tuple[Outcome, ...]]:
    found: dict[_Key, tuple[Outcome, ...]] = {}
    for key, runs in groups.items():
        outcomes = tuple(r.tests[nodeid].outcome for r in runs if nodeid in r.tests)
        if outcomes:
            found[key] = outcomes
    return found


def _evidence(
    nodeid: str,
    plain: Sequence[Run],
    asked: int,
    broken: str,
    world: str,
    seen: Mapping[_Key, tuple[Outcome, ...]],
) -> Evidence:
    tests = [_test_of(run, nodeid) for run in plain]
    outcomes = tuple(t.outcome for t in tests)
    seeds: list[str] = []
    for run, test in zip(plain, tests, strict=True):
        seeds.append(test.seed)
        if run.seed and test.seed and run.seed != test.seed:
            seeds.append(run.seed)  # the seed that was pinned is not the one the test saw
    base_outcomes = seen.get(("B", PLAIN), ())
    # The plain runs of base have the seed that made head fail, so they are base "with those very seeds".
    base = base_passes(base_outcomes)
    red = [t for t in tests if t.outcome not in (Outcome.PASSED, Outcome.SKIPPED)]
    state, names = _fixtures(tests, outcomes, seen.get(("F", PLAIN), ()))
    cause, tried = _flips(outcomes, world, seen)
    if not broken:
        broken = next(filter(None, map(_starved, red)), "")
    return Evidence(
        nodeid=nodeid,
        outcomes=outcomes,
        seeds=tuple(seeds),
        asked=asked,
        broken=broken,
        fingerprints=tuple(failure_print(t) for t in red),
        inconsistent=any(is_inconsistent(t) for t in tests if t.attempts or t in red),
        fixture=state,
        moved_fixtures=names,
        cause=cause,
        base_passes=base,
        ran_in_base=ran(base_outcomes),
        seed_base_passes=base if cause is Cause.SEED else None,
        others={w if c == PLAIN else f"{w} {c}".strip(): o for (w, c), o in seen.items()},
        tried=tried,
        message=next((t.message for t in red if t.message), ""),
    )


def _test_of(run: Run, nodeid: str) -> Test:
    test = run.tests.get(nodeid)
    if test is not None:
        return test
    if nodeid in run.errors:  # a file that could not be imported stands for its tests
        return Test(nodeid=nodeid, outcome=Outcome.ERROR, seed=run.seed, message=run.errors[nodeid])
    return Test(nodeid=nodeid, outcome=Outcome.MISSING, seed=run.seed)


def _fixtures(
    tests: Sequence[Test], outcomes: Sequence[Outcome], moved: Sequence[Outcome]
) -> tuple[FixtureState, tuple[str, ...]]:
    names = tuple(dict.fromkeys(name for t in tests for name in t.fixtures))
    wrote = tuple(dict.fromkeys(name for t in tests for name in t.wrote))
    if wrote:
        return FixtureState.MOVED, wrote
    hashes = {t.fixture_hash for t in tests if t.fixture_hash}
    if len(hashes) > 1:
        return FixtureState.MOVED, names
    # F has the patch's bytes and H the base's, everything else being equal.
    if base_passes(moved) is False and base_passes(outcomes) is True:
        return FixtureState.EXPLAINS, names
    return (FixtureState.UNCHANGED if hashes else FixtureState.UNKNOWN), names


def _flips(
    outcomes: Sequence[Outcome], world: str, seen: Mapping[_Key, tuple[Outcome, ...]]
) -> tuple[Cause | None, tuple[str, ...]]:
    """Return what made an always failing test pass every time, and the conditions tried."""
    tried = tuple(condition for where, condition in seen if where == world)
    if base_passes(outcomes) is not False:
        return None, tried
    for condition in tried:
        if base_passes(seen[world, condition]) is True:
            for word, cause in _CAUSES.items():
                if condition.replace(" ", "-").startswith(word):
                    return cause, tried
    return None, tried


def _starved(test: Test) -> str:
    """Return that the machine ran out of memory or disk, if that is what the failure says."""
    text = test.exception if test.exception == "MemoryError" else test.message
    if _STARVED.match(text):
        return f"the environment failed: {text.splitlines()[0][:200]}"
    return ""


def _all_red(plain: Sequence[Run], base: Sequence[Run]) -> str:
    if not plain or not base or len(plain[0].tests) < SUITE_LEAST:
        return ""
    if all(_red_share(run) >= SUITE_RED for run in [*plain, *base]):
        return "the environment failed: four fifths of the suite are red in both worlds"
    return ""


def _red_share(run: Run) -> float:
    red = sum(test.outcome in FAILING for test in run.tests.values())
    return red / len(run.tests) if run.tests else 0.0
