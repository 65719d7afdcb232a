"""Linux's settings of one process; nothing happens where the system has no such thing."""

from __future__ import annotations

import ctypes
import sys


def prctl(option: int, value: int) -> bool:
    """Set ``option`` of this process (prctl(2)); return False where that can't be done."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
