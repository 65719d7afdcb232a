"""The gate on a green patch against one plain pytest run of the same suite, side by side.

    python -m benchmarks.gate [--tests 300] [--milliseconds 20] [--rounds 5]

Builds a small repository, alternates plain runs, three of them side by side and gates, and prints
medians and the ratio of each to a plain run. Targets: at most 1.7 with scope "all" (the floor is what
three runs side by side take, 1.5 at best on two cores), at most 1.15 with scope "failed".
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

_SOURCE = """\
def work(turns):
    total = 0
    for number in range(turns):
        total += number & 7
    return total + 1


def unused():
    return 1
"""

_TEST = """\
import pytest

from pkg import unused, work


@pytest.mark.parametrize("number", range({count}))
def test_work(number):
    assert work({turns}) > 0


def test_unused():
    assert unused() == 1
"""


SIDE_BY_SIDE = '"$0" "$@" & ' * 3


def build(top: Path, tests: int, milliseconds: float) -> None:
    """Make a repository whose branch agent/green changes nothing that matters."""
    files = {
        "pkg/__init__.py": _SOURCE,
        "tests/test_work.py": _TEST.format(count=tests, turns=turns(milliseconds)),
    }
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    _git(top, "init", "--quiet", "--initial-branch=main")
    _git(top, "add", "--all")
    _git(top, "commit", "--quiet", "--message", "base")
    _git(top, "checkout", "--quiet", "-b", "agent/green")
    (top / "pkg/__init__.py").write_text(_SOURCE.replace("return 1", "return 2 - 1"), encoding="utf-8")
    _git(top, "commit", "--quiet", "--all", "--message", "head")


def turns(milliseconds: float) -> int:
    """Return how many turns of the tests' loop take so long here; a loop that asks the clock measures the kernel."""
    scope: dict[str, Callable[[int], int]] = {}
    exec(_SOURCE, scope)
    sample = 200_000
    times = []
    for _ in range(7):
        began = time.perf_counter()
        scope["work"](sample)
        times.append(time.perf_counter() - began)
    return max(1, int(sample * milliseconds / 1000 / min(times)))


def _git(top: Path, *words: str) -> None:
    person = {f"GIT_{role}_{part}": "bench" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=top, env={**os.environ, **person}, check=True, capture_output=True)


def timed(command: list[str], top: Path) -> float:
    """Return the wall seconds of a command that must succeed."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=top, capture_output=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout.decode()}{done.stderr.decode()}"
        )
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--milliseconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    plain = [sys.executable, "-m", "pytest", "-q"]
    gate = [sys.executable, "-m", "redbucket", "gate", "--base", "main", "--quiet"]
    with tempfile.TemporaryDirectory(prefix="redbucket-bench-") as folder:
        top = Path(folder, "repo")
        build(top, options.tests, options.milliseconds)
        timed(plain, top)  # warm caches
        commands = (plain, ["sh", "-c", f"{SIDE_BY_SIDE} wait", *plain], gate, [*gate, "--scope", "failed"])
        rows = [[timed(command, top) for command in commands] for _ in range(options.rounds)]
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(f"{options.tests} tests of {options.milliseconds:g} ms CPU each, {options.rounds} rounds")
    for place, name in enumerate(
        ("plain pytest", "three side by side", "gate, scope all", "gate, scope failed")
    ):
        seconds, ratio = median(r[place] for r in rows), median(r[place] / r[0] for r in rows)
        print(f"{name:18} {seconds:7.2f} s   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
