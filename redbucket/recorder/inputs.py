"""Counts the distinct inputs that a property really tries: what reaches the code of the project, and the assertions."""

import re
import sys

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_LONGEST = 4000
_MOST = 100000


class Inputs:
    """Watches the calls from outside into the project's code, and the asserting lines of the property's files.

    ``asserting`` maps absolute paths of property files to the lines that assert.
    """

    def __init__(self, tree, asserting):
        self._prefix = tree.rstrip("/") + "/"
        self._asserting = {self._prefix + path: frozenset(lines) for path, lines in asserting.items()}
        self._calls = 0
        self._called = set()
        self._reached = 0
        self._states = set()

    def begin(self):
        """Start counting for one test."""
        self._calls = self._reached = 0
        self._called, self._states = set(), set()
        sys.settrace(self._enter)
        sys.setprofile(self._profile)

    def end(self):
        """Stop; return how many calls, distinct calls, assertions reached, and distinct values at them."""
        sys.setprofile(None)
        if sys.gettrace() == self._enter:
            sys.settrace(None)
        return [self._calls, len(self._called), self._reached, len(self._states)]

    def _is_product(self, path):
        return path.startswith(self._prefix) and path not in self._asserting and "/site-packages/" not in path

    def _profile(self, frame, event, argument):
        if event != "call":
            return
        code = frame.f_code
        if not self._is_product(code.co_filename):
            return
        back = frame.f_back
        if back is None or self._is_product(back.f_code.co_filename) or code.co_name == "<module>":
            return
        self._calls += 1
        if len(self._called) < _MOST:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + _extra(code)]
            self._called.add(hash((code, _told(frame.f_locals, names))))

    def _enter(self, frame, event, argument):
        lines = self._asserting.get(frame.f_code.co_filename)
        if lines is None:
            return None
        first = frame.f_code.co_firstlineno
        return self._line if any(line >= first for line in lines) else None

    def _line(self, frame, event, argument):
        if event == "line" and frame.f_lineno in self._asserting[frame.f_code.co_filename]:
            self._reached += 1
            if len(self._states) < _MOST:
                names = sorted(
                    name for name in frame.f_locals if name[0] != "@"
                )  # pytest's own are @py_assert1
                self._states.add(hash((frame.f_code, _told(frame.f_locals, names))))
        return self._line


def _extra(code):
    """Return how many of ``*args`` and ``**options`` a function has."""
    return bool(code.co_flags & 4) + bool(code.co_flags & 8)


def _told(values, names):
    """Return a text that is equal for equal values: not for objects that show their address alone."""
    told = []
    for name in names:
        if name in ("self", "cls") or name not in values:
            continue
        try:
            told.append("%s=%s" % (name, _ADDRESS.sub("", repr(values[name])[:_LONGEST])))
        except Exception as error:  # a half-made object may have no repr yet
            told.append("%s=<%s>" % (name, type(error).__name__))
    return ", ".join(told)
