"""What importing did, and which tests depend on it.

A module is executed once, for whichever test module imports it first. What its
top level executes and reads belongs to every test whose module imports it, directly
or through others. The import statements of the loaded modules of the tree say
which those are; they are read only when there is something to share out.
"""

import os
import re
import sys

_open = open
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n;#]+)|import[ \t]+([^\n;#]+))", re.M
)
_NAME = re.compile(rb"[A-Za-z_][\w.]*")


class Uses:
    """Shares out what was executed and read on import."""

    def __init__(self, tree):
        self._prefix = tree.rstrip("/") + "/"
        self._touched = {}
        self._reads = {}
        self._for_all = set()
        self._shared = {}
        self._files = {}
        self._edges = {}

    def imported(self, hits, reads):
        """Take what happened since the last call: lines executed, {fixture: module file or ""}."""
        for path, line in hits:
            self._touched.setdefault(path, set()).add((path, line))
        for fixture, module in reads.items():
            if module:
                self._reads.setdefault(module, set()).add(fixture)
            else:
                self._for_all.add(fixture)
        self._shared.clear()

    def of(self, file):
        """Return (lines, fixtures) that tests in ``file`` owe to imports."""
        if not self._touched and not self._reads:
            return (), self._for_all
        shared = self._shared.get(file)
        if shared is None:
            shared = self._shared[file] = self._share(file)
        return shared

    def _share(self, file):
        hits, reads = set(), set(self._for_all)
        try:
            closure = self._closure(file)
        except Exception:  # better too many tests than a lost dependency
            closure = set(self._touched) | set(self._reads)
        for path in closure:
            hits |= self._touched.get(path, set())
            reads |= self._reads.get(path, set())
        return hits, reads

    def _closure(self, file):
        self._files = {}
        for name, module in list(sys.modules.items()):
            origin = getattr(module, "__file__", None)
            if isinstance(origin, str) and origin.startswith(self._prefix):
                self._files.setdefault(origin, name)
        todo = [file]
        folder = os.path.dirname(file)
        while (folder + "/").startswith(self._prefix):  # fixtures of a conftest act without an import
            todo.append(folder + "/conftest.py")
            folder = os.path.dirname(folder)
        seen = set()
        while todo:
            path = todo.pop()
            if path in seen or (path not in self._files and path != file):
                continue
            seen.add(path)
            todo.extend(self._imports(path))
        return seen

    def _imports(self, path):
        """Return the files of the modules that ``path`` imports, packages above them included."""
        known = self._edges.get(path)
        if known is not None:
            return known
        name = self._files.get(path, "")
        package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
        names = {package} if package else set()
        try:
            with _open(path, "rb") as stream:
                source = stream.read()
        except OSError:
            source = b""
        for origin, what, plain in _IMPORT.findall(source):
            if origin:
                base = _absolute(origin.decode("utf-8", "replace"), package)
                names.add(base)
                names.update("%s.%s" % (base, n.decode("utf-8", "replace")) for n in _NAME.findall(what))
            else:
                names.update(n.decode("utf-8", "replace") for n in _NAME.findall(plain))
        files = set()
        for dotted in names:
            while dotted:
                origin = getattr(sys.modules.get(dotted), "__file__", None)
                if isinstance(origin, str) and origin.startswith(self._prefix):
                    files.add(origin)
                dotted = dotted.rpartition(".")[0]
        self._edges[path] = files
        return files


def _absolute(name, package):
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - dots + 1])
    rest = name[dots:]
    return "%s.%s" % (base, rest) if rest and base else base or rest
