"""What a large repository costs: ``python -m benchmarks.scale [--files 100000] [--commits 20000]``.

A repository of so many files and commits, and one of a quarter of both, each with a small
agent's patch and a tiny test suite. For each: the static guards, one tree laid out against
``git worktree add --detach``, and the whole gate, in CPU seconds of the process and its
children, wall seconds, and peak memory. What grows more than linearly shows as a growth
above 4.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from redbucket.edges.repository import Repository
from redbucket.edges.scratch import Scratch
from redbucket.edges.trees import layout
from tests.gitkit import Repo

TEST = """\
import unittest

from part000.module_0 import work


class WorkTests(unittest.TestCase):
    def test_work(self):
        self.assertEqual(work(2), 3)
"""
POLICY = '[run]\ncommand = ["python", "-m", "unittest"]\n'


@dataclass(frozen=True)
class Cost:
    """CPU and wall seconds, and the peak of resident memory in MB."""

    cpu: float
    wall: float
    peak: float


def stream(files: int, commits: int) -> Iterator[str]:
    """Yield a fast-import stream: ``files`` files in one commit, then ``commits`` small ones on main."""
    blob = "def work(x):\n    return x + 1\n"
    yield f"blob\nmark :1\ndata {len(blob)}\n{blob}\n"
    yield "commit refs/heads/main\ncommitter Ada <ada@example.org> 1800000000 +0000\ndata 4\nbase\n"
    yield f"M 100644 inline redbucket.toml\ndata {len(POLICY)}\n{POLICY}\n"
    yield f"M 100644 inline tests/test_work.py\ndata {len(TEST)}\n{TEST}\n"
    for number in range(files):
        kind = f"tests/data/part{number // 100:03}/record_{number}.json" if number % 100 == 99 else ""
        yield f"M 100644 :1 {kind or f'part{number // 100:03}/module_{number % 100}.py'}\n"
    for package in ("part000", "tests"):
        yield f"M 100644 inline {package}/__init__.py\ndata 0\n\n"
    for number in range(commits):
        content = f"X = {number}\n"
        yield f"commit refs/heads/main\ncommitter Ada <ada@example.org> {1_800_000_001 + number} +0000\n"
        yield f"data 1\nx\nM 100644 inline part{number % 50:03}/m.py\ndata {len(content)}\n{content}\n"


def build(place: Path, files: int, commits: int) -> Repo:
    """Make the repository, checked out, with a small patch on agent/work."""
    repo = Repo.init(place)
    repo.git("fast-import", "--quiet", "--force", stdin="".join(stream(files, commits)).encode())
    repo.git("reset", "--hard", "--quiet", "main")
    repo.git("switch", "--quiet", "--create", "agent/work")
    repo.commit({"part000/module_0.py": "def work(x):\n    return 1 + x\n"}, "turn it round")
    return repo


def child(run: Callable[[], object]) -> Cost:
    """Return what ``run`` costs in a process of its own, with all that it starts."""
    began = time.perf_counter()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            run()
            code = 0
        finally:
            os._exit(code)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f"a measured step ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024)


def command(repo: Repo, *words: str) -> Callable[[], None]:
    """Return the call of redbucket that must accept."""

    def run() -> None:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "redbucket", *words, "-C", str(repo.path), "--quiet"],
            repo.environment() | {"PYTHONPATH": str(Path.cwd())},
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
        )
        _, status = os.waitpid(pid, 0)
        if status:
            raise SystemExit(1)

    return run


def steps(repo: Repo, place: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    known = Repository.discover(repo.path)

    def lay() -> None:
        with Scratch(place / "scratch.git", known) as scratch:
            layout(scratch, scratch.tree_of(repo.head()), place / "tree")

    return {
        "static guards": command(repo, "guard", "--base", "main", "--head", "agent/work"),
        "git worktree add": lambda: repo.git("worktree", "add", "--quiet", "--detach", str(place / "wt")),
        "one tree laid out": lay,
        "the gate": command(repo, "gate", "--base", "main", "--head", "agent/work"),
    }


def main(words: list[str]) -> int:
    """Measure both sizes and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--commits", type=int, default=20_000)
    options = parser.parse_args(words)
    found: list[dict[str, Cost]] = []
    for share in (4, 1):
        with tempfile.TemporaryDirectory(prefix="redbucket-scale-") as folder:
            place = Path(folder)
            repo = build(place / "repo", options.files // share, options.commits // share)
            costs = {}
            for name, run in steps(repo, place).items():
                costs[name] = child(run)
                shutil.rmtree(place / "tree", ignore_errors=True)
            found.append(costs)
    small, large = found
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(f"{options.files:,} files, {options.commits:,} commits; growth: against a quarter of both\n")
    for name, one in large.items():
        growth = one.cpu / max(small[name].cpu, 0.001)
        print(f"{name:18} {one.cpu:6.2f} s CPU ({one.wall:6.2f} s)  {one.peak:5.0f} MB  growth {growth:.1f}")
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
