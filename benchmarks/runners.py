"""The same six patches judged here, over ssh and on a dask cluster: ``python -m benchmarks.runners [--rounds 3]``.

Starts an sshd and a cluster of two workers on the loopback address. Prints where a verdict or a bucket differs, and
what each runner costs beside local, patch by patch, in alternation. With ``--kills 20`` so many connections, and then
workers, are killed at random moments of gates instead: no gate may accept what is bad, refuse what is good, or lose a
test. Ends with 1 if anything was wrong.
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
from tests.stories.kit import CONSOLE

# the race is left out: it comes out by chance, here too
PATCHES = tuple(story for story in STORIES if story.name != "race")
WORKERS = 2


@dataclass(frozen=True)
class Runner:
    """Where gates run; ``kill`` breaks one connection, or worker, and says whether there was one."""

    name: str
    where: str
    kill: Callable[[random.Random], bool] | None = None


@contextlib.contextmanager
def runners(place: Path) -> Iterator[list[Runner]]:
    """Start what is there to be started; what is not is named."""
    found = [Runner("local", "local")]
    python = f"python={sys.executable}"
    with contextlib.ExitStack() as stack:
        try:
            sshd = stack.enter_context(served(place / "sshd"))
        except pytest.skip.Exception as reason:
            print(f"ssh is left out: {reason}")
        else:
            os.environ["REDBUCKET_SSH"] = sshd.ssh
            found.append(Runner("ssh", sshd.address(place / "far", python), lambda chance: sshd.cut() > 0))
        try:
            dask = stack.enter_context(clustered(place / "dask", WORKERS))
        except pytest.skip.Exception as reason:
            print(f"dask is left out: {reason}")
        else:

            def kill(chance: random.Random) -> bool:
                dask.kill(chance.choice(dask.living()))
                dask.add()
                return True

            found.append(Runner("dask", dask.address(place / "far", python), kill))
        yield found


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
        rows = [(r["nodeid"], r["bucket"], r["introduced"], r["cause"]) for r in self.report["tests"]]
        findings = sorted(f["rule"] for f in self.report["findings"])
        return (self.exit_code, self.report["verdict"], rows, findings)


def judge(top: Path, story: Story, runner: Runner) -> Judged:
    """Judge a patch."""
    words = ("gate", "-C", str(top), "--base", "main", "--head", f"agent/{story.name}", "--quiet")
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


def _runs(judged: Judged) -> object:
    """How often each test ran with the patch."""
    rows = judged.report["tests"] if judged.report else []
    return sorted((row["nodeid"], len(row["outcomes"].get("H", ()))) for row in rows)


def main() -> int:
    """Compare or kill, and return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", help="kill for one runner only")
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
        print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, seed {seed}")
        with runners(place) as found:
            if options.kills:
                for runner in found[1:]:
                    if options.only in (None, runner.name):
                        wrong += kill(top, runner, stories, options.kills, random.Random(seed))
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
