"""What a test leaves changed in its process: names of state, and how to put them back.

The state of ``random`` is not among them: it is pinned afresh for each test.
"""

import contextlib
import copy
import locale
import logging
import os
import sys
import warnings

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_CONTAINERS = (dict, list, set, tuple, frozenset)
_MOST = 2000  # items of one container; beyond that a copy would cost more than the test


class Differ:
    """Compares the process before and after each test; restores what is asked for."""

    def __init__(self, tree, restore):
        self._prefix = tree.rstrip("/") + "/"
        self._restore = frozenset(restore)
        self._before = {}

    def before(self):
        """Note how things are."""
        try:
            self._before = self._snapshot()
        except Exception:  # odd objects of the code under test: no state is better than no test
            self._before = {}

    def after(self):
        """Return the names of what differs now, and put back what was asked for."""
        try:
            now = self._snapshot()
        except Exception:
            return []
        changed = []
        for name in list(self._before) + [n for n in now if n not in self._before]:
            old, new = self._before.get(name), now.get(name)
            if old is None and name.startswith("sys.modules[") and getattr(new[1], "__spec__", None):
                continue  # an ordinary import
            if old is None or new is None or not _same(old[0], new[0]):
                changed.append(name)
        for name in changed:
            if name in self._restore:
                with contextlib.suppress(Exception):
                    self._put_back(name, self._before.get(name))
        return changed

    def _snapshot(self):
        umask = os.umask(0o77)
        os.umask(umask)
        seen = {
            "the working directory": (os.getcwd(), None),
            "the umask": (umask, None),
            "warnings.filters": (list(warnings.filters), None),
            "the locale": (locale.setlocale(locale.LC_ALL), None),
            "sys.path": (list(sys.path), None),
            "the root logger's handlers": (list(logging.root.handlers), None),
            "the root logger's level": (logging.root.level, None),
            "logging.disable": (logging.root.manager.disable, None),
        }
        for name, value in os.environ.items():
            if name != "PYTEST_CURRENT_TEST":
                seen["os.environ[%r]" % name] = (value, None)
        for name, module in list(sys.modules.items()):
            seen["sys.modules[%r]" % name] = (id(module), module)
            origin = getattr(module, "__file__", None)
            if isinstance(origin, str) and origin.startswith(self._prefix):
                self._module(name, module, seen)
        return seen

    def _module(self, name, module, seen):
        for attribute, value in list(vars(module).items()):
            if attribute.startswith(("__", "@")):
                continue
            key = "%s.%s" % (name, attribute)
            seen[key] = (_copy(value), value)
            if isinstance(value, type) and value.__module__ == name:
                for inner, member in list(vars(value).items()):
                    if not inner.startswith("__") and isinstance(member, _PLAIN + _CONTAINERS):
                        seen["%s.%s" % (key, inner)] = (_copy(member), member)
            elif hasattr(value, "__dict__") and type(value).__module__ in sys.modules:
                origin = getattr(sys.modules[type(value).__module__], "__file__", None)
                if isinstance(origin, str) and origin.startswith(self._prefix) and not callable(value):
                    for inner, member in list(vars(value).items()):
                        if isinstance(member, _PLAIN + _CONTAINERS):
                            seen["%s.%s" % (key, inner)] = (_copy(member), member)

    def _put_back(self, name, old):
        if name == "the working directory":
            os.chdir(old[0])
        elif name == "the umask":
            os.umask(old[0])
        elif name == "warnings.filters":
            warnings.filters[:] = old[0]
            warnings._filters_mutated()
        elif name == "the locale":
            locale.setlocale(locale.LC_ALL, old[0])
        elif name == "sys.path":
            sys.path[:] = old[0]
        elif name == "the root logger's handlers":
            logging.root.handlers[:] = old[0]
        elif name == "the root logger's level":
            logging.root.setLevel(old[0])
        elif name == "logging.disable":
            logging.disable(old[0])
        elif name.startswith("os.environ["):
            _item(os.environ, name[len("os.environ[") + 1 : -2], old and old[0])
        elif name.startswith("sys.modules["):
            _item(sys.modules, name[len("sys.modules[") + 1 : -2], old and old[1])
        else:
            _attribute(name, old)


def _item(mapping, key, value):
    if value is None:
        mapping.pop(key, None)
    else:
        mapping[key] = value


def _attribute(name, old):
    """Put back "package.module.NAME", in place where others may hold the same container."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        owner = sys.modules.get(".".join(parts[:length]))
        if owner is not None:
            break
    else:
        return
    for part in parts[length:-1]:
        owner = getattr(owner, part)
    if old is None:
        delattr(owner, parts[-1])
        return
    copied, value = old
    if isinstance(value, dict):
        value.clear()
        value.update(copied)
    elif isinstance(value, list):
        value[:] = copied
    elif isinstance(value, set):
        value.clear()
        value.update(copied)
    setattr(owner, parts[-1], value)


def _copy(value):
    if isinstance(value, _PLAIN):
        return value
    if type(value) in _CONTAINERS and len(value) <= _MOST:
        try:
            return copy.deepcopy(value)
        except Exception:
            return id(value)
    return id(value)  # which object it is: all that can be said of it


def _same(old, new):
    try:
        return type(old) is type(new) and bool(old == new)
    except Exception:
        return True
