"""Notices that code under test replaced a part of what runs the tests or says how they went.

What the runner and the recorder consist of is noted before any code of the tree is
imported, and compared when a test ends and when the session ends. The parent holds
base's findings against head's: a plugin that patches the runner does so in both.
"""

import ast
import builtins
import contextlib
import importlib
import os
import pathlib
import re
import sys
from importlib.machinery import SourceFileLoader
from operator import is_, itemgetter
from types import CodeType, FunctionType, ModuleType

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
# Programs replace these for honest ends: translated output, encodings, imports that wait.
_OFTEN_REPLACED = ("__import__", "breakpoint", "exit", "help", "input", "open", "print", "quit")
_TYPES = (object, type, int, bool, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_TYPES += (BaseException, Exception, AssertionError)
# What pytest and unittest compare by, and what tests measure with.
_STANDARD = (
    ("re", ("compile", "match", "fullmatch", "search", "sub", "findall")),
    ("math", ("isclose", "isinf", "isnan", "isfinite", "fabs")),
    ("operator", ("eq", "ne", "lt", "le", "gt", "ge", "contains", "itemgetter", "attrgetter")),
    ("contextlib", ("suppress", "contextmanager", "ExitStack", "nullcontext")),
    ("copy", ("copy", "deepcopy")),
    ("warnings", ("catch_warnings", "WarningMessage")),
    (
        "time",
        ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"),
    ),
    ("sys", ("__displayhook__", "__excepthook__", "exc_info")),
)
# What stands before the name of a part that is no framework's.
LIBRARY = "the library's "
_HOOKS = ("breakpointhook", "displayhook", "excepthook", "formatwarning", "showwarning", "unraisablehook")
# Class attributes that projects set for all their tests.
_SETTINGS = ("maxDiff", "longMessage")
_PLAIN = (int, float, str, bytes, bool, tuple, frozenset, type, type(None))
# With these a child's assertions are not executed, or pytest is another one there.
_ENVIRONMENT = ("PYTHONOPTIMIZE", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_LOADERS = (
    "_frozen_importlib_external",
    "importlib._bootstrap_external",
    "zipimport",
    "_pytest.assertion.rewrite",
)
_TEST = re.compile(r"/(?:test_[^/]*|[^/]*_test|tests?|conftest)\.py$")
_vars = vars
_Module = ModuleType
_loaded = sys.modules


def _function(value):
    """Return what is behind a static or class method, or a property."""
    value = getattr(value, "__func__", value)
    return value.fget if isinstance(value, property) else value


def _code(value):
    """Return the code object behind a function, a static or class method, a property."""
    if type(value) is FunctionType:  # most are, and there are thousands at the start of each run
        return value.__code__
    code = getattr(_function(value), "__code__", None)
    return code if type(code) is CodeType else None  # unittest.mock.call has every attribute


def _space(owner):
    """Return the names of a module, a class, or a module's dictionary itself."""
    return owner if type(owner) is dict else _vars(owner)


def _kept(owner, prefix):
    """Yield (label, owner, name, value, code) for the functions of a module or class of its own."""
    for name, value in list(_vars(owner).items()):
        code = _code(value)
        if code is not None:
            yield prefix + name, owner, name, value, code


def _plain(kind, prefix):
    """Yield (label, owner, name, value, None) for the plain values that a class holds for its instances."""
    for name, value in list(_vars(kind).items()):
        if isinstance(value, _PLAIN) and not name.startswith("__") and name not in _SETTINGS:
            yield prefix + name, kind, name, value, None


class Machinery:
    """Notes it now; ``changed`` tells what is not as it was."""

    def __init__(self, package, watch, tree, judge=()):
        self._judge = frozenset(judge)
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
        built_in = [n for n, value in _vars(builtins).items() if callable(value) and n not in _OFTEN_REPLACED]
        for owner, names in ((builtins, built_in), (ast, ("parse", "walk")), *reading):
            for name in names:
                for each in getattr(owner, "__mro__", (owner,)):  # loaders inherit from each other
                    value = _vars(each).get(name)
                    self._all.append(("%s.%s" % (each.__name__, name), each, name, value, _code(value)))
        for kind in _TYPES:
            self._all += [
                ("%s.%s" % (kind.__name__, n), kind, n, v, None)
                for n, v in _vars(kind).items()
                if n != "__doc__"
            ]
        for name, names in _STANDARD:
            module = _loaded.get(name) or importlib.import_module(name)
            self._all += [("%s.%s" % (name, n), module, n, _vars(module)[n], None) for n in names]
        self._environment = [(name, os.environ.get(name)) for name in _ENVIRONMENT]
        self._folders = tuple(
            os.path.realpath(each) + os.sep for each in [os.path.dirname(os.__file__), *sys.path]
        )
        self._late = {name: _loaded[name] for name in LATE if name in _loaded}
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
                self._all.extend(_plain(value, label + kind + "."))

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
        self._late[module.__name__] = module
        kind = type(getattr(module.__spec__, "loader", None))
        file = os.path.realpath(getattr(module, "__file__", None) or "")
        if kind.__module__ not in _LOADERS or not file.startswith(self._folders):
            self._seen.add("the import of %s" % module.__name__)
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
        self._seen.update(n for n, value in self._environment if os.environ.get(n) != value)
        self._seen.update(self._put_in_place())
        return sorted(self._seen)[:50] + sorted(self._in_the_library())[:20]

    def _put_in_place(self):
        """Yield the modules of ``LATE`` that are there and were never imported."""
        for name in LATE:
            module = _loaded.get(name)
            if type(module) is not _Module or self._late.get(name) is module:
                continue  # a module that waits for its first use has a class of its own
            if not (getattr(module, "__file__", None) or "").startswith(self._tree):
                yield "the import of %s" % name

    def _in_the_library(self):
        """Yield what stands in the standard library and was made by a product file: tests may go through it."""
        for module, owner, label in _library():
            for name, value in list(_vars(owner).items()):
                path = _made_in(value)
                if not path.startswith(self._tree) or path[len(self._tree) :] in self._judge:
                    continue
                if owner is module and (name.startswith("_") or name in _HOOKS):
                    continue  # set by functions of the library's own, or made to be set
                full = "%s.%s" % (label, name)
                if full in self._seen or full.partition("builtins.")[2] in self._seen:
                    continue
                yield "%s%s (from %s)" % (LIBRARY, full, path[len(self._tree) :])


def _library():
    """Yield (module, owner, name) for the loaded modules of the standard library and the classes of each."""
    names = getattr(sys, "stdlib_module_names", ())
    for name, module in list(_loaded.items()):
        if name.partition(".")[0] in names and type(module) is _Module and name != "__main__":
            yield module, module, name
            for kind, value in list(_vars(module).items()):
                if isinstance(value, type) and value.__module__ == name:
                    yield module, value, "%s.%s" % (name, kind)


def _made_in(value):
    """Return the file of a function's code, or of the module that a class is from; "" for all else."""
    if type(value) is FunctionType:
        return value.__code__.co_filename
    if isinstance(value, type):
        return getattr(_loaded.get(value.__module__), "__file__", None) or ""
    return ""


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
