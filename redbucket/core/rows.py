"""From trials to evidence, and from a decision to a row of the report."""

from __future__ import annotations

from dataclasses import dataclass, field

from redbucket.core.buckets import Bucket, Cause, Decision, Evidence, FixtureState
from redbucket.core.classification import FAILING, classify
from redbucket.core.compare import SIGNIFICANT, SURE, redder_in_strata
from redbucket.core.doubt import doubt
from redbucket.core.evidence import PASSING, base_passes, failure_print, is_inconsistent, ran
from redbucket.core.experiments import Experiment, joined, unconfirmed
from redbucket.core.records import Outcome, Test
from redbucket.core.report import Row
from redbucket.core.tally import of_gate
from redbucket.core.trials import Trials

INTRODUCED = "introduced"
ALREADY_RED = "already red"
ALREADY_NOISY = "already noisy"
UNSHOWN = "not shown to come from the patch"
UNCOLLECTED = "fix the code until the test can be collected"
TAKE_OUT = "take the marker out and mend the test, or delete the test: a person may do both"
GONE = "bring the test back"
UNCAPTURED = (
    "fix the isolation, until many runs agree; no freeze, for nothing can be captured without a recorder"
)
RED_BEFORE = "red in base too, so not this patch's: mend it there"


@dataclass(frozen=True)
class Facts:
    """What the gate knows of one test besides its outcomes.

    ``asked`` is how many plain runs of head it was to get; ``broken`` why the
    records can't be trusted; ``moved`` the fixtures that the patch moved and the
    test read; ``explains`` whether only the moved bytes fail it;
    ``other_fixture_passes`` whether it passes with the other side's bytes while
    the patch's source fails it with base's; ``revealed_by`` the condition in
    which a test that is clean three times fails every time; ``off_lock`` the fixtures
    it read that differ from their lock in base already; ``wavers`` whether
    it passed and failed under one and the same condition; ``explained`` what makes a mixed test hold
    still, in words; ``marker``
    that of the patch which switches the test off, with its place;
    ``flipped_by`` the condition that names the cause; ``looks`` experiments besides the trials; ``recorded`` whether a
    recorder is in the process, without which nothing can be captured.
    """

    asked: int
    broken: str = ""
    cause: Cause | None = None
    explains: bool = False
    other_fixture_passes: bool = False
    moved: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    revealed_by: str = ""
    wavers: bool = False
    new: bool = False
    vanished: bool = False
    wrote_in_base: bool = False
    off_lock: tuple[str, ...] = ()
    message: str = ""
    explained: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)
    flipped_by: str = ""
    looks: tuple[Experiment, ...] = ()
    marker: str = ""
    recorded: bool = True


def evidence_of(name: str, trials: Trials, facts: Facts) -> Evidence:
    """Return the evidence for one test of the gate."""
    tests = trials.tests(name, "H", facts.revealed_by or "plain")
    base = trials.outcomes(name, "B", facts.revealed_by or "plain")
    if not facts.revealed_by:
        base += trials.outcomes(name, "B", "again") + trials.outcomes(name, "B", "absent")
    outcomes = tuple(t.outcome for t in tests)
    red = [t for t in tests if t.outcome in FAILING]
    skipped = [t for t in tests if t.outcome is Outcome.SKIPPED]  # their message is the reason
    return Evidence(
        nodeid=name,
        outcomes=outcomes,
        seeds=tuple(t.seed for t in tests),
        asked=min(facts.asked, len(tests)) if facts.revealed_by else facts.asked,
        broken=facts.broken,
        fingerprints=tuple(failure_print(t) for t in red),
        inconsistent=facts.wavers or any(is_inconsistent(t) for t in tests),
        fixture=_fixture_state(tests, facts),
        moved_fixtures=facts.moved if facts.explains or not facts.off_lock else facts.off_lock,
        cause=facts.cause,
        base_passes=base_passes(base),
        ran_in_base=ran(base),
        seed_base_passes=base_passes(base) if facts.cause is Cause.SEED else None,
        others=_others(name, trials),
        tried=facts.tried,
        message=next((t.message for t in [*red, *skipped] if t.message), facts.message),
        revealed_by=facts.revealed_by,
        pinned=trials.outcomes(name, "H") if facts.revealed_by else (),
    )


def _fixture_state(tests: list[Test], facts: Facts) -> FixtureState:
    wrote = any(t.wrote for t in tests)
    hashes = {t.fixture_hash for t in tests if t.outcome is not Outcome.MISSING}
    if (wrote and not facts.wrote_in_base) or (len(hashes) > 1 and not wrote):
        return FixtureState.MOVED
    if facts.explains:
        return FixtureState.EXPLAINS
    if facts.off_lock:
        return FixtureState.CHANGED
    return FixtureState.UNCHANGED if hashes - {""} else FixtureState.UNKNOWN


def _others(name: str, trials: Trials) -> dict[str, tuple[Outcome, ...]]:
    found: dict[str, tuple[Outcome, ...]] = {}
    for (world, condition), tests in trials.seen(name).items():
        if (world, condition) != ("H", "plain"):
            label = world if condition == "plain" else f"{world} {condition}"
            found[label] = tuple(t.outcome for t in tests)
    return found


def row_of(name: str, trials: Trials, facts: Facts) -> Row:
    """Classify one test and return its row."""
    evidence = evidence_of(name, trials, facts)
    decision = classify(evidence)
    state, introduced = _standing(name, trials, evidence, decision, facts)
    cause = _cause(facts, decision.bucket)
    outcomes = {"H": [o.value for o in trials.outcomes(name, "H")]}
    outcomes.update({label: [o.value for o in seen] for label, seen in evidence.others.items()})
    return Row(
        nodeid=name,
        bucket=decision.bucket,
        introduced=introduced,
        state=state,
        cause=cause,
        why=_sentences(decision.why, _extra(facts, evidence, decision.bucket, state)),
        spend=_spend(evidence, decision, state, facts),
        switched_off=facts.marker if facts.marker and decision.bucket is Bucket.INVARIANT_MISS else None,
        doubt=_doubt(name, trials, evidence, decision) if introduced else None,
        outcomes=outcomes,
        fixtures=sorted({*facts.moved, *facts.off_lock}),
        message=evidence.message,
        tried=list(facts.tried),
        blocks=bool(introduced) and decision.bucket in BLOCKING,
        experiments=_experiments(name, trials, facts, decision.bucket, cause),
    )


def _experiments(
    name: str, trials: Trials, facts: Facts, bucket: Bucket, cause: str | None
) -> list[Experiment]:
    """Return what was tried on a test that fails or is noisy, [] if it was run as it is alone."""
    if bucket not in BLOCKING:
        return []
    seen = {key: [t.outcome for t in tests] for key, tests in trials.seen(name).items()}
    found = joined(of_gate(seen, facts.flipped_by), facts.looks)
    if len(found) < 2 and bucket is not Bucket.NOISE:
        return []
    return found if cause is not None else unconfirmed(found)


def _spend(evidence: Evidence, decision: Decision, state: str, facts: Facts) -> str:
    if state == ALREADY_RED:
        return RED_BEFORE
    if facts.marker and decision.bucket is Bucket.INVARIANT_MISS:
        return TAKE_OUT
    # no property is written over what can't be imported
    if decision.bucket is Bucket.INVARIANT_MISS and set(evidence.outcomes) == {Outcome.MISSING}:
        return UNCOLLECTED if evidence.message else GONE
    if decision.bucket is Bucket.NOISE and not facts.recorded:
        return UNCAPTURED
    return decision.spend


def _sentences(why: str, more: list[str]) -> str:
    return " ".join([why if why.endswith(".") else f"{why}.", *more]) if more else why


def _cause(facts: Facts, bucket: Bucket) -> str | None:
    if bucket is Bucket.STABLE_PASS:
        return None
    if facts.cause is not None:
        return facts.cause.value
    return (facts.explained or None) if bucket is Bucket.NOISE else None


_SILENT = (Outcome.MISSING, Outcome.SKIPPED, Outcome.XFAILED)
BLOCKING = (Bucket.INVARIANT_MISS, Bucket.FIXTURE_DRIFT, Bucket.NOISE)


def _standing(
    name: str, trials: Trials, evidence: Evidence, decision: Decision, facts: Facts
) -> tuple[str, bool | None]:
    """Return what base says: the state in words, and whether the patch introduced it."""
    if decision.bucket not in BLOCKING:
        return "", None
    if facts.new or facts.explains:
        return INTRODUCED, True
    if decision.bucket is Bucket.NOISE and facts.cause is None:
        return _noise_standing(name, trials)
    if evidence.base_passes is False:
        return ALREADY_RED, False
    base = trials.everywhere(name, "B")
    silenced = all(o in _SILENT for o in evidence.outcomes)
    # one pass of base shows nothing of a test that both worlds fail by chance
    if evidence.base_passes is True and (silenced or not trials.is_unsteady(name)):
        return INTRODUCED, True
    if base and _redder(name, trials):
        return INTRODUCED, True
    if any(o in FAILING for o in base) and any(o in PASSING for o in base):
        return ALREADY_NOISY, False
    if facts.vanished:
        return INTRODUCED, True
    return (UNSHOWN, False) if base else ("", None)


def _redder(name: str, trials: Trials) -> bool:
    """True if head fails more often than base by more than chance."""
    level = SURE if trials.base_shows(name) else SIGNIFICANT
    return redder_in_strata(trials.strata(name)) < level


def _noise_standing(name: str, trials: Trials) -> tuple[str, bool | None]:
    base = trials.everywhere(name, "B")
    if not base:
        return "", None
    if all(o in FAILING for o in base):
        return ALREADY_RED, False
    if _redder(name, trials):
        return INTRODUCED, True
    if any(o in FAILING for o in base):
        return ALREADY_NOISY, False
    return UNSHOWN, False


def _extra(facts: Facts, evidence: Evidence, bucket: Bucket, state: str) -> list[str]:
    said = list(facts.notes)
    if facts.vanished:
        lost = "can't be collected" if evidence.message else "is gone"
        said.append(f"The test is in base and {lost} with the patch.")
    if facts.marker:
        said.append(f"The patch switches it off itself: {facts.marker}.")
    if facts.other_fixture_passes and facts.moved:
        said.append(
            f"It passes with the patch's own bytes of {', '.join(facts.moved)}: if the new behaviour is "
            "wanted, a human endorses them."
        )
    other = evidence.others.get("F", ())
    if bucket is Bucket.INVARIANT_MISS and facts.moved and other and all(o in FAILING for o in other):
        said.append(
            f"It fails with either side's bytes of {', '.join(facts.moved)}, which the patch moves, too: look at both."
        )
    if facts.off_lock and not facts.explains and state == INTRODUCED:
        said.append("Base passes with the same bytes, so the patch breaks it besides: look at both.")
    if state == UNSHOWN:
        said.append("Too few failures to say that the patch did it.")
    return said


def _doubt(name: str, trials: Trials, evidence: Evidence, decision: Decision) -> float | None:
    if decision.bucket is not Bucket.INVARIANT_MISS:
        return None
    head, base = trials.everywhere(name, "H"), trials.everywhere(name, "B")
    if not all(o in FAILING or o in (Outcome.SKIPPED, Outcome.XFAILED) for o in head):
        head = evidence.outcomes  # some condition flipped it: only the plain runs count
    passed = sum(o in PASSING for o in base) if base and all(o in PASSING for o in base) else 0
    return doubt(len(head), passed)
