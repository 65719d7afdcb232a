"""What a test leaves changed in its process: names of state, and how to put them back.

The global state of ``random`` is not among them: it is pinned afresh for each test. Generators
that a module keeps are.
"""

import contextlib
import locale
import logging
import os
import sys
import warnings

from .pieces import of, put_into, same


class Differ:
    """Compares the process before and after each test; restores what is asked for.

    A piece of state is (what is compared, the object, what it is put back from).
    """

    def __init__(self, tree, restore):
        self._prefix = tree.rstrip("/") + "/"
        self._restore = frozenset(restore)
        self._before = {}
        self._early = False

    def early(self):
        """Note how things are before what a class or module sets up for its first test, which counts as that test's."""
        self._early = False
        self.before()
        self._early = True

    def before(self):
        """Note how things are."""
        if self._early:
            self._early = False
            return
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
            if old is None and name.startswith("sys.modules["):
                if getattr(new[1], "__spec__", None):
                    name = "the import of %s" % name[len("sys.modules[") + 1 : -2]
            elif old is None and (isinstance(new[1], type(sys)) or not self._known(name)):
                continue  # an attribute of a module that was imported just now, or that module
            if old is None or new is None or not same(old[0], new[0]):
                changed.append(name)
        for name in changed:
            if name in self._restore:
                with contextlib.suppress(Exception):
                    self._put_back(name, self._before.get(name), now.get(name))
        return changed

    def _known(self, name):
        """False for what belongs to a module that was not there before."""
        if "[" in name or "(" in name or " " in name:
            return True
        parts = name.split(".")
        owners = [".".join(parts[:n]) for n in range(1, len(parts))]
        loaded = [o for o in owners if o in sys.modules]
        return not loaded or any("sys.modules[%r]" % o in self._before for o in loaded[-1:])

    def _snapshot(self):
        umask = os.umask(0o77)
        os.umask(umask)
        seen = {
            "the working directory": of(os.getcwd()),
            "the umask": of(umask),
            "warnings.filters": of(warnings.filters),
            "the locale": of(locale.setlocale(locale.LC_ALL)),
            "sys.path": of(sys.path),
            "the root logger's handlers": of(logging.root.handlers),
            "the root logger's level": of(logging.root.level),
            "logging.disable": of(logging.root.manager.disable),
        }
        for name, value in os.environ.items():
            if name != "PYTEST_CURRENT_TEST":
                seen["os.environ[%r]" % name] = of(value)
        for name, logger in list(logging.root.manager.loggerDict.items()):
            if isinstance(logger, logging.Logger):
                for part in ("handlers", "level", "disabled", "propagate"):
                    seen["logging.getLogger(%r).%s" % (name, part)] = of(getattr(logger, part))
        for name, module in list(sys.modules.items()):
            seen["sys.modules[%r]" % name] = (id(module), module, module)
            origin = getattr(module, "__file__", None)
            if isinstance(origin, str) and origin.startswith(self._prefix):
                self._module(name, module, seen)
            elif not name.startswith(("_pytest", "pluggy", "encodings")):
                _functions(name, module, seen)
        return seen

    def _module(self, name, module, seen):
        for attribute, value in list(vars(module).items()):
            if attribute.startswith(("__", "@")):
                continue
            key = "%s.%s" % (name, attribute)
            seen[key] = of(value)
            if hasattr(value, "cache_info") and hasattr(value, "cache_clear"):
                seen["the cache of %s" % key] = (value.cache_info().currsize, value, None)
            if isinstance(value, type) and value.__module__ == name:
                self._members(key, vars(value), seen)
            elif hasattr(value, "__dict__") and type(value).__module__ in sys.modules:
                origin = getattr(sys.modules[type(value).__module__], "__file__", None)
                if isinstance(origin, str) and origin.startswith(self._prefix) and not callable(value):
                    self._members(key, vars(value), seen)

    def _members(self, key, members, seen):
        for inner, member in list(members.items()):
            # unittest gives each class of tests that it is done with the last of these
            if not inner.startswith(("__", "_abc_")) and inner != "tearDown_exceptions":
                seen["%s.%s" % (key, inner)] = of(member)

    def _put_back(self, name, old, new):
        saved = old and old[2]
        if name == "the working directory":
            os.chdir(saved)
        elif name == "the umask":
            os.umask(saved)
        elif name == "warnings.filters":
            warnings.filters[:] = saved
            warnings._filters_mutated()
        elif name == "the locale":
            locale.setlocale(locale.LC_ALL, saved)
        elif name == "sys.path":
            sys.path[:] = saved
        elif name == "the root logger's handlers":
            logging.root.handlers[:] = saved
        elif name == "the root logger's level":
            logging.root.setLevel(saved)
        elif name == "logging.disable":
            logging.disable(saved)
        elif name.startswith("logging.getLogger("):
            self._logger(name, old)
        elif name.startswith("os.environ["):
            _item(os.environ, name[len("os.environ[") + 1 : -2], saved)
        elif name.startswith("the import of "):
            sys.modules.pop(name[len("the import of ") :], None)
        elif name.startswith("sys.modules["):
            _item(sys.modules, name[len("sys.modules[") + 1 : -2], saved)
        elif name.startswith("the cache of "):
            new[1].cache_clear()
        else:
            _attribute(name, old)

    def _logger(self, name, old):
        named, _, part = name[len("logging.getLogger(") + 1 :].rpartition("').")
        logger = logging.getLogger(named)
        value = {"handlers": [], "level": 0, "disabled": False, "propagate": True}[part]
        value = value if old is None else old[2]
        if part == "level":
            logger.setLevel(value)
        else:
            setattr(logger, part, list(value) if part == "handlers" else value)


def _functions(name, module, seen):
    """What of a module outside the tree may have been replaced: its functions and classes."""
    for attribute, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
        if not attribute.startswith("_") and callable(value):
            seen.setdefault("%s.%s" % (name, attribute), (id(value), value, value))


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
    _, value, saved = old
    put_into(value, saved)
    setattr(owner, parts[-1], value)
