"""The judging part of files that are both source and judge."""

from __future__ import annotations

import sys

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.shared_config import compose, judging_part

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BASE = b"""[project]
name = "x"
dependencies = ["a==1"]

[tool.pytest.ini_options]
addopts = "-q"  # base's
[tool.coverage.run]
branch = true
"""


NAMED = b'[project]\nname = "y" # kept\n'
OTHER = b"[tool.other]\nx = 1\n"


def test_a_dependency_bump_passes_byte_for_byte() -> None:
    merged = BASE.replace(b"a==1", b"a==2")
    assert judging_part("pyproject.toml", merged) == judging_part("pyproject.toml", BASE)
    assert compose("pyproject.toml", BASE, merged) == merged


def test_formatting_is_no_change() -> None:
    assert judging_part("p.toml", BASE.replace(b'addopts = "-q"', b"addopts='-q'")) == judging_part(
        "p.toml", BASE
    )


@pytest.mark.parametrize(
    "merged",
    [
        NAMED + b'[tool.pytest.ini_options]\naddopts = "-k nothing"\n' + OTHER,
        b'[tool.pytest.ini_options]\naddopts = "-k x"\n'
        + NAMED
        + OTHER
        + b"[tool.coverage.report]\nfail_under = 0\n",
        b'tool.pytest.ini_options.addopts = "-k x"\ntool.other.x = 1\n' + NAMED,
        NAMED + b'[tool]\npytest = { ini_options = { addopts = "x" } }\nother = { x = 1 }\n',
        NAMED + b'[tool.pytest]\naddopts = ["-k"]\n' + OTHER + b"[tool.pytest_env]\nA = 1\n",
        NAMED + OTHER + b'[tool.x]\ny = """\n[tool.pytest]\n"""\n[[tool.pytest.z]]\na = 1\n',
        NAMED + OTHER,
    ],
)
def test_test_configuration_comes_from_base(merged: bytes) -> None:
    result = compose("pyproject.toml", BASE, merged)
    assert result is not None
    assert judging_part("pyproject.toml", result) == judging_part("pyproject.toml", BASE)
    data = tomllib.loads(result.decode())
    assert data["project"] == {"name": "y"} and data["tool"]["other"] == {"x": 1}
    assert b"# kept" in result


def test_a_new_file_loses_its_judging_part() -> None:
    assert compose("pyproject.toml", None, BASE) == b'[project]\nname = "x"\ndependencies = ["a==1"]\n\n'
    assert (
        judging_part("setup.cfg", compose("setup.cfg", None, b"[a]\nb=1\n[tool:pytest]\nc=1\n") or b"") == {}
    )


def test_what_does_not_parse_is_replaced_by_base() -> None:
    assert compose("pyproject.toml", BASE, b"[tool.pytest\n") == BASE
    assert compose("pyproject.toml", BASE, b"\xff") == BASE
    assert compose("pyproject.toml", BASE, b"tool = 3") != b"tool = 3"
    assert compose("setup.cfg", b"[a]\nb=1\n", b"[pytest]\nx=1\nx=2\n") == b"[a]\nb=1\n"
    assert judging_part("pyproject.toml", b"[") != judging_part("pyproject.toml", b"[[")


def test_a_deleted_file_is_kept_only_for_its_judging_part() -> None:
    assert compose("pyproject.toml", BASE, None) == BASE
    assert compose("pyproject.toml", b"[project]\n", None) is None
    assert compose("tox.ini", None, None) is None


def test_ini_sections_are_exchanged() -> None:
    base = b"[metadata]\nname=x\n[tool:pytest]\naddopts = -q\n    -x\n[options]\nz=1\n"
    merged = (
        b"[metadata]\nname=y\n# kept\n[tool:pytest]\naddopts = -k nothing\n[options]\nz=2\ndesc =\n  [x]\n  a"
    )
    result = compose("setup.cfg", base, merged)
    assert result == (
        b"[metadata]\nname=y\n# kept\n[options]\nz=2\ndesc =\n  [x]\n  a\n"
        b"[tool:pytest]\naddopts = -q\n    -x\n"
    )


def test_testenv_is_not_read_by_pytest() -> None:
    base = b"[testenv]\ncommands = pytest\n[pytest]\nx=1\n"
    merged = b"[testenv]\ncommands = true\n[pytest]\nx=1\n"
    assert compose("tox.ini", base, merged) == merged


@pytest.mark.parametrize("sneaky", ["a=1\x0c[pytest]\nb=1\n", "\ufeff[pytest]\nb=1\n", "[pytest] # c\nb=1\n"])
def test_a_header_that_pytest_would_see_does_not_hide(sneaky: str) -> None:
    result = compose("tox.ini", b"[tox]\na=1\n", sneaky.encode())
    assert judging_part("tox.ini", result or b"") == {}


_tables = st.dictionaries(
    st.sampled_from(["pytest", "pytest_env", "coverage", "ruff", "black", "mypy"]),
    st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=3), max_size=2),
    max_size=5,
)


@given(_tables, _tables)
def test_judging_from_base_and_the_rest_from_the_patch(base: dict, merged: dict) -> None:
    raw_base, raw_merged = (tomlkit.dumps({"tool": x, "project": {"n": 1}}).encode() for x in (base, merged))
    result = compose("pyproject.toml", raw_base, raw_merged)
    assert result is not None
    assert judging_part("pyproject.toml", result) == judging_part("pyproject.toml", raw_base)
    kept = {k: v for k, v in merged.items() if k in ("ruff", "black", "mypy")}
    data = tomllib.loads(result.decode())
    assert {k: v for k, v in data.get("tool", {}).items() if k in ("ruff", "black", "mypy")} == kept
    assert data["project"] == {"n": 1}
