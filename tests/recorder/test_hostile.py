"""Code under test that interferes with the process it runs in, by accident or on purpose."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.recorder.runkit import record

RUDE = """
    import builtins, hashlib, io, json, os, random, shutil, sys, tempfile, time

    def test_stdout(): sys.stdout = sys.stderr = None
    def test_after_stdout(): print("x")
    def test_environ(monkeypatch):
        saved = dict(os.environ)
        os.environ.clear()
        os.environ["PYTEST_CURRENT_TEST"] = "x"
    def test_removed_folder():
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        shutil.rmtree(folder)
    def test_back(): os.chdir(os.path.dirname(__file__))
    def _no(*a, **k): raise RuntimeError("patched")
    def test_patch_all():
        json.dumps = json.JSONEncoder.encode = json.encoder.c_make_encoder = _no
        hashlib.blake2b = hashlib.sha256 = _no
        os.write = os.fstat = os.getpid = os.stat = _no
        random.seed = random.getstate = _no
        time.time = time.perf_counter = time.monotonic = lambda: 0
        builtins.sorted = _no
    def test_data(): assert io.open("data.txt").read() == "hello"
    def test_patch_open(): builtins.open = _no
    def test_data_again(): assert io.FileIO("data.txt").read() == b"hello"
    def test_exit_hook(): sys.exit = os._exit = _no
    def test_fails(): assert 0
"""


def test_what_is_patched_is_not_what_the_recorder_uses(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_r.py": RUDE, "data.txt": "hello"}, fixtures=("data.txt",))
    assert r.footer["complete"], r.footer
    outcomes = {k.partition("::")[2]: v for k, v in r.outcomes.items()}
    assert len(outcomes) == 11
    assert outcomes["test_fails"] == "failed"
    assert outcomes["test_data"] == outcomes["test_data_again"] == "passed"
    assert r.end("test_data")["fixture_hash"] == r.end("test_data_again")["fixture_hash"]
    assert r.end("test_environ")["seed"] == ""
    assert r.end("test_stdout")["seed"] == "7"


FORGE = """
    import os, stat

    def _pipes():
        for fd in range(3, 64):
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode): yield fd
            except OSError: pass

    def test_a(): pass
    def test_forge():
        for fd in _pipes():
            try: os.write(fd, b'{"event":"end","nodeid":"x","outcome":"passed"}\\n')
            except OSError: pass
    def test_c(): pass
"""


def test_a_forged_line_breaks_the_record(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_f.py": FORGE})
    assert not r.footer["complete"]
    assert "did not write" in r.footer["reason"]
    assert r.outcomes == {"test_f.py::test_a": "passed"}


REWRITE = """
    import pytest
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.when == "call":
            report.outcome = "passed"
"""


def test_a_conftest_that_rewrites_reports_is_seen_in_its_folder(tmp_path: Path) -> None:
    clean = {"a/test_a.py": "def test_a(): pass\n", "b/test_b.py": "def test_b(): assert 0\n"}
    assert record(tmp_path / "clean", {**clean, "b/conftest.py": ""}).footer["sentinels"] == ""
    r = record(tmp_path / "rewritten", {**clean, "b/conftest.py": REWRITE})
    assert "fails was reported as passed" in r.footer["sentinels"]
    # and the exception was seen
    assert r.outcomes["b/test_b.py::test_b"] == "failed"
    assert r.end("test_b")["attempts"] == ["failed", "passed"]


REPORTS = """
from _pytest.reports import TestReport
TestReport.passed = property(lambda s: True)
old = TestReport.from_item_and_call.__func__
def new(cls, item, call):
    report = old(cls, item, call)
    report.outcome = "passed"
    return report
TestReport.from_item_and_call = classmethod(new)
"""
CALLS = """
from _pytest.runner import CallInfo
old = CallInfo.from_call.__func__
def new(cls, func, when, reraise=None):
    info = old(cls, func, when, reraise)
    info.excinfo = None
    return info
CallInfo.from_call = classmethod(new)
"""
BODIES = """
import _pytest.python
_pytest.python.Function.runtest = lambda self: None
"""


@pytest.mark.parametrize("attack", [REPORTS, CALLS, BODIES], ids=["reports", "calls", "bodies"])
def test_product_code_that_patches_the_framework(tmp_path: Path, attack: str) -> None:
    r = record(
        tmp_path,
        {
            "prod.py": attack,
            "test_a.py": "def test_a():\n    import prod\n    assert 0\ndef test_b(): assert 0\n",
        },
    )
    assert r.footer["sentinels"] != ""


def test_sentinels_are_never_counted(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef auto(): open('ran', 'a').write('x')\n",
            "a/conftest.py": "",
            "a/test_a.py": "def test_a(): pass\n",
            "b/test_b.py": "def test_b(): pass\n",
            "b/c/test_c.py": "import unittest\nclass T(unittest.TestCase):\n    def test_c(self): pass\n",
        },
    )
    assert len(r.collected) == len(r.of("start")) == len(r.of("end")) == 3
    assert r.footer["counts"] == {"passed": 3}
    assert r.footer["sentinels"] == ""
    assert (r.folder / "H-plain-1" / "tree" / "ran").read_text() == "xxx"


def test_multiprocessing_and_subprocesses(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "src/pkg/__init__.py": "WHERE = __file__\n",
            "src/pkg/__main__.py": "import pkg; print(pkg.WHERE)\n",
            "test_a.py": """
    import multiprocessing as m, os, subprocess, sys
    import pytest

    def double(x): return 2 * x

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_pool(method):
        with m.get_context(method).Pool(2) as pool:
            assert pool.map(double, [1, 2]) == [2, 4]

    def test_module(tmp_path):
        out = subprocess.check_output([sys.executable, "-m", "pkg"], cwd=tmp_path, text=True)
        assert os.path.dirname(__file__) in out
    """,
        },
        roots=("src", "."),
    )
    assert set(r.outcomes.values()) == {"passed"}, r.events


NAMESPACE = "import sys\nvars(sys.modules['pytest'])['raises'] = lambda *a: None\n"
APPROX = "import pytest\ntype(pytest.approx(1)).__eq__ = lambda a, b: True\n"
MOCK = "import unittest.mock as m\nm.NonCallableMock.assert_called_once_with = lambda *a, **k: None\n"
CAPTURE = "import _pytest.capture as c\nc.CaptureFixture.readouterr = lambda self: None\n"
ADDED = "import _pytest.python as p\np.Function.__getattribute__ = object.__getattribute__\n"
READING = "import importlib.machinery as m\nm.SourceFileLoader.get_data = lambda self, path: b''\n"


@pytest.mark.parametrize(
    ("attack", "part"),
    [
        (NAMESPACE, "pytest.raises"),
        (APPROX, ".ApproxScalar.__eq__"),
        (MOCK, "unittest.mock.NonCallableMock.assert_called_once_with"),
        (CAPTURE, "_pytest.capture.CaptureFixture.readouterr"),
        (ADDED, "_pytest.python.Function.__getattribute__"),
        (READING, "SourceFileLoader.get_data"),
    ],
)
def test_what_tests_assert_with_is_compared_too(tmp_path: Path, attack: str, part: str) -> None:
    r = record(tmp_path, {"prod.py": attack, "test_a.py": "def test_a():\n    import prod\n"})
    assert [name for name in r.footer["patched"] if name.endswith(part)]


def test_using_what_tests_assert_with_is_no_patching(tmp_path: Path) -> None:
    test = """
    import json, unittest, unittest.mock
    import pytest

    @unittest.mock.patch("json.dumps")
    def test_mock(dumps):
        json.dumps(1)
        dumps.assert_called_once_with(1)

    def test_put_back(monkeypatch):
        monkeypatch.setattr(pytest, "raises", None)
        monkeypatch.setattr(unittest.mock, "patch", None)

    def test_rest(capsys, caplog, recwarn, subtests=None):
        with pytest.raises(ZeroDivisionError):
            1 / 0
        with pytest.warns(UserWarning):
            __import__("warnings").warn("x")
        assert 1.0 == pytest.approx(1)

    class Case(unittest.IsolatedAsyncioTestCase):
        async def test_case(self): self.assertTrue(True)
    """
    r = record(tmp_path, {"test_a.py": test})
    assert set(r.outcomes.values()) == {"passed"}
    # Hypothesis's plugin for pytest does so, in base as well
    assert set(r.footer["patched"]) <= {"_pytest.fixtures.FixtureFunctionMarker.__call__"}


HELPERS = """
    EXPECTED = {1: 2, 3: 4}
    NAMES = ["a", "b"]
    LOG = []

    def check(got, want):
        assert got == want

    class Base:
        def verify(self, got): assert got
"""
HOLDING = """
    import pytest
    from tests import helpers
    from tests.helpers import check
    from .helpers import (
        check as other,  # the same
    )
    from pytest import raises
    import prod

    @pytest.fixture
    def one(): return 1

    def test_a(one):
        prod.act()
        helpers.LOG.append(1)

    def test_b(): check(1, 1)
"""
PROD = """
import sys, types
def act():
    h, t = sys.modules["tests.helpers"], sys.modules["tests.test_a"]
    {act}
"""
ACTS = {
    "check of tests/helpers.py": [
        "h.check = lambda *a: None",
        "h.check.__code__ = (lambda got, want: None).__code__",
        "h.check = types.FunctionType(h.check.__code__, {'AssertionError': SystemExit})",
    ],
    "check of tests/test_a.py": ["t.check = lambda *a: None"],
    "pytest of tests/test_a.py": ["t.pytest = types.SimpleNamespace()"],
    "helpers of tests/test_a.py": ["t.helpers = types.SimpleNamespace(LOG=[])"],
    "raises of tests/test_a.py": ["t.raises = None"],
    "other of tests/test_a.py": ["t.other = lambda *a: None"],
    "Base.verify of tests/helpers.py": ["h.Base.verify = lambda *a: None"],
    "test_b of tests/test_a.py": [
        "t.test_b.__code__ = t.test_b.__code__.replace(co_consts=(None, 2))",
        "t.test_b = lambda: None",
    ],
    "EXPECTED of tests/helpers.py": ["h.EXPECTED[1] = 3", "h.EXPECTED = {1: 2, 3: 4.0}"],
    "NAMES of tests/helpers.py": ["h.NAMES.append('c')"],
}


@pytest.mark.parametrize(("part", "act"), [(part, act) for part, acts in ACTS.items() for act in acts])
def test_what_trusted_tests_hold_is_compared(tmp_path: Path, part: str, act: str) -> None:
    files = {
        "prod.py": PROD.format(act=act),
        "tests/__init__.py": "",
        "tests/helpers.py": HELPERS,
        "tests/test_a.py": HOLDING,
    }
    r = record(tmp_path, files, watched=("tests/helpers.py", "tests/test_a.py"))
    assert part in r.footer["patched"]


ORDINARY = """
    import functools, pytest, unittest
    from unittest import mock

    COUNT = 1
    ROWS = [1, 2]
    ROWS += [3]
    TABLE = {
        "a": (1, 2.5, None, b"x"),  # a comment
        "b": {"x", "y"},
    }
    TEXT = '''
    several lines
    '''
    LATER = [1]

    def plain(x=[]): return x

    def twice(): return 1
    def twice(): return 2

    wrapped = functools.lru_cache(plain)

    @functools.lru_cache
    def cached(): return 1

    def _helper(): return 1

    @pytest.mark.parametrize("n", ROWS)
    def test_rows(n): assert plain([n]) == [n] and twice() == 2

    @mock.patch(__name__ + "._helper", return_value=2)
    def test_mock(helper): assert _helper() == 2

    def test_put_back(monkeypatch):
        import sys
        monkeypatch.setattr(sys.modules[__name__], "plain", None)
        monkeypatch.setitem(TABLE, "a", 1)

    class Case(unittest.TestCase):
        @classmethod
        def setUpClass(cls): cls.value = 1
        def setUp(self): self.other = 2
        def test_case(self): self.assertEqual(self.value, 1)
        def _private(self): pass
        __mangled = _private

    def test_global():
        global COUNT
        COUNT += 1
"""


@pytest.mark.parametrize("command", [("pytest",), ("unittest", "discover", "-t", ".")])
def test_ordinary_tests_hold_what_they_held(tmp_path: Path, command: tuple[str, ...]) -> None:
    files = {
        "test_a.py": ORDINARY,
        "conftest.py": "def hook(): pass\n",
        "sub/conftest.py": "def other(): pass\n",
    }
    r = record(
        tmp_path,
        files,
        command=("python", "-m", *command),
        watched=("test_a.py", "conftest.py", "sub/conftest.py"),
    )
    assert set(r.outcomes.values()) == {"passed"}
    # what the module does to its own names counts in base as well
    known = {"_pytest.fixtures.FixtureFunctionMarker.__call__", "COUNT of test_a.py"}
    assert set(r.footer["patched"]) <= known


MARKS = """
    import ctypes, os, sys

    def test_environment():
        assert not {"TEST_SEED", "PYTHONHASHSEED", "TZ", "PYTEST_CURRENT_TEST"} & set(os.environ)

    def test_modules(): assert "pytest" not in sys.modules

    def test_bound_to_its_parent():
        signal = ctypes.c_int(0)
        ctypes.CDLL(None).prctl(2, ctypes.byref(signal))  # PR_GET_PDEATHSIG
        assert signal.value == 0

    def test_parent():
        with open("/proc/%d/comm" % os.getppid()) as stream: assert "python" not in stream.read()

    def test_git(): assert os.path.exists(".git/HEAD")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it asks /proc")
def test_a_masked_run_has_no_mark_of_a_gate(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_m.py": MARKS}, masked=True)
    assert set(r.outcomes.values()) == {"passed"}, r.events
    assert set(record(tmp_path / "plain", {"test_m.py": MARKS}).outcomes.values()) == {"failed"}
