"""Markers that switch a test off whatever happens; conditions are left alone."""

from __future__ import annotations

import pytest

from redbucket.core.skipmarks import skip_marks


def marked(source: str) -> list[tuple[str, int]]:
    return [(mark.name, mark.line) for mark in skip_marks(source.encode())]


@pytest.mark.parametrize(
    "marker",
    [
        "@pytest.mark.skip",
        "@pytest.mark.skip(reason='x')",
        "@mark.xfail",
        "@pytest.mark.xfail(strict=True)",
        "@pytest.mark.xfail(True, reason='x')",
        "@unittest.skip('x')",
        "@skip('x')",
        "@unittest.expectedFailure",
        "@pytest.mark.skipif(True, reason='x')",
        "@pytest.mark.skipif('True')",
        "@unittest.skipUnless(False, 'x')",
        "@unittest.skipIf(not 0, 'x')",
        "@pytest.mark.skipif(1 == 1, reason='x')",
        "@pytest.mark.skipif(WINDOWS or True, reason='x')",
        "@unittest.skipUnless(1 != 1 and LINUX, 'x')",
        "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.xfail)])",
        "@pytest.mark.parametrize('n', [pytest.param(2, marks=[pytest.mark.skip, x])])",
    ],
)
def test_markers(marker: str) -> None:
    assert marked(f"{marker}\ndef test_x(): pass\n") == [("test_x", 1)]
    assert marked(f"{marker}\nclass T:\n    def test_x(self): pass\n") == [("T", 1)]


@pytest.mark.parametrize(
    "marker",
    [
        "@pytest.mark.skipif(sys.platform == 'win32', reason='x')",
        "@pytest.mark.skipif('sys.version_info < (3, 12)')",
        "@pytest.mark.xfail(sys.version_info >= (3, 13), reason='x')",
        "@pytest.mark.xfail(condition=WINDOWS, reason='x')",
        "@unittest.skipUnless(HAVE_SSL, 'x')",
        "@pytest.mark.skipif(False, reason='x')",
        "@pytest.mark.skipif(not True, reason='x')",
        "@pytest.mark.skipif(1 == 2, reason='x')",
        "@pytest.mark.skipif(WINDOWS or False, reason='x')",
        "@pytest.mark.skipif(WINDOWS and True, reason='x')",
        "@requires('network')",
        "@pytest.mark.slow",
    ],
)
def test_conditions_are_no_quarantine(marker: str) -> None:
    assert marked(f"{marker}\ndef test_x(): pass\n") == []


def test_calls_at_the_top_of_a_body() -> None:
    source = """
def test_x():
    pytest.skip("x")
class T(TestCase):
    def test_y(self):
        self.skipTest("x")
    def setUp(self):
        raise unittest.SkipTest
def test_z():
    if windows:
        pytest.skip("x")
def helper():
    pytest.skip("x")
def test_w():
    pytest.importorskip("numpy")
"""
    assert marked(source) == [("test_x", 3), ("T.test_y", 6), ("T", 8)]


def test_whole_modules_classes_and_aliases() -> None:
    assert marked("pytestmark = pytest.mark.skip\n") == [("", 1)]
    assert marked("pytestmark = [pytest.mark.slow, pytest.mark.xfail]\n") == [("", 1)]
    assert marked("pytest.skip('x', allow_module_level=True)\n") == [("", 1)]
    assert marked("class T:\n    pytestmark = pytest.mark.skip\n") == [("T", 2)]
    assert marked("off = pytest.mark.skip('x')\n@off\ndef test_x(): pass\n") == [("test_x", 2)]
    assert marked("win = pytest.mark.skipif(a, reason='x')\n@win\ndef test_x(): pass\n") == []


@pytest.mark.parametrize(
    "body",
    [
        "with open('a'):\n        pytest.skip('x')",
        "try:\n        pytest.skip('x')\n    finally:\n        close()",
        "try:\n        work()\n    finally:\n        pytest.skip('x')",
        "if True:\n        pytest.skip('x')",
        "if 0:\n        work()\n    else:\n        pytest.skip('x')",
        "skip('x')",
        "pt.xfail('x')",
        "work()\n    raise Off('x')",
    ],
)
def test_calls_that_are_reached_whatever_happens(body: str) -> None:
    head = "import pytest as pt\nfrom pytest import skip\nfrom unittest import SkipTest as Off\n"
    ((name, _),) = marked(f"{head}def test_x():\n    {body}\n")
    assert name == "test_x"


@pytest.mark.parametrize(
    "body",
    [
        "if found:\n        return\n    pytest.skip('x')",
        "for one in found:\n        return check(one)\n    pytest.skip('x')",
        "try:\n        import numpy\n    except ImportError:\n        pytest.skip('x')",
        "try:\n        connect()\n        pytest.skip('it is up')\n    except OSError:\n        pass",
        "with suppress(OSError):\n        connect()\n        pytest.skip('it is up')",
        "for one in found:\n        pytest.skip('x')",
        "skip('x')",
        "def inner():\n        pytest.skip('x')",
    ],
)
def test_what_may_not_be_reached_is_no_quarantine(body: str) -> None:
    assert marked(f"from shop import skip\ndef test_x():\n    {body}\n") == []


def test_what_runs_before_each_test_switches_all_of_them_off() -> None:
    assert marked("@pytest.fixture(autouse=True)\ndef off():\n    pytest.skip('x')\n") == [("", 3)]
    assert marked("@pytest.fixture\ndef off():\n    pytest.skip('x')\n") == []
    assert marked("def setUpModule():\n    raise SkipTest('x')\n") == [("", 2)]
    text = (
        "class T:\n    @fixture(scope='class', autouse=True)\n    def off(self):\n        pytest.skip('x')\n"
    )
    assert marked(text) == [("T", 4)]


def test_marks_of_a_module_however_they_are_put_there() -> None:
    assert marked("pytestmark: list = [pytest.mark.skip]\n") == [("", 1)]
    assert marked("pytestmark += [pytest.mark.skip]\n") == [("", 1)]
    assert marked("pytestmark.append(pytest.mark.skip('x'))\n") == [("", 1)]
    assert marked("pytestmark.append(pytest.mark.slow)\nskips.append(pytest.mark.skip)\n") == []
    assert marked("off = pytest.mark.skip\n@off('x')\ndef test_x(): pass\n") == [("test_x", 2)]
    assert marked("from unittest import skip as off\n@off('x')\ndef test_x(): pass\n") == [("test_x", 2)]
    assert marked("win = pytest.mark.skipif\n@win(a, reason='x')\ndef test_x(): pass\n") == []


def test_what_cannot_be_parsed_and_what_refers_to_itself() -> None:
    assert marked("def skip(:") == []
    assert marked("a = pytest.mark.parametrize('n', marks=a)\n@a\ndef test_skip(): pass\n") == []


def test_ids() -> None:
    (mark,) = skip_marks(b"class T:\n    @skip\n    def test_x(self): pass\n")
    assert mark.nodeid("tests/a.py") == "tests/a.py::T::test_x"
