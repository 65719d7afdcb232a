"""Only an agent's test files are listed, and only what the change reaches."""

from __future__ import annotations

from redbucket.guards.context import MANY_FILES
from redbucket.guards.untrusted_test import check, untrusted
from tests.guards.contexts import SIDE, context, severities

TEST = "tests/test_a.py"
BASE = {
    TEST: "import os\nfrom lib import f\n\ndef test_a():\n    assert f(1)\n\ndef test_b():\n    assert os.sep\n",
    "tests/data/rows.json": "[]",
    "tests/README.md": "Tests\n",
    "src/lib.py": "def f(x): return x\n",
}


def test_authored_and_altered() -> None:
    edits = {TEST: BASE[TEST].replace("f(1)", "f(2)") + "\ndef test_c():\n    assert 1\n"}
    found = {finding.nodeid: finding.reason for finding in check(context(BASE, edits), SIDE)}
    assert found == {
        "tests/test_a.py::test_a": "altered by the patch: the patch changed this test",
        "tests/test_a.py::test_c": "authored by the patch: the patch added this test",
    }


def test_what_the_change_does_not_reach_is_trusted() -> None:
    edits = {
        TEST: BASE[TEST].replace("import os\n", "import os\nimport json\n"),
        "tests/data/rows.json": "[1]",
        "src/lib.py": "def f(x): return x + 1\n",
    }
    assert check(context(BASE, edits), SIDE) == []


def test_people_are_trusted() -> None:
    assert untrusted(context(BASE, {TEST: "def test_a(): pass\n"}, agent=False), SIDE) == {}


def test_it_never_refuses() -> None:
    assert severities(check(context(BASE, {TEST: "def (:"}), SIDE)) == {"note"}


def test_very_many_files_are_listed_by_file() -> None:
    edits = {f"tests/test_{number}.py": "def test_x():\n    assert 1\n" for number in range(MANY_FILES)}
    more = {**edits, TEST: BASE[TEST] + "\ndef test_c():\n    assert 1\n"}
    by_test = {finding.nodeid for finding in check(context(BASE, edits), SIDE)}
    by_file = {finding.path: finding for finding in check(context(BASE, more), SIDE)}
    assert by_test == {f"{path}::test_x" for path in edits}
    assert by_file.keys() == more.keys()
    assert {finding.nodeid for finding in by_file.values()} == {None}
    assert by_file[TEST].reason.startswith("altered")
    assert by_file["tests/test_0.py"].reason.startswith("authored")
