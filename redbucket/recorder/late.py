"""Tells of modules when they have been imported: what is not there yet can't be seeded, noted or listened to."""

import sys


class OnImport:
    """A finder that finds nothing: it calls what waits for a module once that is loaded.

    ``waiting`` is {name of a module: what is called with it}; names of modules that are loaded already don't count.
    """

    def __init__(self):
        self._waiting = {}

    def wait(self, names, call):
        """Call ``call`` with each module of ``names`` that is imported from now on."""
        for name in names:
            if name not in sys.modules:
                self._waiting.setdefault(name, []).append(call)

    def find_spec(self, name, path=None, target=None):
        """Return the ordinary spec of a module that is waited for, made to tell when it is loaded."""
        if name not in self._waiting:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        execute = getattr(getattr(spec, "loader", None), "exec_module", None)
        if execute is None:
            return None

        def exec_module(module):
            execute(module)
            for call in self._waiting.pop(name, ()):  # not before: a spec can be asked for and not be used
                call(module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            return None  # a loader written in C
        return spec

    def lead(self):
        """Come before pytest's own finder, which loads the modules of plugins, Hypothesis's among them."""
        sys.meta_path.sort(key=lambda finder: finder is not self)
