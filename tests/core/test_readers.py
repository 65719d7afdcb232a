"""The JSON forms, damage, and detection."""

from __future__ import annotations

import json

import msgspec
import pytest

from redbucket.core.errors import Misused
from redbucket.core.readers import joined, read
from redbucket.core.records import Collected, End, Footer, Header, Outcome, Restart, Start
from tests.core.samples import SAMPLES

HEADER = Header(run_id=3, seed="42", nonce="n")


def record(*events):
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def one(raw, **given):
    (run,) = read(raw, "r.jsonl", **given)
    return run


def end(nodeid, outcome=Outcome.PASSED, **more):
    return End(nodeid=nodeid, outcome=outcome, **{"seed": "42", **more})


def outcomes(run):
    return {name.rpartition("::")[2]: test.outcome.value for name, test in run.tests.items()}


class TestOwn:
    def test_a_whole_record(self):
        run = one((SAMPLES / "own.jsonl").read_bytes())
        assert run.broken == ""
        assert (run.run_id, run.world, run.seed, run.nonce) == (1, "H", "42", "n1")
        assert outcomes(run) == {"test_ok": "passed", "test_red": "failed", "test_dies": "crashed"}
        red = run.tests["tests/test_a.py::test_red"]
        assert (red.fixtures, red.fixture_hash, red.fingerprint) == (("tests/data/a.json",), "ff", "abc")
        assert run.session.runner == "pytest"

    def test_every_cut_is_broken_and_keeps_what_came_before(self):
        raw = (SAMPLES / "own.jsonl").read_bytes().rstrip()
        known = -1
        for size in range(20, len(raw)):
            run = one(raw[:size])
            assert run.broken
            known = max(known, len(run.tests))
        assert known == 3

    def test_the_damage_is_placed(self):
        raw = record(HEADER, Start(nodeid="a")) + b'{"event":"end","nodeid":"a"}\n' + record(end("b"))
        run = one(raw)
        offset = raw.index(b'{"event":"end"')
        assert run.broken.startswith(f"r.jsonl, line 3, byte {offset}: damaged: ")
        assert "outcome" in run.broken
        assert outcomes(run) == {"a": "crashed"}

    @pytest.mark.parametrize("line", [b"\xff\xfe", b"{}", b"[]", b"null", b'{"event":"new"}', b"[" * 100_000])
    def test_any_damaged_line_ends_the_reading(self, line):
        run = one(record(HEADER, end("a")) + line + b"\n" + record(end("b"), Footer(complete=True)))
        assert "line 3" in run.broken
        assert outcomes(run) == {"a": "passed"}

    def test_what_started_and_never_ended(self):
        run = one(record(HEADER, Start(nodeid="a"), Footer(complete=True)))
        assert "a started and never ended" in run.broken
        assert outcomes(run) == {"a": "crashed"}

    def test_collected_is_not_reported(self):
        run = one(record(HEADER, Collected(ids=["a", "b"]), end("a"), Footer(complete=True)))
        assert "1 of 2 collected tests have no result, b first" in run.broken

    def test_a_run_that_only_collects_is_whole(self):
        run = one(record(HEADER, Collected(ids=["a", "b"]), Footer(complete=True)))
        assert (run.broken, run.collected) == ("", ("a", "b"))

    def test_the_parent_s_reason_is_given(self):
        assert "disk full" in one(record(HEADER, end("a"), Footer(complete=False, reason="disk full"))).broken

    @pytest.mark.parametrize(
        ("reason", "outcome"), [("signal 11", "crashed"), ("no end within 60 s: timed out", "timeout")]
    )
    def test_a_restart_names_what_it_cost(self, reason, outcome):
        events = [
            HEADER,
            Start(nodeid="a"),
            Restart(reason=reason, nodeid="a"),
            end("b"),
            Footer(complete=True),
        ]
        run = one(record(*events))
        assert run.broken == ""
        assert outcomes(run) == {"a": outcome, "b": "passed"}

    def test_an_end_after_the_restart_wins(self):
        late = end("a", Outcome.TIMEOUT)
        run = one(
            record(HEADER, Start(nodeid="a", index=7), Restart(reason="x"), late, Footer(complete=True))
        )
        assert outcomes(run) == {"a": "timeout"}

    def test_repeated_and_varying_ids(self):
        run = one(
            record(HEADER, end("a"), end("a", Outcome.FAILED), end("<0x7f00aa>"), Footer(complete=True))
        )
        assert outcomes(run) == {"a": "passed", "a#2": "failed", "<0x…>": "passed"}
        assert all(test.nodeid == name for name, test in run.tests.items())

    def test_the_seed_is_the_one_that_the_process_saw(self):
        run = one(record(HEADER, End(nodeid="a", outcome=Outcome.PASSED), Footer(complete=True)), seed="42")
        assert run.tests["a"].seed == ""

    def test_two_records_in_one_file(self):
        whole = record(HEADER, end("a"), Footer(complete=True))
        assert [r.broken for r in read(whole + whole, "r")] == ["", ""]
        assert "no footer" in read(record(HEADER, end("a")) + whole, "r")[0].broken

    def test_no_header(self):
        assert "no header" in one(record(end("a"), Footer(complete=True))).broken

    def test_after_the_footer(self):
        assert "after its footer" in one(record(HEADER, Footer(complete=True), end("a"))).broken

    def test_another_schema(self):
        with pytest.raises(Misused, match=r"redbucket\.record/1"):
            one(record(Header(run_id=1, schema="redbucket.record/9")))

    def test_lone_surrogates_lose_no_run(self):
        line = json.dumps(
            {"event": "end", "nodeid": "a", "outcome": "failed", "seed": "42", "message": "x\udc80"}
        )
        run = one(record(HEADER) + line.encode() + b"\n" + record(Footer(complete=True)))
        assert run.broken == ""
        assert run.tests["a"].message == "x\ufffd"


class TestObjects:
    def test_one_over_several_lines(self):
        run = one((SAMPLES / "object.json").read_bytes(), seed="9", fixture_hash="given")
        assert outcomes(run) == {"test_ok": "passed", "test_red": "failed", "test_red#2": "passed"}
        assert [t.seed for t in run.tests.values()] == ["42", "42", "9"]
        assert [t.fixture_hash for t in run.tests.values()] == ["ff", "given", "given"]
        assert run.broken == ""

    def test_an_empty_seed_is_not_replaced(self):
        raw = b'{"run_id":1,"tests":[{"nodeid":"a","outcome":"passed","seed":""}]}'
        assert one(raw, seed="9").tests["a"].seed == ""

    @pytest.mark.parametrize("join", ["[{0},{1}]", "{0}\n{1}", "{0}\n\n{1}\n", "\ufeff{0}\n{1}"])
    def test_several(self, join):
        objects = [f'{{"run_id":{i},"tests":[{{"nodeid":"a","outcome":"passed"}}]}}' for i in (1, 2)]
        runs = read(join.format(*objects).encode(), "r")
        assert [r.run_id for r in runs] == [1, 2]
        assert [len(r.tests) for r in runs] == [1, 1]

    def test_a_cut_object_is_broken(self):
        raw = (SAMPLES / "object.json").read_bytes()
        for size in range(16, len(raw) - 3, 7):
            assert "damaged" in one(raw[:size]).broken

    def test_a_cut_line_keeps_the_runs_before(self):
        runs = read(b'{"run_id":1,"tests":[]}\n{"run_id":2,"te', "r")
        assert [bool(r.broken) for r in runs] == [False, True]
        assert "line 2, byte 24" in runs[1].broken

    @pytest.mark.parametrize(
        ("raw", "words"),
        [
            (b'{"run_id":1,"tests":[{"nodeid":"a","outcome":"ok"}]}', "tests[0].outcome"),
            (b'{"run_id":1,"tests":[{"outcome":"passed"}]}', "nodeid"),
            (b'{"run_id":1}', "tests"),
            (b'{"tests":[]}', "run_id"),
            (b'{"run_id":1,"tests":{}}', "tests"),
            (b'{"run_id":1,"tests":[{"nodeid":"a","outcome":"passed","seed":[]}]}', "seed"),
        ],
    )
    def test_another_shape_is_refused_with_its_place(self, raw, words):
        with pytest.raises(Misused) as caught:
            one(raw)
        assert caught.value.code == "record-unreadable"
        assert words in caught.value.reason
        assert "r.jsonl" in caught.value.reason

    def test_an_id_that_is_no_number(self):
        assert one(b'{"run_id":"u-1","tests":[]}').nonce == "u-1"
        assert one(b'{"run_id":"17","tests":[]}').run_id == 17


class TestReportlog:
    def test_a_whole_session(self):
        run = one((SAMPLES / "reportlog.jsonl").read_bytes(), seed="9")
        assert run.broken == ""
        assert outcomes(run) == {
            "test_ok": "passed",
            "test_red": "error",
            "test_skip": "skipped",
            "test_xf": "xfailed",
            "test_xp": "xpassed",
            "test_rerun": "passed",
            "test_sub": "failed",
        }
        ok, rerun = run.tests["tests/test_a.py::test_ok"], run.tests["tests/test_a.py::test_rerun"]
        assert (ok.seed, ok.duration) == ("7", 1.0)
        assert rerun.seed == "9"
        assert rerun.attempts == ("rerun", "passed")
        assert run.errors == {"tests/test_bad.py": "ImportError while importing"}

    def test_cuts(self):
        raw = (SAMPLES / "reportlog.jsonl").read_bytes().rstrip()
        for size in range(60, len(raw), 31):
            assert one(raw[:size]).broken

    @pytest.mark.parametrize(("status", "sound"), [(0, True), (1, True), (5, True), (2, False), (3, False)])
    def test_exit_status(self, status, sound):
        raw = b'{"pytest_version":"9","$report_type":"SessionStart"}\n{"exitstatus":%d}' % status
        assert (one(raw).broken == "") is sound

    def test_an_id_that_stands_twice(self):
        phases = [
            {"nodeid": "a", "outcome": "passed", "when": w, "$report_type": "TestReport"}
            for w in ("setup", "call", "teardown")
        ]
        lines = [*phases, *phases, {"exitstatus": 0, "$report_type": "SessionFinish"}]
        assert outcomes(one("\n".join(map(json.dumps, lines)).encode())) == {"a": "passed", "a#2": "passed"}


@pytest.mark.parametrize(
    "raw",
    [b"", b" \n", b"hello", b"{}", b"[]", b"null", b"\x00\x01", b"PK\x03\x04", b'{"a":1}', b"[" * 100_000],
)
def test_unknown_bytes_are_refused(raw):
    with pytest.raises(Misused) as caught:
        read(raw, "some/file")
    assert caught.value.code == "record-unreadable"
    assert caught.value.reason.startswith("some/file")
    assert "expected" in caught.value.reason
    assert caught.value.exit_code == 3


def test_reports_of_one_run_are_one_run():
    parts = {
        name: one(
            b'<testsuite name="%s"><testcase name="a" classname="%s"/></testsuite>' % (owner, owner), seed="7"
        )
        for name, owner in (("TEST-b.xml", b"C"), ("TEST-a.xml", b"C"), ("TEST-c.xml", b"D"))
    }
    run = joined(parts, "reports")
    assert list(run.tests) == ["TEST-a.xml > C::a", "TEST-b.xml > C::a", "D::a"]
    assert (run.seed, run.broken, run.collected) == ("7", "", tuple(run.tests))
    assert joined({**parts, "TEST-d.xml": one(b"<testsuite><testcase name='x'>")}, "reports").broken
