"""Commands that start one test or two, as a shell takes them."""

from __future__ import annotations

import pytest

from redbucket.core.startwords import StartWords, kept_options, typed

PATHS = frozenset({"tests", "tests/test_m.py", "ci", "ci/pytest.ini", "pkg"})
X = "tests/test_m.py::test_x"


def test_the_tests_stand_in_their_order_and_are_quoted() -> None:
    assert (
        StartWords("pytest").of(["a.py::test_p[it's]", X])
        == f"python -m pytest 'a.py::test_p[it'\"'\"'s]' {X}"
    )


def test_plugins_that_are_there_keep_order_and_process_by_their_own_options() -> None:
    plugins = ["pytest-xdist 3.8.0", "pytest-randomly 5.1.0", "pytest-cov 6.0"]
    assert StartWords("pytest").of([X], plugins) == f"python -m pytest --randomly-dont-reorganize -n 0 {X}"


def test_the_interpreter_of_the_runs_is_named() -> None:
    assert StartWords("pytest", ".venv/bin/python").of([X]) == f".venv/bin/python -m pytest {X}"
    assert StartWords("pytest", ".venv/bin/python", as_module=False).of([X]) == f".venv/bin/pytest {X}"
    assert StartWords("pytest", as_module=False).of([X]) == f"pytest {X}"


@pytest.mark.parametrize(
    ("args", "kept"),
    [
        ("tests", ""),
        ("tests/ tests/test_m.py::test_y", ""),
        ("-c ci/pytest.ini tests", "-c ci/pytest.ini"),
        ("--rootdir=ci -q", "--rootdir=ci -q"),
        ("-n auto --dist loadfile", ""),
        ("-n4 -x", ""),
        ("-m slow -k tests", ""),
        ("--cov=pkg --cov pkg --cov-report term", ""),
        ("--db postgres --run-slow", "--db postgres --run-slow"),
        ("-p no:cacheprovider -W error", "-p no:cacheprovider -W error"),
        ("--ignore ci --maxfail=1", ""),
    ],
)
def test_options_of_the_policy_stay_where_they_do_not_choose_tests(args: str, kept: str) -> None:
    assert kept_options(args.split(), PATHS) == kept.split()


@pytest.mark.parametrize(
    ("args", "top"),
    [
        ("", ""),
        ("-v", ""),
        ("discover", ""),
        ("discover -s . -v", ""),
        ("discover -s tests", "PYTHONPATH=tests "),
        ("discover tests *_test.py", "PYTHONPATH=tests "),
        ("discover --start-directory=tests/ -p *_test.py", "PYTHONPATH=tests "),
        ("discover -s tests -t .", ""),
        ("discover -s pkg/tests -t pkg", "PYTHONPATH=pkg "),
        ("discover -s pkg/tests", "PYTHONPATH=pkg/tests "),
    ],
)
def test_what_discovery_finds_below_another_folder_is_found_again(args: str, top: str) -> None:
    start = StartWords("unittest", args=tuple(args.split()))
    assert start.of(["test_m.T.test_x"]) == f"{top}python -m unittest test_m.T.test_x"
    if top:
        assert start.recorded("test_m.T.test_x") == (
            f"python -m unittest {' '.join(args.split()).replace('*_test.py', repr('*_test.py'))} -k '*test_m.T.test_x'"
        )
    else:
        assert start.recorded("test_m.T.test_x") == start.of(["test_m.T.test_x"])


def test_the_interpreters_own_options_stay() -> None:
    start = StartWords("pytest", options=("-X", "dev"))
    assert start.of([X]) == f"python -X dev -m pytest {X}"


@pytest.mark.parametrize(
    ("nodeid", "word"),
    [
        ("t.py::test_x[<object object at 0x…>]", "t.py::test_x"),
        ("t.py::test_x[#1]", "t.py::test_x"),
        ("t.py::test_x[a]#2", "t.py::test_x[a]"),
        ("t.M.test_x#2", "t.M.test_x"),
        ("t.py::test_x[c#2]", "t.py::test_x[c#2]"),
    ],
)
def test_what_redbucket_alone_calls_a_test_is_not_typed(nodeid: str, word: str) -> None:
    assert typed(nodeid) == word
    assert StartWords("unittest").of([nodeid, nodeid]).count("test_x") == 1
