"""The four answers: each vacuous kind is spoken against by the right one."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from redbucket.core import answers, records
from redbucket.core.filescope import read_scope
from redbucket.core.oneexample import Form, Reading
from redbucket.core.records import Outcome
from redbucket.core.unsteady import unsteady

PROPERTY = Reading(Form.PROPERTY, "goes through n", 3, drawn=True)


def ran(
    outcome: str = "passed", exception: str = "", inputs: tuple[int, ...] = (), message: str = ""
) -> records.Test:
    return records.Test(
        nodeid="p.py::test_a",
        outcome=Outcome(outcome),
        exception=exception,
        inputs=inputs,
        message=message or exception,
    )


FAILED = ran("failed", "AssertionError")


@pytest.mark.parametrize(
    ("reading", "counts", "good"),
    [
        (PROPERTY, (100, 100, 100, 100), True),
        (PROPERTY, (100, 6, 100, 6), True),
        (PROPERTY, (100, 5, 100, 5), False),
        (PROPERTY, (100, 100, 1, 1), False),
        (PROPERTY, (100, 100, 0, 0), False),
        (PROPERTY, (0, 0, 0, 0), False),
        (PROPERTY, (), True),  # nothing could be counted: said, not held against it
        (PROPERTY, (0, 0, 100, 100), True),  # the code is no Python of the tree
        (Reading(Form.PROPERTY, "", 3, drawn=True, whole=True), (2, 2, 2, 2), True),
        (Reading(Form.PROPERTY, "", 3), (50, 50, 1, 1), True),  # all(...) of a loop
        (Reading(Form.POINT, "is one example", 3), (1, 1, 1, 1), False),
        (Reading(Form.EMPTY, "asserts nothing", 3), (100, 100, 0, 0), False),
        (Reading(Form.CRASH, "", 3), (100, 100, 0, 0), True),
        (Reading(Form.UNPINNED, "", 3), (100, 100, 100, 100), True),  # the fourth question's
    ],
)
def test_the_domain(reading: Reading, counts: tuple[int, ...], good: bool) -> None:
    assert answers.domain(reading, [ran(inputs=counts)]).good is good


def test_health_checks_and_replays_are_no_domain() -> None:
    for name in ("hypothesis.errors.FailedHealthCheck", "hypothesis.errors.Unsatisfiable", "DidNotReproduce"):
        assert not answers.domain(PROPERTY, [ran("failed", name)]).good


@pytest.mark.parametrize(
    ("base", "head", "says"),
    [
        ([ran()], [FAILED], ""),
        ([ran()], [ran("failed", "ZeroDivisionError")], ""),
        ([ran()], [ran("crashed", "crash")], ""),
        ([ran(), ran()], [ran(), FAILED], ""),
        ([ran()], [ran()], "passes on the patch"),
        ([FAILED], [FAILED], "fails on base"),
        ([FAILED], [ran()], "it passes on the patch"),
        ([ran()], [ran("failed", "NameError")], "want of a name"),
        ([ran()], [ran("failed", "hypothesis.errors.FailedHealthCheck")], "before it asserts"),
        ([ran("failed", "hypothesis.errors.InvalidArgument")], [FAILED], "does not take it"),
        ([ran("skipped")], [ran("skipped")], "skipped"),
        ([], [], "can't be run"),
    ],
)
def test_what_separates_the_patch_from_base(
    base: list[records.Test], head: list[records.Test], says: str
) -> None:
    answer = answers.separates(base, head, "", "")
    assert answer.good is (not says)
    assert says in answer.answer


def test_a_file_that_is_not_imported() -> None:
    assert "can't be run" in answers.separates([], [], "ImportError: x", "").answer
    assert "want of a name" in answers.separates([ran()], [], "", "ImportError: x").answer


def test_who_can_edit_it() -> None:
    assert answers.editable(
        "tests/properties/test_p.py", "tests/properties/test_p.py", protected=True, written=[]
    ).good
    outside = answers.editable("", "tests/properties/test_p.py", protected=False, written=[])
    assert outside.good
    assert "tests/properties/test_p.py" in outside.answer
    assert not answers.editable("t.py", "tests/properties/test_p.py", protected=False, written=["t.py"]).good


def steady(**given: Any) -> bool:
    values: dict[str, Any] = {"named": [], "seen": [], "flips": [], "runs": [ran()], "tried": "", **given}
    return answers.steady(**values).good


def test_what_it_depends_on() -> None:
    assert steady()
    assert steady(seen=["thread", "urandom"])
    assert not steady(named=["wall time: time.time()"])
    assert not steady(seen=["network"])
    assert not steady(flips=["directory order: ..."])
    assert not steady(runs=[ran("failed", "hypothesis.errors.FlakyFailure")])
    assert not steady(runs=[ran("failed", "hypothesis.errors.DeadlineExceeded")])


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import time\ndef f(): return time.time()", "wall time"),
        ("from time import perf_counter as clock\ndef f(): return clock()", "wall time"),
        ("from datetime import datetime\ndef f(): return datetime.now()", "wall time"),
        ("import datetime\ndef f(): return datetime.date.today()", "wall time"),
        ("import os\ndef f(): return os.listdir('.')[0]", "directory order"),
        ("def f(path): return [p for p in path.iterdir()]", "directory order"),
        ("import requests\ndef f(): return requests.get('x')", "network"),
        ("import urllib.request\ndef f(): return urllib.request.urlopen('x')", "network"),
        ("import uuid\ndef f(): return uuid.uuid4()", "unpinned entropy"),
        ("import random\ndef f(): return random.Random()", "unpinned entropy"),
        ("import os\ndef f(): return sorted(os.listdir('.'))", ""),
        ("import time\ndef f(): return time.gmtime(0)", ""),
        ("from datetime import datetime\ndef f(): return datetime.fromtimestamp(0)", ""),
        ("import random\ndef f(): return random.Random(7)", ""),
        ("def f(clock): return clock.time()", ""),
        ("import socket\ndef f(): return socket.inet_aton('1.1.1.1')", ""),
        ("import uuid\ndef f(n): return uuid.UUID(int=n)", ""),
    ],
)
def test_what_a_source_names(source: str, kind: str) -> None:
    tree = ast.parse(source)
    found = [what for what, _ in unsteady(read_scope(tree), tree)]
    assert [what.partition(":")[0] for what in found] == ([kind] if kind else [])
