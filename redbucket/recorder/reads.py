"""Which fixture files belong to a test besides those that it opens itself, under pytest."""

import os

from .uses import Uses


class Reads:
    """Files read on import, by a conftest, or by fixtures that live longer than one test."""

    def __init__(self, watch, lines, tree):
        self._watch = watch
        self._lines = lines
        self._uses = Uses(tree)
        self._for_all = set()
        self._collectors = {}
        self._fixtures = {}
        self._open = []
        self._asked = frozenset()

    def early(self):
        """What was read before the session (the first conftest files) belongs to every test."""
        reads, _, _ = self._watch.take()
        self._for_all |= reads
        if self._lines is not None:
            self._uses.imported(self._lines.take(), {})

    def enter(self):
        """A collector starts; it may stand inside another one."""
        self._open.append(self._watch.take()[0])
        self._watch.importing = {}

    def leave(self, nodeid):
        """The innermost collector has ended."""
        reads, _, _ = self._watch.take()
        before = self._open.pop()
        if reads:
            self._collectors.setdefault(str(nodeid), set()).update(reads)
        hits = self._lines.take() if self._lines is not None else ()
        modules = {fixture: module for fixture, module in self._watch.importing.items() if module}
        if hits or modules:
            self._uses.imported(hits, modules)
        self._watch.importing = {} if self._open else None
        self._watch.reads |= before

    def fixture_begins(self):
        """Return what was read so far; what follows is the fixture's."""
        watch = self._watch
        outer, watch.reads = watch.reads, set()
        return outer

    def fixture_ends(self, definition, outer):
        """Keep what the fixture read."""
        watch = self._watch
        if watch.reads:
            self._fixtures.setdefault(id(definition), set()).update(watch.reads)
            watch.reads |= outer
        else:
            watch.reads = outer

    def asked_for(self, item):
        """Note the fixtures that a test got while it ran, by ``request.getfixturevalue``."""
        self._asked = frozenset()
        if self._fixtures:
            request = getattr(item, "_request", None)
            definitions = getattr(request, "_fixture_defs", None)
            if isinstance(definitions, dict):
                self._asked = frozenset(map(id, definitions.values()))

    def inherited(self, item):
        """Return (lines, fixtures) that ``item`` owes to imports and to wider fixtures."""
        reads = set(self._for_all)
        if self._collectors:
            node = item
            while node is not None:
                reads |= self._collectors.get(str(node.nodeid), set())
                node = node.parent
        if self._fixtures:
            info = getattr(item, "_fixtureinfo", None)
            for definitions in getattr(info, "name2fixturedefs", {}).values():
                for definition in definitions:
                    reads |= self._fixtures.get(id(definition), set())
            for definition in self._asked:
                reads |= self._fixtures.get(definition, set())
        touched, imported = self._uses.of(os.fspath(getattr(item, "path", "")))
        reads |= imported
        return touched, reads
