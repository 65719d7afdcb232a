"""A miss that is answered by literals is refused; ordinary examples elsewhere are nobody's business."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redbucket.core.errors import Misused
from redbucket.core.findings import Finding
from redbucket.guards.one_example import check
from tests.guards.contexts import SIDE, context, refused, severities

MISS = "tests/test_a.py::test_split[10]"
PROPERTY = (
    "from hypothesis import given, strategies as st\nfrom lib import split\n\n\n"
    "@given(st.integers())\ndef test_law(n):\n    assert sum(split(n, 3)) == n\n"
)
POINT = "from lib import split\n\n\ndef test_law():\n    assert split(10, 3) == [4, 3, 3]\n"
BASE = {
    "lib.py": "def split(n, m): ...\n\n\ndef join(xs): ...\n",
    "tests/test_a.py": "from lib import split\n\n\ndef test_split(n=10):\n    assert split(n, 3) == [4, 3, 3]\n",
    "tests/test_law.py": PROPERTY,
    "tests/helpers.py": "def rows():\n    return [(10, 3)]\n",
}


def judged(edits: dict[str, str | None], *misses: str, agent: bool = True) -> list[Finding]:
    return check(replace(context(BASE, edits, agent=agent), misses=misses), SIDE)


@pytest.mark.parametrize("agent", [True, False])
def test_a_literal_answer_is_refused_whoever_wrote_it(agent: bool) -> None:
    (finding,) = judged({"tests/test_b.py": POINT}, MISS, agent=agent)
    assert refused([finding])
    assert (finding.path, finding.line, finding.nodeid) == ("tests/test_b.py", 5, "tests/test_b.py::test_law")
    assert "is one example" in finding.reason
    assert MISS in finding.reason
    assert "redbucket draft REPORT.json" in finding.remedy
    assert "redbucket gate --format json --output REPORT.json" in finding.remedy


def recalled(
    edits: dict[str, str | None], then: dict[str, str | None], *, agent: bool = True
) -> list[Finding]:
    """Judge ``edits`` where an earlier gate found the miss in the state ``then``."""
    state = context(BASE, then).head
    return check(replace(context(BASE, edits, agent=agent), recalled={MISS: state}), SIDE)


def test_a_literal_answer_to_a_miss_that_an_earlier_gate_found_is_refused() -> None:
    (finding,) = recalled({"tests/test_b.py": POINT}, {"lib.py": "def split(n, m): return 1\n"})
    assert refused([finding])
    assert MISS in finding.reason
    assert "an earlier gate of this patch" in finding.reason
    assert "endorse" in finding.remedy
    edited = BASE["tests/test_a.py"].replace("[4, 3, 3]", "[3, 3, 4]")
    assert refused(recalled({"tests/test_a.py": edited}, {"lib.py": "x = 1\n"}))


def test_what_the_same_tests_do_not_answer_is_said_once() -> None:
    misses = tuple(f"tests/test_a.py::test_split[{n}]" for n in range(80))
    (finding,) = judged({"tests/test_b.py": POINT}, *misses)
    assert "the misses of tests/test_a.py::test_split[0], " in finding.reason
    assert ", and 77 more: test_law: " in finding.reason
    state = context(BASE, {}).head
    told = replace(context(BASE, {"tests/test_b.py": POINT}), recalled=dict.fromkeys(misses, state))
    (finding,) = check(told, SIDE)
    assert refused([finding])
    assert finding.reason.endswith("(an earlier gate of this patch found the misses)")


def test_what_a_person_answers_is_only_told() -> None:
    assert severities(recalled({"tests/test_b.py": POINT}, {}, agent=False)) == {"warn"}


@pytest.mark.parametrize(
    ("edits", "then"),
    [
        pytest.param({"tests/test_b.py": POINT, "tests/test_c.py": PROPERTY}, {}, id="a property beside it"),
        pytest.param({"tests/test_c.py": PROPERTY}, {"tests/test_c.py": PROPERTY}, id="a property of before"),
        pytest.param({"tests/test_b.py": POINT}, {"tests/test_b.py": POINT}, id="an example of before"),
        pytest.param({"lib.py": "def split(n, m): return []\n"}, {}, id="the fault is mended"),
        pytest.param(
            {"tests/test_b.py": "from lib import join\n\n\ndef test_b():\n    assert join([7]) == 7\n"},
            {},
            id="an example of other code",
        ),
        pytest.param({"tests/test_a.py": None}, {}, id="the test is gone"),
    ],
)
def test_what_is_no_answer_to_an_earlier_miss_is_left_alone(
    edits: dict[str, str | None], then: dict[str, str | None]
) -> None:
    assert recalled(edits, then) == []


def test_a_property_answers_it_with_examples_beside() -> None:
    assert judged({"tests/test_b.py": POINT, "tests/test_c.py": PROPERTY}, MISS) == []


def test_a_property_of_other_code_does_not() -> None:
    other = PROPERTY.replace("split(n, 3)", "join([n])").replace("import split", "import join")
    assert refused(judged({"tests/test_b.py": POINT, "tests/test_c.py": other}, MISS))


def test_examples_of_other_code_are_no_answer_and_no_fault() -> None:
    other = POINT.replace("split(10, 3)", "join([7])").replace("import split", "import join")
    assert severities(judged({"tests/test_b.py": other}, MISS)) == {"note"}
    assert judged({"tests/test_b.py": POINT}) == []


def test_a_row_more_in_a_helper_is_an_answer_by_a_literal() -> None:
    base = {
        **BASE,
        "tests/test_rows.py": (
            "import pytest\nfrom helpers import rows\nfrom lib import split\n\n\n"
            "@pytest.mark.parametrize(('n', 'm'), rows())\ndef test_rows(n, m):\n    assert sum(split(n, m)) == n\n"
        ),
    }
    edits = {"tests/helpers.py": "def rows():\n    return [(10, 3), (7, 1)]\n"}
    findings = check(replace(context(base, edits), misses=(MISS,)), SIDE)
    assert refused(findings)
    assert "listed in the source" in findings[0].reason


def test_values_that_a_helper_of_another_file_generates_are_a_domain() -> None:
    edits = {
        "tests/helpers.py": "import itertools\n\n\ndef rows():\n    return itertools.product(range(9), range(1, 9))\n",
        "tests/test_b.py": "from helpers import rows\nfrom lib import split\n\n\n"
        "def test_all():\n    for n, m in rows():\n        assert sum(split(n, m)) == n\n",
    }
    assert judged(edits, MISS) == []


def test_a_property_that_becomes_an_example_is_refused_without_a_miss() -> None:
    (finding,) = judged({"tests/test_law.py": POINT})
    assert refused([finding])
    assert "went through a domain" in finding.reason
    assert judged({"tests/test_law.py": POINT}, agent=False) == []


def test_a_property_whose_place_an_example_of_another_name_takes_is_refused() -> None:
    assert refused(judged({"tests/test_law.py": POINT.replace("test_law", "test_ten")}))


def test_a_property_may_be_renamed_rewritten_and_widened() -> None:
    for new in (
        PROPERTY.replace("test_law", "test_sums"),
        PROPERTY.replace("st.integers()", "st.integers(0, 10**9)"),
        PROPERTY + POINT.partition("\n\n\n")[2].replace("test_law", "test_ten"),
        "from lib import split\n\n\ndef test_law():\n    for n in range(500):\n        assert sum(split(n, 3)) == n\n",
    ):
        assert judged({"tests/test_law.py": new}) == [], new


def test_a_property_that_only_runs_the_code_is_told() -> None:
    runs = PROPERTY.replace("assert sum(split(n, 3)) == n", "split(n, 3)")
    assert severities(judged({"tests/test_b.py": runs}, MISS)) == {"warn"}


def test_a_miss_of_a_test_that_is_nowhere_is_misused() -> None:
    with pytest.raises(Misused) as caught:
        judged({"tests/test_b.py": POINT}, "tests/test_gone.py::test_x")
    assert caught.value.code == "no-such-test"


def test_a_miss_of_a_test_whose_source_is_not_seen_counts_every_test() -> None:
    assert refused(judged({"tests/test_b.py": POINT}, "tests/test_a.py::made_by_a_plugin"))
