"""What is only added to a test file, and still acts on the tests beside it when the file is imported."""

# ruff: noqa: E501 (one attack, one line)

from __future__ import annotations

import pytest

from redbucket.core.alteration import Effect, altered

BASE = """\
import os
import pkg
from pkg import f

CACHE = {}

def test_a():
    r = f(1)
    assert r == 10

def test_b():
    assert pkg.f(2) == 10
"""
INSTALL = "def _install(*a):\n    pkg.f = lambda x: 10\n    return a[0] if a else 1\n\n"
ATTACKS = {
    "value": INSTALL + "READY = _install()\n",
    "annotation of a value": INSTALL + "READY: _install() = 1\n",
    "decorator": INSTALL + "@_install\ndef test_new():\n    pass\n",
    "decorator of a class": INSTALL + "@_install\nclass TestNew:\n    pass\n",
    "decorator of a method": INSTALL
    + "class TestNew:\n    @_install\n    def test_new(self):\n        pass\n",
    "class attribute": INSTALL + "class TestNew:\n    x = _install()\n",
    "default": INSTALL + "def test_new(x=_install()):\n    pass\n",
    "annotation": INSTALL + "def test_new(tmp_path: _install()):\n    pass\n",
    "result": INSTALL + "def test_new() -> _install():\n    pass\n",
    "parameter rows": INSTALL + "@pytest.mark.parametrize('x', [_install()])\ndef test_new(x):\n    pass\n",
    "by another": INSTALL + "def _go():\n    return _install()\n\nREADY = _go()\n",
    "handed on": INSTALL + "READY = list(map(_install, [1]))\n",
    "lambda": "_go = lambda: setattr(pkg, 'f', len)\nREADY = _go()\n",
    "lambda on the spot": "READY = (lambda: setattr(pkg, 'f', len))()\n",
    "subclass": "class Base:\n    def __init_subclass__(cls):\n        pkg.f = len\n\nclass TestNew(Base):\n    pass\n",
    "metaclass": "class M(type):\n    def __new__(m, *a):\n        pkg.f = len\n        return type.__new__(m, *a)\n\n"
    "class TestNew(metaclass=M):\n    pass\n",
    "descriptor": "class D:\n    def __set_name__(self, o, n):\n        pkg.f = len\n\nclass TestNew:\n    d = D()\n",
    "constructor": "class D:\n    def __init__(self):\n        pkg.f = len\n\nX = D()\n",
    "class method": "class D:\n    @classmethod\n    def go(cls):\n        pkg.f = len\n\nX = D.go()\n",
    "alias": "def _go():\n    m = pkg\n    m.f = len\n\nX = _go()\n",
    "looked up": "def _go():\n    import sys\n    m = sys.modules.get('pkg')\n    m.f = len\n\nX = _go()\n",
    "imported inside": "def _go():\n    import pkg.core as c\n    c.f = len\n\nX = _go()\n",
    "in a loop": "def _go():\n    for m in (pkg,):\n        m.f = len\n\nX = _go()\n",
    "code of a test": "def _go():\n    test_a.__code__ = (lambda: None).__code__\n\nX = _go()\n",
    "another test under the name": "def _go():\n    global test_a\n    test_a = len\n\nX = _go()\n",
    "table of base": "def _go():\n    CACHE['f'] = 1\n\nX = _go()\n",
    "changed table of base": "def _go():\n    CACHE.clear()\n\nX = _go()\n",
    "environment": "def _go():\n    os.environ['X'] = '1'\n\nX = _go()\n",
    "globals": "X = globals().__setitem__('test_a', len)\n",
    "what a module gives": "def __getattr__(name):\n    return [skip]\n",
    "builtins": "__builtins__ = {}\n",
    "nose": "def setup():\n    pkg.f = len\n",
    "exports": "__all__ = ['test_a']\n",
}
HONEST = {
    "value": "LIMIT = 10\n\ndef test_new():\n    assert f(1) == LIMIT\n",
    "rows": "def _rows():\n    return [(i, 10) for i in range(3)]\n\n"
    "@pytest.mark.parametrize('x, y', _rows())\ndef test_new(x, y):\n    assert f(x) == y\n",
    "table": "def _table():\n    out = {}\n    for i in range(3):\n        out[i] = f(i)\n    out.update(a=1)\n    return out\n\nT = _table()\n",
    "marks a function": "def slow(fn):\n    fn.slow = True\n    return fn\n\n@slow\ndef test_new():\n    pass\n",
    "wraps": "import functools\n\ndef twice(fn):\n    @functools.wraps(fn)\n    def inner(*a):\n        return fn(*a)\n    inner.n = 2\n"
    "    return inner\n\n@twice\ndef test_new():\n    pass\n",
    "class": "class Clock:\n    def __init__(self):\n        self.now = 0\n        self.seen = []\n\nclass TestNew:\n    clock = Clock()\n",
    "registers": "CASES = []\n\ndef case(fn):\n    CASES.append(fn)\n    return fn\n\n@case\ndef one():\n    return 1\n",
    "object of its own": "def _app():\n    app = pkg.App()\n    app.testing = True\n    app.config['X'] = 1\n    return app\n\nAPP = _app()\n",
    "used later": INSTALL + "def test_new():\n    _install()\n",
    "fixture": "@pytest.fixture\ndef patched(monkeypatch):\n    monkeypatch.setattr(pkg, 'f', len)\n\ndef test_new(patched):\n    pass\n",
    "metaclass": "import enum\n\nclass Kind(enum.Enum):\n    A = 1\n",
    "version": "__author__ = 'Ada'\n",
    "exports": "__all__ = ['CACHE', 'test_a', 'test_b']\n",
    "setup of a class is its own": "class TestNew:\n    def setup_method(self):\n        self.x = 1\n",
}


def judge(more: str) -> Effect:
    return altered(BASE.encode(), f"{BASE}\n{more}".encode(), "tests/test_a.py").effect


@pytest.mark.parametrize("more", ATTACKS.values(), ids=ATTACKS)
def test_what_acts_at_import_is_no_addition(more: str) -> None:
    assert judge(more) is Effect.CHANGED


@pytest.mark.parametrize("more", HONEST.values(), ids=HONEST)
def test_what_waits_until_it_is_used_is_one(more: str) -> None:
    assert judge(more) is Effect.ADDITIVE


@pytest.mark.parametrize(
    "added",
    [
        "assert pkg.__setattr__('f', len) is None",
        "assert vars(pkg).__setitem__('f', len) is None",
        "assert list(map(setattr, [pkg], ['f'], [len]))",
        "assert getattr(__builtins__, 'set' + 'attr')(pkg, 'f', len) is None",
        "assert pkg.__dict__.pop('f')",
        "assert CACHE.setdefault('a', 1)",
        "assert request.node.add_marker('xfail') is None",
        "assert monkeypatch.setenv('X', '1') is None",
        "assert quit() is None",
        "assert (lambda: setattr(pkg, 'f', len))() is None",
        "self.assertIsNone(pkg.__setattr__('f', len))",
    ],
)
def test_an_assertion_that_changes_what_comes_after_it_is_no_addition(added: str) -> None:
    edited = BASE.replace("    r = f(1)\n", f"    {added}\n    r = f(1)\n")
    assert altered(BASE.encode(), edited.encode(), "tests/test_a.py").effect is Effect.CHANGED


def test_an_assertion_that_calls_a_helper_that_reaches_is_no_addition() -> None:
    edited = BASE.replace("    r = f(1)\n", "    assert _install()\n    r = f(1)\n") + INSTALL
    assert altered(BASE.encode(), edited.encode(), "tests/test_a.py").effect is Effect.CHANGED


@pytest.mark.parametrize(
    "added",
    [
        "assert r > 0",
        "assert isinstance(r, int)",
        "assert sorted({'a': r}.items()) == [('a', 10)]",
        "assert {'a': r}.get('a') == 10",
        "assert all(x == 10 for x in [r])",
        "assert vars(pkg)['f'] is f",
        "assert f(3) == 10",
    ],
)
def test_an_assertion_that_looks_is_one(added: str) -> None:
    edited = BASE.replace("    r = f(1)\n", f"    r = f(1)\n    {added}\n")
    assert altered(BASE.encode(), edited.encode(), "tests/test_a.py").effect is Effect.ADDITIVE


def test_a_member_that_keeps_pytest_or_unittest_from_a_class() -> None:
    base = "class TestA:\n    def test_a(self):\n        assert 1\n"
    for more in ("__new__ = object", "__unittest_skip__ = True", "__init__ = object"):
        new = base.replace(":\n    def", f":\n    {more}\n\n    def", 1)
        found = altered(base.encode(), new.encode(), "tests/test_a.py")
        assert found.effect is Effect.CHANGED and found.weakens


def test_a_new_file_may_prepare_what_is_its_own() -> None:
    prepares = "import os\nimport pkg\n\ndef _go():\n    os.environ['X'] = '1'\n    pkg.setup()\n\n_go()\n\ndef test_a():\n    pass\n"
    assert altered(None, prepares.encode(), "tests/test_new.py").effect is Effect.ADDITIVE
    for end in ("_go()\n", "READY = _go()\n", "@_go\ndef test_a():\n    pass\n"):
        patches = f"import pkg\n\ndef _go(*a):\n    pkg.f = len\n\n{end}"
        assert altered(None, patches.encode(), "tests/test_new.py").effect is Effect.CHANGED
