"""Takes away, while a test's own code runs, what tells it that a test framework is at work: masked runs only."""

import os
import sys

import pytest

_environ = os.environ


class Unmarked:
    """A plugin of its own: in ordinary runs its wrappers would cost a tenth of a millisecond a test."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        """No module tells that a framework is loaded."""
        names = [name for name in sys.modules if name.partition(".")[0] in ("pytest", "_pytest")]
        hidden = {name: sys.modules.pop(name) for name in names}
        yield
        sys.modules.update(hidden)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """Nothing in the environment tells that a test is running."""
        value = _environ.pop("PYTEST_CURRENT_TEST", None)
        yield
        if value is not None:
            _environ["PYTEST_CURRENT_TEST"] = value
