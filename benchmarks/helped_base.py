"""A tiny repository whose tests assert in other ways than by a plain equality: each function has one kind of test."""

from __future__ import annotations

from collections.abc import Mapping

# What the other tiny repository has, too.
SMALL = '''\
"""Small functions."""

import bisect


def bucket(value, edges):
    """Return the index of the first edge that is not smaller than value."""
    return bisect.bisect_left(edges, value)


def above(value, edges):
    """Return how many edges are larger than value."""
    return len(edges) - bisect.bisect_right(edges, value)


def below(value, edges):
    """Return how many edges are smaller than value."""
    return bisect.bisect_left(edges, value)


def shift(edges, amount):
    """Return the edges moved by an amount."""
    return [edge + amount for edge in edges]


def mean(values):
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def name(index):
    """Return the name of a bucket."""
    return "b%d" % index


'''
CORE = (
    SMALL
    + '''\
def number(text):
    """Return a number; raise ValueError for what is none."""
    return int(text)


def parse(text):
    """Return the numbers of a line; raise ValueError for what is none."""
    return [int(word) for word in text.split()]


def tell(listener, index):
    """Tell a listener of an index."""
    listener.told(index)


def show(index):
    """Print an index."""
    print(index)
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
    "name": ('"b%d" % index', '"B%d" % index'),
    "number": ("return int(text)", "return int(text) if text.isdigit() else 0"),
    "parse": ("for word in text.split()]", "for word in text.split() if word.isdigit()]"),
    "tell": ("listener.told(index)", "listener.told(index + 1)"),
    "show": ("print(index)", "print(index + 1)"),
}
_EDGES = "EDGES = [0, 1, 2, 5, 10]\n"
_POLICY = """\
[run]
command = ["python", "-m", "pytest"]
timeout = 15
budget = 200
"""


def broken(
    name: str,
    before: str = "",
    body: str = "",
    result: str = "",
    core: str = CORE,
    ways: Mapping[str, tuple[str, str]] = BROKEN,
) -> str:
    """Return the product with one function broken.

    ``before`` stands after the imports, ``body`` at the function's beginning, ``result`` is what it returns instead.
    """
    old, new = ways[name]
    assert core.count(old) == 1
    text = core.replace(old, new).replace("import bisect\n", f"import bisect\n{before}", 1)
    head, _, rest = text.partition(f"def {name}(")
    lines = rest.split("\n")
    lines[2:2] = [f"    {line}" for line in body.splitlines()]
    if result:
        place = next(n for n, line in enumerate(lines) if line.startswith("    return "))
        lines[place] = f"    return {result}"
    return f"{head}def {name}(" + "\n".join(lines)


FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": CORE,
    "pkg/config.py": "import os\n\n\ndef setting(name, default=None):\n    return os.environ.get(name, default)\n",
    "pkg/__main__.py": "import sys\n\n\ndef double(number):\n    return 2 * number\n\n\n"
    "if __name__ == '__main__':\n    print(double(int(sys.argv[1])))\n",
    "tests/__init__.py": "",
    "tests/helpers.py": "from pkg.core import above\n\nEXPECTED = {0: 0, 2: 2, 3: 3, 10: 4}\n\n\n"
    "def check(value, edges, want):\n    got = above(value, edges)\n    assert got == want\n",
    "tests/test_approx.py": "import pytest\n\nfrom pkg.core import mean\n\n\n"
    "def test_mean():\n    assert mean([1, 2]) == pytest.approx(1.5)\n",
    "tests/test_child.py": "import subprocess\nimport sys\n\n\ndef test_child():\n"
    "    done = subprocess.run([sys.executable, '-m', 'pkg', '2'], capture_output=True, text=True, check=True)\n"
    "    assert done.stdout == '4\\n'\n",
    "tests/test_fail.py": "import pytest\n\nfrom pkg.core import number\n\n\ndef test_no_number():\n    try:\n"
    "        number('x')\n    except ValueError:\n        pass\n    else:\n        pytest.fail('no error')\n",
    "tests/test_helped.py": f"from tests.helpers import check\n\n{_EDGES}\n\n"
    "def test_helped():\n    check(2, EDGES, 2)\n",
    "tests/test_mock.py": "from unittest.mock import Mock\n\nfrom pkg.core import tell\n\n\ndef test_told():\n"
    "    listener = Mock()\n    tell(listener, 3)\n    listener.told.assert_called_once_with(3)\n",
    "tests/test_out.py": "from pkg.core import show\n\n\ndef test_show(capsys):\n    show(3)\n"
    "    assert capsys.readouterr().out == '3\\n'\n",
    "tests/test_plain.py": f"from pkg.core import bucket, name, shift\n\n{_EDGES}\n\ndef test_edge():\n"
    "    got = bucket(2, EDGES)\n    assert got == 2\n\n\ndef test_between():\n    assert bucket(3, EDGES) == 3\n\n\n"
    "def test_shift():\n    assert shift([1, 2], 1) == [2, 3]\n\n\ndef test_name():\n    assert name(3) == 'b3'\n",
    "tests/test_raises.py": "import pytest\n\nfrom pkg.core import parse\n\n\ndef test_raises():\n"
    "    with pytest.raises(ValueError):\n        parse('1 x')\n",
    "tests/test_table.py": f"from pkg.core import below\nfrom tests.helpers import EXPECTED\n\n{_EDGES}\n\n"
    "def test_table():\n    for value, want in EXPECTED.items():\n        assert below(value, EDGES) == want\n",
    "redbucket.toml": _POLICY,
}
