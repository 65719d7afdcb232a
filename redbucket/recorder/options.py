"""Options that would spoil a run, whatever the project's configuration says."""

import pytest

# What reorders, reruns, stops early, skips the bodies, spreads tests over processes, or takes its time over failures.
_OFF = {
    "maxfail": 0,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "stepwise": False,
    "stepwise_skip": False,
    "stepwise_reset": False,
    "setuponly": False,
    "setupplan": False,
    "numprocesses": 0,
    "dist": "no",
    "distload": False,
    "tx": [],
    "px": [],
    "looponfail": False,
    "forked": False,
    "reruns": 0,
    "retries": 0,
    "force_flaky": False,
    "randomly_reorganize": False,
    "randomly_reset_seed": False,
    "random_order": False,
    "random_order_bucket": "none",
    "usepdb": False,
    "trace": False,
    "continue_on_collection_errors": True,
    "timeout_method": "signal",  # the thread method ends the whole process
    "tbstyle": "auto",
    "fulltrace": False,
}


def tame(option, collect_only):
    """Set the options so that each test runs once, in one process, in the order asked for."""
    for name, value in _OFF.items():
        if hasattr(option, name):
            setattr(option, name, list(value) if isinstance(value, list) else value)
    option.collectonly = collect_only


def hurry(option):
    """Set what is for the tests alone, when all of them are collected.

    The stock style of tracebacks walks the syntax tree of a file once for each entry: a red suite of a second takes
    a minute. Nobody reads these texts; a failure's own message is taken from the exception.
    """
    option.tbstyle = "native"


class NoCoverage:
    """Coverage is measured by nobody here, and it slows every run.

    pytest-cov starts in this very hook, so we must be registered after it to be before it.
    """

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        """Take the sources away that ``--cov`` named."""
        if hasattr(early_config.known_args_namespace, "cov_source"):
            early_config.known_args_namespace.cov_source = []
        yield
