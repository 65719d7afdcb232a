"""Two tests of our own for each conftest chain: one must fail and one must pass.

Hooks in a conftest act for its own directory only (seen with pytest 9.2), so a
sentinel stands beside the tests of each chain, as an ordinary test function of a
module that exists in memory alone, under the path of a real one. They run first and last, and are never counted.
"""

import os
import types

import pytest


def _must_pass():
    assert True


def _must_fail():
    assert [] == [None], "this one must fail"


class SentinelModule(pytest.Module):
    """A module that is not the file at its path."""

    def _getobj(self):
        module = types.ModuleType(os.path.splitext(os.path.basename(str(self.path)))[0])
        module.__file__ = str(self.path)
        return module

    def _importtestmodule(self):
        return self._getobj()

    def collect(self):
        """Nothing is collected: the items are made by hand."""
        return []


class Sentinels:
    """Places them, watches them, and says whether they did what they must."""

    def __init__(self, names):
        self._names = names
        self._expected = {}
        self._seen = {}
        self._trouble = []
        self._running = None

    def place(self, session, items):
        """Insert a failing and a passing item at both ends, for each conftest chain."""
        if not items:
            return
        first, last = [], []
        for file, module in _chains(session, items):
            for end, row in ((0, first), (1, last)):
                for must_pass in (False, True):
                    name = self._names[end * 2 + must_pass]
                    try:
                        item = _make(file, module, name, _must_pass if must_pass else _must_fail)
                    except Exception as error:
                        self._trouble.append("could not be placed beside %s: %s" % (file, error))
                        continue
                    self._expected[id(item)] = must_pass
                    row.append(item)
        items[:] = first + items + last

    def begin(self, item):
        """Note that ``item`` starts."""
        if id(item) in self._expected:
            self._running = self._seen[id(item)] = []

    def saw(self, report):
        """Note a report of the running sentinel, as all other plugins get it."""
        if self._running is not None:
            self._running.append((report.when, "passed" if report.passed else report.outcome))

    def end(self, item):
        """Judge one sentinel once it has run."""
        self._running = None
        must_pass = self._expected.get(id(item))
        if must_pass is None:
            return
        reports = dict(self._seen.get(id(item), ()))
        if reports.get("setup", "passed") != "passed":
            return  # a hook failed for every test there; the tests themselves say so
        wanted = "passed" if must_pass else "failed"
        if reports.get("call") != wanted:
            what = "passes" if must_pass else "fails"
            self._trouble.append(
                "a test that always %s was reported as %s" % (what, reports.get("call", "not run"))
            )

    def verdict(self):
        """Return "" if all that ran did what they must, otherwise what went wrong."""
        return "; ".join(sorted(set(self._trouble)))

    def unseen(self):
        """Return how many never ran; a session that was ended early has some."""
        return len(self._expected) - len(self._seen)


def _chains(session, items):
    """Return one (test file, parent collector) for each distinct set of conftest files above a test."""
    root = (
        str(session.config.rootpath) if hasattr(session.config, "rootpath") else str(session.config.rootdir)
    )
    chains, known = {}, {}
    for item in items:
        file = getattr(item, "path", None)
        if file is None:
            continue
        folder = os.path.dirname(str(file))
        chain = known.get(folder)
        if chain is None:
            chain = known[folder] = _conftests(folder, root)
            module = item.getparent(pytest.Module)
            parent = module.parent if module is not None and module.parent is not None else session
            chains.setdefault(chain, (str(file), parent))
    return list(chains.values())


def _conftests(folder, root):
    found = []
    while folder.startswith(root):
        if os.path.exists(os.path.join(folder, "conftest.py")):
            found.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return tuple(found)


def _make(file, parent, name, body):
    from pathlib import Path

    # the path of a file that exists: pytest looks for the conftest files of a folder only beside one
    module = SentinelModule.from_parent(parent, path=Path(file))
    function = types.FunctionType(body.__code__, body.__globals__, name)
    item = pytest.Function.from_parent(
        module, name=name, callobj=function, fixtureinfo=_no_fixtures(module, function)
    )
    item.fixturenames = []
    # its traceback would cost 10 ms, and crowd out what a user wants to read
    item.repr_failure = lambda excinfo, style=None: "(redbucket: fails on purpose)"
    return item


def _no_fixtures(module, function):
    """Autouse fixtures may be slow or change state: a sentinel asks for none."""
    manager = module.session._fixturemanager
    info = manager.getfixtureinfo(node=module, func=function, cls=None)
    kind = type(info)
    return kind(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})
