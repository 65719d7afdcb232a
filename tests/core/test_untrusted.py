"""Which tests a patch authored or altered: one tree, one edit, the tests that it reaches."""

from __future__ import annotations

import pytest

from redbucket.core.untrusted import How, matches, untrusted_nodeids, untrusted_tests
from tests.core.trees import MemoryTree

A = "tests/test_a.py"
BASE = {
    "lib.py": "def f(): return 1\n",
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef db(settings):\n    return {}\n\n"
    "@pytest.fixture\ndef settings():\n    return 1\n\n@pytest.fixture\ndef lonely():\n    return 2\n",
    "tests/helpers.py": "LIMIT = 3\ndef check(x):\n    assert x < LIMIT\ndef other(x):\n    assert x\n",
    "tests/bases.py": "class Base:\n    size = 1\n    def make(self):\n        return 1\n"
    "    def test_inherited(self):\n        assert self.make() == 1\n",
    A: """\
import os
import json
from lib import f
from tests.helpers import check
from tests import helpers
from tests.bases import Base

ROWS = [1, 2]
OTHER = 5

def local(x):
    return x + OTHER

def test_plain():
    assert f() == 1

def test_fixture(db):
    assert db == {}

def test_imported():
    check(1)

def test_attribute():
    helpers.other(1)

@pytest.mark.parametrize("x", ROWS)
def test_rows(x):
    assert x

def test_local():
    assert local(1) == 6

class TestIt(Base):
    def setup_method(self):
        self.x = 1

    def test_one(self):
        assert self.x == 1

    def test_two(self):
        assert self.make() == 1
""",
    "tests/sub/test_far.py": "def test_far(db):\n    assert db == {}\n\ndef test_near():\n    assert 1\n",
    "tests/legacy.test.js": "it('works', () => {})\n",
}


def edit(*edits: tuple[str, str, str], **more: str | None) -> dict[tuple[str, str], str]:
    files: dict[str, str] = dict(BASE)
    for path, old, new in edits:
        assert old in files[path]
        files[path] = files[path].replace(old, new)
    base, head = MemoryTree(BASE), MemoryTree(files)
    changed = {path for path in files if files[path] != BASE.get(path)}
    found = untrusted_tests(base, head, changed, lambda path: path.startswith("tests/"))
    return {key: value.how.value for key, value in found.items() if value.test_like}


def names(found: dict[tuple[str, str], str]) -> set[str]:
    return {name for _, name in found}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        (A, "assert f() == 1", "assert f()", {"test_plain"}),
        (A, "assert f() == 1", "assert  f()  ==  1  # same", set()),
        (A, "import json\n", "", set()),
        (A, "import os\n", "import os, sys\n", set()),
        (A, "from lib import f", "from fake import f", {"test_plain"}),
        (A, "ROWS = [1, 2]", "ROWS = [1]", {"test_rows"}),
        (A, "OTHER = 5", "OTHER = 6", {"test_local"}),
        (A, "ROWS = [1, 2]", "ROWS = [1, 2]\nROWS.pop()", None),
        (A, "ROWS = [1, 2]", "pytestmark = pytest.mark.skip\nROWS = [1, 2]", None),
        (A, "self.x = 1\n", "self.x = 2\n", {"TestIt.test_one", "TestIt.test_two", "TestIt.test_inherited"}),
        (A, "class TestIt(Base):", "class TestIt(object):", {"TestIt.test_one", "TestIt.test_two"}),
        ("tests/helpers.py", "LIMIT = 3", "LIMIT = 4", {"test_imported"}),
        ("tests/helpers.py", "assert x\n", "pass\n", {"test_attribute"}),
        ("tests/conftest.py", "return 1", "return 9", {"test_fixture", "test_far"}),
        ("tests/conftest.py", "return 2", "return 3", set()),
        (
            "tests/bases.py",
            "return 1",
            "return 2",
            {"TestIt.test_two", "TestIt.test_inherited", "Base.test_inherited"},
        ),
    ],
)
def test_reach(path: str, old: str, new: str, expected: set[str] | None) -> None:
    found = names(edit((path, old, new)))
    if expected is None:
        assert {"test_plain", "test_fixture", "TestIt.test_one", "TestIt.test_inherited"} <= found
    else:
        assert found == expected


def test_autouse_fixture_reaches_every_test_below() -> None:
    new = "@pytest.fixture(autouse=True)\ndef quiet():\n    pass\n\n@pytest.fixture\ndef lonely"
    found = edit(("tests/conftest.py", "@pytest.fixture\ndef lonely", new))
    assert ("tests/sub/test_far.py", "test_near") in found
    assert (A, "test_plain") in found


def test_new_conftest_hook_reaches_every_test_below() -> None:
    base = MemoryTree(BASE)
    head = MemoryTree({**BASE, "tests/sub/conftest.py": "def pytest_runtest_makereport(item): ...\n"})
    found = untrusted_tests(base, head, {"tests/sub/conftest.py"}, lambda path: path.startswith("tests/"))
    assert set(found) == {("tests/sub/test_far.py", "test_far"), ("tests/sub/test_far.py", "test_near")}


def test_nearer_fixture_definition_alters_its_users() -> None:
    found = edit((A, "ROWS = [1, 2]", "ROWS = [1, 2]\n@pytest.fixture\ndef db():\n    return {}\n"))
    assert names(found) == {"test_fixture"}


def test_second_definition_alters_the_first() -> None:
    found = edit((A, "ROWS = [1, 2]", "ROWS = [1, 2]\ndef test_plain():\n    pass\n"))
    assert found == {(A, "test_plain"): "altered"}


def test_override_of_an_inherited_test_is_an_alteration() -> None:
    found = edit((A, "def test_one", "def test_inherited(self):\n        pass\n    def test_one"))
    assert found == {(A, "TestIt.test_inherited"): "altered"}


def test_added_test_is_authored() -> None:
    found = edit((A, "def test_plain", "def test_new():\n    assert 1\n\ndef test_plain"))
    assert found == {(A, "test_new"): "authored"}


def test_unparsable_file_is_untrusted_as_a_whole() -> None:
    found = edit((A, "ROWS = [1, 2]", "ROWS = [1, 2"))
    assert found == {(A, "*"): "altered"}


def test_unparsable_helper_reaches_its_users() -> None:
    assert "test_imported" in names(edit(("tests/helpers.py", "LIMIT = 3", "LIMIT = = 3")))


def test_other_languages_go_by_path() -> None:
    found = edit(("tests/legacy.test.js", "works", "w"))
    assert found == {("tests/legacy.test.js", "*"): "altered"}


def test_imported_test_class_is_a_test_of_the_importing_file() -> None:
    files = {"tests/shared.py": "class TestShared:\n    def test_it(self):\n        assert 1 == 1\n"}
    files["tests/test_b.py"] = "from .shared import TestShared\n"
    head = {**files, "tests/shared.py": files["tests/shared.py"].replace("1 == 1", "1")}
    found = untrusted_tests(MemoryTree(files), MemoryTree(head), {"tests/shared.py"}, lambda _: True)
    assert found["tests/test_b.py", "TestShared.test_it"].how is How.ALTERED


def test_reasons_name_the_cause() -> None:
    files = {**BASE, "tests/helpers.py": BASE["tests/helpers.py"].replace("LIMIT = 3", "LIMIT = 9")}
    found = untrusted_tests(
        MemoryTree(BASE), MemoryTree(files), {"tests/helpers.py"}, lambda path: path.startswith("tests/")
    )
    assert (
        found[A, "test_imported"].reason == "the patch changed LIMIT in tests/helpers.py, which it depends on"
    )


@pytest.mark.parametrize(
    ("nodeid", "path", "name", "expected"),
    [
        ("tests/test_a.py::TestX::test_y[a::b]", "tests/test_a.py", "TestX.test_y", True),
        ("tests/test_a.py::TestX::test_y", "tests/test_a.py", "TestX", True),
        ("tests/test_a.py::test_y", "tests/test_a.py", "*", True),
        ("tests/test_a.py", "tests/test_a.py", "*", True),
        ("tests/test_a.py::test_yy", "tests/test_a.py", "test_y", False),
        ("tests/test_a.pyx::test_y", "tests/test_a.py", "*", False),
        ("a[b]/test_a.py::test_y[1]", "a[b]/test_a.py", "test_y", True),
    ],
)
def test_matches(nodeid: str, path: str, name: str, expected: bool) -> None:
    assert matches(nodeid, path, name) is expected
    from redbucket.core.untrusted import Untrusted

    found = untrusted_nodeids([nodeid], {(path, name): Untrusted(How.ALTERED, "", 1)})
    assert bool(found) is expected


def test_ten_thousand_lines_stay_fast() -> None:
    body = "".join(
        f"def helper_{i}(x):\n    return x + {i}\n\n@pytest.mark.parametrize('x', [1, 2])\n"
        f"def test_{i}(x, db):\n    y = helper_{i}(x)\n    assert y == x + {i}\n\n"
        for i in range(1250)
    )
    base = MemoryTree({"tests/test_big.py": body})
    head = MemoryTree({"tests/test_big.py": body.replace("return x + 77\n", "return x + 78\n")})
    found = untrusted_tests(base, head, {"tests/test_big.py"}, lambda _: True)
    assert {name for _, name in found} == {"helper_77", "test_77"}
