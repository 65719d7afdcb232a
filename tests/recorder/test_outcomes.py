"""Every outcome that one test can have in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.runkit import record

KINDS = """
    import pytest

    def test_passed(): pass
    def test_failed(): assert 1 == 2
    def test_raises(): raise ValueError("no")

    @pytest.fixture
    def bad_setup(): raise OSError("setup")
    def test_setup_error(bad_setup): pass

    @pytest.fixture
    def bad_teardown(): yield; raise OSError("teardown")
    def test_teardown_error(bad_teardown): pass
    def test_both_error(bad_teardown): assert 0

    def test_skip(): pytest.skip("no docker")
    @pytest.mark.skip(reason="marked")
    def test_skip_mark(): pass
    def test_importorskip(): pytest.importorskip("no_such_module_here")

    @pytest.mark.xfail
    def test_xfail(): assert 0
    @pytest.mark.xfail
    def test_xpass(): pass
    @pytest.mark.xfail(strict=True)
    def test_xpass_strict(): pass
    @pytest.mark.xfail(raises=KeyError)
    def test_xfail_other(): raise ValueError
    def test_xfail_imperative(): pytest.xfail("not yet")
    @pytest.mark.xfail(run=False)
    def test_xfail_norun(): assert 0
    @pytest.mark.xfail
    def test_xfail_teardown(bad_teardown): assert 0

    def test_exit_code():
        raise SystemExit(0)
    def test_generator_exit():
        raise GeneratorExit

    class TestClass:
        def test_method(self): pass
        class TestInner:
            def test_method(self): assert 0
"""


def test_outcomes(tmp_path: Path) -> None:
    r = record(tmp_path, {"tests/test_kinds.py": KINDS})
    assert {k.rpartition("test_kinds.py::")[2]: v for k, v in r.outcomes.items()} == {
        "test_passed": "passed",
        "test_failed": "failed",
        "test_raises": "failed",
        "test_setup_error": "error",
        "test_teardown_error": "error",
        "test_both_error": "error",
        "test_skip": "skipped",
        "test_skip_mark": "skipped",
        "test_importorskip": "skipped",
        "test_xfail": "xfailed",
        "test_xpass": "passed",
        "test_xpass_strict": "xpassed",
        "test_xfail_other": "failed",
        "test_xfail_imperative": "xfailed",
        "test_xfail_norun": "xfailed",
        "test_xfail_teardown": "xfailed",
        "test_exit_code": "failed",
        "test_generator_exit": "failed",
        "TestClass::test_method": "passed",
        "TestClass::TestInner::test_method": "failed",
    }
    assert r.footer["complete"]
    assert sum(r.footer["counts"].values()) == len(r.collected) == len(r.of("start"))
    assert r.end("test_setup_error")["phase"] == "setup"
    assert r.end("test_teardown_error")["phase"] == "teardown"
    # the failure of the body is what the test is known by, not what followed it
    assert r.end("test_both_error")["phase"] == "call"
    assert "no docker" in r.end("test_skip")["message"]
    assert r.end("test_failed")["exception"] == "AssertionError"
    assert "assert 1 == 2" in r.end("test_failed")["message"]
    assert r.end("test_failed")["message"].endswith("(tests/test_kinds.py:test_failed)")
    assert not any("attempts" in e for e in r.of("end"))
    assert [e["index"] for e in r.of("end")] == list(range(len(r.collected)))


def test_unittest_classes_under_pytest(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "test_u.py": """
    import unittest

    class Fails(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise RuntimeError("class")
        def test_a(self): pass
        def test_b(self): pass

    class Skips(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise unittest.SkipTest("class")
        def test_a(self): pass

    class Mixed(unittest.TestCase):
        def test_ok(self): self.assertEqual(1, 1)
        def test_no(self): self.assertEqual(1, 2)
        def test_skip(self): self.skipTest("x")
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.expectedFailure
        def test_unexpected(self): pass
        def test_sub(self):
            for i in range(3):
                with self.subTest(i=i): self.assertNotEqual(i, 1)
        def test_sub_ok(self):
            for i in range(3):
                with self.subTest(i=i): pass

    class Async(unittest.IsolatedAsyncioTestCase):
        async def test_ok(self): pass
        async def test_no(self): self.fail("async")
    """
        },
    )
    assert {k.removeprefix("test_u.py::"): v for k, v in r.outcomes.items()} == {
        "Fails::test_a": "error",
        "Fails::test_b": "error",
        "Skips::test_a": "skipped",
        "Mixed::test_ok": "passed",
        "Mixed::test_no": "failed",
        "Mixed::test_skip": "skipped",
        "Mixed::test_expected": "xfailed",
        "Mixed::test_unexpected": "failed",
        "Mixed::test_sub": "failed",
        "Mixed::test_sub_ok": "passed",
        "Async::test_ok": "passed",
        "Async::test_no": "failed",
    }
    assert r.footer["complete"]


def test_messages_and_exceptions(tmp_path: Path) -> None:
    """Bounded, whatever an exception does when it is asked for its text."""
    r = record(
        tmp_path,
        {
            "test_m.py": """
    import sys, pytest

    class Evil(Exception):
        def __str__(self): raise KeyboardInterrupt
        __repr__ = __str__

    class NotText(Exception):
        def __str__(self): return 7

    class Odd(str):
        def __len__(self): return -1
        def __getitem__(self, key): raise ValueError
    class OddText(Exception):
        def __str__(self): return Odd("odd")

    def test_evil(): raise Evil
    def test_not_text(): raise NotText
    def test_odd_text(): raise OddText
    def test_huge(): raise ValueError("A" * 5000 + "x" * 3_000_000 + "Z" * 5000)
    def test_output(): print("y" * 5_000_000); assert 0
    def test_surrogate(): raise ValueError("\\udc80 \\N{GRINNING FACE} \\x00 \\x1b[31m")
    def test_repr():
        class R:
            def __repr__(self): raise RuntimeError("repr")
        assert R() == 1
    def test_chain():
        try: {}["k"]
        except KeyError as e: raise ValueError("outer") from e
    @pytest.mark.skipif(sys.version_info < (3, 11), reason="groups")
    def test_group():
        raise ExceptionGroup("many", [ValueError("one"), ExceptionGroup("in", [KeyError("two")])])
    """
        },
    )
    assert r.footer["complete"]
    assert set(r.outcomes.values()) <= {"failed", "skipped"}
    assert "<no message: KeyboardInterrupt in __str__>" in r.end("test_evil")["message"]
    assert "TypeError in __str__" in r.end("test_not_text")["message"]
    assert "odd" in r.end("test_odd_text")["message"]
    huge = r.end("test_huge")["message"]
    assert len(huge) < 9000
    assert "characters cut" in huge
    assert "AAAA" in huge
    assert "ZZZZ" in huge
    assert "\N{GRINNING FACE}" in r.end("test_surrogate")["message"]
    if r.outcomes["test_m.py::test_group"] == "failed":
        assert "KeyError: 'two'" in r.end("test_group")["message"]
    assert all(len(line) < 40_000 for e in r.events for line in [str(e)])


def test_doctests_and_custom_items(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "pytest.ini": "[pytest]\naddopts = --doctest-modules --doctest-glob=*.rst\n",
            "pkg/__init__.py": '''
    def good():
        """
        >>> good()
        1
        """
        return 1

    def bad():
        """
        >>> bad()
        1
        """
        return 2

    def worse():
        """
        >>> for n in [1]:
        ...     bad() + "1"
        3
        """
    ''',
            "doc.rst": ">>> 1 + 1\n2\n",
            "conftest.py": """
    import pytest

    def pytest_collect_file(parent, file_path):
        if file_path.suffix == ".yaml":
            return YamlFile.from_parent(parent, path=file_path)

    class YamlFile(pytest.File):
        def collect(self):
            for line in self.path.read_text().splitlines():
                name, _, value = line.partition(":")
                yield YamlItem.from_parent(self, name=name, value=value.strip())

    class YamlItem(pytest.Item):
        def __init__(self, *, value, **kwargs):
            super().__init__(**kwargs)
            self.value = value
        def runtest(self):
            if self.value != "ok":
                raise AssertionError(self.value)
    """,
            "specs/a.yaml": "one: ok\ntwo: broken\nthree with space: ok\n",
            "test_plain.py": "def test_plain(): pass\n",
        },
    )
    assert r.footer["complete"], r.footer
    assert r.outcomes == {
        "doc.rst::doc.rst": "passed",
        "pkg/__init__.py::pkg.bad": "failed",
        "pkg/__init__.py::pkg.good": "passed",
        "pkg/__init__.py::pkg.worse": "failed",
        "specs/a.yaml::one": "passed",
        "specs/a.yaml::two": "failed",
        "specs/a.yaml::three with space": "passed",
        "test_plain.py::test_plain": "passed",
    }
    assert "expected: 1" in r.end("pkg.bad")["message"]
    assert "\n>>> bad()\nexpected: 1" in r.end("pkg.bad")["message"]
    assert "got: 2" in r.end("pkg.bad")["message"]
    # str() of an exception in a doctest names the docstring alone
    assert '\n>>> for n in [1]:\n...     bad() + "1"\nraised: TypeError: ' in r.end("pkg.worse")["message"]


def test_no_tests_and_bad_options(tmp_path: Path) -> None:
    nothing = record(tmp_path / "a", {"readme.txt": ""})
    assert nothing.collected == []
    assert nothing.footer["complete"]

    bad = record(
        tmp_path / "b",
        {"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "test_a.py": "def test_a(): 0\n"},
    )
    assert not bad.footer["complete"]
    assert "--no-such-option" in bad.footer["reason"]

    conftest = record(
        tmp_path / "c", {"conftest.py": "import no_such_thing\n", "test_a.py": "def test_a(): 0\n"}
    )
    assert not conftest.footer["complete"]
    assert "no_such_thing" in conftest.footer["reason"]


def test_one_file_that_does_not_import(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "tests/test_bad.py": "import no_such_thing\ndef test_x(): pass\n",
            "tests/test_syntax.py": "def test_x(:\n",
            "tests/test_good.py": "def test_ok(): pass\n",
            "tests/test_module_skip.py": "import pytest\npytest.skip('all', allow_module_level=True)\n",
        },
    )
    assert r.outcomes == {"tests/test_good.py::test_ok": "passed"}
    assert r.footer["complete"]
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    assert set(errors) == {"tests/test_bad.py", "tests/test_syntax.py"}
    assert errors["tests/test_bad.py"].splitlines() == [
        "ModuleNotFoundError: No module named 'no_such_thing' (tests/test_bad.py:1)",
        "  tests/test_bad.py:1: import no_such_thing",
    ]
    assert errors["tests/test_syntax.py"].startswith("SyntaxError: ")
    assert errors["tests/test_syntax.py"].partition("\n")[0].endswith(" (tests/test_syntax.py:1)")


PRODUCT_ERRORS = {
    "syntax": ("def (\n", "SyntaxError: invalid syntax (prod.py:1)", "prod.py:1: def ("),
    "raised": ("1 / 0\n", "ZeroDivisionError: division by zero (prod.py:1)", "prod.py:1: 1 / 0"),
    "two lines": (
        "raise ValueError('a\\nb')\n",
        "ValueError: a (prod.py:1)",
        "prod.py:1: raise ValueError('a\\nb')",
    ),
    "elsewhere": (
        "import json\njson.loads('')\n",
        "json.decoder.JSONDecodeError: ",
        "  prod.py:2: json.loads('')",
    ),
    "a name": (
        "",
        "ImportError: cannot import name 'f' from 'prod' (prod.py) (test_a.py:1)",
        "test_a.py:1: from",
    ),
    "reworded": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('no') from error\n",
        "RuntimeError: no (prod.py:4)",
        "prod.py:4: raise",
    ),
}


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
@pytest.mark.parametrize(("source", "first", "led"), PRODUCT_ERRORS.values(), ids=PRODUCT_ERRORS)
def test_a_product_that_does_not_import_is_named_by_its_own_error(
    tmp_path: Path, runner: str, source: str, first: str, led: str
) -> None:
    r = record(
        tmp_path,
        {
            "prod.py": source,
            "test_a.py": "from prod import f\n",
            "conftest.py": "import sys\nsys.path.insert(0, '.')\n",
        },
        command=("python", "-m", runner),
    )
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    (error,) = errors.values()
    assert error.startswith(first), error
    assert led in error
    assert "_pytest" not in error
    assert str(tmp_path) not in error


def test_what_pytest_itself_says_of_a_file_stays(tmp_path: Path) -> None:
    """Two files of one name: the words are pytest's, for people, and no frame is more to the point."""
    r = record(tmp_path, {"a/test_x.py": "def test_a(): pass\n", "b/test_x.py": "def test_b(): pass\n"})
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    assert errors["b/test_x.py"].startswith("import file mismatch:")
