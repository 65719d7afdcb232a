"""What a static hook costs, whole process, beside ``python -c "import git"`` in the same rounds.

    python -m benchmarks.static_hooks [--rounds 7] [--files 10000] [--commits 5000]

Each of redbucket's hooks is started as git and pre-commit start it, as an agent's, in
three repositories: a small patch, the same with a patch of 10,000 files (tests, sources,
data, documents; changed, added and deleted), and a range of 5,000 commits: the first, a
fifth and all of it. CPU seconds of the process and of all that it starts (other work on the
machine does not count), and wall seconds; of each the median. Targets: at most 2
times ``import git`` for a small patch, at most 0.3 s more for 10,000 files, and for
commits a cost that grows no faster than their number, beside a start in that repository.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.gitkit import Repo

HOOKS = ("protected-paths", "untrusted-tests", "fixture-checksums", "flake-expiry")
FOLDERS = 100
NOISE = 0.03


@dataclass(frozen=True)
class Cost:
    """Seconds of one run, and the peak of resident memory in MB."""

    cpu: float
    wall: float
    peak: float = 0.0


def sources(number: int, *, after: bool) -> Iterator[tuple[str, str | None]]:
    """Yield the files of one of ``FOLDERS`` packages with its tests, before or after the patch.

    A hundred files in each differ: 40 sources, 40 tests (10 of them new), 12 recorded files that
    are new, 4 documents, 4 sources that go away.
    """
    part = f"part{number:03}"
    for at in range(40):
        body = "".join(f"def work_{n}(x):\n    return x + {n}\n\n\n" for n in range(6))
        yield f"src/{part}/module_{at}.py", body + (f"LAST = {at}\n" if after else "")
        yield f"src/{part}/same_{at}.py", body
    for at in range(40):
        tests = "".join(f"def test_{n}():\n    assert work_{n}({at}) == {at + n}\n\n\n" for n in range(6))
        head = f"from {part}.module_{at} import work_0, work_1, work_2, work_3, work_4, work_5\n\n\n"
        more = f"def test_more():\n    assert work_0({at}) == {at}\n" if after else ""
        if after or at < 30:
            yield f"tests/{part}/test_module_{at}.py", head + tests + more
    for at in range(12):
        yield f"tests/data/{part}/record_{at}.json", f'{{"part": {number}, "at": {at}}}\n' if after else None
    for at in range(4):
        yield f"docs/{part}_{at}.md", f"# {part}\n\n{'More. ' if after else ''}\n"
        yield f"src/{part}/old_{at}.py", None if after else "OLD = 1\n"


def lay(repo: Repo, folders: int, *, after: bool) -> None:
    """Write the packages; the rest of the tree is left alone."""
    for number in range(folders):
        repo.write(dict(sources(number, after=after)))


def big(place: Path, files: int) -> tuple[Repo, Repo]:
    """Make two clones of one repository: with a small patch in the index, and with one of ``files`` files."""
    folders = max(1, files // 100)
    repo = Repo.init(place / "small")
    lay(repo, folders, after=False)
    repo.git("add", "--all")
    repo.commit({"redbucket.toml": "[run]\nreruns = 3\n"}, "base")
    repo.git("switch", "--quiet", "--create", "agent/work")
    many = Repo(place / "many", repo.home)
    repo.git("clone", "--quiet", "--no-local", str(repo.path), str(many.path))
    repo.stage(dict(list(sources(0, after=True))[:3]))
    lay(many, folders, after=True)
    many.git("add", "--all")
    for one in (repo, many):
        one.git("write-tree")  # as `git commit` does before it starts a hook
    return repo, many


def history(place: Path, commits: int) -> Repo:
    """Make a repository of ``commits`` commits: agent/work has all, agent/fifth a fifth, agent/first one of them."""
    repo = Repo.init(place / "history")
    repo.commit({"a.py": "X = 0\n", "tests/test_a.py": "def test_a():\n    assert 1\n"}, "base")
    base = repo.head()
    lines = []
    for number in range(1, commits + 1):
        when = 1_800_000_000 + number
        branch = "agent/fifth" if number <= commits // 5 else "agent/work"
        start = f"from {base}\n" if number == 1 else ""
        if number == commits // 5 + 1:
            start = "from refs/heads/agent/fifth\n"
        message, content = f"commit {number}\n", f"X = {number}\n"
        lines.append(
            f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> {when} +0000\n"
            f"data {len(message)}\n{message}\n{start}"
            f"M 100644 inline src/m{number % 50}.py\ndata {len(content)}\n{content}\n"
        )
    repo.git("fast-import", "--quiet", stdin="".join(lines).encode())
    repo.git("branch", "agent/first", f"agent/work~{commits - 1}")
    repo.git("checkout", "--quiet", "agent/work")
    return repo


def cost(command: list[str], folder: Path, environment: Mapping[str, str], stdin: bytes = b"") -> Cost:
    """Run a command that must end with 0 or 1, and return what it cost."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out:
        given.write(stdin)
        given.seek(0)
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdin=given, stdout=out, stderr=out
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode(errors="replace")
        # Python itself ends with 1 too, and a command that broke is cheap
        if process.returncode not in (0, 1) or "Traceback (most recent call last)" in said:
            sys.exit(f"{command} ended with {process.returncode}: {said}")
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def hook(name: str) -> list[str]:
    """Return what pre-commit starts for a hook."""
    return [str(Path(sysconfig.get_path("scripts"), f"redbucket-{name}"))]


def middle(costs: list[Cost]) -> Cost:
    """Return the median of each."""
    return Cost(median(one.cpu for one in costs), median(one.wall for one in costs))


def main() -> int:
    """Build, measure alternately, print; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redbucket-bench-") as folder:
        place = Path(folder)
        small, many = big(place, options.files)
        long = history(place, options.commits)
        environment = small.environment()
        runs: dict[str, tuple[list[str], Path, dict[str, str]]] = {
            "import git": ([sys.executable, "-c", "import git"], place, environment)
        }
        ranges = {"first": "agent/first", "fifth": "agent/fifth", "commits": "agent/work"}
        for name in HOOKS:
            runs[f"{name}, small"] = (hook(name), small.path, environment)
            runs[f"{name}, files"] = (hook(name), many.path, environment)
            for size, branch in ranges.items():
                pair = {"PRE_COMMIT": "1", "PRE_COMMIT_FROM_REF": "main", "PRE_COMMIT_TO_REF": branch}
                runs[f"{name}, {size}"] = (hook(name), long.path, {**environment, **pair})
        native = [sys.executable, "-m", "redbucket", "guard", "--quiet"]
        runs["all guards, small"] = ([*native, "--staged"], small.path, environment)
        runs["all guards, files"] = ([*native, "--staged"], many.path, environment)
        for size, branch in ranges.items():
            runs[f"all guards, {size}"] = (
                [*native, "--base", "main", "--head", branch],
                long.path,
                environment,
            )
        seen: dict[str, list[Cost]] = {name: [] for name in runs}
        for number in range(options.rounds + 1):
            for name, (command, where, variables) in runs.items():
                one = cost(command, where, variables)
                if number:  # the first round warms the caches
                    seen[name].append(one)
    return tell({name: middle(costs) for name, costs in seen.items()}, options)


def tell(found: Mapping[str, Cost], options: argparse.Namespace) -> int:
    """Print the table; return 1 if a target is missed."""
    unit = found["import git"]
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print("import git: python -c 'import git'")
    print(f"median of {options.rounds} rounds, CPU seconds (wall seconds)")
    print(f"{'import git':20} {unit.cpu:.3f} ({unit.wall:.3f})")
    missed = 0
    for name in (*HOOKS, "all guards"):
        small, many, first, fifth, whole = (
            found[f"{name}, {size}"] for size in ("small", "files", "first", "fifth", "commits")
        )
        ratio, more = small.cpu / unit.cpu, many.cpu - small.cpu
        # five times the commits, at most six times their cost; a start alone varies by some hundredths
        grows = whole.cpu - first.cpu > 6 * max(fifth.cpu - first.cpu, 0) + NOISE
        print(
            f"{name:20} {small.cpu:.3f} ({small.wall:.3f})  {ratio:.2f} times import git;"
            f"  {options.files} files: +{more:.2f} ({many.wall - small.wall:+.2f});"
            f"  1 commit: {first.cpu:.2f}, {options.commits // 5}: {fifth.cpu:.2f},"
            f" {options.commits}: {whole.cpu:.2f} ({whole.wall:.2f})"
        )
        if name != "all guards":
            missed += (ratio > 2) + (more > 0.3) + grows
    print("all targets met" if not missed else f"{missed} targets missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
