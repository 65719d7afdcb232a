"""What the recorder adds to a run: one recorded run against one plain pytest run, in turns.

    python -m benchmarks.recorder [--tests 300] [--milliseconds 20] [--rounds 7]

Builds the same repository as ``benchmarks.gate``, and prints medians and the median
ratio of the pairs. The recorded run's seconds are its record's own: from the start of
the process to its end, without the layout of the tree. Target: at most 3 %.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.gate import build, timed
from redbucket.app.session import session
from redbucket.edges.progress import Progress


def cpu() -> float:
    """Return the CPU seconds of all children that ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def recorded(top: Path, out: Path) -> float:
    """Return the seconds of one recorded run."""
    with session(top, Progress(quiet=True, steps=False)) as opened:
        _, (run,), _ = opened.rerun("HEAD", 1, out, ())
    if run.broken:
        sys.exit(run.broken)
    return run.duration


def measured(run: Callable[[], float]) -> tuple[float, float]:
    """Return (wall, CPU) seconds of a run."""
    before = cpu()
    return run(), cpu() - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--milliseconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    plain = [sys.executable, "-m", "pytest", "-q"]
    with tempfile.TemporaryDirectory(prefix="redbucket-bench-") as folder:
        top, out = Path(folder, "repo"), Path(folder, "runs")
        build(top, options.tests, options.milliseconds)
        timed(plain, top)
        ways: list[Callable[[], float]] = [lambda: timed(plain, top), lambda: recorded(top, out)]
        rows = []
        for number in range(options.rounds):
            # sets and dicts lie in memory by the hash seed: by itself it makes a loop 10 % slower or faster
            os.environ["TEST_SEED"] = os.environ["PYTHONHASHSEED"] = str(number + 1)
            pair = [measured(way) for way in ways[:: 1 if number % 2 else -1]]
            rows.append(pair if number % 2 else pair[::-1])
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(f"{options.tests} tests of {options.milliseconds:g} ms CPU each, {options.rounds} rounds")
    for kind, name in enumerate(("wall", "CPU")):
        plainly, watched = ([row[side][kind] for row in rows] for side in (0, 1))
        ratio = median(b / a for a, b in zip(plainly, watched, strict=True)) - 1
        print(f"{name}: plain {median(plainly):6.2f} s   recorded {median(watched):6.2f} s   {ratio:+.1%}")


if __name__ == "__main__":
    main()
