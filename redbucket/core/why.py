"""One sentence of evidence for each line of the classification table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from redbucket.core.buckets import Cause, Evidence, FixtureState
from redbucket.core.records import Outcome

_SHOWN = 3


def why(evidence: Evidence, line: int) -> str:
    """Return why ``evidence`` matches ``line`` of the table, in one sentence without a full stop."""
    ran = _ran(evidence)
    match line:
        case 1:
            return _seed(evidence)
        case 2:
            return _record(evidence)
        case 3:
            return _noise(evidence)
        case 4:
            return f"{_fixtures(evidence)} moved between runs or was written by a test, and {ran}"
        case 5:
            return _drift(evidence)
        case 6:
            if evidence.revealed_by:
                return f"{ran}{_base(evidence)}"
            flip = f"changing the {_cause(evidence)} alone makes it pass"
            return f"{_every(evidence)}, and {flip}{_base(evidence)}"
        case 7:
            return _miss(evidence)
        case _:
            lone = ", and one run can't show a flake" if len(evidence.outcomes) == 1 else ""
            return f"{ran}{lone}"


# What the scout changes, in words.
_OTHERWISE = {
    Cause.HASH_ORDER: "with another hash seed",
    Cause.ORDER: "in a shuffled order",
    Cause.LEFTOVERS: "with a HOME that was used before",
}


def _ran(e: Evidence) -> str:
    if not e.revealed_by:
        return f"it {count(e.outcomes)}"
    other = f"with the seed {e.seeds[0]}" if e.cause is Cause.SEED and e.seeds else ""
    other = other or (_OTHERWISE.get(e.cause, "") if e.cause else "") or f"under {e.revealed_by}"
    return f"it {count(e.pinned)} as they were pinned, and {count(e.outcomes)} {other}"


def count(outcomes: Sequence[Outcome]) -> str:
    """Return "failed 3 of 3 runs" or "passed 2 and failed 1 of 3 runs"."""
    total = len(outcomes)
    if not total:
        return "never ran"
    kinds = Counter(o.value for o in outcomes)
    parts = " and ".join(f"{_verb(kind)} {n}" for kind, n in kinds.items())
    return f"{parts} of {total} {'run' if total == 1 else 'runs'}"


def _verb(kind: str) -> str:
    nouns = {
        "error": "had an error in",
        "timeout": "timed out in",
        "missing": "was missing in",
        "skipped": "was skipped in",
        "xpassed": "passed against a strict xfail in",
        "xfailed": "failed as expected in",
    }
    return nouns.get(kind, kind)


def _seed(e: Evidence) -> str:
    given = [seed.strip() for seed in e.seeds]
    empty = given.count("") + max(0, len(e.outcomes) - len(given))
    if empty:
        return f"no seed is recorded in {empty} of {max(len(e.outcomes), len(given))} runs"
    return f"the seed differs between runs ({_some(sorted(set(given)))})"


def _record(e: Evidence) -> str:
    if e.broken:
        return e.broken
    runs = len(e.outcomes)
    if runs < max(1, e.asked):
        return f"fewer runs than asked: {runs} of {max(1, e.asked)}"
    if runs == 1:
        return f"one run can't tell a flake from a miss: it {count(e.outcomes)}"
    if e.revealed_by:
        return f"{_ran(e)}, and base was not run with that one"
    return f"{_every(e)}, other seeds make it pass, and base was not run with the seeds that fail"


def _noise(e: Evidence) -> str:
    if len(set(e.outcomes)) > 1:
        return _ran(e) if e.revealed_by else f"it {count(e.outcomes)} with one seed"
    if e.inconsistent and (wavering := _wavering(e)):
        return f"it {count(e.outcomes)}, and both passed and failed under one other condition ({wavering})"
    if e.inconsistent:
        return f"it {count(e.outcomes)}, but its framework or a rerun in the same process saw it both ways"
    return f"{_ran(e) if e.revealed_by else _every(e)}, but in {len(set(e.fingerprints))} different ways"


def _wavering(e: Evidence) -> str:
    """Return a condition of head in which the outcomes are mixed, "" if there is none."""
    mixed = (name for name, seen in e.others.items() if name.startswith("H ") and len(set(seen)) > 1)
    return next(mixed, "").removeprefix("H ")


def _drift(e: Evidence) -> str:
    if e.fixture is FixtureState.EXPLAINS:
        return f"it fails with the patch's bytes of {_fixtures(e)} and passes with the base's"
    return f"{_every(e)}, and {_fixtures(e)} differs from its lock in base already"


def _miss(e: Evidence) -> str:
    if e.cause is Cause.SEED and e.revealed_by:
        return f"{_ran(e)}; base passes with that very seed"
    if e.cause is Cause.SEED:
        return f"{_every(e)}, and base passes with the very seeds that fail; other seeds hide it"
    if e.cause is Cause.NETWORK:
        return f"{_every(e)}, and base passes under the same denied network"
    tried = (
        f"nothing that was tried ({_some(e.tried)}) flips it" if e.tried else "no other condition was tried"
    )
    # nothing failed where it did not run, so there is no way to be the same
    alike = "" if _absent(e) else " in the same way"
    return f"{_every(e)}{alike}, and {tried}{_base(e)}"


def _every(e: Evidence) -> str:
    # ran_in_base turns a skip into a failure: the sentence must say that it was one
    return f"it {count(e.outcomes)}{' though it ran in base' if _absent(e) and e.ran_in_base else ''}"


def _absent(e: Evidence) -> bool:
    return bool({Outcome.SKIPPED, Outcome.XFAILED, Outcome.MISSING} & set(e.outcomes))


def _base(e: Evidence) -> str:
    if e.base_passes is None:
        return "; base is mixed" if len(set(e.others.get("B", ()))) > 1 else ""
    return "; base passes" if e.base_passes else "; base fails too"


def _cause(e: Evidence) -> str:
    return e.cause.value if e.cause else "conditions"


def _fixtures(e: Evidence) -> str:
    return _some(e.moved_fixtures) if e.moved_fixtures else "a fixture that it reads"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
