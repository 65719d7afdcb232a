"""Seeds, alignment, comparison, test paths, the scout's choice, the verdict."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core import records
from redbucket.core.align import names, unstable_functions
from redbucket.core.buckets import Bucket
from redbucket.core.compare import redder_by_chance, redder_in_strata
from redbucket.core.findings import Finding, Severity
from redbucket.core.report import Problem, Row, Verdict
from redbucket.core.seeds import derive
from redbucket.core.testpath import file_of, in_either_form, pytest_id, stands_for
from redbucket.core.verdict import count, decide
from redbucket.engine.scout import choose_scouted


@given(st.text(), st.text())
def test_a_seed_is_what_hash_seed_and_numpy_take(tree: str, purpose: str) -> None:
    seed = derive(tree.encode("utf-8", "replace").decode(), purpose.encode("utf-8", "replace").decode())
    assert 1 <= int(seed) <= 2**32 - 1


def test_a_seed_depends_on_tree_and_purpose() -> None:
    assert len({derive("a"), derive("b"), derive("a", "x"), derive("a", "y")}) == 4


def test_ids_that_differ_by_process_are_aligned_by_position() -> None:
    one = ["t.py::test_a[0.123]", "t.py::test_a[0.456]", "t.py::test_b[x]"]
    two = ["t.py::test_a[0.789]", "t.py::test_a[0.111]", "t.py::test_b[x]"]
    unstable = unstable_functions([one, two])
    assert unstable == {"t.py::test_a"}
    assert list(names(one, unstable).values()) == list(names(two, unstable).values())
    assert names(one, unstable)["t.py::test_b[x]"] == "t.py::test_b[x]"


def test_a_row_that_is_gone_is_gone_and_not_unstable() -> None:
    assert unstable_functions([["t::a[1]", "t::a[2]"], ["t::a[1]"]]) == frozenset()
    assert unstable_functions([["t::a[1]"]]) == frozenset()


@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_fishers_probability_matches_counting(a: int, n: int, b: int, m: int) -> None:
    a, b = min(a, n), min(b, m)
    ways = sum(comb(n, k) * comb(m, a + b - k) for k in range(a, n + 1) if 0 <= a + b - k <= m)
    assert redder_by_chance(a, n, b, m) == pytest.approx(ways / comb(n + m, a + b))


def test_fisher_on_known_tables() -> None:
    # Fisher's tea: 4 of 4 against 0 of 4
    assert redder_by_chance(4, 4, 0, 4) == pytest.approx(1 / 70)
    assert redder_by_chance(1, 13, 0, 11) > 0.05
    assert redder_by_chance(7, 13, 0, 11) < 0.05
    assert redder_by_chance(1, 0, 0, 0) == 1.0


PATHS = {"tests/test_a.py", "tests/sub/test_b.py", "pkg/mod.py"}


@pytest.mark.parametrize(
    ("nodeid", "path", "shown"),
    [
        ("tests/test_a.py::test_x", "tests/test_a.py", "tests/test_a.py::test_x"),
        ("tests/gone.py::test_x", None, "tests/gone.py::test_x"),
        ("tests.test_a.Cls.test_x", "tests/test_a.py", "tests/test_a.py::Cls::test_x"),
        ("test_a.Cls.test_x", "tests/test_a.py", "tests/test_a.py::Cls::test_x"),
        ("tests.sub.test_b.Cls.test_x", "tests/sub/test_b.py", "tests/sub/test_b.py::Cls::test_x"),
        ("pkg.mod.f", "pkg/mod.py", "pkg/mod.py::f"),
        ("nowhere.Cls.test_x", None, "nowhere.Cls.test_x"),
        ("tests/test_a.py", "tests/test_a.py", "tests/test_a.py"),
    ],
)
def test_the_file_of_a_test_is_found_from_either_kind_of_id(
    nodeid: str, path: str | None, shown: str
) -> None:
    assert file_of(nodeid, PATHS) == path
    assert pytest_id(nodeid, PATHS) == shown


def test_a_test_is_found_by_either_form_of_its_id() -> None:
    paths = {"tests/test_m.py"}
    dotted, plain = "tests.test_m.T.test_x", "tests/test_m.py::T::test_x"
    for ids in ([dotted, "tests.test_m.T.test_y"], [plain, "tests/test_m.py::T::test_y"]):
        assert in_either_form(dotted, ids, paths) == in_either_form(plain, ids, paths) == ids[0]
        assert in_either_form("tests.test_m.T.test_z", ids, paths) is None
    row = "tests/test_m.py::test_rows[1.5-a.b]"
    assert in_either_form("tests.test_m.test_rows[1.5-a.b]", [row], paths) == row


def timed(name: str, seconds: float, *touched: str) -> records.Test:
    return records.Test(nodeid=name, outcome=records.Outcome.PASSED, duration=seconds, touched=touched)


def test_the_scout_takes_tests_that_run_changed_lines() -> None:
    chosen, left = choose_scouted([timed("a", 0.1, "p:1"), timed("b", 0.1)], "7")
    assert (chosen, left) == (["a"], 0)


def test_the_scout_stays_within_its_share_and_says_what_it_left_out() -> None:
    tests = [timed(f"t{i}", 1.0, "p:1") for i in range(50)]
    chosen, left = choose_scouted(tests, "7")
    assert len(chosen) == 5  # a tenth of fifty seconds
    assert left == 45
    assert choose_scouted(tests, "8")[0] != chosen  # not the first ones, and not the same each time


def row(bucket: Bucket, *, blocks: bool = False) -> Row:
    return Row(nodeid="t", bucket=bucket, blocks=blocks)


REFUSING = Finding(rule="r", severity=Severity.REFUSE, reason="")
WARNING = Finding(rule="r", severity=Severity.WARN, reason="")
PROBLEM = Problem(code="c", reason="r")


@pytest.mark.parametrize(
    ("rows", "findings", "problems", "verdict"),
    [
        ([], [], [], Verdict.ACCEPT),
        ([row(Bucket.STABLE_PASS)], [WARNING], [], Verdict.ACCEPT),
        ([row(Bucket.NOISE)], [], [], Verdict.ACCEPT),
        ([row(Bucket.NOISE, blocks=True)], [], [], Verdict.REFUSE),
        ([row(Bucket.UNCLASSIFIED)], [], [], Verdict.UNDECIDED),
        ([], [], [PROBLEM], Verdict.UNDECIDED),
        ([row(Bucket.UNCLASSIFIED)], [REFUSING], [PROBLEM], Verdict.REFUSE),
        ([row(Bucket.UNTRUSTED)], [], [], Verdict.ACCEPT),
    ],
)
def test_a_refusal_stands_whatever_else_is_unknown(
    rows: list[Row], findings: list[Finding], problems: list[Problem], verdict: Verdict
) -> None:
    assert decide(rows, findings, problems) is verdict


def test_buckets_are_counted_in_their_order() -> None:
    assert list(count([row(Bucket.STABLE_PASS), row(Bucket.NOISE), row(Bucket.STABLE_PASS)]).items()) == [
        ("noise", 1),
        ("stable_pass", 2),
    ]


def test_several_conditions_by_counting_all_ways() -> None:
    # head 2 of 3 red and base 1 of 2; head 1 of 1 and base 0 of 2: all ways to place the red runs in each
    first = [sum(i < 3 for i in reds) for reds in combinations(range(5), 3)]
    second = [sum(i < 1 for i in reds) for reds in combinations(range(3), 1)]
    ways = [a + b for a in first for b in second]
    assert redder_in_strata([(2, 3, 1, 2), (1, 1, 0, 2)]) == pytest.approx(
        sum(w >= 3 for w in ways) / len(ways)
    )
    # what both always do, and what one world did not run, says nothing
    assert redder_in_strata([(4, 4, 0, 4), (3, 3, 5, 5), (0, 2, 0, 2), (2, 2, 0, 0)]) == pytest.approx(1 / 70)


@pytest.mark.parametrize(
    ("place", "nodeid", "holds"),
    [
        ("tests/test_m.py", "tests/test_m.py::test_a[1]", True),
        ("tests/test_m.py::T", "tests/test_m.py::T::test_a", True),
        ("tests", "tests/test_m.py::test_a", True),
        (".", "tests/test_m.py::test_a", True),
        ("tests.test_m", "tests.test_m.T.test_a", True),
        ("tests", "tests.test_m.T.test_a", True),
        ("tests.test_m", "tests.test_m", True),
        ("tests/test_m.py", "tests/test_mm.py::test_a", False),
        ("tests.test_m", "tests.test_mm.T.test_a", False),
        ("a", "a.py::test_a", False),  # a folder beside a module of its name
        ("tests/test_new.py", "tests/test_m.py::test_a", False),
    ],
)
def test_what_could_not_be_collected_stands_for_what_is_in_it(place: str, nodeid: str, holds: bool) -> None:
    assert stands_for(place, nodeid) is holds
