"""The twin for plain ``unittest``: same events, same order and selection."""

import os
import sys
import time
import unittest

from . import failures, seeds
from .channel import cut

_now = time.perf_counter
_environ = os.environ
_WORST = ("error", "failed", "xpassed", "skipped", "xfailed", "passed")


def _flat(suite):
    for test in suite:
        if isinstance(test, unittest.BaseTestSuite):
            yield from _flat(test)
        else:
            yield test


class _MustFail(unittest.TestCase):
    def runTest(self):
        """Fail, always."""
        raise self.failureException("this one must fail")


class _MustPass(unittest.TestCase):
    def runTest(self):
        """Pass, always."""


class Recorder:
    """Discovers, orders and runs the tests as ``python -m unittest`` would."""

    def __init__(self, settings, channel, watch, lines, tree):
        self._settings = settings
        self._channel = channel
        self._watch = watch
        self._lines = lines
        self._tree = tree
        self._places = (
            (tree, "<tree>"),
            (os.path.realpath(tree), "<tree>"),
            (os.path.dirname(tree), "<run>"),
        )
        self._trouble = []

    def main(self, args):
        """Run and return 0, 1 (failures) or 5 (no tests)."""
        seeds.pin(self._settings["seed"], "session")
        self._channel.send(
            "session",
            interpreter=sys.executable,
            python="%d.%d.%d" % sys.version_info[:3],
            implementation=sys.implementation.name,
            platform=sys.platform,
            runner="unittest",
            pid=os.getpid(),
        )
        self._watch.take()
        program = unittest.TestProgram(
            module=None, argv=["python -m unittest"] + args, testRunner=_Nothing, exit=False
        )
        imported, _, _ = self._watch.take()
        self._imported = imported
        tests, errors = [], {}
        for test in _flat(program.test):
            if type(test).__name__ == "_FailedTest":
                errors[test.id().rpartition(".")[2]] = cut(str(getattr(test, "_exception", "")), 2000)
            else:
                tests.append(test)
        names = failures.unique([test.id() for test in tests])
        pairs = list(zip(names, tests))
        pairs = self._ordered(pairs)
        ids = [name for name, _ in pairs]
        if not self._settings["resumed"]:
            for start in range(0, len(ids), 500):
                self._channel.send("collected", ids=ids[start : start + 500])
            self._channel.send("collected", errors=errors, last=True)
        if self._settings["collect_only"]:
            self._finished(0)
            return 0
        done = frozenset(self._settings["done"])
        index = {name: i for i, name in enumerate(ids)}
        rest = [(name, test) for name, test in pairs if name not in done]
        result = _Result(self, {id(test): (name, index[name]) for name, test in rest})
        self._sentinel(_MustFail, "failed")
        self._sentinel(_MustPass, "passed")
        unittest.TestSuite(test for _, test in rest).run(result)
        result.close()
        self._sentinel(_MustFail, "failed")
        self._sentinel(_MustPass, "passed")
        status = 5 if not ids else int(result.red or bool(errors))
        self._finished(status)
        return status

    def _ordered(self, pairs):
        order, wanted = self._settings["order"], self._settings["only"]
        if order == "reversed":
            pairs.reverse()
        elif order == "shuffled":
            pairs.sort(key=lambda pair: seeds.derive(self._settings["shuffle"], pair[0]))
        if wanted is not None:
            place = {nodeid: i for i, nodeid in enumerate(wanted)}
            pairs = [pair for pair in pairs if pair[0] in place]
            if order == "given":
                pairs.sort(key=lambda pair: place[pair[0]])
        return pairs

    def _sentinel(self, kind, wanted):
        result = unittest.TestResult()
        kind().run(result)
        seen = "failed" if result.failures or result.errors else "passed"
        if result.testsRun != 1:
            seen = "not run"
        if seen != wanted:
            self._trouble.append("a test that must be %s was reported as %s" % (wanted, seen))

    def _finished(self, status):
        self._channel.send(
            "finished",
            status=status,
            sentinels="; ".join(sorted(set(self._trouble))),
            unseen=0,
            pinned=sorted(seeds.pinned | {"PYTHONHASHSEED", "TEST_SEED"}),
        )

    # -- called by the result ----------------------------------------------------------------

    def begin(self, name, index):
        """Send the start event and pin the seeds."""
        self._channel.send("start", nodeid=name, index=index)
        if self._lines is not None:
            self._lines.take()
        self._watch.take()
        self._urandom = seeds.urandom_calls()
        seeds.pin(self._settings["seed"], name)
        seeds.pin_hypothesis(self._settings["seed"])
        self._position = seeds.position()
        self._began = _now()

    def end(self, name, index, outcomes, failure):
        """Send the end event."""
        duration = _now() - self._began
        reads, writes, entropy = self._watch.take()
        if seeds.position() != self._position:
            entropy.add("random")
        if seeds.urandom_calls() != self._urandom:
            entropy.add("urandom")
        reads |= self._imported
        prefix = len(self._tree) + 1
        hits = self._lines.take() if self._lines is not None else ()
        failure = failure or {}
        self._channel.send(
            "end",
            nodeid=name,
            outcome=min(outcomes or ["error"], key=_WORST.index),
            phase=failure.get("phase", "call"),
            duration=round(duration, 6),
            seed=str(_environ.get("TEST_SEED", "")),
            message=failure.get("message", ""),
            exception=failure.get("exception", ""),
            fingerprint=failure.get("fingerprint", ""),
            fixtures=sorted(reads | writes),
            fixture_hash=self._watch.digest(reads | writes),
            wrote=sorted(writes),
            entropy=sorted(entropy),
            touched=sorted("%s:%d" % (path[prefix:], line) for path, line in hits),
            index=index,
        )

    def failure(self, phase, error):
        """Return what is kept of an exception."""
        kind, value, traceback = error
        name, text = failures.describe(value)
        text = cut(text)
        frame = failures.frame_of(traceback, self._tree)
        normal = failures.normalise(text, self._places)
        return {
            "phase": phase,
            "exception": name,
            "message": "%s: %s (%s)" % (name, text, frame),
            "fingerprint": failures.fingerprint(phase, name, frame, normal),
        }


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
        self._wide = {}
        self._ended = set()
        self.red = False

    def startTest(self, test):
        super().startTest(test)
        self._open = self._names.get(id(test))
        self._outcomes, self._failure = [], None
        if self._open:
            self._recorder.begin(*self._open)

    def stopTest(self, test):
        super().stopTest(test)
        if self._open:
            self._recorder.end(self._open[0], self._open[1], self._outcomes, self._failure)
            self._ended.add(self._open[0])
        self._open = None

    def _saw(self, outcome, phase=None, error=None):
        self._outcomes.append(outcome)
        if outcome in ("failed", "error", "xpassed"):
            self.red = True
        if error is not None and self._failure is None:
            self._failure = self._recorder.failure(phase, error)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._saw("passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._saw("failed", "call", err)

    def addError(self, test, err):
        super().addError(test, err)
        if self._open is None:  # setUpClass, setUpModule: no test has started
            self.red = True
            self._wide[str(test)] = self._recorder.failure("setup", err)
        else:
            self._saw("error", "call", err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self._open is None:
            self._wide[str(test)] = None
        else:
            self._saw("skipped")

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
            failure = next((f for key, f in self._wide.items() if _covers(key, name)), None)
            skipped = any(_covers(key, name) and f is None for key, f in self._wide.items())
            self._recorder.begin(name, index)
            self._recorder.end(name, index, ["skipped"] if skipped else ["error"], failure)


def _covers(key, name):
    """True if ``key`` ("setUpClass (module.Class)") is about the test called ``name``."""
    inner = key.partition("(")[2].rstrip(")")
    return bool(inner) and (name == inner or name.startswith(inner + "."))
