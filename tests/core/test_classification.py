"""The table: total, and equal to an independent oracle over all of its domain."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redbucket.core.buckets import Bucket, Cause, Evidence, FixtureState
from redbucket.core.classification import (
    TABLE,
    Record,
    Seed,
    Shape,
    Signs,
    classify,
    decide,
    signs_of,
)
from redbucket.core.records import Outcome as O
from tests.core.table_oracle import oracle

P, F = O.PASSED, O.FAILED

DOMAIN = list(
    itertools.product(
        Seed,
        Record,
        Shape,
        (True, False),
        (True, False),
        FixtureState,
        (None, *Cause),
        (True, False, None),
        (True, False, None),
    )
)

SHAPES = {
    Shape.PASSED: (P, P, P),
    Shape.FAILED: (F, O.ERROR, O.CRASHED),
    Shape.SKIPPED: (O.SKIPPED,) * 3,
    Shape.MIXED: (P, F, P),
    Shape.NONE: (),
}
SINGLE = {Shape.PASSED: (P,), Shape.FAILED: (F,), Shape.SKIPPED: (O.SKIPPED,)}


def evidence_for(signs: Signs) -> Evidence | None:
    """Return evidence with exactly these signs, or None where there can't be any."""
    outcomes = SHAPES[signs.shape]
    if signs.record is Record.SINGLE:
        if signs.shape not in SINGLE:
            return None
        outcomes = SINGLE[signs.shape]
    if signs.shape is Shape.NONE and signs.record is Record.SOUND:
        return None
    seeds = {
        Seed.PINNED: ("s",) * len(outcomes),
        Seed.MISSING: ("s", " "),
        Seed.DIFFERS: ("s", "t", "s"),
    }[signs.seed]
    return Evidence(
        nodeid="t",
        outcomes=outcomes,
        seeds=seeds,
        asked={Record.TOO_FEW: 4, Record.SINGLE: 1}.get(signs.record, 2),
        broken="cut" if signs.record is Record.BROKEN else "",
        fingerprints=("a", "a") if signs.same_failure else ("a", "b"),
        inconsistent=signs.inconsistent,
        fixture=signs.fixture,
        cause=signs.cause,
        base_passes=signs.base_passes,
        seed_base_passes=signs.seed_base_passes,
    )


def test_every_combination_of_signs_agrees_with_the_oracle():
    reached = set()
    for combination in DOMAIN:
        signs = Signs(*combination)
        row = decide(signs)  # total, the impossible ones too
        evidence = evidence_for(signs)
        if evidence is None:
            continue
        assert signs_of(evidence) == signs
        assert (row.bucket.value, row.line) == oracle(evidence), signs
        reached.add(TABLE.index(row))
    assert reached == set(range(len(TABLE))), "a row that nothing reaches"


outcomes = st.lists(st.sampled_from(O), max_size=4).map(tuple)
evidences = st.builds(
    Evidence,
    nodeid=st.text(max_size=5),
    outcomes=outcomes,
    seeds=st.one_of(
        st.lists(st.sampled_from(["", " ", "s", " s ", "t"]), max_size=5).map(tuple), st.just(("s",) * 5)
    ),
    asked=st.integers(-1, 5),
    broken=st.sampled_from(["", "", "", "cut at byte 7"]),
    fingerprints=st.lists(st.sampled_from(["", "a", "b"]), max_size=4).map(tuple),
    inconsistent=st.booleans(),
    fixture=st.sampled_from(FixtureState),
    moved_fixtures=st.lists(st.text(max_size=3), max_size=5).map(tuple),
    cause=st.none() | st.sampled_from(Cause),
    base_passes=st.sampled_from([True, False, None]),
    ran_in_base=st.booleans(),
    seed_base_passes=st.sampled_from([True, False, None]),
    others=st.dictionaries(st.sampled_from(["B", "F", "H alone"]), outcomes),
)


@settings(deadline=None)
@given(evidences)
def test_any_evidence_agrees_with_the_oracle(evidence):
    decision = classify(evidence)
    assert (decision.bucket.value, decision.line) == oracle(evidence)
    assert decision.why
    assert "\n" not in decision.spend
    assert decision.spend


@settings(deadline=None)
@given(evidences)
def test_a_broken_record_or_an_unpinned_seed_is_never_decided(evidence):
    if evidence.broken or any(not seed.strip() for seed in evidence.seeds):
        assert classify(evidence).bucket is Bucket.UNCLASSIFIED


@settings(deadline=None)
@given(evidences)
def test_one_run_is_never_noise_drift_or_a_miss(evidence):
    if len(evidence.outcomes) == 1:
        assert classify(evidence).bucket in (Bucket.UNCLASSIFIED, Bucket.STABLE_PASS, Bucket.SKIPPED)


@settings(deadline=None)
@given(evidences)
def test_a_failure_is_never_a_stable_pass(evidence):
    failing = {O.FAILED, O.ERROR, O.XPASSED, O.CRASHED, O.TIMEOUT, O.MISSING}
    if failing & set(evidence.outcomes):
        assert classify(evidence).bucket not in (Bucket.STABLE_PASS, Bucket.SKIPPED)


@settings(deadline=None)
@given(evidences, st.randoms(use_true_random=False))
def test_the_order_of_the_runs_does_not_matter(evidence, random):
    shuffled = list(evidence.outcomes)
    random.shuffle(shuffled)
    other = Evidence(**{**evidence.__dict__, "outcomes": tuple(shuffled)})
    assert classify(other).bucket is classify(evidence).bucket


def case(*outcomes, **more):
    more.setdefault("seeds", ("7",) * len(outcomes))
    return classify(Evidence(nodeid="t", outcomes=outcomes, asked=more.pop("asked", len(outcomes)), **more))


@pytest.mark.parametrize(
    ("decision", "bucket", "words"),
    [
        (case(F, F, F), Bucket.INVARIANT_MISS, "failed 3 of 3 runs"),
        (case(F, P, F), Bucket.NOISE, "failed 2 and passed 1 of 3 runs"),
        (case(P, O.XFAILED, P), Bucket.NOISE, "failed as expected in 1"),
        (case(P, O.SKIPPED), Bucket.NOISE, "was skipped in 1"),
        (case(O.XFAILED, O.XFAILED), Bucket.STABLE_PASS, "failed as expected in 2 of 2"),
        (case(O.XPASSED, O.XPASSED), Bucket.INVARIANT_MISS, "strict xfail"),
        (case(F, F, fingerprints=("a", "b")), Bucket.NOISE, "2 different ways"),
        (case(F, F, seeds=("7", "")), Bucket.UNCLASSIFIED, "no seed is recorded in 1 of 2 runs"),
        (case(F, F, seeds=("7", "8")), Bucket.UNCLASSIFIED, "differs between runs (7, 8)"),
        (case(F, F, asked=3), Bucket.UNCLASSIFIED, "fewer runs than asked: 2 of 3"),
        (case(F), Bucket.UNCLASSIFIED, "one run can't tell"),
        (case(P), Bucket.STABLE_PASS, "one run can't show a flake"),
        (case(P, asked=3), Bucket.UNCLASSIFIED, "fewer runs than asked: 1 of 3"),
        (case(asked=3), Bucket.UNCLASSIFIED, "fewer runs than asked: 0 of 3"),
        (case(F, F, cause=Cause.ORDER, base_passes=True), Bucket.NOISE, "changing the order alone"),
        (case(F, F, cause=Cause.SEED, seed_base_passes=True), Bucket.INVARIANT_MISS, "the very seeds"),
        (case(O.SKIPPED, O.SKIPPED, ran_in_base=True), Bucket.INVARIANT_MISS, "though it ran in base"),
        (
            case(O.SKIPPED, O.SKIPPED, ran_in_base=True),
            Bucket.INVARIANT_MISS,
            "it was skipped in 2 of 2 runs though it ran in base, and no other condition was tried",
        ),
        (case(F, F), Bucket.INVARIANT_MISS, "it failed 2 of 2 runs in the same way, and no other"),
        (case(O.SKIPPED, O.SKIPPED), Bucket.SKIPPED, "was skipped in 2 of 2"),
        (
            case(F, F, fixture=FixtureState.EXPLAINS, moved_fixtures=("a.json",)),
            Bucket.FIXTURE_DRIFT,
            "the patch's bytes of a.json",
        ),
    ],
)
def test_the_sentence_carries_the_evidence(decision, bucket, words):
    assert decision.bucket is bucket
    assert words in decision.why


def test_white_space_around_a_seed_is_not_a_difference():
    assert case(P, P, seeds=("7", " 7\n")).bucket is Bucket.STABLE_PASS
