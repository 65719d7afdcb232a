"""Records in, rows out."""

from __future__ import annotations

import msgspec
import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.evidence import gather
from redbucket.core.records import Outcome as O
from redbucket.core.records import Run
from redbucket.core.records import Test as OneTest
from redbucket.engine.classify import classify_records, distinct_runs, exit_code

P, F, S = O.PASSED, O.FAILED, O.SKIPPED


def run(number, world="", condition="plain", *, tests=None, seed="42", **more):
    found = {}
    for nodeid, what in (tests or {}).items():
        facts = what if isinstance(what, dict) else {"outcome": what}
        found[nodeid] = OneTest(**{"nodeid": nodeid, "seed": seed, **facts})
    return Run(
        **{"run_id": number, "world": world, "condition": condition, "seed": seed, "source": f"{number}.json"}
        | more,
        tests=found,
    )


def three(*outcomes, world="", **more):
    return [run(i, world, tests={"t": o}, **more) for i, o in enumerate(outcomes, 1)]


def only(runs, asked=None):
    (row,) = classify_records(runs, asked)
    return row


class TestPlain:
    @pytest.mark.parametrize(
        ("outcomes", "bucket"),
        [
            ((F, F, F), Bucket.INVARIANT_MISS),
            ((F, P, F), Bucket.NOISE),
            ((P, P, P), Bucket.STABLE_PASS),
            ((S, S, S), Bucket.SKIPPED),
            ((F, O.CRASHED, F), Bucket.NOISE),  # never one failure
            ((O.CRASHED, O.CRASHED), Bucket.INVARIANT_MISS),
            ((O.FAILED, O.ERROR), Bucket.INVARIANT_MISS),  # nothing else tells them apart
        ],
    )
    def test_outcomes(self, outcomes, bucket):
        row = only(three(*outcomes))
        assert row.bucket is bucket
        assert list(row.outcomes) == [o.value for o in outcomes]

    def test_messages_tell_failures_apart(self):
        def fail(message):
            return {"outcome": F, "message": message}

        same = only(three(fail("at 0x7f0011"), fail("at 0x7f2233")))
        other = only(three(fail("assert 3 == 4"), fail("assert 5 == 4")))
        assert (same.bucket, other.bucket) == (Bucket.INVARIANT_MISS, Bucket.NOISE)

    def test_a_test_that_one_run_does_not_have_is_missing_there(self):
        runs = [run(1, tests={"t": P, "u": P}), run(2, tests={"t": P})]
        rows = {row.nodeid: row for row in classify_records(runs)}
        assert rows["u"].outcomes == ("passed", "missing")
        assert rows["u"].bucket is Bucket.NOISE
        assert rows["t"].bucket is Bucket.STABLE_PASS

    def test_one_row_a_test_in_the_order_of_the_runs(self):
        runs = [run(i, tests={"b": P, "a": P, "c": F}) for i in (1, 2)]
        assert [row.nodeid for row in classify_records(runs)] == ["b", "a", "c"]

    def test_the_fixture_moved(self):
        def read(outcome, digest):
            return {"outcome": outcome, "fixture_hash": digest, "fixtures": ("d.json",)}

        assert only(three(read(F, "a"), read(F, "b"))).bucket is Bucket.FIXTURE_DRIFT
        row = only(three(read(P, "a"), read(P, "b")))
        assert (row.bucket, row.line, row.fixtures) == (Bucket.NOISE, 4, ("d.json",))
        assert only(three(read(P, "a"), read(P, "a"))).bucket is Bucket.STABLE_PASS

    def test_a_test_that_writes_its_fixtures(self):
        wrote = {"outcome": F, "wrote": ("d.json",)}
        assert only(three(wrote, wrote)).bucket is Bucket.FIXTURE_DRIFT

    def test_inconsistency(self):
        flaky = {"outcome": F, "exception": "hypothesis.errors.FlakyFailure"}
        assert only(three(flaky, flaky)).bucket is Bucket.NOISE
        retried = {"outcome": P, "attempts": ("failed", "passed")}
        assert only(three(retried, retried)).bucket is Bucket.NOISE
        named = {"outcome": F, "exception": "FlakyNetworkError", "message": "Flaky thing"}
        assert only(three(named, named)).bucket is Bucket.INVARIANT_MISS


class TestUndecided:
    def test_seeds(self):
        assert only([run(1, tests={"t": F}), run(2, tests={"t": F}, seed="")]).line == 1
        assert only([run(1, tests={"t": F}), run(2, tests={"t": F}, seed="43")]).line == 1

    def test_a_seed_that_the_run_did_not_pin(self):
        runs = [run(i, tests={"t": {"outcome": P, "seed": "other"}}) for i in (1, 2)]
        assert only(runs).line == 1

    @pytest.mark.parametrize(
        "trouble",
        [
            {"broken": "cut at byte 7"},
            {"sentinels": "a test that always fails was reported as passed"},
            {"tampered": ("tests/a.py",)},
            {"foreign": {"pkg": "site-packages/pkg"}},
            {"elsewhere": {"pkg.a": "site-packages/pkg/a.py"}},
        ],
    )
    def test_a_run_that_can_t_be_trusted(self, trouble):
        runs = [run(1, tests={"t": P}), run(2, tests={"t": P}, **trouble)]
        row = only(runs)
        assert (row.bucket, row.line) == (Bucket.UNCLASSIFIED, 2)
        assert exit_code([row], runs) == 2

    def test_the_environment(self):
        starved = {"outcome": F, "exception": "OSError", "message": "[Errno 28] No space left on device"}
        assert "environment" in only(three(starved, starved)).why
        red = dict.fromkeys("abcdefgh", F) | {"t": P}
        rows = classify_records([run(1, "H", tests=red), run(2, "H", tests=red), run(3, "B", tests=red)])
        assert {row.bucket for row in rows} == {Bucket.UNCLASSIFIED}

    def test_fewer_than_asked(self):
        assert only(three(P, P), asked=3).line == 2
        assert only(three(P)).line == 2  # nobody said that one is enough
        assert only(three(P), asked=1).bucket is Bucket.STABLE_PASS
        assert only(three(F), asked=1).bucket is Bucket.UNCLASSIFIED

    def test_the_same_record_twice_is_one_run(self):
        a, b = run(1, tests={"t": F}, nonce="x"), run(1, tests={"t": F}, nonce="x", source="copy.json")
        row = only([a, b])
        assert (row.bucket, row.outcomes) == (Bucket.UNCLASSIFIED, ("failed",))
        assert distinct_runs([a, b])[1] == ["copy.json is the same record as 1.json: it counts once"]

    def test_the_same_number_is_not_the_same_record(self):
        a, b = run(1, tests={"t": F}), run(1, tests={"t": P}, source="b.json")
        assert only([a, b]).bucket is Bucket.NOISE
        assert "both call themselves run 1" in distinct_runs([a, b])[1][0]

    def test_records_without_any_identity_are_runs_of_their_own(self):
        a, b = (run(0, tests={"t": F}, source=name) for name in ("a.xml", "b.xml"))
        assert only([a, b]).bucket is Bucket.INVARIANT_MISS
        assert only([a, a]).bucket is Bucket.UNCLASSIFIED
        stamped = [run(0, tests={"t": F}, source=n, nonce="timestamps 2026") for n in ("a.xml", "b.xml")]
        assert only(stamped).bucket is Bucket.UNCLASSIFIED

    def test_nothing_is_not_green(self):
        assert exit_code([]) == 2
        assert classify_records([]) == []


class TestWorlds:
    def test_introduced_and_already_red(self):
        head = three(F, F, F, world="H")
        new = only([*head, *three(P, P, P, world="B")])
        assert (new.bucket, new.introduced, new.state) == (Bucket.INVARIANT_MISS, True, "introduced")
        assert new.doubt == pytest.approx(1 / 64)
        assert new.others == {"B": ("passed",) * 3}
        old = only([*head, *three(F, world="B")])
        assert (old.introduced, old.state, old.doubt) == (False, "already red", 1.0)
        noisy = only([*head, *three(P, F, world="B")])
        assert (noisy.introduced, noisy.state) == (False, "already noisy")
        assert only(head).introduced is None

    def test_skipped_where_base_ran_it(self):
        row = only([*three(S, S, world="H"), *three(P, world="B")])
        assert (row.bucket, row.introduced) == (Bucket.INVARIANT_MISS, True)

    def test_vanished(self):
        runs = [*(run(i, "H", tests={"t": P}) for i in (1, 2)), run(3, "B", tests={"t": P, "gone": P})]
        rows = {row.nodeid: row for row in classify_records(runs)}
        assert rows["gone"].outcomes == ("missing", "missing")
        assert (rows["gone"].bucket, rows["gone"].introduced) == (Bucket.INVARIANT_MISS, True)

    def test_the_patch_s_fixture_explains(self):
        row = only([*three(P, P, world="H"), *three(F, F, world="F")])
        assert (row.bucket, row.line) == (Bucket.FIXTURE_DRIFT, 5)

    @pytest.mark.parametrize(
        ("condition", "cause"), [("alone", "order"), ("hash seed 7", "hash order"), ("clock", "clock")]
    )
    def test_a_condition_that_flips(self, condition, cause):
        row = only([*three(F, F, world="H"), run(3, "H", condition, tests={"t": P})])
        assert (row.bucket, row.cause, row.tried) == (Bucket.NOISE, cause, (condition,))

    def test_a_seed_that_flips(self):
        runs = [*three(F, F, world="H"), run(3, "H", "seed 7", tests={"t": P}, seed="7")]
        assert only(runs).bucket is Bucket.UNCLASSIFIED
        assert only([*runs, *three(P, world="B")]).bucket is Bucket.INVARIANT_MISS
        assert only([*runs, *three(F, world="B")]).bucket is Bucket.NOISE

    def test_a_file_that_can_t_be_imported(self):
        rows = classify_records([run(i, "H", errors={"tests/a.py": "ImportError: x"}) for i in (1, 2)])
        assert [(r.nodeid, r.bucket, r.message) for r in rows] == [
            ("tests/a.py", Bucket.INVARIANT_MISS, "ImportError: x")
        ]


def test_equal_tests_share_their_evidence_and_nothing_else():
    """The rows that are copied from a like test are what they would be if computed."""
    tests = {f"t{i}": (P, F, S)[i % 3] for i in range(30)} | {"odd": {"outcome": F, "message": "x"}}
    runs = [
        run(1, "H", tests=tests),
        run(2, "H", tests=tests),
        run(3, "B", tests=dict(list(tests.items())[::2])),
    ]
    together = {row.nodeid: row for row in classify_records(runs, 2)}
    for evidence in gather(runs, 2):
        alone = [
            msgspec.structs.replace(r, tests={k: v for k, v in r.tests.items() if k == evidence.nodeid})
            for r in runs
        ]
        assert together[evidence.nodeid] == only(alone, 2)


def test_rows_are_json():
    row = only(three(F, F))
    data = msgspec.json.decode(msgspec.json.encode(row))
    assert data["bucket"] == "invariant_miss"
    assert data["outcomes"] == ["failed", "failed"]
    assert {"nodeid", "why", "spend", "doubt"} <= set(data)


def test_exit_codes():
    assert exit_code([only(three(P, P))]) == 0
    assert exit_code([only(three(F, F))]) == 0  # classified: what blocks is the gate's business
    assert exit_code([only(three(F))]) == 2
