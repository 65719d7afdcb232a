"""Failures, and what they became: counted once, and each answer to what it answers."""

from __future__ import annotations

import json
import os
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from redbucket.core.budget import Frozen, Seen, Spent, budget, named, schema
from redbucket.core.codeowners import CodeOwners
from redbucket.formats.budget import budget_text
from redbucket.formats.budgethtml import budget_html

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "budget.schema.json"
TODAY = date(2026, 11, 30)  # a Monday


def at(day: int, hour: int = 12, month: int = 11) -> str:
    return f"2026-{month:02}-{day:02}T{hour:02}:00:00Z"


def report(seen, spent=(), freezes=(), weeks=4):
    return budget(seen, spent, freezes, today=TODAY, weeks=weeks, owner_of=lambda nodeid: "")


def became(found):
    return [(c.nodeid, c.bucket, c.kind, c.source) for c in found.conversions]


def test_weeks_begin_on_mondays_and_none_is_left_out():
    found = report([Seen(at(8), "a", "noise"), Seen(at(16, 0), "b", "noise"), Seen(at(22, 23), "c", "noise")])
    assert [(w.monday, w.failures["noise"]) for w in found.weeks] == [
        ("2026-11-09", 0),
        ("2026-11-16", 2),
        ("2026-11-23", 0),
        ("2026-11-30", 0),
    ]
    assert found.failures == 2  # the first is older than four weeks


def test_one_failure_counts_once_however_many_gates_see_it():
    found = report([Seen(at(day), "a", "invariant_miss") for day in (10, 11, 20)])
    (one,) = found.open
    assert (found.failures, one.gates, one.age, one.since) == (1, 3, 20, at(10))


def test_what_comes_back_after_its_answer_is_another():
    seen = [Seen(at(day), "a", "invariant_miss") for day in (10, 12, 20)]
    found = report(seen, [Spent(at(15), "property", "a")])
    assert (found.failures, found.converted, found.rate) == (2, 1, 0.5)
    assert found.open[0].since == at(20)


@pytest.mark.parametrize("bucket", ["invariant_miss", "fixture_drift", "noise", "unclassified"])
@pytest.mark.parametrize("kind", ["property", "lock", "replay", "freeze", "other"])
@pytest.mark.parametrize("recorded", [False, True])
def test_an_answer_must_fit_unless_a_person_says_so(bucket, kind, recorded):
    fits = {
        ("invariant_miss", "property"),
        ("fixture_drift", "lock"),
        ("noise", "replay"),
        ("noise", "freeze"),
    }
    found = report([Seen(at(10), "a", bucket)], [Spent(at(11), kind, "a", recorded=recorded)])
    assert found.converted == (recorded or (bucket, kind) in fits)


def test_an_answer_before_the_failure_is_none():
    assert report([Seen(at(10), "a", "noise")], [Spent(at(9), "replay", "a")]).converted == 0


@pytest.mark.parametrize(
    ("text", "nodeids", "found"),
    [
        (
            '"""Proposed for the miss of a/b.py::T::test_2: sums."""',
            ("a/b.py::T::test_2",),
            ["a/b.py::T::test_2"],
        ),
        ("for a.T.test_20.", ("a.T.test_2", "a.T.test_20", "T.test_20"), ["a.T.test_20"]),
        ("for a.T.test_2.b and b.py::t[1]", ("a.T.test_2", "b.py::t", "b.py::t[1]"), ["b.py::t[1]"]),
        ("for lib/b.py::t and b.py::t::u", ("b.py::t",), []),
        ("of cart::adds nothing: no", ("cart::adds", "cart::adds nothing"), ["cart::adds nothing"]),
        ("of `cart::adds`, twice cart::adds", ("cart::adds",), ["cart::adds"]),
        ("anything", ("",), []),
    ],
)
def test_a_text_names_a_whole_id(text, nodeids, found):
    assert named(text, nodeids) == found


def test_a_lock_answers_every_drift_of_its_fixture():
    seen = [
        Seen(at(10), "a", "fixture_drift", fixtures=("tests/data/x.json",)),
        Seen(at(10), "b", "fixture_drift", fixtures=("tests/data/x.json", "tests/data/y.json")),
        Seen(at(10), "c", "fixture_drift", fixtures=("tests/data/z.json",)),
        Seen(at(10), "d", "noise", fixtures=("tests/data/x.json",)),
    ]
    found = report(seen, [Spent(at(11), "lock", fixture="tests/data/x.json")])
    assert sorted(became(found)) == [
        ("a", "fixture_drift", "lock", "recognised"),
        ("b", "fixture_drift", "lock", "recognised"),
    ]


def test_what_is_frozen_is_no_failure():
    seen = [Seen(at(10), "a", "noise"), Seen(at(20), "a", "noise", frozen=True)]
    found = report(seen, [Spent(at(12), "freeze", "a")])
    assert (found.failures, found.converted) == (1, 1)


def test_no_failure_has_no_rate():
    assert report([]).rate is None
    assert "No gate saw a failure in 4 weeks." in budget_text(report([]))


def test_the_text():
    freezes = [
        Frozen(nodeid="f", owner="me", expires="2026-11-01", expired=True, age=40),
        Frozen(nodeid="g", owner="", expires="2026-12-20", expired=False),
    ]
    seen = [
        Seen(at(10), "a\x1b[31m", "noise"),
        Seen(at(11), "b", "invariant_miss"),
        Seen(at(30), "c", "fixture_drift"),
    ]
    text = budget_text(report(seen, [Spent(at(12), "property", "b")], freezes))
    assert "2026-11-09         1        .        1        .  #-            property 1, 1 open" in text
    assert "2026-11-30         .        1        .        .  -             1 open" in text
    assert "1 of 3 failures became something that lasts (33%)" in text
    assert "\x1b" not in text
    assert "Open, nobody" in text
    assert "Freezes that have expired\n  2026-11-01  f  me, made 40 days ago" in text
    assert "  2026-12-20  g  no owner" in text


class Balanced(HTMLParser):
    """Fails on an element that is not closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_has_a_chart_and_runs_nothing():
    seen = [
        Seen(at(10), "<script>alert(1)</script>", "noise"),
        Seen(at(11), "b", "invariant_miss"),
        Seen(at(30), "c", "fixture_drift"),
    ]
    freezes = [Frozen(nodeid="<b>f", owner="me", expires="2026-11-01", expired=True, age=40)]
    page = budget_html(report(seen, [Spent(at(12), "property", "b", detail="<i>")], freezes))
    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page
    assert "<b>f" not in page
    assert "<i>" not in page
    assert "default-src 'none'; style-src 'sha256-" in unescape(page)
    assert page.count("<rect") == 8
    assert "week of 2026-11-09: 2 failures, 1 became something, 1 open" in page
    assert "Freezes that have expired (1)" in page
    Balanced().feed(page)
    assert "No gate saw a failure" in budget_html(report([]))


def test_bars_show_both_kinds_to_one_scale():
    seen = [Seen(at(10), f"t{n}", "noise") for n in range(120)] + [Seen(at(30), "late", "noise")]
    text = budget_text(report(seen, [Spent(at(12), "replay", "t1")]))
    assert "#-----------  replay 1, 119 open" in text
    assert " -             1 open" in text


def test_the_published_schema_is_that_of_the_code():
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("REDBUCKET_REGENERATE"):
        SCHEMA_FILE.write_text(text, encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == text, (
        "docs/budget.schema.json is stale: run REDBUCKET_REGENERATE=1 pytest tests/core/test_budget.py"
    )
    given = msgspec.to_builtins(report([Seen(at(10), "a", "noise")]))
    known = json.loads(text)["$defs"]
    assert set(given) == set(known["BudgetReport"]["properties"])
    assert set(given["weeks"][0]) == set(known["Week"]["properties"])


def test_code_owners():
    owners = CodeOwners("# all\n*  @all\n/tests/ @qa @two # who tests\n*.md\n[section]\n")
    assert owners.of("src/a.py") == "@all"
    assert owners.of("tests/test_a.py") == "@qa @two"
    assert owners.of("README.md") == ""
    assert CodeOwners("").of("a") == ""
