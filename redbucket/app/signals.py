"""Turns the signals that ask a process to end into one interrupt, so that cleaning up is never skipped.

And has children answer, whatever redbucket was started from.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 3.0


@dataclass
class Interrupt:
    """Whether somebody asked. Python may turn the exception into another, as in a class body before 3.12."""

    asked: bool = False


@contextlib.contextmanager
def one_interrupt() -> Iterator[Interrupt]:
    """Within it SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt; more of them within three seconds do not.

    The second Ctrl-C of an impatient user must not break off what stops the
    children and removes the temporary folder. One that comes later raises again:
    the first may have been lost in a finalizer. After an interrupt the signals
    stay ignored, as the process is about to end. A signal that the caller had
    ignored (``nohup``) stays ignored. Outside the main thread nothing is done:
    Python can't set handlers there.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.getsignal(number) for number in _ASKING}
    mine = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    last = float("-inf")

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal last
        interrupt.asked = True
        if time.monotonic() - last > _PATIENCE:
            last = time.monotonic()
            raise KeyboardInterrupt

    try:
        for number in mine:
            signal.signal(number, ask)
        yield interrupt
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_IGN if interrupt.asked else before[number])


@contextlib.contextmanager
def children_answer() -> Iterator[None]:
    """Within it the exit status of each child can be had.

    A launcher that ignores SIGCHLD hands that on. The system then throws statuses away, and ``subprocess`` takes
    that for 0: a git that failed would have succeeded. Outside the main thread nothing is done.
    """
    main = threading.current_thread() is threading.main_thread()
    ignored = main and signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        if ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
