"""The same six patches judged here, over ssh and on a dask cluster: ``python -m benchmarks.runners [--rounds 3]``.

Starts an sshd and a cluster of two workers on the loopback address. Prints where a verdict or a bucket differs, and
what each runner costs beside local, patch by patch, in alternation. With ``--kills 20`` so many connections, and then
workers, are killed at random moments of gates instead: no gate may accept what is bad, refuse what is good, or lose a
test. With ``--shards 2`` each runner judges once more with its whole runs split, which must not change a verdict; with
``--suite 60`` the cluster judges a suite of so many seconds, which waits more than it computes, whole and split.
Ends with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from redbucket.app.demo import STORIES, Story, build
from tests.edges.daskkit import clustered
from tests.edges.sshd import served
from tests.gitkit import Repo
from tests.stories.kit import CONSOLE

# the race is left out: it comes out by chance, here too
PATCHES = tuple(story for story in STORIES if story.name != "race")
WORKERS = 2


@dataclass(frozen=True)
class Runner:
    """Where gates run; ``kill`` breaks one connection, or worker, and says whether there was one."""

    name: str
    where: str
    shards: int = 1
    kill: Callable[[random.Random], bool] | None = None


@contextlib.contextmanager
def runners(place: Path, shards: int = 1, workers: int = WORKERS) -> Iterator[list[Runner]]:
    """Start what is there to be started; what is not is named."""
    found = [Runner("local", "local"), *_split("local", "local", shards)]
    python = f"python={sys.executable}"
    with contextlib.ExitStack() as stack:
        try:
            sshd = stack.enter_context(served(place / "sshd"))
        except pytest.skip.Exception as reason:
            print(f"ssh is left out: {reason}")
        else:
            os.environ["REDBUCKET_SSH"] = sshd.ssh
            where = sshd.address(place / "far", python)
            found.append(Runner("ssh", where, kill=lambda chance: sshd.cut() > 0))
            found += _split("ssh", where, shards)
        try:
            dask = stack.enter_context(clustered(place / "dask", workers))
        except pytest.skip.Exception as reason:
            print(f"dask is left out: {reason}")
        else:

            def kill(chance: random.Random) -> bool:
                dask.kill(chance.choice(dask.living()))
                dask.add()
                return True

            where = dask.address(place / "far", python)
            found.append(Runner("dask", where, kill=kill))
            found += _split("dask", where, shards)
        yield found


def _split(name: str, where: str, shards: int) -> list[Runner]:
    """The same place once more, with whole runs in ``shards``."""
    return [Runner(f"{name}/{shards}", where, shards)] if shards > 1 else []


@dataclass(frozen=True)
class Judged:
    """One gate: its exit code, its report if it has one, what it said besides, and the seconds that it took."""

    exit_code: int
    report: dict[str, Any] | None
    said: str
    seconds: float

    @property
    def verdict(self) -> object:
        """What must be the same wherever the runs happen."""
        if self.report is None:
            return (self.exit_code, self.said)
        # the order of the rows is the suite's; a new file of the patch runs in the lightest shard
        rows = [(r["nodeid"], r["bucket"], r["introduced"], r["cause"]) for r in self.report["tests"]]
        findings = sorted(f["rule"] for f in self.report["findings"])
        return (self.exit_code, self.report["verdict"], rows, findings)


def judge(top: Path, story: Story, runner: Runner) -> Judged:
    """Judge a patch."""
    words = ("gate", "-C", str(top), "--base", "main", "--head", f"agent/{story.name}", "--quiet")
    words = (*words, "--shards", str(runner.shards))
    began = time.monotonic()
    done = subprocess.run(
        [CONSOLE, *words, "--format", "json", "--runner", runner.where], capture_output=True, check=False
    )
    seconds = time.monotonic() - began
    report = json.loads(done.stdout) if done.stdout.strip() else None
    return Judged(done.returncode, report, done.stderr.decode(errors="replace").strip()[-500:], seconds)


def compare(top: Path, found: list[Runner], stories: list[Story], rounds: int) -> list[str]:
    """Judge every patch by every runner; print the table, return what differs."""
    wrong: list[str] = []
    print(f"{'patch':10} {'verdict':10}" + "".join(f"{r.name:>10}" for r in found) + "   (seconds, medians)")
    times: dict[str, list[float]] = {runner.name: [] for runner in found}
    for story in stories:
        seen: dict[str, list[float]] = {}
        for _ in range(rounds):
            here = None
            for runner in found:
                judged = judge(top, story, runner)
                here = here or judged
                seen.setdefault(runner.name, []).append(judged.seconds)
                if judged.verdict != here.verdict:
                    wrong.append(
                        f"{story.name} by {runner.name}: {judged.verdict}\n    local: {here.verdict}"
                    )
                if judged.exit_code != story.exit_code:
                    wrong.append(
                        f"{story.name} by {runner.name}: exit {judged.exit_code}, not {story.exit_code}: {judged.said}"
                    )
        medians = [median(seen[runner.name]) for runner in found]
        for runner, seconds in zip(found, medians, strict=True):
            times[runner.name].append(seconds)
        print(
            f"{story.name:10} exit {story.exit_code:<5}" + "".join(f"{seconds:10.1f}" for seconds in medians)
        )
    local = times["local"]
    for runner in found[1:]:
        more = [there - here for there, here in zip(times[runner.name], local, strict=True)]
        ratio = median(there / here for there, here in zip(times[runner.name], local, strict=True))
        print(
            f"{runner.name}: {median(more):+.1f} s a gate, {ratio:.2f} times local (medians of the patches)"
        )
    return wrong


def kill(top: Path, runner: Runner, stories: list[Story], kills: int, chance: random.Random) -> list[str]:
    """Judge patches while connections or workers are killed; print the counts, return what is wrong."""
    assert runner.kill is not None
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    usual: dict[str, Judged] = {}
    killed = 0
    while killed < kills:
        story = chance.choice(stories)
        if story.name not in usual:
            usual[story.name] = judge(top, story, runner)
        calm = usual[story.name]
        over = threading.Event()
        pause, done = chance.uniform(0.0, calm.seconds), []

        def knife(pause: float = pause, over: threading.Event = over, done: list[bool] = done) -> None:
            if not over.wait(pause) and runner.kill is not None:
                done.append(runner.kill(chance))

        thread = threading.Thread(target=knife)
        thread.start()
        judged = judge(top, story, runner)
        over.set()
        thread.join()
        killed += any(done)
        if not any(done):
            continue
        same = judged.exit_code == story.exit_code
        why = judged.said if judged.report is None else ""
        print(
            f"  {story.name}: killed after {pause:.1f} s, exit {judged.exit_code} {why}",
            file=sys.stderr,
            flush=True,
        )
        counts["right" if same else f"exit {judged.exit_code}"] += 1
        if not same and judged.exit_code not in (2, 4):
            wrong.append(f"{story.name} by {runner.name}: exit {judged.exit_code}: {judged.said}")
        if same and _runs(judged) != _runs(calm):
            wrong.append(f"{story.name} by {runner.name}: other tests or runs: {_runs(judged)}")
    print(f"{runner.name}: {killed} kills: " + ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    return wrong


def compare_suite(place: Path, found: list[Runner], seconds: float, rounds: int) -> list[str]:
    """Judge a green patch of a suite of so many seconds on the cluster, whole and split; print the ratio."""
    top = place / "suite"
    repo = Repo.init(top)
    body = "import time\n\nfrom pkg import double\n\n" + "".join(
        f"\ndef test_{n}():\n    time.sleep({seconds / _FILES / _TESTS:.4f})\n    assert double({n}) == {2 * n}\n\n"
        for n in range(_TESTS)
    )
    repo.commit(
        {
            "pkg.py": "def double(n):\n    return 2 * n\n",
            "redbucket.toml": '[run]\ncommand = ["python", "-m", "pytest"]\n',
            **{f"tests/test_{n:02}.py": body for n in range(_FILES)},
        },
        "a suite",
    )
    repo.branch("agent/green", "main")
    repo.commit({"pkg.py": "def double(n):\n    return n + n\n"}, "change")
    repo.switch("main")
    story = Story("green", "", lambda top: None, "stable_pass", 0, "")
    wrong: list[str] = []
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        for runner in found:
            judged = judge(top, story, runner)
            times.setdefault(runner.name, []).append(judged.seconds)
            if judged.exit_code != 0:
                wrong.append(f"suite by {runner.name}: exit {judged.exit_code}: {judged.said}")
    whole = median(times[found[0].name])
    for name, took in times.items():
        print(
            f"suite of {seconds:g} s by {name}: {median(took):.1f} s, {median(took) / whole:.2f} times whole"
        )
    return wrong


_FILES, _TESTS = 24, 5


def _runs(judged: Judged) -> object:
    """How often each test ran with the patch."""
    rows = judged.report["tests"] if judged.report else []
    return sorted((row["nodeid"], len(row["outcomes"].get("H", ()))) for row in rows)


def _second_file(top: Path) -> None:
    """Give the example, whose tests are in one file, another one: a file is never split."""
    (top / "tests/test_more.py").write_text(
        "import unittest\n\n\nclass MoreTests(unittest.TestCase):\n    def test_more(self):\n        pass\n"
    )
    for words in (["add", "tests/test_more.py"], ["commit", "--quiet", "-m", "one more file of tests"]):
        subprocess.run(
            ["git", "-C", str(top), "-c", "user.name=A", "-c", "user.email=a@example.org", *words], check=True
        )


def main() -> int:
    """Compare or kill, and return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument(
        "--only", help="these runners, with commas between: dask,dask/2 with --shards 2; and local"
    )
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument(
        "--suite", type=float, help="seconds of a suite that is judged instead, with --shards"
    )
    parser.add_argument("--patches", help="some of the patches, with commas between")
    options = parser.parse_args()
    chosen = options.patches.split(",") if options.patches else [story.name for story in PATCHES]
    stories = [story for story in PATCHES if story.name in chosen]
    seed = random.randrange(1 << 30) if options.seed is None else options.seed
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="redbucket-runners-") as folder:
        place = Path(folder).resolve()
        top = place / "bucketizer"
        top.mkdir()
        build(top)
        if options.shards > 1:
            _second_file(top)
        print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, seed {seed}")
        with runners(place, options.shards, options.workers) as there:
            only = options.only.split(",") if options.only else [runner.name for runner in there]
            found = [runner for runner in there if runner.name in ("local", *only)]
            if options.kills:
                for runner in found[1:]:
                    if runner.kill is not None:
                        wrong += kill(top, runner, stories, options.kills, random.Random(seed))
            elif options.suite:
                on_cluster = [runner for runner in there if runner.name.startswith("dask")]
                wrong += compare_suite(place, on_cluster, options.suite, options.rounds)
            else:
                wrong += compare(top, found, stories, options.rounds)
            until = time.monotonic() + 60  # far sides that were cut off end by themselves
            while (place / "far").exists() and time.monotonic() < until:
                time.sleep(0.2)
            wrong += ["something is left on the far side"] if (place / "far").exists() else []
    print(f"wrong: {len(wrong)}")
    for each in wrong:
        print(f"  {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
