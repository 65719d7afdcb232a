"""Text of ``replay`` and ``explain``."""

from __future__ import annotations

from redbucket.core.explanation import Explanation
from redbucket.core.plural import plural
from redbucket.core.replayreport import Rate, ReplayReport
from redbucket.formats.noise import explain_text, replay_text


def test_each_line_that_touches_entropy_has_its_kind() -> None:
    sites = ["boltons/fileutils.py:531 os.scandir", "a.py:3 time.time", "a.py:4 strange"]
    text = explain_text(
        Explanation(nodeid="t::x", exit_code=2, what="nothing", touched=["random"], sites=sites)
    )
    assert "  it was seen to touch: clock, directory order, random\n" in text
    assert "    at boltons/fileutils.py:531 os.scandir (directory order)\n" in text
    assert "    at a.py:3 time.time (clock)\n" in text
    assert "    at a.py:4 strange\n" in text
    alone = explain_text(Explanation(nodeid="t::x", exit_code=2, what="nothing", sites=sites[:1]))
    assert "clock" not in alone


def test_one_is_no_plural() -> None:
    assert [plural(n, "test is", "tests are") for n in (0, 1, 1200)] == [
        "0 tests are",
        "1 test is",
        "1,200 tests are",
    ]
    one = Rate(failed=1, runs=1, rate=1.0, low=0.1, high=1.0)
    told = replay_text(
        ReplayReport(
            nodeid="t::x",
            exit_code=0,
            replays=True,
            capture="c.json",
            outcomes={"failed": 1},
            rate=one,
            order=1,
            tree="f" * 40,
            same_failure=1,
            smallest=["t::a"],
        )
    )
    assert "after the one test that ran before it" in told
    assert "1 of 1 failure is the recorded one" in told
    assert "1 of 1 test before it" in told
    assert "failed 1 of 1 run (" in told


def test_a_reason_why_axes_were_not_tried_is_said_once() -> None:
    mixed = [f"{axis} (a mixed test does not tell)" for axis in ("order", "umask")]
    report = Explanation(nodeid="t::x", exit_code=2, what="nothing", untried=[mixed[0], "load", mixed[1]])
    assert "  not tried: order, umask (a mixed test does not tell); load\n" in explain_text(report)
