# ruff: noqa: E501 (tests are programs of their own)
"""A tiny repository whose tests go through something: a table, a fixture, a helper, a property, a document, a child."""

from __future__ import annotations

from benchmarks.helped_base import SMALL

CORE = (
    SMALL
    + '''\
def title(index):
    """Return the title of a bucket."""
    return "Bucket %d" % index


def clamp(value):
    """Return the value, at most 9 and at least 0."""
    return min(9, max(0, value))


def parse(text):
    """Return the numbers of a line; raise ValueError for what is none."""
    return [int(word) for word in text.split()]


def number(text):
    """Return a number; raise ValueError, which says what is none."""
    if not text.isdigit():
        raise ValueError("no number: " + text)
    return int(text)


def tell(listener, index):
    """Tell a listener of an index."""
    listener.told(index)


def fast(count):
    """Return the sum of the numbers below count."""
    return count * (count - 1) // 2


def first(edges):
    """Return the smallest edge, or None."""
    return min(edges) if edges else None


def double(value):
    """Return twice the value."""
    return value + value


def treble(value):
    """Return three times the value."""
    return 3 * value
'''
)
BROKEN = {
    "bucket": (
        "bisect.bisect_left(edges, value)\n\n\ndef above",
        "bisect.bisect_right(edges, value)\n\n\ndef above",
    ),
    "above": ("len(edges) - bisect.bisect_right(", "len(edges) - bisect.bisect_left("),
    "below": (
        "bisect.bisect_left(edges, value)\n\n\ndef shift",
        "bisect.bisect_right(edges, value)\n\n\ndef shift",
    ),
    "shift": ("edge + amount for", "edge - amount for"),
    "mean": ("/ len(values)", "/ (len(values) + 1)"),
    "name": ('"b%d" % index', '"x%d" % index'),
    "title": ('"Bucket %d"', '"bucket %d"'),
    "clamp": ("min(9, max(0, value))", "max(0, value)"),
    "parse": ("for word in text.split()]", "for word in text.split() if word.isdigit()]"),
    "number": ('raise ValueError("no number: " + text)', 'raise ValueError("wrong")'),
    "tell": ("listener.told(index)", "listener.told(index + 1)"),
    "fast": (
        "return count * (count - 1) // 2",
        "__import__('time').sleep(1.5)\n    return count * (count - 1) // 2",
    ),
    "first": ("min(edges) if", "max(edges) if"),
    "double": ("value + value", "value + 2"),
    "treble": ("return 3 * value", "return value + 4"),
}
_POLICY = """\
[run]
command = ["python", "-m", "pytest"]
timeout = 15
budget = 200
"""
_EDGES = "EDGES = [0, 1, 2, 5, 10]\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": CORE,
    "pytest.ini": "[pytest]\naddopts = --doctest-glob=*.md\n",
    "docs/usage.md": "Edges are moved:\n\n    >>> from pkg.core import shift\n    >>> shift([1, 2], 1)\n    [2, 3]\n",
    "tests/__init__.py": "",
    "tests/conftest.py": "import pytest\n\nimport pkg.core\n\n\n@pytest.fixture\ndef edges():\n"
    "    assert pkg.core.shift([], 1) == []\n    return [0, 1, 2, 5, 10]\n",
    "tests/helpers.py": "from pkg.core import above\n\n\ndef check(value, edges, want):\n"
    "    got = above(value, edges)\n    assert got == want\n",
    "tests/test_approx.py": "import pytest\n\nfrom pkg.core import mean\n\n\n"
    "def test_mean():\n    assert mean([1, 2]) == pytest.approx(1.5)\n",
    "tests/test_begins.py": "from pkg.core import name\n\n\ndef test_name():\n    assert name(3).startswith('b')\n",
    "tests/test_child.py": "import subprocess\nimport sys\n\n\ndef test_child():\n"
    "    code = 'from pkg.core import title; assert title(3) == \"Bucket 3\"'\n"
    "    done = subprocess.run([sys.executable, '-c', code], check=False)\n    assert done.returncode == 0\n",
    "tests/test_fixture.py": "from pkg.core import bucket\n\n\n"
    "def test_edge(edges):\n    got = bucket(2, edges)\n    assert got == 2\n",
    "tests/test_helped.py": f"from tests.helpers import check\n\n{_EDGES}\n\n"
    "def test_helped():\n    check(2, EDGES, 2)\n",
    "tests/test_maybe.py": "from pkg.core import first\n\n\ndef test_first():\n    found = first([3, 5])\n"
    "    if found is not None:\n        assert found == 3\n",
    "tests/test_mock.py": "from unittest.mock import Mock\n\nfrom pkg.core import tell\n\n\ndef test_told():\n"
    "    listener = Mock()\n    tell(listener, 3)\n    listener.told.assert_called_once_with(3)\n",
    "tests/test_property.py": "from hypothesis import given, strategies\n\nfrom pkg.core import clamp\n\n\n"
    "@given(strategies.integers(-20, 20))\ndef test_clamp(value):\n    assert 0 <= clamp(value) <= 9\n",
    "tests/test_raises.py": "import pytest\n\nfrom pkg.core import number, parse\n\n\n"
    "def test_raises():\n    with pytest.raises(ValueError):\n        parse('1 x')\n\n\n"
    "def test_words():\n    with pytest.raises(ValueError, match='no number: x'):\n        number('x')\n",
    "tests/test_rows.py": "import pytest\n\nfrom pkg.core import below\n\n"
    f"{_EDGES}\n\n@pytest.mark.parametrize('value, want', [(0, 0), (2, 2), (3, 3)], ids=['a', 'b', 'c'])\n"
    "def test_row(value, want):\n    assert below(value, EDGES) == want\n",
    "tests/test_sub.py": "import unittest\n\nfrom pkg.core import double\n\n\nclass SubTests(unittest.TestCase):\n"
    "    def test_double(self):\n        for value, want in ((2, 4), (3, 6)):\n            with self.subTest(value=value):\n"
    "                self.assertEqual(double(value), want)\n",
    "tests/test_time.py": "import time\n\nfrom pkg.core import fast\n\n\ndef test_fast():\n"
    "    began = time.perf_counter()\n    fast(10)\n    assert time.perf_counter() - began < 1\n",
    "tests/test_zip.py": "from pkg.core import treble\n\n\ndef test_trebles():\n"
    "    for got, want in zip(map(treble, [2, 3]), [6, 9]):\n        assert got == want\n",
    "redbucket.toml": _POLICY,
}
