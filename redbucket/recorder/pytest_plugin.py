"""The pytest side: order and selection, one start and one end event a test, sentinels."""

import os
import sys
import time

import pytest

from . import failures, seeds
from .channel import cut
from .sentinels import Sentinels

_now = time.perf_counter
_environ = os.environ

# Of the phases of one test, the worst counts.
_WORST = ("error", "failed", "xpassed", "skipped", "xfailed", "passed")


class Recorder:
    """Registered as a plugin object by the boot script, before any code of the tree runs."""

    def __init__(self, settings, channel, watch, lines, tree):
        self._settings = settings
        self._channel = channel
        self._watch = watch
        self._lines = lines
        self._tree = tree
        self._names = {}
        self._index = {}
        self._item = None
        self._attempts = []
        self._phases = []
        self._failure = None
        self._subtests = []
        self._noise = False
        self._module_reads = {}
        self._fixture_reads = {}
        self._collecting = []
        self._errors = {}
        self._sentinels = Sentinels(settings["sentinels"])
        self._places = (
            (tree, "<tree>"),
            (os.path.realpath(tree), "<tree>"),
            (os.path.dirname(tree), "<run>"),
        )

    # -- options that would spoil a run, whatever the configuration says ---------------------

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config):
        """Switch off what reorders, reruns, stops early or spreads the tests over processes."""
        option = config.option
        for name, value in (
            ("maxfail", 0),
            ("lf", False),
            ("failedfirst", False),
            ("newfirst", False),
            ("stepwise", False),
            ("stepwise_skip", False),
            ("numprocesses", 0),
            ("dist", "no"),
            ("tx", []),
            ("reruns", 0),
            ("randomly_reorganize", False),
            ("random_order_bucket", "none"),
            ("usepdb", False),
            ("trace", False),
            ("collectonly", bool(self._settings["collect_only"])),
            ("continue_on_collection_errors", True),
        ):
            if hasattr(option, name):
                setattr(option, name, value)
        number = seeds.derive(self._settings["seed"], "session")
        if hasattr(option, "randomly_seed"):
            option.randomly_seed = number
            seeds.pinned.add("pytest-randomly")
        if hasattr(option, "hypothesis_seed"):
            option.hypothesis_seed = str(number)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        """Coverage is measured by nobody here, and it slows every run."""
        if hasattr(early_config.known_args_namespace, "cov_source"):
            early_config.known_args_namespace.cov_source = []
        yield

    def pytest_sessionstart(self, session):
        """Pin the seeds before anything is collected, and say what runs where."""
        seeds.pin(self._settings["seed"], "session")
        self._watch.take()
        self._channel.send(
            "session",
            interpreter=sys.executable,
            python="%d.%d.%d" % sys.version_info[:3],
            implementation=sys.implementation.name,
            platform=sys.platform,
            runner="pytest " + pytest.__version__,
            packages=_packages() if not self._settings["resumed"] else {},
            plugins=sorted(set(_plugins(session.config))),
            pid=os.getpid(),
        )

    # -- collection -------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        """Fixtures that are read on import belong to every test of the module."""
        self._watch.take()
        self._collecting.append(collector.nodeid)
        yield
        reads, writes, _ = self._watch.take()
        # a module's read during its import is seen in the innermost collector
        self._module_reads.setdefault(collector.nodeid, set()).update(reads | writes)
        self._collecting.pop()
        seeds.pin(self._settings["seed"], "collection")

    def pytest_collectreport(self, report):
        """Keep why a file could not be collected."""
        if report.failed:
            self._errors[report.nodeid] = cut(str(report.longrepr), 2000)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_collection_modifyitems(self, session, config, items):
        """Name the items, then order and select them as asked, after every other plugin."""
        yield
        self._name(items)
        order = self._settings["order"]
        if order == "reversed":
            items.reverse()
        elif order == "shuffled":
            items.sort(key=lambda item: seeds.derive(self._settings["shuffle"], self._names[id(item)]))
        ids = [self._names[id(item)] for item in items]
        wanted = self._settings["only"]
        if wanted is not None:
            place = {nodeid: index for index, nodeid in enumerate(wanted)}
            chosen = [item for item in items if self._names[id(item)] in place]
            if order == "given":
                chosen.sort(key=lambda item: place[self._names[id(item)]])
            items[:] = chosen
            ids = [self._names[id(item)] for item in items]
        self._index = {nodeid: index for index, nodeid in enumerate(ids)}
        if not self._settings["resumed"]:
            for start in range(0, len(ids), 500):
                self._channel.send("collected", ids=ids[start : start + 500])
            self._channel.send("collected", errors=self._errors, last=True)
        done = frozenset(self._settings["done"])
        if done:
            items[:] = [item for item in items if self._names[id(item)] not in done]
        if not self._settings["collect_only"]:
            self._sentinels.place(session, items)

    def _name(self, items):
        names = failures.unique([item.nodeid for item in items])
        self._names = {id(item): name for item, name in zip(items, names)}

    # -- running ----------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Frame one test by a start and an end event."""
        name = self._names.get(id(item))
        if name is None:  # a sentinel, or an item that a plugin made up while running
            self._item = item
            self._sentinels.begin(item)
            yield
            self._sentinels.end(item)
            self._item = None
            return
        self._channel.send("start", nodeid=name, index=self._index.get(name, 0))
        self._item = item
        self._attempts, self._phases, self._failure, self._subtests = [], [], None, []
        self._noise = False
        if self._lines is not None:
            self._lines.take()
        self._watch.take()
        urandom = seeds.urandom_calls()
        seeds.pin(self._settings["seed"], name)
        seeds.pin_hypothesis(self._settings["seed"])
        before = seeds.position()
        began = _now()
        outcome = yield
        duration = _now() - began
        if outcome.excinfo is None:
            self._finish(item, name, duration, before, urandom)
        # otherwise the session is being ended from inside (pytest.exit, Ctrl-C): the
        # parent sees a test that started and never ended, and goes on without it
        self._item = None

    def _finish(self, item, name, duration, before, urandom):
        reads, writes, entropy = self._watch.take()
        if seeds.position() != before:
            entropy.add("random")
        if seeds.urandom_calls() != urandom:
            entropy.add("urandom")
        reads |= self._inherited(item)
        hits = self._lines.take() if self._lines is not None else ()
        prefix = len(self._tree) + 1
        attempts = self._attempts + [self._attempt()]
        outcome = min(attempts, key=_WORST.index)
        failure = self._failure or {}
        self._channel.send(
            "end",
            nodeid=name,
            outcome=outcome,
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
            attempts=attempts if len(attempts) > 1 else [],
            touched=sorted("%s:%d" % (path[prefix:], line) for path, line in hits),
            index=self._index.get(name, 0),
        )

    def _inherited(self, item):
        """Return fixtures read on import of the module, or by wider-scoped pytest fixtures."""
        reads = set()
        node = item
        while node is not None:
            reads |= self._module_reads.get(node.nodeid, set())
            node = node.parent
        info = getattr(item, "_fixtureinfo", None)
        for definitions in getattr(info, "name2fixturedefs", {}).values():
            for definition in definitions:
                reads |= self._fixture_reads.get(id(definition), set())
        return reads

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """What a module- or session-scoped fixture reads belongs to each test that uses it."""
        watch = self._watch
        outer = watch.reads
        watch.reads = set()
        yield
        inner = watch.reads
        self._fixture_reads.setdefault(id(fixturedef), set()).update(inner)
        watch.reads = outer | inner

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        """Keep the exception itself: what follows may rewrite the report, not this."""
        outcome = yield
        if item is self._item and call.excinfo is not None:
            error = call.excinfo.value
            if not isinstance(error, (pytest.skip.Exception, pytest.exit.Exception)):
                self._keep(call, error)
        try:
            report = outcome.get_result()
        except BaseException as error:
            self._phases.append((call.when, "error"))
            self._failure = self._failure or {"phase": call.when, "message": "the report failed: %r" % error}
            return
        self._sentinels.saw(item, report)

    def _keep(self, call, error):
        name, text = failures.describe(error)
        text = cut(text)
        frame = failures.frame_of(error.__traceback__, self._tree)
        normal = failures.normalise(text, self._places)
        kept = {
            "phase": call.when,
            "exception": name,
            "message": "%s: %s (%s)" % (name, text, frame) if text else "%s (%s)" % (name, frame),
            "fingerprint": failures.fingerprint(call.when, name, frame, normal),
        }
        if self._failure is None or self._failure["phase"] == "teardown":
            self._failure = kept

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        """Collect the phases; a second setup after a teardown is another attempt."""
        if self._item is None or id(self._item) not in self._names:
            return
        if hasattr(report, "context") or type(report).__name__ in ("SubtestReport", "SubTestReport"):
            self._subtests.append(report.outcome)
            return
        if report.outcome == "rerun":
            self._phases.append((report.when, "failed" if report.when == "call" else "error"))
            return
        if report.when == "setup" and self._phases:
            self._attempts.append(self._attempt())
            self._phases, self._subtests = [], []
        self._phases.append((report.when, _outcome(report)))

    def _attempt(self):
        outcomes = [outcome for _, outcome in self._phases]
        if "failed" in self._subtests:
            outcomes.append("failed")
        whens = [when for when, _ in self._phases]
        if not outcomes or ("call" not in whens and outcomes[0] == "passed"):
            return "error"  # no report of the body: nothing says that it passed
        return min(outcomes, key=_WORST.index)

    def pytest_sessionfinish(self, session, exitstatus):
        """Say that the session ended by itself, and what the sentinels did."""
        self._channel.send(
            "finished",
            status=int(exitstatus),
            sentinels=self._sentinels.verdict(),
            unseen=self._sentinels.unseen(),
            pinned=sorted(seeds.pinned | {"PYTHONHASHSEED", "TEST_SEED"}),
        )


def _outcome(report):
    xfail = hasattr(report, "wasxfail")
    if report.passed:
        return "passed"
    if report.skipped:
        return "xfailed" if xfail else "skipped"
    if (
        report.when == "call"
        and isinstance(report.longrepr, str)
        and report.longrepr.startswith("[XPASS(strict)]")
    ):
        return "xpassed"
    return "failed" if report.when == "call" else "error"


def _packages():
    try:
        from importlib.metadata import distributions
    except ImportError:
        return {}
    found = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:
            found[str(name)] = str(distribution.version)
    return found


def _plugins(config):
    for plugin, distribution in config.pluginmanager.list_plugin_distinfo():
        yield "%s %s" % (distribution.project_name, distribution.version)
