"""The twin for plain ``unittest``: same events, same order and selection."""

import sys
import time
import unittest

from . import collecting, failures, results, seeds
from .channel import cut
from .uses import Uses


def _flat(suite):
    for test in suite:
        if isinstance(test, unittest.BaseTestSuite):
            yield from _flat(test)
        elif test is not None:
            yield test


class _MustFail(unittest.TestCase):
    def runTest(self):
        """Fail, always."""
        raise self.failureException("this one must fail")


class _MustPass(unittest.TestCase):
    def runTest(self):
        """Pass, always."""


class _Suite(unittest.TestSuite):
    """Gives what a module or a class sets up numbers of its own: the same whichever test ran before."""

    seed = ""
    lab = None

    def _handleModuleFixture(self, test, result):
        if self.lab is not None and type(test) is not getattr(result, "_previousTestClass", None):
            self.lab.early()
        seeds.pin(self.seed, "the module %s" % type(test).__module__)
        super()._handleModuleFixture(test, result)

    def _handleClassSetUp(self, test, result):
        seeds.pin(self.seed, "the class %s.%s" % (type(test).__module__, type(test).__qualname__))
        super()._handleClassSetUp(test, result)


class Recorder:
    """Discovers, orders and runs the tests as ``python -m unittest`` would."""

    def __init__(self, settings, channel, watch, lines, tree):
        self._settings = settings
        self._channel = channel
        self._watch = watch
        self._lines = lines
        self.results = results.Results(settings, channel, watch, lines, tree)
        self.rewriting = None  # boot gives it; nothing of unittest's own rewrites
        self._uses = Uses(tree)
        self._tree = tree
        self._imported = set()
        self._shared = {}
        self._trouble = []
        self._now = time.perf_counter  # not a module's name: clock-freezing libraries replace those
        self._began = 0.0

    def main(self, args):
        """Run and return 0, 1 (failures) or 5 (no tests)."""
        seeds.pin(self._settings["seed"], "session")
        self.results.session("unittest", [])
        tests, errors = self._load(args)
        pairs = list(zip(failures.unique([test.id() for test in tests]), tests))
        pairs = results.arrange(pairs, self._settings, lambda name, test: _file_of(test, self._tree))
        ids = [name for name, _ in pairs]
        if not self._settings["resumed"]:
            self._channel.collected(ids, errors)
        self.results.held.settle((), {_file_of(test, self._tree) for test in tests})
        self._channel.send("ready")
        if self._settings["collect_only"]:
            self.results.finished(0, "", 0)
            return 0
        done = frozenset(self._settings["done"])
        index = {name: i for i, name in enumerate(ids)}
        rest = [(name, test) for name, test in pairs if name not in done]
        result = _Result(self, {id(test): (name, index[name]) for name, test in rest})
        self._sentinels()
        todo = [test for _, test in rest]
        if self._settings["diagnose"].get("twice"):
            todo = [each for test in todo for each in (results.again(test), test)]
        suite = _Suite(todo)
        suite.seed, suite.lab = self._settings["seed"], self.results.lab
        suite.run(result)
        result.close()
        self._sentinels()
        status = 5 if not ids else int(result.red or bool(errors))
        self.results.finished(status, "; ".join(sorted(set(self._trouble))), 0)
        return status

    def _load(self, args):
        self._watch.take()
        self._watch.importing = {}
        program = unittest.TestProgram(
            module=None, argv=["python -m unittest"] + args, testRunner=_Nothing, exit=False
        )
        self._imported, _, _ = self._watch.take()
        modules = {fixture: module for fixture, module in self._watch.importing.items() if module}
        self._watch.importing = None
        self._imported -= set(modules)  # these are known to belong to a module
        self._uses.imported(self._lines.take() if self._lines is not None else (), modules)
        tests, errors = [], {}
        for test in _flat(program.test):
            if type(test).__name__ == "_FailedTest":
                name = failures.normalise_nodeid(test.id().rpartition("_FailedTest.")[2])
                # "Failed to import test module: NAME", and the traceback as text
                said = str(getattr(test, "_exception", ""))
                errors[name] = cut(collecting.of_traceback(said, self._tree), 2000)
            elif type(test).__name__ == "ModuleSkipped":
                continue  # a module that raised SkipTest on import has no tests, as under pytest
            else:
                tests.append(test)
        return tests, errors

    def _sentinels(self):
        for kind, wanted in ((_MustFail, "failed"), (_MustPass, "passed")):
            result = unittest.TestResult()
            kind().run(result)
            seen = "failed" if result.failures or result.errors else "passed"
            if result.testsRun != 1:
                seen = "not run"
            if seen != wanted:
                self._trouble.append("a test that must be %s was reported as %s" % (wanted, seen))

    # -- called by the result ----------------------------------------------------------------

    def begin(self, name, index, test):
        """Send the start event and pin the seeds."""
        reads, _, _ = self._watch.take()
        owner = type(test)
        # setUpModule and setUpClass run before the first test of theirs
        if owner.__module__ not in self._shared:
            self._shared[owner.__module__] = reads
        self._shared.setdefault(owner, set()).update(reads)
        self.results.begin(name, index)
        seeds.pin(self._settings["seed"], name)
        seeds.pin_hypothesis(self._settings["seed"])
        seeds.calm(getattr(test, getattr(test, "_testMethodName", ""), None))
        self.results.mark()
        self._began = self._now()

    def end(self, name, index, test, outcomes, failure):
        """Send the end event."""
        duration = self._now() - self._began
        kind = type(test)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        touched, reads = self._uses.of(file)
        reads = self._imported.union(reads, self._shared.get(kind, ()), self._shared.get(kind.__module__, ()))
        outcome = min(outcomes or ["error"], key=results.WORST.index)
        self.results.end(name, index, outcome, duration, failure or {}, [], (touched, reads))


def _file_of(test, tree):
    """Return the path in the tree of the module that defines a test, "" if it has none."""
    path = getattr(sys.modules.get(type(test).__module__), "__file__", None) or ""
    return path[len(tree) + 1 :] if path.startswith(tree + "/") else ""


class _Nothing:
    """Stands in for the text runner: discovery only."""

    def __init__(self, *args, **kwargs):
        pass

    def run(self, test):
        """Run nothing."""
        return unittest.TestResult()


class _Result(unittest.TestResult):
    """Turns unittest's callbacks into events; class and module failures become the tests' own."""

    def __init__(self, recorder, names):
        super().__init__()
        self._recorder = recorder
        self._names = names
        self._open = None
        self._outcomes = []
        self._failure = None
        self._wide = []
        self._ended = set()
        self._order = []
        self.red = False

    def startTest(self, test):
        super().startTest(test)
        self._open = self._names.get(id(test))
        self._outcomes, self._failure = [], None
        if self._open:
            self._recorder.begin(self._open[0], self._open[1], test)

    def stopTest(self, test):
        super().stopTest(test)
        if self._open:
            name, index = self._open
            self._recorder.end(name, index, test, self._outcomes, self._failure)
            self._ended.add(name)
        self._open = None

    def _saw(self, outcome, phase=None, error=None):
        self._outcomes.append(outcome)
        if outcome in ("failed", "error", "xpassed"):
            self.red = True
        if error is not None and self._failure is None:
            self._failure = self._recorder.results.failure(phase, error[1], error[2])

    def addSuccess(self, test):
        super().addSuccess(test)
        self._saw("passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._saw("failed", "call", err)

    def addError(self, test, err):
        super().addError(test, err)
        if self._open is None:  # setUpClass, setUpModule, or their counterparts: no test is running
            self.red = True
            self._wide.append((str(test), "error", self._recorder.results.failure("setup", err[1], err[2])))
        else:
            self._saw("error", "call", err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self._open is None:
            self._wide.append((str(test), "skipped", {"message": cut(str(reason), 500)}))
        else:
            self._saw("skipped")
            self._failure = self._failure or {"message": cut(str(reason), 500)}

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._saw("xfailed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._saw("xpassed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._saw("failed" if issubclass(err[0], test.failureException) else "error", "call", err)

    def close(self):
        """Give the tests that a failed or skipped setUpClass kept from running their outcome."""
        for name, index in self._names.values():
            if name in self._ended:
                continue
            outcome, failure = "error", {"message": "the suite never ran it"}
            for key, kind, what in self._wide:
                if _covers(key, name):
                    outcome, failure = kind, what
                    break
            self._recorder.begin(name, index, self)
            self._recorder.end(name, index, self, [outcome], failure)


def _covers(key, name):
    """True if ``key`` ("setUpClass (module.Class)") is about the test called ``name``."""
    inner = key.partition("(")[2].rpartition(")")[0]
    return bool(inner) and (name == inner or name.startswith(inner + "."))
