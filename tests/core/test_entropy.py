"""Kinds of entropy, from lines that touch it."""

from __future__ import annotations

import pytest

from redbucket.core.entropy import kind_of, kinds_of


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("time.time", "clock"),
        ("datetime.now", "clock"),
        ("date.today", "clock"),
        ("time.sleep", "sleep"),
        ("a thread", "thread"),
        ("uuid.uuid4", "urandom"),
        ("secrets.token_hex", "urandom"),
        ("random.choice", "random"),
        ("numpy Generator.random", "random"),
        ("subprocess.Popen", "subprocess"),
        ("socket.bind", "socket"),
    ],
)
def test_each_kind(what: str, kind: str) -> None:
    assert kinds_of([f"a/b.py:3 {what}"]) == {kind}


def test_what_is_no_entropy_is_no_kind() -> None:
    assert kinds_of(["a.py:1 os.listdir", "a.py:2 os.getpid", ""]) == set()


def test_the_kind_of_a_line_is_said_for_each() -> None:
    assert kind_of("boltons/fileutils.py:531 os.scandir") == "directory order"
    assert kind_of("a dir/b.py:3 time.time") == "clock"
    assert kind_of("a.py:2 os.getpid") == "process id"
    assert kind_of("a.py:2 what nobody knows") == kind_of("") == ""
