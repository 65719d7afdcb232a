"""The parser of flakes.toml: one bad entry is one expired entry, and nothing makes it raise."""

from __future__ import annotations

import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.flakes import Flakes, Freeze, latest, parse

TODAY = date(2026, 9, 15)
GOOD = 'owner = "platform"\nticket = "QA-1"\nexpires = 2026-10-02\nreplay = "runs/c.json"\n'
ID = "tests/test_a.py::T::test_x"


def one(text: str | bytes) -> Freeze:
    flakes = parse(text.encode() if isinstance(text, str) else text, "flakes.toml")
    assert not flakes.broken
    (entry,) = flakes.entries
    return entry


def lapsed(text: str, today: date = TODAY) -> str:
    return one(text).lapsed(today, 30)


def test_the_example_of_the_documentation() -> None:
    entry = one(f'["{ID}"]\n{GOOD}reason = "races with the cache writer"\n')
    assert entry == Freeze(
        ID, (ID,), "platform", "QA-1", date(2026, 10, 2), "runs/c.json", "races with the cache writer"
    )
    assert entry.lapsed(TODAY, 30) == ""
    assert entry.days_left(TODAY) == 17


def test_no_file_and_an_empty_one_freeze_nothing() -> None:
    assert parse(b"", "f") == parse(b"# nothing\n", "f") == Flakes()


@pytest.mark.parametrize(
    "header", ["[tests.test_a.T.test_x]", '["tests.test_a.T.test_x"]', "[tests.test_a.T.'test_x']"]
)
def test_nested_tables_are_one_dotted_id(header: str) -> None:
    assert one(f"{header}\n{GOOD}").nodeid == "tests.test_a.T.test_x"
    assert lapsed(f"{header}\n{GOOD}") == ""


def test_nested_tables_of_one_module_are_several_entries() -> None:
    found = parse(f"[tests.a.T.x]\n{GOOD}[tests.a.T.y]\n{GOOD}[tests.b.T.x]\n{GOOD}".encode(), "f").entries
    assert [e.nodeid for e in found] == ["tests.a.T.x", "tests.a.T.y", "tests.b.T.x"]
    assert not any(e.lapsed(TODAY, 30) for e in found)


@pytest.mark.parametrize(
    "written",
    [
        "2026-10-02",
        '"2026-10-02"',
        "2026-10-02T23:30:00Z",
        "2026-10-03T01:30:00+02:00",
        "2026-10-01T23:00:00-05:00",
        "2026-10-02T12:00:00",
    ],
)
def test_an_expiry_is_a_date_in_utc(written: str) -> None:
    assert one(f'["{ID}"]\n{GOOD.replace("2026-10-02", written)}').expires == date(2026, 10, 2)


def test_the_day_of_expiry_is_the_last_day() -> None:
    text = f'["{ID}"]\n{GOOD}'
    assert lapsed(text, date(2026, 10, 2)) == ""
    assert lapsed(text, date(2026, 10, 3)) == "expired on 2026-10-02"


def test_the_cap_is_on_what_is_left() -> None:
    text = f'["{ID}"]\n{GOOD}'
    assert lapsed(text, date(2026, 9, 2)) == ""
    assert "more than 30 days ahead" in lapsed(text, date(2026, 9, 1))
    assert "counts as expired" in lapsed(f'["{ID}"]\n{GOOD.replace("2026-10-02", "9999-12-31")}')
    assert latest(date.max, 30) == date.max


@pytest.mark.parametrize(
    ("line", "becomes", "says"),
    [
        ('owner = "platform"\n', "", "owner is missing"),
        ('owner = "platform"', 'owner = " "', "owner is not a text"),
        ('owner = "platform"', "owner = 3", "owner is not a text"),
        ('owner = "platform"', 'owner = { name = "x" }', "owner is not a text"),
        ('ticket = "QA-1"\n', "", "ticket is missing"),
        ('ticket = "QA-1"', 'ticket = ""', "ticket is not a text"),
        ("expires = 2026-10-02\n", "", "expires is missing"),
        ("2026-10-02", "20261002", "expires is not a date"),
        ("2026-10-02", "true", "expires is not a date"),
        ("2026-10-02", "12:00:00", "expires is not a date"),
        ("2026-10-02", '"soon"', "expires is not a date"),
        ("2026-10-02", '"2026-02-30"', "expires is not a date"),
        ("2026-10-02", '"2026-W40-5"', "expires is not a date"),
        ("2026-10-02", "0001-01-01T00:00:00+14:00", "expires is not a date of the calendar"),
        ('replay = "runs/c.json"\n', "", "replay is missing"),
        ("runs/c.json", "/etc/c.json", "replay is not a path in the repository"),
        ("runs/c.json", "https://x/c.json", "replay is not a path in the repository"),
        ("runs/c.json", "../c.json", "replay leaves the repository"),
        ("c.json", 'c.json"\nreason = 7\n#', "reason is not a text"),
    ],
)
def test_a_bad_field_expires_its_entry_and_no_other(line: str, becomes: str, says: str) -> None:
    good = f'["tests/test_b.py::test_y"]\n{GOOD}'
    found = parse(f'["{ID}"]\n{GOOD.replace(line, becomes)}{good}'.encode(), "f").entries
    assert [e.nodeid for e in found] == [ID, "tests/test_b.py::test_y"]
    assert says in found[0].lapsed(TODAY, 30)
    assert found[0].lapsed(TODAY, 30).startswith("counts as expired: ")
    assert found[1].lapsed(TODAY, 30) == ""


@pytest.mark.parametrize(
    "key",
    [
        "tests/*.py::test_x",
        "tests/test_a.py::test_?",
        "*",
        "tests/test_a.py",
        "tests/",
        "tests/test_a.py::",
        "",
        " ",
        "test_x",
        "tests..test_x",
        "tests/test_a.py::test_x[",
        r"tests/test_a.py::te\nst",
    ],
)
def test_a_key_must_name_one_test(key: str) -> None:
    assert one(f'["{key}"]\n{GOOD}').faults


@pytest.mark.parametrize(
    "key", ["tests/a.py::test_x[a*b?]", "tests/a.py::test_x[a::b/c.py]", "a b/t.py::T::x", "t.T.x[1.5]"]
)
def test_a_parameter_may_hold_anything(key: str) -> None:
    assert lapsed(f'["{key}"]\n{GOOD}') == ""


def test_a_test_named_twice_counts_as_expired() -> None:
    found = parse(f'["tests.a.T.x"]\n{GOOD}[tests.a.T.x]\n{GOOD}'.encode(), "f").entries
    assert [e.faults for e in found] == [("named twice",)] * 2


@pytest.mark.parametrize("text", ["schema = 1", "[[tests]]\na = 1", "[tests]", 'x = "y"', "tests = []"])
def test_what_is_no_entry_counts_as_an_expired_one(text: str) -> None:
    assert one(text).faults


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"[tests", "not TOML"),
        (f'["{ID}"]\n["{ID}"]\n'.encode(), "not TOML"),
        (b"a = 2026-02-30", "not TOML"),
        (b"a = " + b"9" * 5000, "not TOML"),
        (b"a = " + b"[" * 5000, "not TOML"),
        (b"\xff\xfe[", "not UTF-8"),
        (b"\xef\xbb\xbf[a]", "byte order mark"),
        (b"#" * (256 * 1024 + 1), "larger than"),
        (b"[" + b"a." * 200 + b"a]", "dots"),
    ],
)
def test_a_file_that_cannot_be_read_says_so_and_freezes_nothing(raw: bytes, says: str) -> None:
    flakes = parse(raw, "flakes.toml")
    assert flakes.entries == ()
    assert flakes.broken.startswith("flakes.toml: ")
    assert says in flakes.broken


def test_nothing_of_an_entry_can_turn_a_terminal() -> None:
    text = f'["{ID}"]\n{GOOD}'.replace("platform", r"a\u001b[2Jb\u202ec\nd")
    assert one(text).owner == "a [2Jb c d"


_KEY = st.sampled_from(
    ["a", '"tests/a.py::t"', "owner", "ticket", "expires", "replay", "''", '"x.y"', "1", "tests"]
)
_VALUE = st.sampled_from(
    [
        '"x"',
        "1",
        "2026-10-02",
        "2026-10-02T01:00:00+23:59",
        "inf",
        "[]",
        "{}",
        "{owner = 1}",
        "[[[]]]",
        '"2026-10-02"',
    ]
)
_LINE = st.one_of(
    st.builds("{} = {}".format, _KEY, _VALUE),
    st.lists(_KEY, min_size=1, max_size=5).map(lambda keys: f"[{'.'.join(keys)}]"),
    st.lists(_KEY, min_size=1, max_size=3).map(lambda keys: f"[[{'.'.join(keys)}]]"),
    st.text(max_size=20),
)


@given(st.lists(_LINE, max_size=12).map("\n".join))
def test_text_never_raises_and_is_never_in_force_without_all_fields(text: str) -> None:
    flakes = parse(text.encode("utf-8", "replace"), "f")
    assert not (flakes.broken and flakes.entries)
    for entry in flakes.entries:
        if not entry.lapsed(TODAY, 30):
            assert entry.owner and entry.ticket and entry.replay and entry.expires
            assert TODAY <= entry.expires <= TODAY + timedelta(days=30)


@given(st.binary(max_size=200))
def test_bytes_never_raise(raw: bytes) -> None:
    parse(raw, "f")


@pytest.mark.parametrize(
    "raw",
    [
        b"[" + b"a." * 40 + b"a]\n" + b"".join(b"k%d=1\n" % n for n in range(26_000)),
        b"".join(b"[%s]\n" % b".".join([b"a%d" % n] + [b"b"] * 40) for n in range(2_800)),
        b"a = " + b"{b = " * 300 + b"1" + b"}" * 300,
        (f"[x{'y' * 4000}]\n" + "".join(f"[x{'y' * 4000}.{n}]\n" for n in range(60))).encode(),
        b'"' * 200_000,
    ],
    ids=["long header", "deep headers", "inline", "long names", "quotes"],
)
def test_hostile_files_take_no_long_time(raw: bytes) -> None:
    assert len(raw) < 256 * 1024
    began = time.process_time()
    parse(raw, "f")
    assert time.process_time() - began < 5
