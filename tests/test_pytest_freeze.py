"""The opt-in pytest plugin: frozen failures are shown as such, and a report stays what it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from redbucket.engine.today import utc_today

pytest_plugins = ("pytester",)

SOON = (utc_today() + timedelta(days=3)).isoformat()
PAST = (utc_today() - timedelta(days=1)).isoformat()
TESTS = """
import pytest, unittest
def test_red(): assert 1 == 2
def test_green(): pass
@pytest.fixture
def broken(): raise OSError("gone")
def test_error(broken): pass
class T(unittest.TestCase):
    def test_m(self): self.fail("m")
"""


def freeze(*nodeids: str, expires: str = SOON) -> str:
    return "".join(
        f'["{i}"]\nowner = "ada"\nticket = "QA-1"\nexpires = {expires}\nreplay = "runs/c.json"\n'
        for i in nodeids
    )


def run(pytester: pytest.Pytester, flakes: str | None, *words: str) -> pytest.RunResult:
    pytester.makepyfile(test_a=TESTS)
    if flakes is not None:
        (pytester.path / "flakes.toml").write_text(flakes)
    return pytester.runpytest_inprocess("-p", "redbucket.pytest_freeze", "-p", "no:cacheprovider", *words)


ALL = ("test_a.py::test_red", "test_a.py::test_error", "test_a.T.test_m")


def test_frozen_failures_and_errors_do_not_fail_the_run(pytester: pytest.Pytester) -> None:
    result = run(pytester, freeze(*ALL), "-v")
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"*test_red FROZEN (until {SOON})*",
            f"FROZEN test_a.py::test_red: until {SOON} by ada (QA-1)",
            f"FROZEN test_a.py::T::test_m: until {SOON} by ada (QA-1)",
            "*1 passed*3 frozen*",
        ]
    )


def test_the_others_still_fail(pytester: pytest.Pytester) -> None:
    result = run(pytester, freeze(*ALL[1:]))
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("flakes", [None, "", "[broken"])
def test_without_freezes_a_failure_is_a_failure(pytester: pytest.Pytester, flakes: str | None) -> None:
    result = run(pytester, flakes)
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=2, errors=1)
    if flakes:
        result.stdout.fnmatch_lines(["every freeze counts as expired: flakes.toml: not TOML*"])


def test_it_is_strict_from_the_day_after_the_expiry(pytester: pytest.Pytester) -> None:
    result = run(pytester, freeze(*ALL, expires=PAST))
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.fnmatch_lines([f"FAILED test_a.py::test_red: its freeze expired on {PAST}"])


def test_maxfail_does_not_count_frozen_failures(pytester: pytest.Pytester) -> None:
    result = run(pytester, freeze(*ALL), "-x")
    assert result.ret == 0
    result.assert_outcomes(passed=1)


def test_a_junit_file_still_says_failed(pytester: pytest.Pytester) -> None:
    result = run(pytester, freeze(*ALL), "--junitxml=j.xml")
    assert result.ret == 0
    assert 'failures="2"' in (pytester.path / "j.xml").read_text()


def test_another_file_can_be_named(pytester: pytest.Pytester) -> None:
    (pytester.path / "other.toml").write_text(freeze(*ALL))
    assert run(pytester, None, "--flakes", "other.toml").ret == 0


def test_with_xdist(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = run(pytester, freeze(*ALL), "-n", "2")
    assert result.ret == 0
    result.assert_outcomes(passed=1)


def test_it_is_not_loaded_by_itself(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=TESTS)
    (pytester.path / "flakes.toml").write_text(freeze(*ALL))
    assert pytester.runpytest_inprocess("-p", "no:cacheprovider").ret == 1
