"""A clock that jumps for one process and what it starts: the time of day alone, as a machine's own clock is set."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

# Read at each look: "+N" or "-N", seconds from the real time, or "=N", that time itself. The monotonic clock stays:
# a kernel's never jumps, and a sleep until a moment that is not on it ends in "Invalid argument".
_CODE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long shifted(long long now) {
    char text[64];
    const char *path = getenv("CLOCK_FILE");
    int file = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (file < 0) return now;
    long size = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    if (size <= 0) return now;
    text[size] = 0;
    return *text == '=' ? atoll(text + 1) : now + atoll(text);
}

int clock_gettime(clockid_t which, struct timespec *seen) {
    int result = syscall(SYS_clock_gettime, which, seen);
    if (!result && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) seen->tv_sec = shifted(seen->tv_sec);
    return result;
}

int gettimeofday(struct timeval *restrict seen, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seen->tv_sec = now.tv_sec;
    seen->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seen) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seen) *seen = now.tv_sec;
    return now.tv_sec;
}
"""


class OtherClock:
    """Made in a folder; ``show`` sets it, for whoever was started with ``environment``."""

    def __init__(self, folder: Path) -> None:
        self._library, self._file = folder / "clock.so", folder / "clock"
        self.show("+0")

    def built(self) -> bool:
        """Build the library if it is not there; return whether this machine can (a compiler, glibc or musl)."""
        if not self._library.exists():
            command = ["cc", "-x", "c", "-O1", "-shared", "-fPIC", "-o", str(self._library), "-"]
            try:
                subprocess.run(command, input=_CODE.encode(), capture_output=True, check=True)
            except (OSError, subprocess.CalledProcessError):
                return False
        return True

    def show(self, time: str) -> None:
        """Set the clock, in one piece."""
        aside = self._file.with_suffix(".new")
        aside.write_text(time, encoding="ascii")
        os.replace(aside, self._file)  # noqa: PTH105 (the one call that this is about)

    def environment(self) -> Mapping[str, str]:
        """Return what a process needs to be shown this clock."""
        return {"LD_PRELOAD": str(self._library), "CLOCK_FILE": str(self._file)}
