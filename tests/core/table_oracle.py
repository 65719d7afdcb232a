"""Section 6 of the design, transcribed as prose into if and else.

Written from the page alone and shaped unlike the table that it checks: it looks
at evidence, has no signs, and asks the questions in its own order of thought.
Returns (bucket, line).
"""

from __future__ import annotations

from redbucket.core.buckets import Evidence

AS_PASSED = ("passed", "xfailed")
AS_FAILED = ("failed", "error", "xpassed", "crashed", "timeout", "missing")


def oracle(e: Evidence) -> tuple[str, int]:
    """Return the bucket and the line that the design gives."""
    # 1: a seed is missing, empty, or differs between runs
    if len(e.seeds) < len(e.outcomes):
        return "unclassified", 1
    for seed in e.seeds:
        if seed.strip() == "" or seed.strip() != e.seeds[0].strip():
            return "unclassified", 1

    # 2: a record is incomplete or absent, fewer runs than asked
    if e.broken != "":
        return "unclassified", 2
    if len(e.outcomes) == 0 or len(e.outcomes) < e.asked:
        return "unclassified", 2

    # "A test that ran in base and is skipped, missing or xfailed in H counts as failed"
    def failed(outcome: str) -> bool:
        if e.ran_in_base and outcome in ("skipped", "xfailed"):
            return True
        return outcome in AS_FAILED

    words = [outcome.value for outcome in e.outcomes]
    always_failed = all(failed(word) for word in words)
    always_passed = not always_failed and all(word in AS_PASSED for word in words)
    always_skipped = not always_failed and all(word == "skipped" for word in words)
    # change of kind between runs = mixed, unless both kinds are failures
    changes = not always_failed and any(word != words[0] for word in words)

    # one run: nothing is called noise or a miss, and only what is wholly clean may pass
    if len(words) == 1:
        clean = (always_passed or always_skipped) and not e.inconsistent
        if not clean or e.fixture.value in ("moved", "explains"):
            return "unclassified", 2

    # 3: mixed outcomes, differing fingerprints, or a framework's own report of inconsistency
    if changes or e.inconsistent:
        return "noise", 3
    if always_failed and any(f != e.fingerprints[0] for f in e.fingerprints):
        return "noise", 3

    # 4: the fixture moved between runs
    if e.fixture.value == "moved":
        return ("fixture_drift", 4) if always_failed else ("noise", 4)

    # 5: failed with the patch's bytes and passes with the base's, or differs from its lock in base already
    if e.fixture.value == "explains" and not always_skipped:
        return "fixture_drift", 5
    if e.fixture.value == "changed" and always_failed:
        return "fixture_drift", 5

    if not always_failed:
        return ("stable_pass", 8) if always_passed else ("skipped", 9)

    # 6 and 7: what did the challenge say?
    flip = e.cause.value if e.cause else None
    if flip is None:
        return "invariant_miss", 7
    if flip == "seed":
        if e.seed_base_passes is True:
            return "invariant_miss", 7
        if e.seed_base_passes is False:
            return "noise", 6
        return "unclassified", 2  # base's record with those seeds is absent
    if flip == "network" and e.base_passes is True:
        return "invariant_miss", 7  # not denied in both worlds
    return "noise", 6
