"""The twin for plain unittest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.envs import venv
from tests.recorder.runkit import record

SUITE = """
    import os, sys, time, unittest, random

    class Mixed(unittest.TestCase):
        def test_ok(self): open("data.txt").read()
        def test_no(self): self.assertEqual(1, 2)
        def test_error(self): raise ValueError("x")
        def test_skip(self): self.skipTest("why")
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.expectedFailure
        def test_unexpected(self): pass
        def test_sub(self):
            for i in range(3):
                with self.subTest(i=i): self.assertNotEqual(i, 1)
        def test_sub_ok(self):
            with self.subTest(i=1): pass
        def test_crash(self): os._exit(0)
        def test_hang(self): time.sleep(100)
        def test_exit(self): sys.exit(0)
        def test_random(self): print(random.random())

    class ClassFails(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise RuntimeError("class")
        def test_a(self): pass
        def test_b(self): pass

    class ClassSkips(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise unittest.SkipTest("class skip")
        def test_a(self): pass

    class ClassReads(unittest.TestCase):
        @classmethod
        def setUpClass(cls): open("data.txt").read()
        def test_a(self): pass
        def test_b(self): pass

    class SetUp(unittest.TestCase):
        def setUp(self): raise OSError("setup")
        def test_a(self): pass

    class TearDown(unittest.TestCase):
        def tearDown(self): raise OSError("teardown")
        def test_a(self): pass

    class Async(unittest.IsolatedAsyncioTestCase):
        async def test_ok(self): pass
        async def test_no(self): self.fail("async")
"""
FILES = {
    "data.txt": "x",
    "tests/__init__.py": "",
    "tests/test_s.py": SUITE,
    "tests/test_bad.py": "import no_such_thing\n",
    "tests/test_module.py": """
    import unittest
    def setUpModule(): raise RuntimeError("module")
    class M(unittest.TestCase):
        def test_a(self): pass
    """,
    "tests/test_load.py": """
    import unittest
    class L(unittest.TestCase):
        def test_a(self): pass
        def test_b(self): pass
    def load_tests(loader, tests, pattern): return unittest.TestSuite([L("test_b")])
    """,
    "tests/test_skipped.py": 'import unittest\nraise unittest.SkipTest("all")\n',
}
EXPECTED = {
    "Mixed.test_ok": "passed",
    "Mixed.test_no": "failed",
    "Mixed.test_error": "error",
    "Mixed.test_skip": "skipped",
    "Mixed.test_expected": "xfailed",
    "Mixed.test_unexpected": "xpassed",
    "Mixed.test_sub": "failed",
    "Mixed.test_sub_ok": "passed",
    "Mixed.test_crash": "crashed",
    "Mixed.test_hang": "timeout",
    "Mixed.test_exit": "error",
    "Mixed.test_random": "passed",
    "ClassFails.test_a": "error",
    "ClassFails.test_b": "error",
    "ClassSkips.test_a": "skipped",
    "ClassReads.test_a": "passed",
    "ClassReads.test_b": "passed",
    "SetUp.test_a": "error",
    "TearDown.test_a": "error",
    "Async.test_ok": "passed",
    "Async.test_no": "failed",
}


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_discover(tmp_path: Path, version: str) -> None:
    r = record(
        tmp_path,
        FILES,
        command=("python", "-m", "unittest"),
        python=venv(version),
        fixtures=("data.txt",),
        timeout=2.0,
    )
    assert r.footer["complete"], r.footer
    outcomes = {k.removeprefix("tests.test_s."): v for k, v in r.outcomes.items()}
    assert outcomes.pop("tests.test_module.M.test_a") == "error"
    assert outcomes.pop("tests.test_load.L.test_b") == "passed"
    assert outcomes == EXPECTED
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    assert list(errors) == ["tests.test_bad"]
    assert errors["tests.test_bad"].partition("\n")[0] == (
        "ModuleNotFoundError: No module named 'no_such_thing' (tests/test_bad.py:1)"
    )
    assert sorted(r.collected) == sorted(r.outcomes)
    assert r.footer["sentinels"] == ""
    assert "class skip" in r.end("ClassSkips.test_a")["message"]
    assert "RuntimeError" in r.end("ClassFails.test_b")["message"]
    assert "random" in r.end("test_random")["entropy"]
    reads = {e["nodeid"] for e in r.of("end") if e.get("fixtures")}
    assert {n.removeprefix("tests.test_s.") for n in reads} == {
        "Mixed.test_ok",
        "ClassReads.test_a",
        "ClassReads.test_b",
    }


SMALL = {
    "tests/test_a.py": """
    import unittest
    class A(unittest.TestCase):
        def test_a(self): pass
        def test_b(self): pass
    """,
    "tests/test_b.py": "import unittest\nclass B(unittest.TestCase):\n    def test_a(self): self.fail()\n",
}


@pytest.mark.parametrize(
    ("args", "ids"),
    [
        (("discover", "-s", "tests"), ["test_a.A.test_a", "test_a.A.test_b", "test_b.B.test_a"]),
        (
            ("-v", "-f", "-b", "tests.test_a", "tests.test_b.B.test_a"),
            ["tests.test_a.A.test_a", "tests.test_a.A.test_b", "tests.test_b.B.test_a"],
        ),
        (("tests.test_a.A.test_b",), ["tests.test_a.A.test_b"]),
    ],
)
def test_arguments(tmp_path: Path, args: tuple[str, ...], ids: list[str]) -> None:
    r = record(tmp_path, SMALL, command=("python", "-m", "unittest", *args))
    assert r.collected == ids == list(r.outcomes)
    assert r.footer["complete"]


def test_order_selection_and_lines(tmp_path: Path) -> None:
    files = {
        "prod.py": "LIMIT = 1\ndef f(x):\n    return x\n",
        "test_a.py": """
    import unittest, prod
    class A(unittest.TestCase):
        def test_a(self): pass
        def test_b(self): prod.f(1)
    """,
    }
    r = record(
        tmp_path, files, command=("python", "-m", "unittest"), order="reversed", lines={"prod.py": (1, 2, 3)}
    )
    assert r.collected == ["test_a.A.test_b", "test_a.A.test_a"] == list(r.outcomes)
    assert r.end("test_b")["touched"] == ["prod.py:1", "prod.py:2", "prod.py:3"]
    assert r.end("test_a")["touched"] == ["prod.py:1"]
    r = record(tmp_path / "b", files, command=("python", "-m", "unittest"), only=("test_a.A.test_b",))
    assert r.collected == ["test_a.A.test_b"]
    r = record(tmp_path / "c", files, command=("python", "-m", "unittest"), collect_only=True)
    assert len(r.collected) == 2
    assert not r.of("start")


def test_patched_framework(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "test_a.py": """
    import unittest
    unittest.TestCase.fail = unittest.TestCase.failureException = None
    unittest.TestResult.addFailure = unittest.TestResult.addError = unittest.TestResult.addSuccess
    unittest.TestCase.run = lambda self, result=None: None
    class A(unittest.TestCase):
        def test_a(self): self.assertEqual(1, 2)
    """
        },
        command=("python", "-m", "unittest"),
    )
    assert r.footer["sentinels"] or not r.footer["complete"]
    assert r.outcomes.get("test_a.A.test_a") != "passed"


def test_nothing(tmp_path: Path) -> None:
    r = record(tmp_path, {"a.txt": ""}, command=("python", "-m", "unittest"))
    assert r.collected == []
    assert r.footer["complete"]
    bad = record(tmp_path / "b", {"a.txt": ""}, command=("python", "-m", "unittest", "--no-such"))
    assert not bad.footer["complete"]
    assert "--no-such" in bad.footer["reason"]
