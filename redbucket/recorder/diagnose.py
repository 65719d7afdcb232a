"""The conditions of an experiment, applied inside the process. Ordinary runs never load this."""

import os
import sys

from . import callsites, children, clock, entropy, inputs, listing, network, state


class Lab:
    """Applies the conditions once, and what depends on the test afresh for each test."""

    def __init__(self, wanted, tree):
        self._clock = self._entropy = self._state = self._sites = self._inputs = None
        if wanted.get("umask") is not None:
            os.umask(wanted["umask"])
        if wanted.get("switch_interval") is not None:
            sys.setswitchinterval(wanted["switch_interval"])
        if wanted.get("no_network"):
            network.deny()
        if wanted.get("late_children"):
            children.delay(wanted["late_children"])
        if wanted.get("entropy"):
            self._entropy = entropy.Repeated(wanted["entropy"])
        if wanted.get("clock") is not None:
            self._clock = clock.Shifted(wanted["clock"])
        if wanted.get("state") or wanted.get("restore"):
            self._state = state.Differ(tree, wanted.get("restore", ()))
        if wanted.get("sites"):
            self._sites = callsites.Sites(tree)
        if wanted.get("listing"):
            listing.order(wanted["listing"])
        if wanted.get("inputs"):
            self._inputs = inputs.Inputs(tree, wanted["inputs"])

    def early(self):
        """Called before unittest sets up a class or a module: that runs ahead of its first test."""
        if self._state is not None:
            self._state.early()

    def begin(self, name):
        """Called before each test."""
        if self._entropy is not None:
            self._entropy.start(name)
        if self._state is not None:
            self._state.before()
        if self._clock is not None:
            self._clock.align()
        if self._sites is not None:
            self._sites.begin()
        if self._inputs is not None:
            self._inputs.begin()

    def pytest_runtest_call(self, item):
        """Called by pytest before the body: what the fixtures took is no part of its time of day."""
        if self._clock is not None:
            self._clock.align()

    def counts(self):
        """Called after each test, first; return how many inputs it tried."""
        return self._inputs.end() if self._inputs is not None else []

    def end(self):
        """Called after each test; return the names of the state that it left changed."""
        return self._state.after() if self._state is not None else ()

    def sites(self):
        """Called as a test ends; return the lines that touched entropy."""
        return self._sites.take() if self._sites is not None else ()
