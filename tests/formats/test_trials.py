"""The experiments as a picture: in the gate's report, and on the page of ``explain``."""

from __future__ import annotations

import re

import msgspec
import pytest

from redbucket.core.experiments import Experiment, Tries
from redbucket.core.explanation import Explanation
from redbucket.formats.clean import line
from redbucket.formats.explainhtml import explain_html
from redbucket.formats.html import render
from redbucket.formats.markdown import render as markdown
from redbucket.formats.text import render as text
from redbucket.formats.trialsview import in_words, trials
from tests.formats import reports as r
from tests.formats.test_html import ATTACKS, Page


def rows(page: str) -> list[list[str]]:
    """The words of each row of the pictures."""
    bodies = re.findall(r'<table class="trials">.*?<tbody>(.*?)</tbody>', page, re.S)
    found = [Page(row + "</tr>").text for body in bodies for row in body.split("</tr>") if row.strip()]
    return [[text.strip() for text in row if text.strip()] for row in found]


EXPECTED = [
    ["as it is", "nothing", "failed 1 of 3", "failed 0 of 1"],
    [
        "threads switched every microsecond",
        "concurrency",
        "failed 19 of 20",
        "not run",
        "confirmed: concurrency",
    ],
    ["reversed", "order", "failed 2 of 8", "failed 0 of 8", "flipped"],
    ["alone", "order", "failed 0 of 1", "not run", "no flip"],
]


def test_each_experiment_is_a_row_and_what_was_confirmed_comes_first() -> None:
    assert rows(render(r.FULL)) == EXPECTED
    assert rows(explain_html(r.explanation())) == EXPECTED


def test_what_the_confirmed_is_compared_with_stands_below_it() -> None:
    beside = Experiment(condition="as it is", changes="concurrency", head=Tries(failed=1, runs=20))
    shown = trials([*r.trials(), beside], "concurrency")
    assert shown is not None
    assert [row["condition"] for row in shown["rows"]][1:3] == [
        "threads switched every microsecond",
        "as it is, in between",
    ]


def test_a_bar_is_as_long_as_the_share_of_failures() -> None:
    shares = re.findall(r'class="part" width="([^"]*)"', explain_html(r.explanation()))
    assert [float(share) for share in shares] == [33.3, 0, 95, 25, 0, 0]
    assert len(shares) == sum(word.startswith("failed") for row in EXPECTED for word in row)


def test_what_the_picture_shows_is_not_said_once_more() -> None:
    page = render(r.FULL)
    assert "<dt>patch alone</dt>" not in page
    bare = msgspec.structs.replace(r.NOISE, experiments=[])
    assert "<dt>patch alone</dt>" in render(msgspec.structs.replace(r.FULL, tests=[bare]))


def test_base_has_no_column_where_it_was_not_run() -> None:
    alone = [msgspec.structs.replace(one, base=None) for one in r.trials()]
    shown = trials(alone, None, head="this tree")
    assert shown is not None and shown["sides"] == ["this tree"]
    assert {len(row["cells"]) for row in shown["rows"]} == {1}
    assert trials([], None) is None


def test_a_page_without_a_cause_says_so() -> None:
    page = explain_html(Explanation(nodeid="t::x", exit_code=2, what="nothing flips it", untried=["load"]))
    text = " ".join(" ".join(Page(page).text).split())
    assert "not found nothing flips it t::x" in text
    assert "not tried load" in text
    assert "Experiments" not in text and "See it" not in text


def test_what_is_left_out_is_said() -> None:
    many = [
        Experiment(condition=str(n), changes="clock", head=Tries(failed=0, runs=1), flipped=False)
        for n in range(100)
    ]
    shown = trials(many, None)
    assert shown is not None and (len(shown["rows"]), shown["left"]) == (60, "40 more experiments")


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_stays_text(text: str) -> None:
    page, plain = Page(explain_html(r.explanation(text))), Page(explain_html(r.explanation("plain")))
    assert [(tag, sorted(a)) for tag, a in page.elements] == [(tag, sorted(a)) for tag, a in plain.elements]
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "img", "link", "iframe", "form"})
    assert not any(name.startswith("on") or name in ("style", "src") for _, a in page.elements for name in a)
    assert all(c.isprintable() or c == "\n" for c in explain_html(r.explanation(text)))
    assert line(text) in [one.strip() for one in page.text] or line(text).strip() in "".join(page.text)


CONFIRMED = "threads switched every microsecond (failed 19 of 20)"


def test_text_and_markdown_say_what_flipped_a_noisy_test() -> None:
    short, full = (text(r.FULL, width=200, verbose=verbose) for verbose in (False, True))
    for out in (short, full):
        assert f"      confirmed by: {CONFIRMED}\n" in out
        assert "      flipped by: reversed (failed 2 of 8, in base 0 of 8)\n" in out
    assert "not flipped by" not in short
    assert "      not flipped by: alone\n" in full
    page = markdown(r.FULL)
    assert f"  Confirmed by: {CONFIRMED}\n" in page
    assert "  Not flipped by: alone\n" in page


def test_a_test_that_is_mixed_by_itself_has_its_counts_in_words() -> None:
    alone = Experiment(condition="alone", changes="order", head=Tries(failed=1, runs=2))
    plain = Experiment(condition="plain", head=Tries(failed=1, runs=3))
    assert in_words([plain, alone], all_of_them=True) == [("seen with", ["alone (failed 1 of 2)"])]
    assert in_words([plain, alone], all_of_them=False) == []


def test_without_a_cause_nothing_is_said_to_flip_it() -> None:
    at_times = Experiment(condition="reversed", changes="order", head=Tries(failed=2, runs=3), flipped=True)
    assert in_words([at_times], all_of_them=False) == [("another outcome with", ["reversed (failed 2 of 3)"])]


def test_of_many_experiments_the_first_are_in_words() -> None:
    many = [
        Experiment(condition=f"c{n}", changes="seed", head=Tries(failed=0, runs=1), flipped=False)
        for n in range(15)
    ]
    ((label, each),) = in_words(many, all_of_them=True)
    assert (label, len(each), each[-1]) == ("not flipped by", 13, "and 3 more experiments")
