"""What a shard of a suite collects and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.runkit import record

FILES = {
    "tests/__init__.py": "",
    "tests/conftest.py": "open('conftest-loaded', 'w').close()",
    "tests/test_a.py": "def test_one():\n    pass\n\n\ndef test_two():\n    pass\n",
    "tests/test_b.py": "open('b-imported', 'w').close()\n\n\ndef test_one():\n    pass\n",
    "tests/deep/test_c.py": "def test_one():\n    pass\n",
    "new/test_new.py": "def test_one():\n    pass\n",
}
A = ["tests/test_a.py::test_one", "tests/test_a.py::test_two"]


def test_its_files_alone_are_imported(tmp_path: Path) -> None:
    files = ("tests/test_a.py", "tests/deep/test_c.py", "tests/test_gone.py")
    seen = record(tmp_path, FILES, files=files)
    assert seen.collected == ["tests/deep/test_c.py::test_one", *A]
    assert seen.footer["complete"]
    assert not list(tmp_path.rglob("b-imported"))
    assert list(tmp_path.rglob("conftest-loaded"))


def test_the_rest_is_all_that_is_in_no_other(tmp_path: Path) -> None:
    seen = record(tmp_path, FILES, without=("tests/test_b.py", "tests/deep/test_c.py"))
    assert sorted(seen.collected) == ["new/test_new.py::test_one", *A]
    assert not list(tmp_path.rglob("b-imported"))


def test_a_shard_whose_files_are_gone_is_complete(tmp_path: Path) -> None:
    seen = record(tmp_path, FILES, files=("tests/test_gone.py",))
    assert (seen.collected, seen.footer["complete"]) == ([], True)


def test_sentinels_are_in_it(tmp_path: Path) -> None:
    """A conftest that makes all tests pass is caught in the shard that it acts on."""
    files = {
        **FILES,
        "tests/conftest.py": """
            import pytest

            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                outcome.get_result().outcome = "passed"
            """,
    }
    assert "always fails" in record(tmp_path, files, files=("tests/test_b.py",)).footer["sentinels"]
    clear = record(tmp_path, files, files=("new/test_new.py",), run_folder="other")
    assert clear.footer["sentinels"] == ""


CASE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n"


@pytest.mark.parametrize(("which", "other"), [("files", "a"), ("without", "b")])
def test_unittest(tmp_path: Path, which: str, other: str) -> None:
    files = {"tests/__init__.py": "", "tests/test_a.py": CASE, "tests/test_b.py": CASE}
    chosen = {which: ("tests/test_a.py",)}
    seen = record(tmp_path, files, command=("python", "-m", "unittest"), **chosen)
    assert seen.collected == [f"tests.test_{other}.T.test"]
    assert seen.footer["complete"]
