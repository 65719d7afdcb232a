"""The pytest side: order and selection, one start and one end event a test, sentinels."""

import os
import time

import pytest

from . import collecting, failures, options, results, seeds, updates
from .channel import cut
from .narrow import Narrow
from .phases import Phases
from .reads import Reads
from .rows import Rows
from .sentinels import Sentinels

_ENDS = (pytest.skip.Exception, pytest.exit.Exception, pytest.xfail.Exception)


class Recorder:
    """Registered as a plugin object by the boot script, before any code of the tree runs."""

    def __init__(self, settings, channel, watch, lines, tree):
        self._settings = settings
        self._channel = channel
        self._lines = lines
        self._names = {}
        self._index = {}
        self._item = None
        self._number = 0
        self._phases = Phases()
        self._failure = None
        self._errors = {}
        self._raised = None
        self._tree = tree
        self._reads = Reads(watch, lines, tree)
        self.results = results.Results(settings, channel, watch, lines, tree)
        self.rewriting = self.imports = None  # boot gives them
        self.rows = None  # known once all is collected
        self._sentinels = Sentinels(settings["sentinels"])
        self._broken_files = settings["broken_files"]
        self._narrow = Narrow(tree, settings)
        self._now = time.perf_counter  # not a module's name: clock-freezing libraries replace those

    # -- options ----------------------------------------------------------------------------

    def pytest_plugin_registered(self, plugin, manager):
        """Get ahead of pytest-cov, which starts before the options are final."""
        if getattr(plugin, "__name__", "") == "pytest_cov.plugin":
            manager.register(options.NoCoverage())

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, args):
        """Take out of the whole command line, configuration and all, what rewrites expectations."""
        if getattr(pytest, "version_tuple", (0,)) >= (8, 2):
            args[:] = updates.unfolded(args)
        args[:] = self.rewriting.of_words(args)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        """Switch off what reorders, reruns, stops early or spreads the tests over processes."""
        options.tame(config.option, bool(self._settings["collect_only"]))
        self.rewriting.of_options(config.option, {str(config.rootpath), os.getcwd()})
        number = seeds.derive(self._settings["seed"], "session")
        seeds.pin_randomly(config, number)
        yield

    def pytest_sessionstart(self, session):
        """Pin the seeds before anything is collected, and say what runs where."""
        seeds.pin(self._settings["seed"], "session")
        self.imports.lead()
        self._reads.early()
        self.results.session("pytest " + pytest.__version__, sorted(set(_plugins(session.config))))

    # -- collection -------------------------------------------------------------------------

    def pytest_ignore_collect(self, collection_path):
        """A run of few tests imports their files only."""
        return True if self._narrow.leaves_out(str(collection_path)) else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        """Say which file is being imported; what importing reads belongs to every test of it."""
        name = ""
        if isinstance(collector, pytest.File):
            name = failures.normalise_nodeid(collector.nodeid)
            if name in self._broken_files:
                _break(collector, self._broken_files[name])
            self._channel.send("collecting", nodeid=name)
        self._reads.enter()
        yield
        self._reads.leave(collector.nodeid)
        seeds.pin(self._settings["seed"], "collection")
        if name:
            self._channel.send("collecting", nodeid="")

    def pytest_exception_interact(self, call, report):
        """Keep what a collector raised until its report comes: the report has text alone."""
        if isinstance(report, pytest.CollectReport):
            self._raised = report.nodeid, call.excinfo.value

    def pytest_collectreport(self, report):
        """Keep why a file could not be collected."""
        raised, self._raised = self._raised, None
        if report.failed:
            reason = str(report.longrepr)
            if raised is not None and raised[0] == report.nodeid:
                reason = collecting.of_error(raised[1], reason, self._tree)
            self._errors[failures.normalise_nodeid(report.nodeid)] = cut(reason, 2000)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session):
        """Name the items, then order and select them as asked, after every other plugin."""
        options.hurry(session.config.option)
        items = session.items
        names = failures.unique([item.nodeid for item in items])
        pairs = results.arrange(list(zip(names, items)), self._settings, _file_of)
        self._names = {id(item): name for name, item in pairs}
        self._index = {name: index for index, (name, _) in enumerate(pairs)}
        if not self._settings["resumed"]:
            self._channel.collected([name for name, _ in pairs], self._errors)
        plugins = session.config.pluginmanager.get_plugins()  # conftests of one name push each other out
        self.rows = Rows(self.results.held)
        self.results.held.settle(plugins, {name.partition("::")[0] for name in self._index}, _fixtures(items))
        self._channel.send("ready")
        done = frozenset(self._settings["done"])
        items[:] = [item for name, item in pairs if name not in done]
        if self._settings["diagnose"].get("twice"):
            items[:] = [each for item in items for each in (results.again(item), item)]
        if not self._settings["collect_only"]:
            self._sentinels.place(session, items)

    # -- running ----------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Frame one test by a start and an end event."""
        name = self._names.get(id(item))
        if name is None:  # a sentinel, or an item that a plugin made up while running
            self._sentinels.begin(item)
            yield
            self._sentinels.end(item)
            return
        self._item = item
        self._phases, self._failure = Phases(), None
        results_ = self.results
        results_.begin(name, self._index[name])
        self._number = seeds.pin(self._settings["seed"], name)
        seeds.pin_hypothesis(self._settings["seed"])
        seeds.calm(getattr(item, "obj", None))
        seeds.pin_randomly(item.config, self._number)
        results_.mark()
        began = self._now()
        outcome = yield
        duration = self._now() - began
        if outcome.excinfo is None:
            self._end(item, name, duration)
        # otherwise the session is being ended from inside (pytest.exit, Ctrl-C): the
        # parent sees a test that started and never ended, and goes on without it
        self._item = None

    def _end(self, item, name, duration):
        attempts = self._phases.earlier + [self._phases.outcome()]
        outcome = min(attempts, key=results.WORST.index)
        failure = self._failure
        if failure is None and outcome == "skipped":
            failure = {"message": cut(self._phases.reason, 500)}
        self.results.end(
            name,
            self._index[name],
            outcome,
            duration,
            failure or {},
            attempts if len(attempts) > 1 else [],
            self._reads.inherited(item),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """Look at the values that a parametrised test is about to get."""
        if pyfuncitem is self._item:
            self.rows.look(pyfuncitem)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """What a module- or session-scoped fixture reads and draws goes to each test that uses it, not to the first."""
        outer = self._reads.fixture_begins()
        aside = None
        if self._item is not None and fixturedef.scope != "function":
            name = "%s %s %s" % (
                failures.normalise_nodeid(getattr(request.node, "nodeid", "")),
                fixturedef.argname,
                getattr(request, "param_index", 0),
            )
            aside = seeds.Aside(self._settings["seed"], name)
            seeds.pin_randomly(request.config, aside.number)
        yield
        if aside is not None:
            aside.end()
            seeds.pin_randomly(request.config, self._number)
        self._reads.fixture_ends(fixturedef, outer)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item):
        """Note the fixtures that were asked for by name while the test ran."""
        self._reads.asked_for(item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        """Keep the exception itself: what follows may rewrite the report, not this."""
        outcome = yield
        if item is self._item and call.excinfo is not None:
            error = call.excinfo.value
            if not isinstance(error, _ENDS):
                self._phases.raised(call.when)
            if not isinstance(error, (pytest.skip.Exception, pytest.exit.Exception)):
                self._keep(call.when, error)
        try:
            outcome.get_result()
        except BaseException as error:
            self._phases.broken(call.when)
            self._failure = self._failure or {"phase": call.when, "message": "the report failed: %r" % error}

    def _keep(self, when, error):
        if self._failure is None or self._failure["phase"] == "teardown":
            self._failure = self.results.failure(when, error, error.__traceback__)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        """Collect the phases of the running test."""
        if self._item is not None:
            self._phases.saw(report)
        else:
            self._sentinels.saw(report)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        """Say that the session ended by itself, before another plugin trips over the end."""
        self.results.finished(int(exitstatus), self._sentinels.verdict(), self._sentinels.unseen())
        yield


def _file_of(name, item):
    return name.partition("::")[0]


def _fixtures(items):
    """Return pytest's definitions of the fixtures that the items use, each once."""
    known, found = set(), {}
    for item in items:
        info = getattr(item, "_fixtureinfo", None)
        if info is not None and id(info) not in known:  # the rows of a test share it
            known.add(id(info))
            found.update((id(each), each) for defined in info.name2fixturedefs.values() for each in defined)
    return list(found.values())


def _break(collector, reason):
    """A file that took a process down on import is not imported again."""

    def collect():
        raise collector.CollectError(reason)

    collector.collect = collect


def _plugins(config):
    for _, distribution in config.pluginmanager.list_plugin_distinfo():
        yield "%s %s" % (distribution.project_name, distribution.version)
