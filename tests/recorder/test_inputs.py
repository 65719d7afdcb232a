"""How many distinct inputs a property tries, and folders listed backwards: in a real process each."""

from __future__ import annotations

import ast
from pathlib import Path

from redbucket.core.assertinglines import asserting_lines
from redbucket.core.conditions import Conditions
from tests.recorder.runkit import EVERYTHING, record

PROPERTIES = """\
from hypothesis import given, settings, strategies as st
from money import Pot, half

@settings(database=None)
@given(st.integers(0, 10**6))
def test_wide(n):
    assert (
        half(n) * 2
        <= n
    )

@given(st.just(7))
def test_one(n):
    assert half(n) == 3

@given(st.integers(0, 10**6))
def test_late(n):
    found = half(n)
    if n != 0:
        return
    assert found == 0

def test_loop():
    for n in range(50):
        assert half(n) <= n

def test_all():
    assert all(half(n) <= n for n in range(50))

def test_method():
    pot = Pot()
    for n in range(20):
        pot.put(n)
        assert pot.total >= 0
"""
MONEY = """\
def half(n):
    return helper(n)

def helper(n):
    return n // 2

class Pot:
    def __init__(self):
        self.total = 0

    def put(self, n):
        self.total += n
"""


def test_distinct_inputs_are_counted_at_the_border_of_the_code_and_at_assertions(tmp_path: Path) -> None:
    lines = asserting_lines(ast.parse(PROPERTIES))
    run = record(
        tmp_path,
        {"test_p.py": PROPERTIES, "money.py": MONEY},
        python=EVERYTHING,
        conditions=Conditions(inputs={"test_p.py": lines}),
    )
    assert set(run.outcomes.values()) == {"passed"}
    counts = {e["nodeid"].partition("::")[2]: e["inputs"] for e in run.of("end")}
    calls, distinct, reached, asserted = counts["test_wide"]
    assert calls >= distinct > 50
    assert reached >= asserted > 50
    assert counts["test_one"][1::2] == [1, 1]
    assert counts["test_late"][1] > 50
    assert counts["test_late"][3] <= 1
    assert counts["test_loop"] == [50, 50, 50, 50]
    assert counts["test_all"][:2] == [50, 50]
    assert counts["test_method"][:2] == [21, 21]


def test_an_ordinary_run_counts_nothing(tmp_path: Path) -> None:
    run = record(tmp_path, {"test_p.py": "import sys\ndef test_a():\n    assert sys.gettrace() is None\n"})
    assert run.outcomes == {"test_p.py::test_a": "passed"}
    assert "inputs" not in run.end("test_a")


LISTING = """\
import glob, os
from pathlib import Path

def test_backwards(tmp_path):
    for name in "bca":
        (tmp_path / name).write_text("")
    assert os.listdir(tmp_path) == ["c", "b", "a"]
    with os.scandir(tmp_path) as entries:
        assert [e.name for e in entries] == ["c", "b", "a"]
    assert [p.name for p in tmp_path.iterdir()] == ["c", "b", "a"]
    assert next(os.walk(tmp_path))[2] == ["c", "b", "a"]
    assert [Path(p).name for p in glob.glob(str(tmp_path / "*"))] == ["c", "b", "a"]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "b", "c"]
"""


def test_folders_are_listed_backwards(tmp_path: Path) -> None:
    run = record(tmp_path, {"test_l.py": LISTING}, conditions=Conditions(listing="descending"))
    assert run.outcomes == {"test_l.py::test_backwards": "passed"}, run.end("test_backwards").get("message")
