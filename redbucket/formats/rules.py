"""What each rule id stands for, so that "clean" can be told from "not run"."""

from __future__ import annotations

RULES: dict[str, str] = {
    "broken-policy": "The policy that would land must be readable.",
    "protected-path": "A patch by an agent must not change files that decide what is accepted.",
    "untrusted-test": "A test that the patch wrote or altered says nothing about the patch.",
    "vanished-test": "A test of the base must still run once the patch is merged.",
    "altered-test": "A patch by an agent must not alter the base's tests without a human's endorsement.",
    "weakened-test": "A patch must not make a test of the base accept more than it did.",
    "runner-tamper": "A patch by an agent must not change how tests are found, configured or run.",
    "gate-evasion": "Product code must not behave differently because it is being tested.",
    "git-trap": "Names, attributes and merges must not hide what is changed.",
    "flake-expiry": "A freeze of a noisy test must have an owner, a ticket, a replay and a future date.",
    "fixture-checksum": "A recorded fixture must match the lock that a human made.",
    "fixture-secret": "A secret must not get into recorded data.",
    "one-example": "A property must quantify over a domain: a single equality proves one example.",
    "weak-oracle": "Trusted tests must notice faults of the lines that a patch changes.",
    "judge-rewritten": "A file that judges must not be rewritten while the tests run.",
    "fixture-written": "A recorded fixture must not be made or rewritten while the tests run.",
    "fixture-unread": "A patch must not leave a recording behind that no test reads any more.",
    "merge-conflict": "A patch must merge into its base before it can be judged.",
    "machinery-patched": "Code under test must not replace or go around what decides the outcome of tests.",
    "behaves-for-the-gate": "A test must pass where nothing tells that it is being judged.",
    "differs-as-landed": "A test of base must pass beside what the patch adds to the tests and their data.",
    "leans-on-data": "What tests expect must not move with the patch that they judge.",
    "passes-either-way": "A test must fail when one of its assertions is turned into its contrary.",
    "bucket-invariant-miss": "A trusted test fails every time with the patch, and passes without it.",
    "bucket-fixture-drift": "A test fails because a recorded fixture moved.",
    "bucket-noise": "A test is not deterministic once the patch is merged.",
    "bucket-unclassified": "The records are not enough to say what a test shows.",
    "bucket-stable-pass": "A test that passes blocks the merge for another reason.",
    "bucket-skipped": "A test that is skipped blocks the merge.",
    "bucket-untrusted": "A test of the patch blocks the merge.",
    "undecided": "Something that is unpinned, incomplete or unknown is never green.",
    "untrusted-green": "No trusted test that passed executes a changed line.",
}

# What a human may approve, and what may always be put back to its bytes in the base.
ENDORSABLE = frozenset(
    {
        "protected-path",
        "vanished-test",
        "altered-test",
        "weakened-test",
        "runner-tamper",
        "gate-evasion",
        "git-trap",
        "flake-expiry",
        "fixture-checksum",
        "untrusted-test",
    }
)
