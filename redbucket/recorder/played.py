"""Which interactions of HTTP cassettes no test asked for: vcrpy lets them pass in silence (kevin1024/vcrpy#329)."""

import os

LATE = ("vcr.cassette",)


class Played:
    """Keeps the cassettes that are loaded, once vcrpy's module is imported."""

    def __init__(self):
        self._cassettes = []

    def late(self, module):
        """Listen to a module of ``LATE`` that has just been imported."""
        try:
            self._listen(module.Cassette)
        except AttributeError:
            pass  # another vcrpy than we know: nothing is said of it

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
