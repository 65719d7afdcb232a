"""Whatever the bytes: runs, or one clear error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redbucket.core.errors import RedbucketError
from redbucket.core.readers import read
from redbucket.engine.classify import classify_records, exit_code
from tests.core.samples import SAMPLES

FILES = [
    path.read_bytes() for path in sorted(SAMPLES.iterdir()) if path.suffix in (".xml", ".json", ".jsonl")
]
TOKENS = [
    b"{",
    b"}",
    b"[",
    b"<",
    b">",
    b'"',
    b"\n",
    b"\x00",
    b"\xff",
    b"&",
    b"&#0;",
    b"\\ud800",
    b"-1",
    b"1e999",
    b"null",
    b"]]>",
]


def judge(raw):
    try:
        runs = read(raw, "f", seed="1")
    except RedbucketError as error:
        assert error.reason.startswith("f")
        return
    assert runs
    for run in runs:
        assert all(name == test.nodeid for name, test in run.tests.items())
    rows = classify_records(runs, 2)
    assert len({row.nodeid for row in rows}) == len(rows)
    exit_code(rows, runs)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(raw):
    judge(raw)


@settings(deadline=None)
@given(
    st.sampled_from([b"{", b"[", b"<", b'{"event":', b'{"tests":', b"<testsuite>"]), st.binary(max_size=200)
)
def test_any_bytes_after_a_start(start, raw):
    judge(start + raw)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutations_of_good_files(data):
    raw = data.draw(st.sampled_from(FILES))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        size = data.draw(st.sampled_from([0, 0, 1, 1, 2, 7, 50]))
        new = data.draw(st.sampled_from(TOKENS) | st.binary(max_size=4))
        raw = raw[:at] + new + raw[at + size :]
    judge(raw)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "event",
    "run_id",
    "tests",
    "nodeid",
    "outcome",
    "seed",
    "$report_type",
    "when",
    "longrepr",
    "exitstatus",
    "schema",
]


@settings(deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(KEYS), json_values | st.sampled_from(["header", "end", "call"])),
        max_size=4,
    )
)
def test_json_of_known_keys(lines):
    import json

    judge("\n".join(map(json.dumps, lines)).encode())


@pytest.mark.parametrize("raw", FILES)
def test_good_files_are_read(raw):
    assert all(run.broken == "" for run in read(raw, "f"))
