"""What is plain to see is what comparing the two syntax trees gives; what could mean more is left to that."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.alteration import altered, compared
from redbucket.core.details import Effect, alteration
from redbucket.core.plainadditions import plain_additions

OLD = "import os\n\n\ndef test_a(tmp_path):\n    assert os.listdir(tmp_path) == []\n"
TEST = "\n\ndef test_b():\n    assert 1\n"

PLAIN = {
    "a test": (OLD, OLD + TEST),
    "two tests": (
        OLD,
        OLD + TEST + "async def test_c(tmp_path, *, x, **more):\n    '''Text.'''\n".replace("'''", "'"),
    ),
    "comments": (OLD, OLD + "\n# more\n" + TEST + "# end"),
    "no new line at the end": (OLD, OLD + TEST.rstrip()),
    "after a class": (OLD + "class TestA:\n    def test_x(self):\n        pass\n", None),
    "a new file": (
        None,
        '"""Text."""\nfrom a import b\nimport c.d as e, f.g\n' + TEST + "def helper(x):\n    return x\n",
    ),
    "a new file without tests": (None, "import os\n"),
    "an empty file": (None, ""),
}
COMPARED = {
    "a decorator": (OLD, OLD + "\n\n@skip\ndef test_b():\n    pass\n"),
    "nothing but space": (OLD, OLD + "\n\n# end\n"),
    "a default": (OLD, OLD + "\n\ndef test_b(x=os.environ.clear()):\n    pass\n"),
    "a default by name": (OLD, OLD + "\n\ndef test_b(*, x=f()):\n    pass\n"),
    "an annotation": (OLD, OLD + "\n\ndef test_b(x: f()):\n    pass\n"),
    "a result": (OLD, OLD + "\n\ndef test_b() -> f():\n    pass\n"),
    "a second one of the same name": (OLD, OLD + "\n\ndef test_a():\n    pass\n"),
    "a name twice": (OLD, OLD + TEST + TEST),
    "a name that is asked for": (OLD + "test_b = os.path\n", None),
    "a statement": (OLD, OLD + TEST + "os.environ.clear()\n"),
    "a helper": (OLD, OLD + "\n\ndef listdir():\n    pass\n"),
    "a hook": (OLD, OLD + "\n\ndef setup_module():\n    pass\n"),
    "in the middle": (OLD, "import os\n" + TEST + OLD.removeprefix("import os\n")),
    "on the same line": (OLD.rstrip(), OLD.rstrip() + " or 1\n" + TEST),
    "an open decorator": (OLD + "@skip\n", OLD + "@skip\n" + TEST.lstrip()),
    "an open line": (OLD + "async \\\n", OLD + "async \\\n" + TEST.lstrip()),
    "an open string": (OLD + 'X = """\n', OLD + 'X = """\n' + 'def test_b():\n    x = """\n    y = """"""\n'),
    "a form feed": (OLD, OLD + "\n\ndef test_b():\n    pass\n    \x0cos.environ.clear()\n"),
    "another line end": (OLD, OLD + "\n\ndef test_b():\n    pass # \ros.environ.clear()\n"),
    "letters of another kind": (OLD, OLD + "\n\ndef test_\u00e9():\n    pass\n"),
    "an encoding": ("# coding: utf-7\n" + OLD, "# coding: utf-7\n" + OLD + TEST),
    "a doctest": (OLD, OLD + "\n\ndef test_b():\n    '>>> f()'\n"),
    "no Python": (OLD, OLD + "\n\ndef test_b(:\n    pass\n"),
    "a new file with a call": (None, "import os\nos.environ.clear()\n" + TEST),
    "a new file with a class": (None, "class TestA:\n    pass\n"),
    "a new file with everything of another": (None, "from os import *\n" + TEST),
    "a new file with a hook": (None, "def pytest_runtest_call():\n    pass\n"),
    "a new file with a name of an import": (None, "import a\ndef a():\n    pass\n"),
    "a new file that is no Python": (None, "def test_b(:\n"),
}


def _bytes(old: str | None, new: str | None) -> tuple[bytes | None, bytes]:
    return None if old is None else old.encode(), (new if new is not None else f"{old}{TEST}").encode()


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_plain_is_what_comparing_gives(name: str) -> None:
    old, new = _bytes(*PLAIN[name])
    found = plain_additions(old, new)
    assert found is not None
    assert alteration(found, []) == compared(old, new, "tests/test_x.py")
    assert altered(old, new, "tests/test_x.py").effect is Effect.ADDITIVE


@pytest.mark.parametrize("name", COMPARED)
def test_what_could_mean_more_is_compared(name: str) -> None:
    assert plain_additions(*_bytes(*COMPARED[name])) is None


def test_a_conftest_is_compared_always() -> None:
    new = b"def pytest_b():\n    pass\n"
    assert altered(None, new, "tests/conftest.py").effect is Effect.CHANGED


PIECES = [
    "import os\n",
    "from a import b, test_c\n",
    "X = [1,\n  2]\n",
    "def test_a():\n    assert 1\n",
    "def test_b(x):\n    '''Text.'''\n    return x\n",
    "def test_c(*args, y, **more): pass\n",
    "async def test_d(): await f()\n",
    "def helper():\n    X.append(test_a)\n",
    "def setup_module():\n    os.environ.clear()\n",
    "@mark\ndef test_e(): pass\n",
    "def test_f(x=helper()): pass\n",
    "class TestG:\n    def test_a(self):\n        assert helper()\n",
    "helper()\n",
    "if X:\n    def test_h(): pass\n",
    "\n# text\n\n",
    '"""Text."""\n',
    "def pytest_x(): pass\n",
    "def __getattr__(name): return test_i\n",
    "def test_i():\n    import os.path\n    os.path = 1\n",
    "pytestmark = skip\n",
    "s = '''\n'''\n",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=5),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4),
    st.booleans(),
)
def test_any_file_that_grew_at_its_end(old: list[str], more: list[str], new_file: bool) -> None:
    before = None if new_file else "".join(old).encode()
    after = "".join([*([] if new_file else old), *more]).encode()
    ast.parse(after)
    found = plain_additions(before, after)
    if found is not None:
        assert alteration(found, []) == compared(before, after, "tests/test_x.py")
