"""What a freeze excuses, and what it never does."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.flakes import Flakes, Freeze
from redbucket.core.frozen import Frozen, freezes_for, frozen_row
from redbucket.core.report import Row

TODAY = date(2026, 9, 15)
TEST = "tests/test_a.py::T::test_x"
PATHS = {"tests/test_a.py"}
FREEZE = Freeze(TEST, (TEST,), "ada", "QA-1", date(2026, 10, 2), "r", "it races")
DOTTED = replace(FREEZE, nodeid="tests.test_a.T.test_x")


def in_force(base: Flakes, head: Flakes | None = None) -> dict[str, Frozen]:
    return {k: v for k, v in freezes_for(base, head, PATHS, TODAY, 30).items() if not v.lapsed}


def test_bases_entries_count_in_either_form_of_the_id() -> None:
    for entry in (FREEZE, DOTTED):
        assert in_force(Flakes((entry,))) == {TEST: Frozen(entry, "")}


def test_what_lapsed_is_kept_to_be_said() -> None:
    old = replace(FREEZE, expires=date(2026, 9, 14))
    assert freezes_for(Flakes((old,)), None, PATHS, TODAY, 30)[TEST].lapsed == "expired on 2026-09-14"


def test_a_person_may_end_or_shorten_a_freeze_for_their_patch_but_not_start_or_extend_one() -> None:
    base, shorter = Flakes((FREEZE,)), replace(FREEZE, expires=date(2026, 9, 20))
    assert in_force(base, Flakes()) == {}
    assert in_force(base, Flakes((shorter,)))[TEST].freeze.expires == date(2026, 9, 20)
    assert in_force(base, Flakes((replace(FREEZE, expires=date(2026, 9, 1)),))) == {}
    longer = replace(FREEZE, expires=date(2026, 10, 10))
    assert in_force(base, Flakes((longer,)))[TEST].freeze.expires == date(2026, 10, 2)
    assert in_force(Flakes(), Flakes((FREEZE,))) == {}
    assert in_force(base, Flakes(broken="f: not TOML")) == {}


def test_of_two_entries_for_one_test_the_stricter_counts() -> None:
    early = replace(DOTTED, expires=date(2026, 9, 16))
    assert in_force(Flakes((FREEZE, early)))[TEST].freeze == early
    assert in_force(Flakes((FREEZE, replace(DOTTED, faults=("owner is missing",))))) == {}


def row(bucket: Bucket = Bucket.NOISE, **fields: Any) -> Row:
    outcomes = {"H": ["failed", "passed", "failed"], "B": ["passed"]}
    said: dict[str, Any] = {"introduced": True, "state": "introduced", "blocks": True, "outcomes": outcomes}
    return Row(nodeid=TEST, bucket=bucket, why="Mixed.", **{**said, **fields})


def test_noise_is_shown_and_does_not_block() -> None:
    after = frozen_row(row(), Frozen(FREEZE, ""), new=False)
    assert (after.blocks, after.introduced, after.state) == (False, None, "frozen until 2026-10-02 by ada")
    assert after.frozen_until == "2026-10-02"
    assert "QA-1" in after.why and "it races" in after.why
    assert after.bucket is Bucket.NOISE  # it stays what it is


@pytest.mark.parametrize("bucket", [Bucket.INVARIANT_MISS, Bucket.FIXTURE_DRIFT])
def test_a_freeze_covers_noise_only(bucket: Bucket) -> None:
    after = frozen_row(row(bucket), Frozen(FREEZE, ""), new=False)
    assert (after.blocks, after.introduced, after.state) == (True, True, "introduced")
    assert "covers noise only" in after.why


def test_a_lapsed_freeze_excuses_nothing() -> None:
    after = frozen_row(row(), Frozen(FREEZE, "expired on 2026-09-14"), new=False)
    assert after.blocks
    assert after.frozen_until is None
    assert "expired on 2026-09-14" in after.why


def test_a_test_that_base_does_not_have_is_not_covered() -> None:
    assert frozen_row(row(), Frozen(FREEZE, ""), new=True).blocks


def test_failing_every_time_and_never_in_base_is_no_noise_whatever_the_messages() -> None:
    outright = {"H": ["failed"] * 3, "H again": ["failed"] * 10, "B": ["passed"], "B again": ["passed"] * 10}
    after = frozen_row(row(outcomes=outright), Frozen(FREEZE, ""), new=False)
    assert after.blocks
    assert "never without it" in after.why
    # a victim of order is what order freezes are for
    assert not frozen_row(row(outcomes=outright, cause="order"), Frozen(FREEZE, ""), new=False).blocks


def test_a_pass_has_nothing_to_say() -> None:
    passed = row(Bucket.STABLE_PASS, introduced=None, state="", blocks=False)
    after = frozen_row(passed, Frozen(FREEZE, ""), new=False)
    assert (after.why, after.frozen_until) == (passed.why, "2026-10-02")
    assert frozen_row(passed, Frozen(FREEZE, "expired on 2026-09-14"), new=False) == passed


def test_already_noisy_stays_not_introduced() -> None:
    known = row(introduced=False, state="already noisy", blocks=False)
    assert frozen_row(known, Frozen(FREEZE, ""), new=False).introduced is False
