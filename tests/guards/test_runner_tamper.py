"""runner-tamper on real repositories: attacks on the machinery of the tests, and honest patches beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.guards import runner_tamper
from tests.gitkit import Content, Link
from tests.guards.attacked import Attacked, gravest
from tests.guards.contexts import SIDE, context

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "backend"
backend-path = ["build_tools"]

[project]
name = "lib"
dependencies = ["requests>=2", "PyYAML"]

[tool.pytest.ini_options]
addopts = "-ra"
markers = ["slow: slow"]

[tool.ruff]
line-length = 100
"""
LOCK = """\
[[package]]
name = "pytest"
version = "8.3.4"
source = { registry = "https://packages.example.com/simple" }
wheels = [{ url = "https://files.example.com/p.whl", hash = "sha256:aa" }]

[[package]]
name = "requests"
version = "2.31.0"
"""
POETRY = '[[package]]\nname = "pytest"\nversion = "8.3.4"\nfiles = [{file = "p.whl", hash = "sha256:aa"}]\n'
PIPFILE = '{"_meta": {"sources": []}, "develop": {"pytest": {"version": "==8.3.4", "index": "pypi"}}}'
BASE: dict[str, Content] = {
    "pyproject.toml": PYPROJECT,
    "uv.lock": LOCK,
    "poetry.lock": POETRY,
    "Pipfile.lock": PIPFILE,
    "requirements.txt": "pytest==8.3.4\nrequests==2.31\n",
    "tox.ini": "[testenv]\ndeps = pytest\n",
    "setup.cfg": "[flake8]\nmax-line-length = 100\n",
    "old.egg-info/PKG-INFO": "Name: old\n",
    "plug.egg-info/entry_points.txt": "[pytest11]\nplug = plug\n",
    "build_tools/backend.py": "from setuptools.build_meta import *\n",
    "src/lib/__init__.py": "import requests\nimport tomlkit\n",
    "lib2/queue.py": "X = 1\n",
    "select.py": "X = 1\n",
    "tests/helpers.py": "def check(x):\n    assert x\n",
    "tests/test_lib.py": "from helpers import check\n\ndef test_lib():\n    check(1)\n",
    "inner/.coveragerc": "[run]\nbranch = True\n",
}


def changed(path: str, *pairs: tuple[str, str]) -> dict[str, Content]:
    text = str(BASE[path])
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return {path: text}


def added(path: str, text: str) -> dict[str, Content]:
    return {path: f"{BASE[path]}{text}"}


def _tool(index: str) -> str:
    return (
        f'\n[[package]]\nname = "pytest-randomly"\nversion = "3.15.0"\nsource = {{ registry = "{index}" }}\n'
    )


REFUSED: dict[str, dict[str, Content]] = {
    "pytest.ini": {"pytest.ini": ""},
    ".pytest.ini": {".pytest.ini": "[pytest]\n"},
    "pytest.toml below": {"src/pytest.toml": "[pytest]\n"},
    "pytest.ini by another case": {"PyTest.ini": "[pytest]\n"},
    "addopts": changed("pyproject.toml", ('"-ra"', '"-ra -k no"')),
    "settings gone": changed("pyproject.toml", ('addopts = "-ra"\n', "")),
    "unreadable": added("pyproject.toml", "[broken\n"),
    "pyproject gone": {"pyproject.toml": None},
    "a marker taken": changed("pyproject.toml", ('["slow: slow"]', "[]")),
    "setup.cfg": added("setup.cfg", "[tool:pytest]\naddopts = -k no\n"),
    "tox.ini": added("tox.ini", "[pytest]\naddopts = -k no\n"),
    "tox variable": added("tox.ini", "set_env =\n    PYTEST_ADDOPTS = -k no\n"),
    ".env": {".env": "export PYTEST_PLUGINS=lib.plug\n"},
    "coverage with a plugin": {".coveragerc": "[run]\nplugins = lib.plug\n"},
    "coverage changed": changed("inner/.coveragerc", ("True", "False")),
    "entry point": added("pyproject.toml", '[project.entry-points.pytest11]\nlib = "lib.plug"\n'),
    "entry point, poetry": added("pyproject.toml", '[tool.poetry.plugins.pytest11]\nlib = "lib.plug"\n'),
    "entry point, setup.cfg": added("setup.cfg", "[options.entry_points]\npytest11 =\n    lib = lib.plug\n"),
    "entry point, setup.py": {
        "setup.py": "from setuptools import setup\nsetup(entry_points=dict(pytest11=['a=b']))\n"
    },
    "a command pytest": added("pyproject.toml", '[project.scripts]\npytest = "lib:main"\n'),
    "a command Pytest, poetry": added("pyproject.toml", '[tool.poetry.scripts]\nPytest = "lib:main"\n'),
    "a command python, entry points": added(
        "pyproject.toml", '[project.entry-points.console_scripts]\npython = "lib:main"\n'
    ),
    "a command, setup.cfg": added(
        "setup.cfg", "[options.entry_points]\nconsole_scripts =\n    py.test = lib:main\n"
    ),
    "a script, setup.cfg": added("setup.cfg", "[options]\nscripts =\n    bin/coverage\n"),
    "a command, setup.py": {
        "setup.py": "from setuptools import setup\nsetup(entry_points={'console_scripts': ['pytest=lib:main']})\n"
    },
    "a command, setup.py, one text": {
        "setup.py": "from setuptools import setup\nsetup(entry_points='[console_scripts]\\ntox = lib:main')\n"
    },
    "a script, setup.py": {"setup.py": "from setuptools import setup\nsetup(scripts=['bin/pytest'])\n"},
    "entry point, egg-info": {"src/lib.egg-info/entry_points.txt": "[pytest11]\nlib = lib.plug\n"},
    "a plugin taken away": {"plug.egg-info/entry_points.txt": None},
    "pytest_plugins": {"tests/test_new.py": "pytest_plugins = ['lib.plug']\n"},
    "pytest_plugins by import": {"tests/test_new.py": "from lib.plug import pytest_plugins\n"},
    "sitecustomize": {"src/sitecustomize.py": ""},
    ".pth": {"lib.pth": "import lib.plug\n"},
    ".pth that names a folder": {"lib.pth": "fake\n"},
    "an environment": {".venv/bin/python": "#!/bin/sh\n"},
    "an environment by a link": {".venv": Link("src/lib")},
    "an environment below": {"tools/env/pyvenv.cfg": "home = /usr\n"},
    "a folder of tests as a conda environment": {"tests/unit/conda-meta/history": ""},
    "bytecode": {"src/lib/__pycache__/core.cpython-311.pyc": b"\0"},
    "compiled in place of a source": {"src/lib/__init__.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"},
    "package over a helper": {"tests/helpers/__init__.py": ""},
    "pytest.py": {"src/pytest.py": ""},
    "pytest at any root": {"odd/pytest/__init__.py": ""},
    "_pytest as a link": {"_pytest": Link("src/lib")},
    "standard library": {"random.py": ""},
    "standard library, package": {"src/json/__init__.py": ""},
    "standard library among tests": {"tests/random.py": ""},
    "standard library, compiled": {"random.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"},
    "dependency": {"requests.py": ""},
    "dependency by another name": {"yaml/__init__.py": ""},
    "undeclared dependency": {"tomlkit.py": ""},
    "numpy": {"src/numpy/__init__.py": ""},
    "product hidden by the tests": {"tests/lib.py": ""},
    "fork": changed("requirements.txt", ("pytest==8.3.4", "pytest @ git+https://example.org/p")),
    "fork, editable": added("requirements.txt", "-e git+https://example.org/pytest-x#egg=pytest-x\n"),
    "wheel": added("requirements.txt", "./w/pluggy-1.5-py3-none-any.whl\n"),
    "index": added("requirements.txt", "--extra-index-url https://example.org/simple\n"),
    "uv source": added("pyproject.toml", "[tool.uv.sources]\npytest = { path = 'p' }\n"),
    "uv index": added("pyproject.toml", "[[tool.uv.index]]\nurl = 'https://example.org'\n"),
    "uv lock, registry": changed("uv.lock", ("packages.example.com", "example.org")),
    "uv lock, a new tool from elsewhere": added("uv.lock", _tool("https://example.org/simple")),
    "uv lock, bytes": changed("uv.lock", ("sha256:aa", "sha256:bb")),
    "poetry lock, source": added(
        "poetry.lock", '[package.source]\ntype = "git"\nurl = "https://example.org"\n'
    ),
    "poetry lock, bytes": changed("poetry.lock", ("sha256:aa", "sha256:bb")),
    "pipfile lock, git": changed("Pipfile.lock", ('"version"', '"git": "https://example.org", "version"')),
    "pipfile lock, index": changed(
        "Pipfile.lock", ('"sources": []', '"sources": [{"url": "https://example.org"}]')
    ),
    "back end's code": added("build_tools/backend.py", "X = 1\n"),
    "back end moved": changed("pyproject.toml", ('["build_tools"]', '["."]')),
    "build from a URL": changed(
        "pyproject.toml", ('"setuptools"', '"setuptools @ https://example.org/s.whl"')
    ),
}
TOLD: dict[str, dict[str, Content]] = {
    "pytest bumped": changed("requirements.txt", ("8.3.4", "8.4.0")),
    "uv lock bumps pytest": changed("uv.lock", ("8.3.4", "8.4.0"), ("sha256:aa", "sha256:bb")),
    "uv lock, a new tool from the index that base uses": added(
        "uv.lock", _tool("https://packages.example.com/simple")
    ),
    "plugin": added("requirements.txt", "pytest-randomly==3.15\n"),
    "index for the product": {"requirements-gpu.txt": "-i https://example.org/simple\ntorch\n"},
    "another back end": changed("pyproject.toml", ('"backend"', '"hatchling.build"')),
    "script": {"test.sh": "PYTEST_ADDOPTS=-x pytest\n"},
    "product sets a variable": {"src/lib/run.py": "import os\nos.environ['PYTEST_ADDOPTS'] = '-x'\n"},
    "compiled": {"src/lib/fast.so": b"\x7fELF"},
    "email in a namespace package": {"app/email/__init__.py": ""},
    "product twice": {"lib/__init__.py": ""},
    "first coverage": {".coveragerc": "[run]\nbranch = True\n"},
}
HONEST: dict[str, dict[str, Content]] = {
    "dependency bump": changed("pyproject.toml", ("requests>=2", "requests>=2.32")),
    "lock bump": changed("uv.lock", ("2.31.0", "2.32.0")),
    "requirements bump": changed("requirements.txt", ("2.31", "2.32")),
    "new dependency": changed("pyproject.toml", ('"PyYAML"', '"PyYAML", "attrs"')),
    "formatted": changed("pyproject.toml", ('["slow: slow"]', '[\n    "slow: slow",\n]')),
    "new marker": changed("pyproject.toml", ('["slow: slow"]', '["slow: slow", "web: web"]')),
    "linter": changed("pyproject.toml", ("line-length = 100", "line-length = 110")),
    "comment in coverage": added("inner/.coveragerc", "# more\n"),
    "scripts": added("pyproject.toml", '[project.scripts]\nlib = "lib:main"\n'),
    "scripts of setup.py": {
        "setup.py": "from setuptools import setup\n"
        "setup(scripts=['bin/lib'], entry_points={'console_scripts': ['lib-pytest=pytest:main']})\n"
    },
    "other entry points": added("pyproject.toml", '[project.entry-points.lib]\nx = "lib:x"\n'),
    "explicit index": added(
        "pyproject.toml", "[[tool.uv.index]]\nurl = 'https://example.org'\nexplicit = true\n"
    ),
    "old metadata gone": {"old.egg-info/PKG-INFO": None},
    "passenv": added("tox.ini", "passenv = PYTEST_ADDOPTS\n"),
    "documentation": {"docs/testing.md": "PYTEST_ADDOPTS=-x pytest\npytest_plugins = ['x']\n"},
    "types in a package": {"src/lib/types.py": "", "src/lib/random.py": "", "src/lib/email/__init__.py": ""},
    "a name that base has": {"select/__init__.py": ""},
    "script": {"scripts/calendar.py": ""},
    "new package": {"src/lib_extra/__init__.py": ""},
    "new test": {"tests/test_more.py": "def test_more():\n    assert 1\n"},
    "conftest is altered-test's": {"tests/conftest.py": "pytest_plugins = ['x']\n"},
    "weights": {"models/net.pth": b"PK\3\4\0\0data"},
    "pyproject among the tests": {"tests/sample/pyproject.toml": '[project]\nname = "x"\n'},
    "bytecode gone": {"src/lib/__pycache__/x.pyc": None},
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    place: Path = tmp_path_factory.mktemp("runner") / "repo"
    return Attacked(place, "runner-tamper", {**BASE, "src/lib/__pycache__/x.pyc": b"\0"})


@pytest.mark.parametrize("edits", REFUSED.values(), ids=REFUSED)
def test_attacks_are_refused(attacked: Attacked, edits: dict[str, Content]) -> None:
    findings = attacked.judge(edits)
    assert gravest(findings) == "refuse"
    for finding in findings:
        assert finding.rule == "runner-tamper"
        assert finding.path in edits
        assert finding.reason
        assert finding.remedy


@pytest.mark.parametrize("edits", TOLD.values(), ids=TOLD)
def test_what_a_person_decides_is_told(attacked: Attacked, edits: dict[str, Content]) -> None:
    assert gravest(attacked.judge(edits)) == "warn"


@pytest.mark.parametrize("edits", HONEST.values(), ids=HONEST)
def test_honest_patches_pass(attacked: Attacked, edits: dict[str, Content]) -> None:
    assert gravest(attacked.judge(edits)) in ("", "note")


@pytest.mark.parametrize("name", ["pytest.ini", "random.py", "index", "back end's code", "bytecode"])
def test_people_may(attacked: Attacked, name: str) -> None:
    edits = {"index": REFUSED["index"], **REFUSED}.get(name) or {name: ""}
    assert attacked.judge(edits, agent=False) == []


def test_the_line_is_named(attacked: Attacked) -> None:
    (finding,) = attacked.judge(REFUSED["addopts"])
    assert finding.line == PYPROJECT.split("\n").index('addopts = "-ra"') + 1
    assert "addopts" in finding.reason


@pytest.mark.parametrize(
    "message",
    [
        "Fix [skip ci]",
        "Fix\n\n[CI SKIP]",
        "[no ci] x",
        "x [actions skip]",
        "***NO_CI***",
        "x\n\n\nskip-checks: true",
    ],
)
def test_words_that_silence_ci_are_told(attacked: Attacked, message: str) -> None:
    findings = attacked.judge({"docs/x.md": message}, message=message)
    assert [(f.severity.value, f.path) for f in findings] == [("warn", None)]
    assert attacked.judge({"docs/x.md": message}, message=message, agent=False) == []


@pytest.mark.parametrize("message", ["skip ci in the docs", "[skip circle]", "Document skip-checks: true"])
def test_other_words_are_not(attacked: Attacked, message: str) -> None:
    assert attacked.judge({"docs/x.md": message}, message=message) == []


LAYOUT = {
    "src/lib/__init__.py": "",
    "tests/helpers.py": "def same(a, b):\n    assert a == b\n",
    "tests/support/checks.py": "def check(a):\n    assert a\n",
    "tests/test_a.py": "from checks import check\nfrom helpers import same\n\n\ndef test_a():\n    same(1, 1)\n",
    "tests/unit/test_b.py": "from helpers import same\n\n\ndef test_b():\n    same(1, 1)\n",
    "tests/unit/alone.py": "ONE = 1\n",
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("tests/unit/helpers.py", ["refuse"]),  # nearer to a test that imports it from the folder above
        ("src/checks.py", ["refuse"]),  # a root of its own that comes before the one of the helpers
        ("checks.py", ["refuse"]),
        ("src/lib/helpers.py", []),
        ("tests/unit/more_helpers.py", []),
        ("tests/web/__init__.py", []),
        ("tests/alone.py", []),  # no test of base imports it by that name
    ],
)
def test_a_helper_that_another_one_hides(path: str, found: list[str]) -> None:
    findings = runner_tamper.check(context(LAYOUT, {path: "def same(a, b): ...\ndef check(a): ...\n"}), SIDE)
    assert [finding.severity.value for finding in findings if finding.severity.value != "note"] == found
