"""Is the machine out of memory, and is it a test's doing?

The system ends such a test by itself, and perhaps the user's editor before it; three runs side by side get there three
times as fast. Linux only: elsewhere the timeout ends it.
"""

from __future__ import annotations

import os
from pathlib import Path

# Where this share of the memory is left the system itself is about to end something (earlyoom's default is a tenth).
_LEFT = 0.05
# A process with less than this is not what fills the machine.
_LARGE = 0.10


def hog(pid: int) -> str:
    """Return how much memory ``pid`` holds where the machine has none left and that is much of it, else ""."""
    try:
        total, left = parse(Path("/proc/meminfo").read_text(encoding="ascii"))
        statm = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
        held = int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, KeyError):
        return ""
    if left >= _LEFT * total or held < _LARGE * total:
        return ""
    return f"{held / 2**30:.1f} GiB"


def parse(meminfo: str) -> tuple[int, int]:
    """Return (bytes of memory, bytes that can still be had, swap included) of the text of /proc/meminfo."""
    fields = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    size = {name: int(fields[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable", "SwapFree")}
    return size["MemTotal"], size["MemAvailable"] + size["SwapFree"]
