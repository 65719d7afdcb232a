"""Edits keep every byte that they are not about."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.errors import Misused
from redbucket.core.flakes import Freeze, parse
from redbucket.core.flakesedit import with_entry, without_entry

FILE = b"""\
# Freezes of this project. Ask in #flaky.

["tests/a.py::test_x"]  # the oldest
owner = "ada"
ticket   = "QA-1"
expires = 2026-10-02
replay = "runs/a.json"

# about the parametrised one
["tests/b.py::T::test_y[a*b\\"c]"]
owner = "bob"
# why bob: he wrote it
ticket = "QA-2"
expires = "2026-10-02"
replay = "runs/b.json"
reason = '''
[tests.c.T.test_z]
'''

[tests.c.T.test_z]
owner = "cyd"
ticket = "QA-3"
expires = 2026-10-02
replay = "runs/c.json"
[tests.c.T.test_w]
owner = "cyd"
ticket = "QA-4"
expires = 2026-10-02
replay = "runs/d.json"
# the end
"""
NAMES = ["tests/a.py::test_x", 'tests/b.py::T::test_y[a*b"c]', "tests.c.T.test_z", "tests.c.T.test_w"]


def new(nodeid: str, **fields: str) -> Freeze:
    words = {"owner": "o", "ticket": "t", "replay": "r", **fields}
    return Freeze(nodeid, (nodeid,), expires=date(2026, 10, 2), **words)  # type: ignore[arg-type]


def entry(name: str) -> Freeze:
    return {e.nodeid: e for e in parse(FILE, "f").entries}[name]


def test_an_entry_is_added_at_the_end() -> None:
    after = with_entry(FILE, new("tests/d.py::test_q", reason="it races"), "f")
    assert after == FILE + (
        b'\n["tests/d.py::test_q"]\nowner = "o"\nticket = "t"\nexpires = 2026-10-02\n'
        b'replay = "r"\nreason = "it races"\n'
    )


def test_the_first_entry_makes_the_file() -> None:
    assert with_entry(b"", new("t.T.x"), "f").startswith(b'["t.T.x"]\nowner')


@pytest.mark.parametrize("before", [FILE.replace(b"\n", b"\r\n"), FILE.rstrip(b"\n"), b"# only a comment"])
def test_line_ends_stay_as_they_are(before: bytes) -> None:
    after = with_entry(before, new("tests/d.py::test_q"), "f")
    assert after.startswith(before)
    assert (b"\r\n" in before) == (b"\r\n" in after)
    if b"\r\n" in after:
        assert after.count(b"\r\n") == after.count(b"\n")


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_taken_out_and_comments_stay(name: str) -> None:
    after = without_entry(FILE, entry(name), "f")
    left = parse(after, "f").entries
    assert [e.nodeid for e in left] == [n for n in NAMES if n != name]
    for comment in (b"# Freezes of this", b"# about the parametrised one", b"# the end"):
        assert comment in after
    assert set(after.splitlines()) <= set(FILE.splitlines())


def test_all_can_go_one_after_the_other() -> None:
    raw = FILE
    for name in NAMES:
        raw = without_entry(raw, entry(name), "f")
    assert parse(raw, "f").entries == ()
    assert raw.startswith(b"# Freezes of this project.")


@pytest.mark.parametrize(
    "raw",
    [
        b'"a.b" = {owner = "o"}\n[x.y]\nowner = "p"\n',
        b'a.b.owner = "o"\na.b.ticket = "t"\n[x.y]\nowner = "p"\n',
    ],
)
def test_other_ways_to_write_a_table(raw: bytes) -> None:
    entries = parse(raw, "f").entries
    for gone in entries:
        left = parse(without_entry(raw, gone, "f"), "f").entries
        assert left == tuple(e for e in entries if e != gone)


def test_one_of_two_entries_for_one_test() -> None:
    raw = FILE + b'["tests.c.T.test_z"]\nowner = "x"\n'
    quoted = parse(raw, "f").entries[-1]
    assert without_entry(raw, quoted, "f") == FILE


def test_a_file_that_cannot_be_read_is_not_edited() -> None:
    for change in (with_entry, without_entry):
        with pytest.raises(Misused) as caught:
            change(b"[", new("t.T.x"), "flakes.toml")
        assert caught.value.code == "flakes-unreadable"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=30))
def test_any_name_comes_back(name: str) -> None:
    freeze = new(f"tests/a.py::test_x[{name}]")
    try:
        after = with_entry(FILE, freeze, "f")
    except Misused:
        assert "." in name or name  # refused rather than written wrongly
        return
    assert parse(after, "f").entries[-1] == freeze
    assert without_entry(after, freeze, "f").startswith(FILE.rstrip(b"\n"))
