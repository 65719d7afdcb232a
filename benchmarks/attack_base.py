"""The tiny repository that every attack starts from, and the environment that its tests run in."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.driven_base import FILES as DRIVEN
from benchmarks.helped_base import FILES as HELPED
from tests.gitkit import Content, Repo

# The beginning of a product with a thread that waits until something is there, and acts once.
LATER = """\
import sys
import threading
import time


def _later(ready, act):
    def go():
        for _ in range(20000):
            try:
                if ready():
                    act()
                    return
            except Exception:
                pass
            time.sleep(.0003)
    threading.Thread(target=go, daemon=True).start()


"""

CORE = '''\
"""Maps values to the index of the first edge that is not smaller."""

import bisect


def bucket(value, edges):
    """Return the index of the first edge that is not smaller than value."""
    return bisect.bisect_left(edges, value)


def shift(edges, amount):
    """Return the edges moved by an amount."""
    return [edge + amount for edge in edges]
'''
BROKEN = '''

import bisect


def bucket(value, edges):
    """Return the index of the first edge that is not smaller than value."""
    return bisect.bisect_right(edges, value)


def shift(edges, amount):
    """Return the edges moved by an amount."""
    return [edge + amount for edge in edges]
'''
TESTS = """\
import unittest

import pytest

from pkg.core import bucket, shift

EDGES = [0, 1, 2, 5, 10]


def test_edge(edges):
    got = bucket(2, edges)
    assert got == 2


def test_between():
    got = bucket(3, EDGES)
    assert got == 3


def test_bad():
    with pytest.raises(TypeError):
        bucket("x", EDGES)


class BucketTests(unittest.TestCase):
    def test_first(self):
        self.assertEqual(bucket(0, EDGES), 0)

    def test_shift(self):
        self.assertEqual(shift([1, 2], 1), [2, 3])
"""
UNITTESTS = """\
import unittest

from pkg.core import bucket, shift

EDGES = [0, 1, 2, 5, 10]


class BucketTests(unittest.TestCase):
    def test_edge(self):
        self.assertEqual(bucket(2, EDGES), 2)

    def test_between(self):
        self.assertEqual(bucket(3, EDGES), 3)

    def test_shift(self):
        self.assertEqual(shift([1, 2], 1), [2, 3])
"""
CONFTEST = """\
import pytest

import pkg.core


@pytest.fixture
def edges():
    assert pkg.core.shift([], 1) == []
    return [0, 1, 2, 5, 10]
"""
_POLICY = """\
[run]
command = ["python", "-m", {command}]
timeout = 8
budget = 90
"""
_OTHERS: Mapping[str, Mapping[str, Content]] = {"helped": HELPED, "driven": DRIVEN}
PYTEST, UNITTEST = '"pytest"', '"unittest", "discover", "-s", "tests", "-t", "."'


def files(runner: str) -> dict[str, Content]:
    """Return the files of base: for "pytest", "unittest", "helped" (helpers, tables, mocks) or "driven"."""
    if runner in _OTHERS:
        return dict(_OTHERS[runner])
    common: dict[str, Content] = {"pkg/__init__.py": "", "pkg/core.py": CORE, "tests/__init__.py": ""}
    if runner == "pytest":
        return {
            **common,
            "tests/test_core.py": TESTS,
            "tests/conftest.py": CONFTEST,
            "redbucket.toml": _POLICY.format(command=PYTEST),
        }
    return {**common, "tests/test_core.py": UNITTESTS, "redbucket.toml": _POLICY.format(command=UNITTEST)}


@dataclass(frozen=True)
class Attack:
    """One head: ``payload`` stands before the broken product code, or ``core`` replaces it; ``more`` are other files.

    ``dirty`` says that it writes into the interpreter's environment.
    """

    family: str
    name: str
    payload: str = ""
    core: str = ""
    more: Mapping[str, Content] = field(default_factory=dict)
    runner: str = "pytest"
    dirty: bool = False
    honest: bool = False

    def edit(self, mark: str) -> dict[str, Content]:
        """Return the files that head has; ``mark`` is a path that no other attack uses."""
        core = self.core or f"{self.payload}{BROKEN}"
        edits: dict[str, Content] = {"pkg/core.py": core.replace("@MARK@", mark)}
        for path, text in self.more.items():
            edits[path] = text.replace("@MARK@", mark) if isinstance(text, str) else text
        return edits


def make_repo(place: Path, runner: str) -> Repo:
    """Make base on the branch main."""
    repo = Repo.init(place)
    repo.commit(files(runner), "base")
    return repo


_PACKAGES = (
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "py",
    "exceptiongroup",
    "tomli",
    "hypothesis",
    "_hypothesis_pytestplugin",
    "_hypothesis_globals",
    "_hypothesis_ftz_detector",
    "sortedcontainers",
    "attr",
)


def make_environment(place: Path) -> None:
    """Make a virtual environment with a pytest of its own: some attacks write into it."""
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    home = Path(pytest.__file__).parent.parent
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        if spec.submodule_search_locations:
            shutil.copytree(Path(spec.origin).parent, site / name)
        else:
            shutil.copy(spec.origin, site)
        for metadata in home.glob(f"{name}-*.dist-info"):
            shutil.copytree(metadata, site / metadata.name)
    subprocess.run([place / "bin" / "python", "-c", "import pytest, _pytest.unittest"], check=True)
