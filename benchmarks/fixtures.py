"""``redbucket fixtures verify`` beside ``sha256sum -c`` on the same files, in one run.

python benchmarks/fixtures.py [--rounds 5] [--files 20000x4096 2000x1048576 ...]

Prints for each set the median wall and CPU seconds of both, start-up and all, and their
ratio, with git's own ``status`` and ``diff-index`` beside them; the caches are warm, no id is
known beforehand, but in the line that says so (``--staged`` under a policy with ``known_ids``). A
set is COUNTxSIZE, or several of them joined by "+". Then ``fixtures diff`` of a file of 36,000
lines with an edit in every seventh.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIT = ("git", "-c", "core.looseCompression=0", "-c", "gc.auto=0")
REDBUCKET = str(Path(sys.prefix) / "bin" / "redbucket")


def build(place: Path, sets: list[tuple[int, int]]) -> None:
    """Make a repository of locked fixtures: so many of so many bytes, for each set."""
    subprocess.run([*GIT, "init", "-q", str(place)], check=True)
    for count, size in sets:
        for number in range(count):
            folder = place / "tests" / "data" / f"size{size}-{number // 200:03}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"record{number:05}.bin").write_bytes(os.urandom(size))
    (place / "redbucket.toml").write_text("[fixtures]\nknown_ids = true\n")
    subprocess.run([*GIT, "add", "-A"], cwd=place, check=True)
    names = subprocess.run(
        ["find", "tests", "-type", "f", "-print0"], cwd=place, capture_output=True, check=True
    ).stdout
    sums = subprocess.run(
        ["xargs", "-0", "sha256sum"], cwd=place, input=names, capture_output=True, check=True
    )
    (place / "fixtures.sha256").write_bytes(sums.stdout)
    subprocess.run([*GIT, "add", "-A"], cwd=place, check=True)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run([*GIT, *who, "commit", "-qm", "fixtures"], cwd=place, check=True)


def timed(command: list[str], place: Path) -> tuple[float, float]:
    """Return the wall and CPU seconds of one run, which must succeed."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu


def long_diff(rounds: int) -> None:
    """Print how long the diff of one long file takes."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lines = [f"line {number} of a long recording\n" for number in range(36_000)]
        file = place / "tests" / "data" / "long.txt"
        file.parent.mkdir(parents=True)
        subprocess.run([*GIT, "init", "-q", str(place)], check=True)
        file.write_text("".join(lines))
        subprocess.run([*GIT, "add", "-A"], cwd=place, check=True)
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run([*GIT, *who, "commit", "-qm", "long"], cwd=place, check=True)
        file.write_text("".join(f"x{line}" if n % 7 == 0 else line for n, line in enumerate(lines)))
        walls, cpus = zip(
            *[timed([REDBUCKET, "fixtures", "diff"], place) for _ in range(rounds + 1)][1:], strict=True
        )
        print("fixtures diff of 36,000 lines, every seventh edited")
        print(f"  redbucket {statistics.median(walls):.3f} s wall {statistics.median(cpus):.3f} s CPU")


def main() -> None:
    """Build, measure alternately, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument(
        "--files", nargs="*", default=["20000x4096", "2000x1048576", "20000x4096+2000x1048576"]
    )
    chosen = options.parse_args()
    long_diff(chosen.rounds)
    for words in chosen.files:
        sets = [
            (int(count), int(size)) for count, _, size in (part.partition("x") for part in words.split("+"))
        ]
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            build(place, sets)
            ours = [REDBUCKET, "fixtures", "verify"]
            theirs = ["sha256sum", "-c", "--quiet", "--strict", "fixtures.sha256"]
            names = ("redbucket", "ids known", "sha256sum", "git status", "git diff-index")
            runs: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
            for _ in range(chosen.rounds + 1):
                runs["redbucket"].append(timed(ours, place))
                runs["ids known"].append(timed([*ours, "--staged"], place))
                runs["sha256sum"].append(timed(theirs, place))
                runs["git status"].append(timed(["git", "status", "--porcelain"], place))
                index = ["git", "diff-index", "--cached", "HEAD"]
                runs["git diff-index"].append(timed(index, place))
            what = " and ".join(f"{count:,} files of {size:,} bytes" for count, size in sets)
            print(f"{what}, median of {chosen.rounds} (the first round is not counted)")
            wall = {}
            for name, seen in runs.items():
                walls, cpus = zip(*seen[1:], strict=True)
                wall[name] = statistics.median(walls)
                print(
                    f"  {name:<14} {wall[name]:7.3f} s wall {statistics.median(cpus):7.3f} s CPU, "
                    f"best {min(walls):.3f} s wall"
                )
            ratios = [a[0] / b[0] for a, b in zip(runs["redbucket"][1:], runs["sha256sum"][1:], strict=True)]
            print(f"  redbucket / sha256sum: {statistics.median(ratios):.2f} of the wall time")


if __name__ == "__main__":
    main()
