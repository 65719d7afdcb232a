"""Which interactions of HTTP cassettes no test asked for: vcrpy lets them pass in silence (kevin1024/vcrpy#329)."""

import os
import sys

_MODULE = "vcr.cassette"


class Played:
    """A finder that finds nothing: once vcrpy's module is loaded, it keeps the cassettes that are loaded."""

    def __init__(self):
        self._cassettes = []
        self._waiting = _MODULE not in sys.modules

    def find_spec(self, name, path=None, target=None):
        """Return the ordinary spec of vcrpy's module, made to tell us of its cassettes."""
        if not self._waiting or name != _MODULE:
            return None
        self._waiting = False
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        execute = getattr(getattr(spec, "loader", None), "exec_module", None)
        if execute is None:
            return None

        def exec_module(module):
            execute(module)
            try:
                self._listen(module.Cassette)
            except AttributeError:
                pass  # another vcrpy than we know: nothing is said of it

        spec.loader.exec_module = exec_module
        return spec

    def _listen(self, kind):
        load, cassettes = kind._load, self._cassettes

        def _load(cassette):
            cassettes.append(cassette)
            return load(cassette)

        kind._load = _load

    def unplayed(self, tree):
        """Return {path in the tree: how many of its interactions were never played}, without the zeros."""
        total, played = {}, {}
        for cassette in self._cassettes:
            try:
                path = os.path.relpath(os.path.realpath(str(cassette._path)), os.path.realpath(tree))
                counts = cassette.play_counts
                total[path] = max(total.get(path, 0), len(cassette.data))
                played.setdefault(path, set()).update(i for i in range(len(cassette.data)) if counts[i])
            except (AttributeError, TypeError, KeyError, ValueError):
                continue  # another vcrpy than we know
        left = {path: count - len(played[path]) for path, count in total.items() if not path.startswith("..")}
        return {path: count for path, count in left.items() if count > 0}
