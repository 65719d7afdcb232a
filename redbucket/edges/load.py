"""Keeps the CPUs busy beside a run, for experiments on deadlines and races."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator

# It ends by itself when redbucket is gone: its parent's number is another one then.
_SPIN = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    for _ in range(100000): pass\n"


@contextlib.contextmanager
def busy(python: str, processes: int) -> Iterator[Callable[[], None]]:
    """Give what starts ``processes`` busy loops; they run as long as the ``with`` lasts."""
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> None:
        for _ in range(processes - len(started)):
            words = [python, "-I", "-S", "-c", _SPIN, str(os.getpid())]
            started.append(
                subprocess.Popen(
                    words,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    try:
        yield begin
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
