"""The report for a terminal."""

from __future__ import annotations

import re

import msgspec
import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.findings import Finding, Severity
from redbucket.core.report import GateReport, Row, Verdict
from redbucket.formats.clean import shell
from redbucket.formats.clean import width as columns
from redbucket.formats.phrases import DISCLAIMER, Group, doubt, group_of
from redbucket.formats.text import render
from tests.formats import reports as r

ALL = (r.FULL, r.BROKEN, r.GREEN, r.EMPTY)


def test_many_experiments_are_wrapped() -> None:
    names = ("alone", "reversed", "hash-seed 1", "hash-seed 2", "seed 1", "seed 2")
    outcomes = {"H": ["failed"] * 3, "B": ["passed"]}
    outcomes |= {f"{world} {name}": ["failed"] for world in "HB" for name in names}
    row = msgspec.structs.replace(r.MISS, outcomes=outcomes)
    out = render(msgspec.structs.replace(r.FULL, tests=[row]), verbose=True)
    assert max(columns(line) for line in out.splitlines() if "$ " not in line) <= 80
    assert "patch FFF  base .  patch alone F  patch reversed F" in out


@pytest.mark.parametrize("report", ALL)
@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("verbose", [False, True])
def test_it_fits_and_is_black_and_white(report: GateReport, width: int, verbose: bool) -> None:
    out = render(report, width=width, verbose=verbose)
    assert out.endswith("\n")
    assert "\x1b" not in out
    # a command is never cut, so that it can be copied
    assert max(columns(line) for line in out.splitlines() if "$ " not in line) <= width
    assert all(line == line.rstrip() for line in out.splitlines())
    assert "\n\n\n" not in out


def test_colour_only_adds_escape_codes() -> None:
    coloured = render(r.FULL, color=True)
    assert coloured.startswith("\x1b[1;31mREFUSE\x1b[0m  1 test broken")
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == render(r.FULL)


def test_a_base_that_is_named_by_its_id_is_said_once() -> None:
    by_id = msgspec.structs.replace(r.BROKEN, base_name=r.BASE)
    assert f"Judged: base {r.BASE[:10]}; head" in render(by_id)
    by_name = msgspec.structs.replace(r.BROKEN, base_name="main")
    assert f"Judged: base main {r.BASE[:10]}; head" in render(by_name)


def test_what_is_in_no_commit_yet_is_said_by_what_it_is() -> None:
    """A hook before a commit judges the index over HEAD: base and head are one text."""
    index = msgspec.structs.replace(r.BROKEN, head=r.BASE, base_name="", offered="the index")
    assert f"Judged: the index over HEAD {r.BASE[:10]}; seed" in render(index)
    full = render(index, verbose=True)
    assert f"the index over HEAD {r.BASE}; merge tree {index.merge_tree};" in " ".join(full.split())


def test_the_verdict_comes_first_and_then_what_to_do() -> None:
    first, second, third, *_ = render(r.BROKEN).splitlines()
    assert first == "REFUSE  1 test broken by this patch, 1 protected file changed"
    assert (second, third) == ("", "Next")
    out = render(r.BROKEN)
    assert "       tests/test_b.py::test_edges\n" in out
    assert "failed 3 of 3 with the\n     patch, passed 3 of 3 without it" in out
    assert f"$ git checkout {r.BASE[:12]} -- redbucket.toml\n" in out
    assert "redbucket endorse redbucket.toml" not in out  # nobody can: the policy names no signers
    signed = msgspec.structs.replace(r.BROKEN, signatures=True)
    assert "$ redbucket endorse redbucket.toml\n" in render(signed)
    new = msgspec.structs.replace(r.BROKEN, added=["redbucket.toml"])
    assert "$ git rm -f -- redbucket.toml\n" in render(new)
    assert "git checkout" not in render(new)


def test_a_group_that_is_listed_is_not_counted_once_more() -> None:
    out = render(r.GREEN, verbose=True)
    assert out.count("Passed every time") == 1


def test_the_verdict_is_one_line_whatever_there_is_to_say() -> None:
    first, second, *_ = render(r.FULL).splitlines()
    assert first.startswith("REFUSE  1 test broken by this patch")
    assert first.endswith(" more reasons")
    assert second == ""
    assert "left undecided" in render(r.FULL, width=250).splitlines()[0]


def test_the_most_urgent_comes_first() -> None:
    out = render(r.FULL)
    order = [
        "Next",
        "Undecided",
        "Findings",
        "  refuse protected-path",
        "  warn   one-example",
        "  note   untrusted-test",
        "Broken by this patch: 1 test",
        "Fixture drift: 1 test",
        "Made noisy by this patch: 1 test",
        "Cannot be classified: 1 test",
        "The patch's own tests",
        "Red or noisy, but not shown to come from this patch: 2 tests",
        "Passed every time: 40; Skipped every time: 1",
        "Notes",
        "Doubt: 3 runs show a flake",
        DISCLAIMER,
    ]
    places = [out.index(f"\n{part}") for part in order]
    assert places == sorted(places)


def test_a_row_says_all_that_is_known() -> None:
    out = render(r.FULL)
    for part in (
        "introduced; patch FFF  base ...; doubt 1 in 64",
        "introduced; patch .F.  base ...; cause: concurrency; doubt 25%",
        "already noisy; patch FT.  base .C.; cause: clock",
        "already red; patch FFF  base FFF",
        "then: strengthen a property",
        "| AssertionError: assert 3 == 2",
        "... and 1 more line (--verbose shows all)",
        "F failed",
    ):
        assert part in out


def test_verbose_shows_the_evidence_and_what_was_skipped() -> None:
    brief, full = render(r.FULL), render(r.FULL, verbose=True)
    for part in ("tried: alone, reversed, hash-seed", "at pkg/bucket.py:12", r.SKIPPED.nodeid, r.HEAD):
        assert part in full
        assert part not in brief
    assert r.PASSES[0].nodeid in full


def test_long_lists_are_cut_and_the_cut_is_said() -> None:
    report = r.large(90)
    brief, full = render(report), render(report, verbose=True)
    assert brief.count("... and 22 more tests (--verbose shows all)") == 1
    assert brief.count("... and 10 more tests (--verbose shows all)") == 1
    assert brief.count("::test") < 60 < full.count("::test")
    assert "--verbose" not in full
    # whatever is counted is named: "and 2 more" alone makes the reader look for what
    assert not re.search(r"[0-9] more\b(?! \w)", brief)


def test_nothing_that_blocks_is_hidden() -> None:
    for bucket in Bucket:
        for introduced in (True, False, None):
            test = Row(nodeid=f"t.py::{bucket.value}", bucket=bucket, introduced=introduced, blocks=True)
            assert group_of(test) not in (Group.ALREADY, Group.UNTRUSTED, Group.SKIPPED, Group.PASSED)
            assert test.nodeid in render(GateReport(verdict=Verdict.REFUSE, exit_code=1, tests=[test]))


def test_one_remedy_of_many_findings_is_said_once() -> None:
    same = [
        Finding(
            rule="altered-test",
            severity=Severity.REFUSE,
            path=f"tests/{name}.py",
            reason="why",
            remedy=remedy,
        )
        for name, remedy in (("a", "put it back"), ("b", "put it back"), ("c", "ask a person"))
    ]
    said = render(GateReport(verdict=Verdict.REFUSE, exit_code=1, findings=same)).split("Findings")[1]
    assert said.count("-> put it back") == said.count("-> as above") == said.count("-> ask a person") == 1
    assert said.index("put it back") < said.index("as above") < said.index("ask a person")


def test_green_says_so_and_what_it_does_not_mean() -> None:
    out = render(r.GREEN)
    assert out.startswith("ACCEPT  40 tests passed every time, none got worse\n\nNext: nothing to do")
    assert "only if it fails 63% of the time" in " ".join(out.split())
    assert out.endswith(f"{DISCLAIMER}\n")


def test_untrusted_green_is_said_loudly() -> None:
    report = msgspec.structs.replace(
        r.GREEN, untrusted_green=True, tests=[*r.GREEN.tests, r.UNTRUSTED], signatures=True
    )
    out = render(report)
    assert "no trusted test runs the change" in out.splitlines()[0]
    assert "Untrusted green: no trusted test that passed was seen to run a changed line" in out
    assert "$ redbucket endorse tests/test_new.py" in out


def test_an_empty_report_says_what_is_wrong() -> None:
    assert render(r.EMPTY).startswith("CANNOT DECIDE  no test was run\n\nNext")


def test_the_counts_stand_in_for_rows_that_were_left_out() -> None:
    report = msgspec.structs.replace(r.EMPTY, tests=[r.MISS], counts={"stable_pass": 1234})
    assert "Passed every time: 1,234" in render(report)


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_text_is_harmless(color: bool, verbose: bool) -> None:
    out = render(r.hostile(), color=color, verbose=verbose)
    out.encode()
    for code in ("1", "2", "1;31", "1;32", "1;33", "0"):
        out = out.replace(f"\x1b[{code}m", "")
    assert all(c.isprintable() for c in out.replace("\n", ""))
    assert not any(line.startswith("ACCEPT") for line in out.splitlines())
    assert "\\x1b[2J" in out
    assert "\\u202e" in out
    assert "\\udcff" in out


def test_an_id_is_never_cut_and_wide_characters_are_counted() -> None:
    long = f"tests/test_{'x' * 150}.py::test[{'漢字' * 40} and words]"
    wide = msgspec.structs.replace(r.MISS, nodeid=long, why="漢字 " * 60, message="漢" * 200)
    out = render(GateReport(verdict=Verdict.REFUSE, exit_code=1, tests=[wide]))
    assert f"  {long}\n" in out
    assert all(columns(line) <= 80 for line in out.splitlines() if long not in line)


def test_commands_are_exact_for_a_shell() -> None:
    import subprocess

    for name in ("a b", "it's", "\udcff\x1b[0m", "a\\n'\u202eb", "$HOME;`x`", "漢字", "-x"):
        given = subprocess.run(["bash", "-c", f"printf %s {shell(name)}"], capture_output=True, check=True)
        assert given.stdout == name.encode("utf-8", "surrogateescape")
        assert shell(name).isprintable()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, ""),
        (1.0, "no bound"),
        (0.25, "25%"),
        (1 / 64, "1 in 64"),
        (0.001, "1 in 1,000"),
        (0.0, "below 1 in a billion"),
    ],
)
def test_doubt_is_said_as_odds(value: float | None, says: str) -> None:
    assert doubt(value) == says


@pytest.mark.parametrize("verbose", [False, True])
def test_twenty_thousand_rows(verbose: bool) -> None:
    assert render(r.large(20_000), verbose=verbose)


def test_verbose_shows_the_evidence_of_each_row() -> None:
    passed = r.row(
        "tests/test_ok.py::test_p", Bucket.STABLE_PASS, outcomes={"H": ["passed"] * 3}, fixtures=["a.json"]
    )
    report = msgspec.structs.replace(r.FULL, tests=[passed, *r.FULL.tests])
    brief, full = render(report, width=100), render(report, width=100, verbose=True)
    assert [row.nodeid for row in report.tests if row.nodeid not in full] == []
    assert "tests/test_ok.py::test_p patch ... fixtures: a.json" in full
    assert "test_ok.py::test_p" not in brief


def test_sentences_are_no_longer_on_a_very_wide_terminal() -> None:
    why = "so " * 80
    report = msgspec.structs.replace(r.EMPTY, tests=[msgspec.structs.replace(r.MISS, why=why)])
    assert render(report, width=120) == render(report, width=200)
