"""A progress line on a terminal's stderr; nothing anywhere else."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import TextIO


class Progress:
    """Shows the current step and how many tests have ended. Never writes to stdout.

    On a terminal one line is redrawn; with ``steps`` each step is a line of its own
    (for logs); otherwise nothing is written.
    """

    def __init__(self, *, quiet: bool, steps: bool, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        closed = self._stream is None  # started with `2>&-`
        self._live = not quiet and not closed and self._stream.isatty()
        self._steps = steps and not quiet and not closed and not self._live
        self._step = ""
        self._tests = 0
        self._drawn = False
        self._lock = threading.Lock()

    def say(self, step: str) -> None:
        """Begin a step."""
        with self._lock:
            self._step = step
            if self._steps:
                self._stream.write(f"{step}\n")
                self._stream.flush()
            self._draw()

    def test_ended(self) -> None:
        """Count one more test."""
        with self._lock:
            self._tests += 1
            if self._tests % 10 == 0:
                self._draw()

    def clear(self) -> None:
        """Take the line away before anything else is printed."""
        with self._lock:
            if self._drawn:
                self._stream.write("\r\x1b[K")
                self._stream.flush()
                self._drawn = False

    def _draw(self) -> None:
        if not self._live:
            return
        width = shutil.get_terminal_size().columns - 1
        text = f"{self._step} ({self._tests} tests done)" if self._tests else self._step
        self._drawn = True
        self._stream.write("\r\x1b[K" + text[:width])
        self._stream.flush()
