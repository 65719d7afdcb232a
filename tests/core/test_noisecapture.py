"""Captures: what goes in, what never does, and the published schema."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from redbucket.core import records
from redbucket.core.captures import capture_trouble
from redbucket.core.conditions import Conditions
from redbucket.core.errors import Misused
from redbucket.core.noisecapture import captured, decode, encode, file_name, schema
from redbucket.core.records import Header, Outcome, Run, Session
from redbucket.core.trials import Trials
from redbucket.edges.environment import recorded
from redbucket.engine.capturing import hidden

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "capture.schema.json"
A, B = "t.py::test_a", "t.py::test_b"


def run(outcome: Outcome, number: int, condition: str = "plain", message: str = "boom") -> Run:
    return Run(
        run_id=number,
        world="H",
        condition=condition,
        tree="t" * 40,
        seed="7",
        tests={
            A: records.Test(nodeid=A, outcome=Outcome.PASSED, seed="7"),
            B: records.Test(nodeid=B, outcome=outcome, seed="7", message=message),
        },
        collected=(A, B),
        session=Session(interpreter="/opt/env/bin/python", python="3.12.1", packages={"pytest": "8.0"}),
        header=Header(
            run_id=number,
            hash_seed="9",
            command=["/opt/env/bin/python", "-m", "pytest"],
            environment={"TZ": "UTC", "API_TOKEN": None},
            conditions=Conditions(umask=0o22),
        ),
    )


def trials(*runs: Run) -> Trials:
    made = Trials.of(runs)
    for one in runs:
        made.add(one)
    return made


def test_a_capture_holds_what_a_replay_needs() -> None:
    seen = trials(run(Outcome.PASSED, 1), run(Outcome.FAILED, 2))
    capture = captured(B, "noise", None, seen, "H", base="b", head="h")
    assert capture is not None
    assert (capture.nodeid, capture.order, capture.seed, capture.hash_seed) == (B, [A], "7", "9")
    assert (capture.tree, capture.tz, capture.conditions.umask) == ("t" * 40, "UTC", 0o22)
    assert (capture.interpreter, capture.command) == ("python", ["python", "-m", "pytest"])
    assert capture.failing is not None and capture.failing.message == "boom"
    assert capture.passing is not None and capture.passing.outcome == "passed"
    assert decode(encode(capture), "c.json") == capture
    assert not capture_trouble(encode(capture), B, lambda test: test)


def test_a_failure_in_plain_conditions_is_preferred() -> None:
    seen = trials(run(Outcome.FAILED, 1, "alone", "alone"), run(Outcome.FAILED, 2, message="plain"))
    capture = captured(B, "noise", None, seen, "H")
    assert capture is not None and capture.failing is not None
    assert capture.failing.message == "plain"


def test_no_failure_no_capture() -> None:
    assert captured(B, "noise", None, trials(run(Outcome.PASSED, 1)), "H") is None


def test_the_blob_of_hypothesis_is_kept() -> None:
    message = "Flaky\nYou can reproduce this by adding @reproduce_failure('6.100.0', b'AXicY2BgYA==') as a decorator"
    capture = captured(B, "noise", None, trials(run(Outcome.FAILED, 1, message=message)), "H")
    assert capture is not None
    assert capture.hypothesis == "@reproduce_failure('6.100.0', b'AXicY2BgYA==')"


def test_a_long_message_is_cut_and_says_so() -> None:
    capture = captured(B, "noise", None, trials(run(Outcome.FAILED, 1, message="x" * 9000)), "H")
    assert capture is not None and capture.failing is not None
    assert len(capture.failing.message) < 4100
    assert "5000 characters cut" in capture.failing.message


def test_of_the_environment_only_harmless_values_are_recorded() -> None:
    env = {"TZ": "UTC", "LANG": "C.UTF-8", "TEST_SEED": "7", "API_TOKEN": "hunter2", "PATH": "/opt/x"}
    assert recorded(env) == {
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "TEST_SEED": "7",
        "API_TOKEN": None,
        "PATH": None,
    }


def test_values_of_run_env_are_taken_out_of_messages() -> None:
    capture = captured(B, "noise", None, trials(run(Outcome.FAILED, 1, message="got hunter2")), "H")
    assert capture is not None
    clean = hidden(capture, {"API_TOKEN": "hunter2", "N": "1"})
    assert clean is not None
    assert b"hunter2" not in encode(clean)
    assert clean.failing is not None and clean.failing.message == "got <API_TOKEN>"


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"\xff", b'{"schema": "redbucket.capture/1"}', b'{"schema": "other/1", "nodeid": "a"}'],
)
def test_what_is_no_capture_is_misuse(raw: bytes) -> None:
    with pytest.raises(Misused) as caught:
        decode(raw, "c.json")
    assert caught.value.code == "bad-capture"
    assert caught.value.reason.startswith("c.json: ")


def test_a_file_is_named_after_test_and_tree() -> None:
    capture = captured(B, "noise", None, trials(run(Outcome.FAILED, 1)), "H")
    assert capture is not None
    assert file_name(capture).startswith("noise-t.py-test_b-")
    assert file_name(capture).endswith(".json")


def test_the_published_schema_is_that_of_the_code() -> None:
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("REDBUCKET_REGENERATE"):
        SCHEMA_FILE.write_text(text, encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == text, (
        "docs/capture.schema.json is stale: run REDBUCKET_REGENERATE=1 pytest tests/core"
    )


def test_a_value_in_an_id_makes_no_capture() -> None:
    capture = captured(B, "noise", None, trials(run(Outcome.FAILED, 1)), "H")
    assert capture is not None
    assert hidden(capture, {"API_TOKEN": "test_b"}) is None
