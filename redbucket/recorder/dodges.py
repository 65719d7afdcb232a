"""Notices that product code ends an example or a part of a test by what a framework takes for no failure.

Hypothesis passes over an example whose assumption does not hold, and unittest over what its own signal stops. Both are
the test's to use: what a test file or a strategy of the product asks for in base, it asks for in the patch, too.
"""

import os
import sys
import unittest.case

LATE = ("hypothesis.errors",)
_SIGNALS = {"hypothesis.errors": "UnsatisfiedAssumption", "unittest.case": "_ShouldStop"}


class Dodges:
    """``seen`` are "NAME raised in FILE" for files of ``tree`` but the ``judge`` ones, relative to it."""

    def __init__(self, tree, judge):
        self._prefix = tree.rstrip("/") + "/"
        self._judge = frozenset(judge)
        self.seen = set()
        self.late(unittest.case)

    def late(self, module):
        """Listen to the signal of a module that has just been imported."""
        kind = vars(module).get(_SIGNALS[module.__name__])
        if kind is None:
            return  # another version
        made = kind.__init__

        def __init__(signal, *args, **kwargs):
            made(signal, *args, **kwargs)
            self._note(kind.__name__, sys._getframe(1))

        kind.__init__ = __init__

    def _note(self, name, frame):
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self._prefix):
                path = os.path.relpath(file, self._prefix)
                if path not in self._judge:
                    self.seen.add("%s raised in %s" % (name, path))
                return
            frame = frame.f_back
