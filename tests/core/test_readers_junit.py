"""JUnit XML as the producers write it, and as an attacker does."""

from __future__ import annotations

import re
import tracemalloc

import pytest

from redbucket.core.errors import Misused
from redbucket.core.evidence import failure_print
from redbucket.core.readers import read, read_chunks
from redbucket.core.records import Outcome
from tests.core.samples import SAMPLES


def one(raw, **given):
    (run,) = read(raw, "o.xml", **given)
    return run


def sample(name):
    return one((SAMPLES / f"{name}.xml").read_bytes())


EXPECTED = {
    "pytest": {
        "tests/test_bad.py": "error",
        "tests/test_a.py::TestX::test_b": "failed",
        "tests/test_a.py::TestX::test_xf": "xfailed",
        "tests/test_a.py::TestX::test_xp": "xpassed",
        "tests/test_a.py::TestX::test_xpn": "passed",
        "tests/test_a.py::test_td": "error",
        "tests/test_a.py::test_td2": "failed",
        "tests/test_a.py::test_su": "error",
        "tests/test_a.py::test_p[1]": "passed",
        "tests/test_a.py::test_p[2]": "passed",
        "tests/test_a.py::test_skip": "skipped",
    },
    "pytest_xunit1": {
        "tests/unit/test_a.py::test_case::test_one": "passed",
        "tests/unit/test_a.py::test_two": "failed",
    },
    "gotestsum": {
        "example.com/calc::TestAdd": "passed",
        "example.com/calc::TestDiv/by_zero": "failed",
        "example.com/calc::TestFlaky": "failed",
        "example.com/calc::TestSkip": "skipped",
    },
    "jest": {
        "jest tests > Math > Math adds": "passed",
        "Math divides": "failed",
        "Math waits": "skipped",
        "jest tests > Text > Math adds": "passed",
    },
    "surefire": {
        "com.example.FooTest::adds": "passed",
        "com.example.FooTest::flaky": "passed",
        "com.example.FooTest::red": "failed",
        "com.example.FooTest::breaks": "error",
        "com.example.FooTest::later": "skipped",
    },
    "nextest": {
        "calc::basic::tests::adds": "passed",
        "calc::basic::tests::divides": "failed",
        "calc::basic::tests::aborts": "crashed",
        "calc::basic::tests::hangs": "timeout",
    },
    "phpunit": {
        "Tests.MathTest::testAdd": "passed",
        "Tests.MathTest::testMany with data set #0": "passed",
        "Tests.MathTest::testMany with data set #1": "failed",
    },
    "mocha": {"adds::Math adds": "passed", "divides::Math divides": "failed"},
    "node": {"math::adds": "passed", "math::divides": "failed", "math::later": "skipped", "adds": "passed"},
    # what these versions really wrote for small projects made to be awkward
    "jest_30": {
        **dict.fromkeys(("Math adds", "Math adds#2", "Math adds#3"), "passed"),
        "Math divides": "failed",
        "Math escapes \ufffd[31mred\ufffd[0m": "failed",
        "Math waits": "skipped",
        "Math later": "passed",
        "Math deep adds": "passed",
    },
    "mocha_11": {
        "top": "passed",
        "adds::Math adds": "passed",
        "adds::Math adds#2": "passed",
        "divides::Math divides": "failed",
        "adds::Math deep adds": "passed",
        '"before all" hook for "never"::Hook "before all" hook for "never"': "failed",
    },
    "node_20": {
        **dict.fromkeys(("adds", "adds#2", "adds#3"), "passed"),
        "math::adds": "passed",
        "math::divides": "failed",
        "math::later": "skipped",
        "math::todo": "xfailed",
        "math > deep::adds": "passed",
        "parent::child": "failed",
        "parent::child#2": "passed",
        "bad \ufffd[1m name \ufffd <&>&quot;": "passed",
        "/home/u/p/c.test.mjs": "failed",
        "/home/u/p/d.test.mjs": "passed",
        "/home/u/p/e.test.mjs": "failed",
        "/home/u/p/f.test.mjs": "passed",
    },
    "gotestsum_1_8": {
        "example.com/calc/calc::TestTable/same#01": "failed",
        "example.com/calc/calc::TestTable": "failed",
        "example.com/calc/calc::TestFlaky": "failed",
        "example.com/calc/calc::TestSkip": "skipped",
        "example.com/calc/calc::TestAdd": "passed",
        "example.com/calc/calc::TestTable/same": "passed",
        "example.com/calc/dies::TestDies": "failed",
        "example.com/calc/dies::TestOne": "passed",
        "example.com/calc/panics::TestDies": "failed",
        "example.com/calc/panics::TestOne": "passed",
    },
    "vitest_4": {"v/t.test.mjs::Math > adds": "passed"},
    "phpunit_9": {
        "Tests.MathTest::testAdd": "passed",
        "Tests.MathTest::testMany with data set #0": "passed",
        "Tests.MathTest::testMany with data set #1": "passed",
        'Tests.MathTest::testMany with data set "named & odd"': "failed",
        "Tests.MathTest::testObjects": "failed",
        "Tests.MathTest::testSkip": "skipped",
        "Tests.MathTest::testTodo": "skipped",
        "Tests.MathTest::testRisky": "error",
        "Tests.MathTest::testError": "error",
    },
    "surefire_3": {"com.example.RetriedTest::recovers": "passed", "com.example.RetriedTest::stays": "failed"},
    "nextest_flaky": {"calc::tests::recovers": "passed", "calc::tests::must_not_flake": "failed"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_producer(name):
    run = sample(name)
    assert run.broken == ""
    found = {nodeid: test.outcome.value for nodeid, test in run.tests.items()}
    assert sorted(found.items()) == sorted(EXPECTED[name].items())


def test_what_else_is_read():
    assert sample("pytest").tests["tests/test_a.py::test_p[1]"].seed == "42"
    assert sample("pytest").tests["tests/test_a.py::TestX::test_b"].message == "assert 3 == 4"
    assert sample("pytest").tests["tests/test_a.py::test_td2"].exception == "AssertionError"
    surefire = sample("surefire")
    assert surefire.seed == "42"
    assert surefire.tests["com.example.FooTest::flaky"].attempts == ("failed", "passed")
    assert surefire.tests["com.example.FooTest::red"].attempts == ("failed", "failed")
    assert surefire.tests["com.example.FooTest::red"].exception == "org.opentest4j.AssertionFailedError"
    assert surefire.tests["com.example.FooTest::red"].message == "expected: <1> but was: <3>"
    assert sample("gotestsum").tests["example.com/calc::TestFlaky"].attempts == ("passed", "failed")
    assert "got 1, want 0" in sample("gotestsum").tests["example.com/calc::TestDiv/by_zero"].message
    assert sample("jest").tests["Math divides"].message.startswith("Error: expect(received)")


def test_a_seed_of_the_suite_holds_for_its_tests():
    assert {t.seed for t in sample("surefire").tests.values()} == {"42"}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_cut_is_broken_or_refused(name):
    raw = (SAMPLES / f"{name}.xml").read_bytes().rstrip()
    for size in range(1, len(raw) - 1, 13):
        try:
            run = one(raw[:size])
        except Misused:
            continue
        assert "damaged" in run.broken or "announces" in run.broken


BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>
<testsuite name="x" tests="1"><testcase classname="a" name="&b;"/></testsuite>"""
EXTERNAL = (
    b"""<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>"""
)


@pytest.mark.parametrize("raw", [BOMB, EXTERNAL, b"<!DOCTYPE testsuite SYSTEM 'x.dtd'><testsuite/>"])
def test_a_document_type_is_refused(raw):
    with pytest.raises(Misused, match="document type"):
        one(raw)


@pytest.mark.parametrize(
    "raw", [b"<html/>", b"<", b"<?xml version='1.0'?>", b"<a><testsuite/></a>", b"<!-- x -->"]
)
def test_other_xml_is_refused(raw):
    with pytest.raises(Misused, match="JUnit XML"):
        one(raw)


def test_deep_nesting_ends():
    raw = b"<testsuite>" * 100_000
    assert "nested more than 200 deep" in one(raw).broken


@pytest.mark.parametrize(
    "junk", [b"\x1b[31m", b"\x00", b"&#x1b;", b"&#0;", b"&#xFFFF;", b"\xff\xfe", b"\xed\xb2\x80"]
)
def test_characters_that_xml_forbids_lose_no_run(junk):
    body = (
        b'<testsuite><testcase classname="a" name="b"><failure message="x%sy"/></testcase></testsuite>' % junk
    )
    run = one(body)
    assert run.broken == ""
    assert run.tests["a::b"].outcome.value == "failed"


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "windows-1252"])
def test_encodings(encoding):
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = head + '<testsuite><testcase classname="é" name="b"/></testsuite>'
    assert list(one(text.encode(encoding)).tests) == ["é::b"]


def test_an_unknown_encoding_is_refused():
    with pytest.raises(Misused):
        one(b'<?xml version="1.0" encoding="klingon"?><testsuite/>')


def test_fewer_tests_than_announced():
    assert (
        "announces 3 tests and holds 1"
        in one(b'<testsuite tests="3"><testcase name="a"/></testsuite>').broken
    )


def test_google_test_s_disabled_tests_are_skipped():
    run = one(b'<testsuite name="S"><testcase name="a" status="notrun" classname="S"/></testsuite>')
    assert run.tests["S::a"].outcome.value == "skipped"


def test_long_texts_are_cut_with_a_mark():
    raw = b'<testsuite><testcase name="a"><failure>' + b"x" * 200_000 + b"</failure></testcase></testsuite>"
    message = one(raw).tests["a"].message
    assert len(message) < 9_000
    assert "characters cut" in message


def test_a_test_with_two_failures_keeps_the_first():
    raw = (
        b'<testsuite><testcase name="a"><failure message="m1"/><failure message="m2"/></testcase></testsuite>'
    )
    assert one(raw).tests["a"].message == "m1"


def test_what_passed_in_the_end_did_so_whatever_the_runner_makes_of_it():
    surefire, nextest = sample("surefire_3"), sample("nextest_flaky")
    assert surefire.tests["com.example.RetriedTest::recovers"].attempts == ("failed", "failed", "passed")
    assert surefire.tests["com.example.RetriedTest::stays"].attempts == ("failed",) * 4
    assert nextest.tests["calc::tests::recovers"].attempts == ("failed", "error", "passed")
    assert nextest.tests["calc::tests::must_not_flake"].attempts == ("failed", "passed")


def test_a_package_that_was_not_built_makes_the_report_incomplete():
    raw = (SAMPLES / "gotestsum_1_8.xml").read_bytes()
    assert one(raw).broken == ""
    run = one(raw.replace(b'errors="0"', b'errors="1"', 1))
    assert "not all packages could be built" in run.broken
    assert run.tests["example.com/calc/dies::TestDies"].outcome.value == "failed"
    assert "example.com/calc/dies::TestAfter" not in run.tests


def test_tests_that_share_all_their_names_are_alike_in_any_order():
    cases = [
        b'<testcase name="a" classname="c"/>',
        b'<testcase name="a" classname="c"><failure message="m"/></testcase>',
    ]
    for order in (cases, cases[::-1]):
        run = one(b"<testsuites><testsuite name='s'>" + b"".join(order) + b"</testsuite></testsuites>")
        assert {k: t.outcome.value for k, t in run.tests.items()} == {"c::a": "failed", "c::a#2": "passed"}


def test_a_file_tells_tests_apart():
    cases = b"".join(b'<testcase name="a" classname="c" file="%s.js"/>' % f for f in (b"one", b"two", b"two"))
    assert list(one(b"<testsuite name='s'>" + cases + b"</testsuite>").tests) == [
        "s > one.js > c::a",
        "s > two.js > c::a",
        "s > two.js > c::a#2",
    ]


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_of_any_size_give_the_same_run(name, size):
    raw = (SAMPLES / f"{name}.xml").read_bytes()
    (whole,), (pieced,) = (
        read(raw, "o.xml"),
        read_chunks(lambda: (raw[i : i + size] for i in range(0, len(raw), size)), "o.xml"),
    )
    assert pieced == whole


def test_captured_output_is_never_held():
    """A report of 256 MB is read in a few."""
    line = b"<![CDATA[" + b"x" * 1_000_000 + b"]]>"

    def chunks():
        yield b'<testsuite name="s"><testcase name="a" classname="c"><system-out>'
        for _ in range(256):
            yield line
        yield b"</system-out></testcase></testsuite>"

    tracemalloc.start()
    (run,) = read_chunks(chunks, "o.xml")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert list(run.tests) == ["c::a"]
    assert peak < 10_000_000


CTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="2" failures="2">
<testcase name="adds" classname="adds" time="0.06" status="fail"><failure message=""/>
<system-out>{}cart.c:3: main: Assertion `total(1, 2) == 3' failed.
</system-out></testcase>
<testcase name="slow" classname="slow" status="fail"><failure message="no"/><system-out>x</system-out></testcase>
</testsuite>"""


def test_a_failure_without_a_message_shows_what_the_test_printed() -> None:
    """And is not compared by it: two runs print other times."""
    one, other = (
        read(CTEST.format(said).encode(), "x.xml")[0].tests["adds"] for said in ("3 ms\n", "9 ms\n")
    )
    assert one.message == "3 ms\ncart.c:3: main: Assertion `total(1, 2) == 3' failed."
    assert one.message != other.message
    (silent,) = read(re.sub("<system-out>.*?</system-out>", "", CTEST, flags=re.DOTALL).encode(), "x.xml")
    assert silent.tests["adds"].message == ""
    assert failure_print(one) == failure_print(other) == failure_print(silent.tests["adds"])
    assert read(CTEST.format("").encode(), "x.xml")[0].tests["slow"].message == "no"


def test_of_much_output_the_end_is_kept() -> None:
    (run,) = read(CTEST.format("line\n" * 100_000).encode(), "x.xml")
    assert len(run.tests["adds"].message) <= 2_000
    assert run.tests["adds"].message.endswith("failed.")


def test_what_a_passing_test_printed_is_nothing() -> None:
    (run,) = read(CTEST.format("").replace('<failure message=""/>', "").encode(), "x.xml")
    assert (run.tests["adds"].outcome, run.tests["adds"].message) == (Outcome.PASSED, "")
