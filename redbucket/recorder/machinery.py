"""Notices that code under test replaced a part of what runs the tests or says how they went.

What the runner and the recorder consist of is noted before any code of the tree is
imported, and compared when a test ends and when the session ends. The parent holds
base's findings against head's: a plugin that patches the runner does so in both.
"""

import ast
import builtins
import contextlib
import importlib
import pathlib
import re
import sys
from importlib.machinery import SourceFileLoader
from operator import is_, itemgetter
from types import CodeType

# All of these, and whatever of their packages is loaded when the run starts.
_PACKAGES = ("_pytest", "pluggy", "unittest")
# Tests go through these names, wherever what they stand for is kept.
_PUBLIC = ("pytest", "unittest")
# Plugins of pytest's own that it loads a little later, before any code of the tree.
_PLUGINS = ("skipping", "unittest", "unraisableexception", "threadexception", "warnings")
# What else tests assert with, noted at the end of its import: too slow to import for nothing.
LATE = (
    "doctest",
    "unittest.mock",
    "unittest.async_case",
    "mock",
    "mock.mock",
    "numpy.testing",
    "numpy.testing._private.utils",
    "pandas.testing",
    "pandas._testing",
    "pandas._testing.asserters",
    "polars.testing",
    "torch.testing",
    "torch.testing._comparison",
    "hypothesis",
    "hypothesis.core",
    "hamcrest",
    "hamcrest.core.assert_that",
    "assertpy.assertpy",
    "django.test",
    "django.test.testcases",
    "pytest_mock.plugin",
)
# What decides the outcome of each test: looked at whenever one ends.
_CORE = (
    ("_pytest.runner", "CallInfo", "from_call"),
    ("_pytest.reports", "TestReport", "from_item_and_call"),
    ("_pytest.reports", "TestReport", "__init__"),
    ("_pytest.python", "Function", "runtest"),
    ("_pytest.python", "", "pytest_pyfunc_call"),
    ("_pytest.runner", "", "pytest_runtest_call"),
    ("_pytest.runner", "", "pytest_runtest_makereport"),
    ("_pytest.runner", "", "call_and_report"),
    ("pluggy._callers", "", "_multicall"),
    ("pluggy._manager", "", "_multicall"),
    ("pluggy._hooks", "HookCaller", "__call__"),
    ("unittest.case", "TestCase", "run"),
    ("unittest.case", "TestCase", "assertEqual"),
    ("unittest.case", "TestCase", "assertTrue"),
    ("unittest.case", "_Outcome", "testPartExecutor"),
)
_BUILTINS = ("AssertionError", "isinstance", "issubclass", "len", "compile", "exec", "type", "getattr")
_LOADERS = ("_frozen_importlib_external", "importlib._bootstrap_external", "_pytest.assertion.rewrite")
_TEST = re.compile(r"/(?:test_[^/]*|[^/]*_test|tests?|conftest)\.py$")
_vars = vars
_loaded = sys.modules


def _function(value):
    """Return what is behind a static or class method, or a property."""
    value = getattr(value, "__func__", value)
    return value.fget if isinstance(value, property) else value


def _code(value):
    """Return the code object behind a function, a static or class method, a property."""
    code = getattr(_function(value), "__code__", None)
    return code if type(code) is CodeType else None  # unittest.mock.call has every attribute


def _space(owner):
    """Return the names of a module, a class, or a module's dictionary itself."""
    return owner if type(owner) is dict else _vars(owner)


def _kept(owner, prefix):
    """Yield (label, owner, name, value, code) for the functions of a module or class of its own."""
    for name, value in list(_vars(owner).items()):
        if _code(value) is not None:
            yield prefix + name, owner, name, value, _code(value)


class Machinery:
    """Notes it now; ``changed`` tells what is not as it was."""

    def __init__(self, package, watch, tree):
        self._all, self._core, self._classes, self._seen = [], [], [], set()
        self._tree = tree.rstrip("/") + "/"
        self._watch = watch
        if "_pytest" in _loaded:
            for name in _PLUGINS:
                with contextlib.suppress(ImportError):  # not there in each version
                    importlib.import_module("_pytest." + name)
        for name in list(_loaded):
            if name.startswith(package + "."):
                self._note(name, "the recorder's ")
            elif name.partition(".")[0] in _PACKAGES:
                self._note(name, name + ".")
        for name in _PUBLIC:
            self._names(name)
        self._core.extend(each for each in self._all if each[0].startswith("the recorder's "))
        for name, kind, attribute in _CORE:
            owner = _loaded.get(name)
            owner = getattr(owner, kind, None) if kind and owner is not None else owner
            value = _vars(owner).get(attribute) if owner is not None else None
            if value is not None:
                label = ".".join(part for part in (name, kind, attribute) if part)
                self._core.append((label, owner, attribute, value, _code(value)))
        reading = (
            (pathlib.Path, ("read_bytes", "read_text", "open")),
            (SourceFileLoader, ("source_to_code", "get_data", "get_code")),
        )
        for owner, names in ((builtins, _BUILTINS), (ast, ("parse", "walk")), *reading):
            for name in names:
                for each in getattr(owner, "__mro__", (owner,)):  # loaders inherit from each other
                    value = _vars(each).get(name)
                    self._all.append(("%s.%s" % (each.__name__, name), each, name, value, _code(value)))
        self._core = list({each[0]: each for each in self._core}.values())
        self._same = comparison(self._core)
        self._recoded = watch.recoded
        watch.guarded.update({id(_function(each[3])): each[0] for each in self._all if each[4] is not None})

    def _note(self, name, label):
        """Note the functions and classes of a loaded module, and the functions of its classes."""
        module = _loaded[name]
        self._all.extend(each for each in _kept(module, label) if getattr(each[3], "__module__", "") == name)
        for kind, value in list(_vars(module).items()):
            if isinstance(value, type) and value.__module__ == name:
                self._all.append((label + kind, module, kind, value, None))
                self._classes.append((label + kind, value, frozenset(_vars(value))))
                self._all.extend(_kept(value, label + kind + "."))

    def _names(self, name):
        """Note what the public names of a module stand for."""
        module = _loaded.get(name)
        for attribute, value in list(_vars(module).items()) if module is not None else ():
            if callable(value) and not attribute.startswith("__"):
                self._all.append(("%s.%s" % (name, attribute), module, attribute, value, None))

    def late(self, module):
        """Note a module of ``LATE`` that has just been imported, unless it is what is tested."""
        if (getattr(module, "__file__", None) or "").startswith(self._tree):
            return
        known = len(self._all)
        self._note(module.__name__, module.__name__ + ".")
        self._names(module.__name__)
        fresh = self._all[known:]
        self._watch.guarded.update({id(_function(each[3])): each[0] for each in fresh if each[4] is not None})

    def look(self):
        """Look at what decides the outcome of the test that has just run."""
        if self._recoded:
            self._seen.update(self._recoded)
        if not self._same():
            self._seen.update(differing(self._core))

    def changed(self):
        """Return the sorted names of what differs now or differed when a test ended."""
        self.look()
        self._seen.update(differing(self._all))
        self._seen.update(_added(self._classes))
        self._seen.update(_strange_loaders(self._tree))
        return sorted(self._seen)[:50]


def _strange_loaders(tree):
    """Yield the tests that were loaded by neither Python nor pytest: their bytes need not be the file's."""
    for module in list(_loaded.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(tree) and _TEST.search(file):
            kind = type(getattr(getattr(module, "__spec__", None), "loader", None))
            if kind.__module__ not in _LOADERS and kind is not type(None):
                yield "the loader of %s" % file[len(tree) :]


def comparison(parts, is_=is_, all=all, map=map):
    """Return what tells in a few microseconds that no part was replaced: it runs after every test.

    By identity, not by equality: a stand-in may be equal to everything. A function whose
    code, defaults or keyword defaults are set is seen by the audit hook at that moment.
    """
    owners = {}
    for _, owner, name, value, _ in parts:
        owners.setdefault(id(owner), (_space(owner), [], []))
        owners[id(owner)][1].append(name)
        owners[id(owner)][2].append(value)
    # a getter of one name gives no tuple
    looks = [
        (space, itemgetter(names[0], *names), [values[0], *values])
        for space, names, values in owners.values()
    ]

    def same():
        try:
            for space, get, values in looks:
                if not all(map(is_, get(space), values)):
                    return False
        except KeyError:
            return False
        return True

    return same


def differing(parts, _space=_space, _code=_code):
    """Return the labels of the parts that are not as they were noted."""
    return [
        label
        for label, owner, name, value, code in parts
        if _space(owner).get(name) is not value or (code is not None and _code(value) is not code)
    ]


def _added(classes):
    """Yield the methods that classes have got: one may stand before what they inherit."""
    for label, kind, names in classes:
        for name, value in list(_vars(kind).items()):
            if name not in names and (callable(value) or _code(value) is not None):
                yield "%s.%s" % (label, name)
