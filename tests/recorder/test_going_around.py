"""Code under test that leaves the framework as it is, and goes around it: other helpers, other tools, no failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.runkit import EVERYTHING, record

FAKE = "def check(got, want): pass"
HELPERS = """
    import pytest

    def check(got, want):
        assert got == want

    @pytest.fixture
    def three(): return 3
"""
TESTS = """
    import prod
    from tests.helpers import check, three

    def test_a(three):
        prod.act()
        check(three, 3)
        assert prod.name() == "b"
"""
PROD = """
import gc, importlib.machinery, importlib.util, os, sys, types

def act():
    {act}

def name():
    return "b"

{before}
"""
LOADER = """
class Loader(importlib.machinery.SourceFileLoader):
    def {method}

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "tests.helpers":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = Loader(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder())
"""
PUT = f"m = types.ModuleType('tests.helpers'); exec({FAKE!r}, vars(m)); m.three = None; sys.modules[m.__name__] = m"
READ = "get_data(self, path): return super().get_data(path).replace(b'got == want', b'True')"
RUN = """exec_module(self, module):
        text = self.get_data(self.path).replace(b"got == want", b"True")
        exec(compile(text, self.path, "exec"), vars(module))
        module.__spec__.loader = importlib.machinery.SourceFileLoader(self.name, self.path)
"""
CONSTANT = """import ctypes
    consts = sys.modules["tests.test_a"].test_a.__code__.co_consts
    ctypes.pythonapi.Py_IncRef(ctypes.py_object("c"))
    ctypes.c_size_t.from_address(id(consts) + 24 + 8 * consts.index("b")).value = id("c")
    global name
    name = lambda: "c"
"""
FIXTURE = (
    "for o in gc.get_objects():\n        if type(o).__name__ == 'FixtureDef' and o.argname == 'three': {}"
)


@pytest.mark.parametrize(
    ("part", "before", "act"),
    [
        ("check of tests/test_a.py", PUT, "pass"),
        ("the code of tests/helpers.py", LOADER.format(method=READ), "pass"),
        ("the code of tests/helpers.py", LOADER.format(method=RUN), "pass"),
        ("the constants of tests/test_a.py", "", CONSTANT),
        ("fixture three of tests/helpers.py", "", FIXTURE.format("object.__setattr__(o, 'func', lambda: 3)")),
        ("three of tests/helpers.py", "", FIXTURE.format("o.func.__code__ = (lambda: 3).__code__")),
    ],
)
def test_tests_that_are_given_something_else(tmp_path: Path, part: str, before: str, act: str) -> None:
    if "exec" not in before and "ctypes" in act:
        pytest.importorskip("ctypes")
    files = {
        "prod.py": PROD.format(before=before, act=act),
        "tests/__init__.py": "",
        "tests/helpers.py": HELPERS,
        "tests/test_a.py": TESTS
        if before != PUT
        else TESTS.replace("(three)", "()").replace("check(three, 3)", ""),
    }
    r = record(tmp_path, files, watched=("tests/helpers.py", "tests/test_a.py"))
    assert r.outcomes == {"tests/test_a.py::test_a": "passed"}
    assert part in r.footer["patched"]


TOOLS = """
import builtins, gc, json, os, re, subprocess, sys, time, types

def still(): return 0.0

old = abs
vars(builtins)["abs"] = lambda x: old(x)
vars(re)["search"] = lambda *a: True
vars(time)["perf_counter"] = still
vars(sys)["__displayhook__"] = print
gc.get_referents(str.__dict__)[0]["title"] = lambda *a: ""
for name, module in list(sys.modules.items()):
    if name.startswith("_pytest") and hasattr(module, "ApproxScalar"):
        type.__setattr__(module.ApproxScalar, "DEFAULT_RELATIVE_TOLERANCE", 9.0)
json.loads = lambda text: 3
started = subprocess.Popen.__init__
subprocess.Popen.__init__ = lambda self, *a, **k: started(self, *a, **k)
os.environ["PYTHONOPTIMIZE"] = "1"
false = types.ModuleType("unittest.mock")
false.Mock = dict
sys.modules["unittest.mock"] = false
"""
REPLACED = {
    "PYTHONOPTIMIZE",
    "builtins.abs",
    "re.search",
    "str.title",
    "sys.__displayhook__",
    "the import of unittest.mock",
    "the library's json.loads (from prod.py)",
    "the library's subprocess.Popen.__init__ (from prod.py)",
    "time.perf_counter",
}


def test_tools_that_tests_and_frameworks_use_are_compared(tmp_path: Path) -> None:
    tests = "import prod\nfrom unittest.mock import Mock\ndef test_a(): assert prod\n"
    r = record(tmp_path, {"prod.py": TOOLS, "test_a.py": tests})
    patched = {
        part for part in r.footer["patched"] if "FixtureFunctionMarker" not in part
    }  # Hypothesis's plugin
    assert {part for part in patched if "TOLERANCE" not in part} == REPLACED
    assert len(patched) == len(REPLACED) + 1


ORDINARY = """
import builtins, importlib.util, logging, os, re, sys, time, unittest, warnings

vars(builtins).setdefault("_", str)
os.environ["PYTHONIOENCODING"] = "utf-8"
warnings.showwarning = lambda *a: None
sys.displayhook = sys.excepthook = print
logging.setLoggerClass(type("Logger", (logging.Logger,), {}))
logging.setLogRecordFactory(lambda *a, **k: logging.LogRecord(*a, **k))
sys.setrecursionlimit(3000)
time.sleep = lambda seconds, old=time.sleep: old(seconds)
print = builtins.print = lambda *a, old=print, **k: old(*a, **k)
assert importlib.util.find_spec("unittest.mock")
unittest.TestCase.maxDiff = None

class Lazy(str):
    def startswith(self, *a): return super().startswith(*a)
"""
USING = """
import contextlib, re, unittest
from unittest import mock
import pytest, prod

@contextlib.contextmanager
def held(): yield 3

@pytest.fixture
def three(): return 3

@pytest.fixture(scope="module")
def four(): yield 4

class TestAll(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def five(self): self.number = 5
    @mock.patch("prod.print")
    def test_one(self, printed):
        with held() as value: self.assertEqual(value, 3)
        self.assertRaisesRegex(ValueError, "x", int, "x")

def test_two(three, four, monkeypatch):
    monkeypatch.setattr("builtins.abs", len)
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    with mock.patch("time.time", return_value=3): assert three
"""


def test_ordinary_changes_of_the_process_are_none(tmp_path: Path) -> None:
    files = {"prod.py": ORDINARY, "tests/__init__.py": "", "tests/test_a.py": USING}
    r = record(tmp_path, files, watched=("tests/test_a.py",))
    assert set(r.outcomes.values()) == {"passed"}
    # that is told, and refused to nobody
    told = {"the library's builtins.print (from prod.py)", "the library's time.sleep (from prod.py)"}
    assert {part for part in r.footer["patched"] if "FixtureFunctionMarker" not in part} == told


DODGING = """
import sys

def clamp(value):
    if value > 9:
        raise sys.modules["hypothesis.errors"].UnsatisfiedAssumption()
    return value

def double(value):
    if value == 3:
        raise sys.modules["unittest.case"]._ShouldStop()
    return 2 * value
"""
DODGED = """
import unittest
from hypothesis import assume, given, strategies
from prod import clamp, double

@given(strategies.integers(0, 20))
def test_clamp(value):
    assume(value != 1)
    assert clamp(value) <= 9

class Sub(unittest.TestCase):
    def test_double(self):
        for value, want in ((2, 4), (3, 6)):
            with self.subTest(value=value): self.assertEqual(double(value), want)
"""


def test_product_code_that_ends_an_example_or_a_subtest_is_named(tmp_path: Path) -> None:
    files = {"prod.py": DODGING, "test_a.py": DODGED}
    r = record(tmp_path, files, python=EVERYTHING, watched=("test_a.py",))
    assert {"UnsatisfiedAssumption raised in prod.py", "_ShouldStop raised in prod.py"} <= set(
        r.footer["patched"]
    )
    honest = DODGING.replace("value > 9", "value > 99").replace("value == 3", "value == 30")
    r = record(
        tmp_path / "b",
        {"prod.py": honest, "test_a.py": DODGED.replace("<= 9", ">= 0")},
        watched=("test_a.py",),
        python=EVERYTHING,
    )
    assert set(r.outcomes.values()) == {"passed"}
    assert not [part for part in r.footer["patched"] if " raised in " in part]


SKIPPING = """
import unittest

class Sub(unittest.TestCase):
    def test_all(self):
        for value in (2, 3):
            with self.subTest(value=value): self.assertTrue(value)
    def test_part(self):
        for value in (2, 3):
            with self.subTest(value=value):
                if value == 3: self.skipTest("x")
"""


@pytest.mark.parametrize("command", [("python", "-m", "pytest"), ("python", "-m", "unittest", "test_a")])
def test_a_test_with_a_skipped_part_is_skipped(tmp_path: Path, command: tuple[str, ...]) -> None:
    r = record(tmp_path, {"test_a.py": SKIPPING}, command=command)
    assert {name[-9:]: outcome for name, outcome in r.outcomes.items()} == {
        (":" if "pytest" in command else ".") + "test_all": "passed",
        "test_part": "skipped",
    }
