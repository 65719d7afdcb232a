"""Runs other tools that find or explain flaky tests on the animals of tests/zoo, beside redbucket.

python -m benchmarks.peers --work DIR                        # goes on where an earlier call was stopped
python -m benchmarks.peers --work DIR --tool whyflaky --every 4
python -m benchmarks.peers --work DIR --zoo zoo.jsonl --report --every 4   # what was run so far, of these animals

Each tool has a fresh venv in DIR with pinned versions, and its documented ordinary settings (peer_tools.py).
redbucket's rows are those of `python -m benchmarks.zoo --rows zoo.jsonl`: one `explain` a test. It stops by
itself after 40 runs of the suite; the others get the time of 100, and never less than a minute.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.peer_tools import REPORT, TOOLS, Answer, Tool
from benchmarks.zoo import Row, read_rows
from tests.gitkit import Repo
from tests.zoo.animals import ANIMALS, Animal

RUNS, LEAST = 100, 60.0
KEPT = 40_000
PLAIN = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
CHANCE = ("random seed", "system entropy", "hash order", "concurrency")
# A terminal for tools that ask how wide theirs is.
PTY = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))\n"


@dataclass(frozen=True)
class Told:
    """What one tool printed of one animal, and what it cost; ``plain`` is one run of the suite just before."""

    tool: str
    animal: str
    text: str
    stopped: bool
    seconds: float
    cpu: float
    plain_seconds: float
    plain_cpu: float
    load: float


def family(animal: Animal) -> str:
    """Return the column of the table that an animal belongs to."""
    if animal.kind != "noise":
        return "sound" if animal.kind == "sound" else "failures"
    if animal.cause == "order":
        return "order"
    return "chance" if animal.cause in CHANCE else "surroundings"


def run_tool(tool: Tool, animal: Animal, bins: Path, place: Path) -> Told:
    """Return what a tool says of an animal in a fresh repository."""
    repo = Repo.init(place / "repo")
    repo.commit(dict(animal.files), "a zoo")
    script = place / "terminal.py"
    script.write_text(PTY)
    report = place / "report.json"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON", "VIRTUAL_ENV"))}
    env |= {
        "PATH": f"{bins}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(place),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    _, _, plain, plain_cpu = _timed([*PLAIN], env, repo.path, 600)
    left = max(LEAST, RUNS * plain)
    texts, stopped, seconds, cpu = [], False, 0.0, 0.0
    for step in tool.steps:
        if _written(report) and any(REPORT in word for word in step.words):
            break
        known = {"{test}": animal.test, REPORT: str(report), "{pty}": str(script), "{seconds}": f"{left:.0f}"}
        words = [_filled(word, known) for word in step.words]
        for _ in range(step.times):
            text, stopped, took, used = _timed(words, {**env, **tool.env}, repo.path, left - seconds)
            texts.append(text)
            seconds, cpu = seconds + took, cpu + used
            if stopped:
                break
        if stopped:
            break
    if _written(report):
        texts = [report.read_text()]
    text = "\n".join(texts)[-KEPT:]
    load = os.getloadavg()[0]
    return Told(tool.name, animal.name, text, stopped, seconds, cpu, plain, plain_cpu, load)


def _written(report: Path) -> bool:
    """Return whether there is an answer: a tool that had nothing to do may leave an empty file."""
    return report.exists() and report.stat().st_size > 0


def _filled(word: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        word = word.replace(name, value)
    return word


def _timed(
    words: list[str], env: dict[str, str], folder: Path, limit: float
) -> tuple[str, bool, float, float]:
    """Return what a command printed, whether it was stopped, and its seconds and CPU seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        stopped = False
        try:
            child.wait(max(limit, 1.0))
        except subprocess.TimeoutExpired:
            stopped = True
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        took = time.perf_counter() - began
        out.seek(0)
        text = out.read().decode(errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, stopped, took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def made(tool: Tool, work: Path) -> Path:
    """Return the folder of the programs of a tool's own venv, made at the first call."""
    venv = work / "venvs" / tool.name
    done = venv / "pins.txt"
    pins = "\n".join(tool.pins)
    if not done.exists() or done.read_text() != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        pip = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *tool.pins], check=True)
        done.write_text(pins)
    return venv / "bin"


@dataclass(frozen=True)
class Judged:
    """One answer beside the label, and what it cost."""

    tool: str
    animal: Animal
    answer: Answer
    seconds: float
    cpu: float
    times: float


def judged(told: Told, tools: dict[str, Tool], animals: dict[str, Animal]) -> Judged:
    """Return what a tool's text says."""
    animal = animals[told.animal]
    answer = tools[told.tool].read(told.text, animal.test)
    return Judged(told.tool, animal, answer, told.seconds, told.cpu, told.cpu / told.plain_cpu)


def ours(row: Row, animals: dict[str, Animal]) -> Judged:
    """Return redbucket's own answer in the same form: what it can't tell apart says nothing."""
    animal = animals[row.animal]
    if row.cause.startswith("error"):
        return Judged("redbucket explain", animal, Answer(), row.seconds, row.cpu, row.cpu_times)
    mixed = any(len(set(seen)) > 1 for seen in row.why.get("outcomes", {}).values())
    noise = bool(row.cause) or mixed
    answer = Answer(noise, (row.cause,) if row.cause else (), tuple(row.tests))
    return Judged("redbucket explain", animal, answer, row.seconds, row.cpu, row.cpu_times)


def table(every: Iterable[Judged], claims: dict[str, str]) -> str:
    """Return the table, a line a tool."""
    by: dict[str, list[Judged]] = {}
    for one in every:
        by.setdefault(one.tool, []).append(one)
    columns = ("order", "chance", "surroundings")
    lines = [
        "| tool | can say | "
        + " | ".join(f"noise by {c}: found, called steady" for c in columns)
        + " | cause right | polluter right | real failures, sound tests: called flaky"
        " | CPU: median s, suite runs | wall: median s |",
        "|---" * 10 + "|",
    ]
    for tool, seen in by.items():
        cells = [tool, claims.get(tool, "")]
        for column in columns:
            there = [j for j in seen if family(j.animal) == column]
            found = sum(j.answer.noise is True for j in there)
            denied = sum(j.answer.noise is False for j in there)
            cells.append(f"{found}, {denied} of {len(there)}")
        noisy = [j for j in seen if j.animal.kind == "noise"]
        causes = sum(j.animal.cause in j.answer.causes for j in noisy)
        victims = [j for j in noisy if j.animal.names]
        polluters = sum(set(j.answer.tests) == set(j.animal.names) for j in victims)
        cells += [f"{causes} of {len(noisy)}", f"{polluters} of {len(victims)}"]
        alarms = []
        for kind in ("failures", "sound"):
            there = [j for j in seen if family(j.animal) == kind]
            alarms.append(f"{sum(j.answer.noise is True for j in there)} of {len(there)}")
        cells.append(", ".join(alarms))
        cells.append(f"{median(j.cpu for j in seen):.1f}, {median(j.times for j in seen):.0f}")
        cells.append(f"{median(j.seconds for j in seen):.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _told(path: Path) -> list[Told]:
    if not path.exists():
        return []
    whole = path.read_text().rpartition("\n")[0]
    return [Told(**json.loads(line)) for line in whole.splitlines()]


def _show(rows: Sequence[Told], zoo: Sequence[Row]) -> None:
    animals = {animal.name: animal for animal in ANIMALS}
    tools = {tool.name: tool for tool in TOOLS}
    every = [judged(told, tools, animals) for told in rows if told.tool in tools and told.animal in animals]
    every.sort(key=lambda one: list(tools).index(one.tool))
    every += [ours(row, animals) for row in zoo]
    print(table(every, {tool.name: tool.claims for tool in TOOLS} | {"redbucket explain": "all of these"}))
    if rows:
        wall, cpu = median(told.plain_seconds for told in rows), median(told.plain_cpu for told in rows)
        load = median(told.load for told in rows)
        print(f"\none plain pytest run of an animal: {wall:.1f} s, {cpu:.1f} s CPU; load {load:.0f}")
    for name, what in lists(every, rows):
        print(f"{name}: {what}")


def lists(every: Iterable[Judged], rows: Iterable[Told]) -> list[tuple[str, str]]:
    """Return who was wrong of which animals, and what was stopped for time."""
    found: dict[str, list[str]] = {}
    for one in every:
        if one.answer.noise is False and one.animal.kind == "noise":
            found.setdefault(f"{one.tool} calls steady", []).append(one.animal.name)
        if one.answer.noise and one.animal.kind != "noise":
            found.setdefault(f"{one.tool} calls flaky", []).append(one.animal.name)
    for told in rows:
        if told.stopped:
            found.setdefault(f"{told.tool} was stopped for time at", []).append(told.animal)
    return [(name, ", ".join(animals)) for name, animals in sorted(found.items())]


def main() -> int:
    """Print the table of what was run so far, and return 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--work", type=Path, required=True, help="folder for venvs and rows")
    options.add_argument("--tool", action="append", choices=[tool.name for tool in TOOLS])
    options.add_argument("--only", action="append", help="an animal's name")
    options.add_argument("--every", type=int, default=1, help="only each N-th animal")
    options.add_argument("--zoo", type=Path, help="rows of benchmarks.zoo, for redbucket's own line")
    options.add_argument("--report", action="store_true", help="run nothing")
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    animals = [
        a for i, a in enumerate(ANIMALS) if i % given.every == 0 and a.name in (given.only or [a.name])
    ]
    for tool in [] if given.report else [t for t in TOOLS if t.name in (given.tool or [t.name])]:
        path = given.work / f"{tool.name}.jsonl"
        rows = _told(path)
        path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
        done = {row.animal for row in rows}
        bins = made(tool, given.work)
        for animal in animals:
            if animal.name in done:
                continue
            with tempfile.TemporaryDirectory() as folder:
                row = run_tool(tool, animal, bins, Path(folder).resolve())
            with path.open("a") as out:
                out.write(json.dumps(asdict(row)) + "\n")
            answer = tool.read(row.text, animal.test)
            print(
                f"{tool.name:24} {animal.name:38} {answer} {row.seconds:.0f} s {row.cpu:.1f} CPU", flush=True
            )
    names = {animal.name for animal in animals}
    told = [row for tool in TOOLS for row in _told(given.work / f"{tool.name}.jsonl")]
    _show(
        [row for row in told if row.animal in names], [r for r in read_rows(given.zoo) if r.animal in names]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
