"""Explains every animal of tests/zoo, and prints the confusion matrix and what each answer cost.

python -m benchmarks.zoo --repetitions 20 --rows zoo.jsonl   # goes on where an earlier call was stopped
python -m benchmarks.zoo --rows zoo.jsonl --only "set order"
python -m benchmarks.zoo --rows zoo.jsonl --repetitions 0    # the matrix of what was run so far
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.gitkit import Repo
from tests.zoo.animals import ANIMALS, Animal

POLICY = '[run]\ncommand = ["python", "-m", "pytest"]\ntimeout = 60\n'
NONE = "(none)"
BOUND = 40


@dataclass(frozen=True)
class Row:
    """One answer. ``suite_seconds`` is T as explain saw it; ``cpu`` counts all processes of explain,
    ``suite_cpu`` those of one plain run of the suite. ``load`` is what the machine had to do at the end.
    """

    animal: str
    repetition: int
    cause: str
    tests: list[str]
    state: list[str]
    seconds: float
    suite_seconds: float
    cpu: float
    suite_cpu: float
    why: dict[str, Any] = field(default_factory=dict)
    load: float = 0.0

    @property
    def times(self) -> float:
        """How many T it took, 0 if it came to no run."""
        return self.seconds / self.suite_seconds if self.suite_seconds else 0.0

    @property
    def cpu_times(self) -> float:
        """How often the suite could have run in the same CPU time."""
        return self.cpu / self.suite_cpu

    def right(self, animal: Animal) -> bool:
        """True if the cause and the tests that are blamed are those of the label."""
        return self.cause == animal.cause and set(self.tests) == set(animal.names)


def explain(animal: Animal, repetition: int, place: Path, budget: float | None) -> Row:
    """Return what redbucket says of one animal, in a fresh repository."""
    repo = Repo.init(place / "repo")
    repo.commit({"redbucket.toml": POLICY, **animal.files}, "a zoo")
    env = {**os.environ, "VIRTUAL_ENV": sys.prefix, "HOME": str(place)}
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    suite_cpu = _run(plain, {**env, "PYTHONDONTWRITEBYTECODE": "1"}, repo.path)[1]
    words = [sys.executable, "-m", "redbucket", "explain", animal.test, "-C", str(repo.path)]
    words += ["--format", "json", "-q", *(["--budget", str(budget)] if budget else [])]
    done, cpu = _run(words, env)
    if not done.stdout.startswith("{"):
        problem = f"error {done.returncode}: {done.stderr.strip()[:300]}"
        return Row(animal.name, repetition, problem, [], [], 0.0, 0.0, cpu, suite_cpu)
    said = json.loads(done.stdout)
    return Row(
        animal.name,
        repetition,
        said["cause"] or "",
        said["tests"],
        said["state"],
        said["seconds"],
        said["suite_seconds"],
        cpu,
        suite_cpu,
        {key: said[key] for key in ("what", "outcomes", "notes", "untried", "touched")},
        os.getloadavg()[0],
    )


def _run(
    words: list[str], env: dict[str, str], folder: Path | None = None
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Return what the command said, and the CPU seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=folder, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(rows: Iterable[Row], animals: Sequence[Animal]) -> tuple[str, bool]:
    """Return the matrix, the errors of each kind and the costs, and whether all was right."""
    named = {animal.name: animal for animal in animals}
    matrix: Counter[tuple[str, str]] = Counter()
    errors: dict[str, list[str]] = {
        "false misses (noise without a cause)": [],
        "excused bugs (a cause for a miss or a drift)": [],
        "innocent tests blamed": [],
        "wrong in another way": [],
        f"over {BOUND} T": [],
    }
    missed, excused, blamed, other, over = errors.values()
    of: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.animal not in named:
            continue
        animal = named[row.animal]
        of[row.animal].append(row)
        matrix[animal.cause or NONE, row.cause or NONE] += 1
        label = f"{row.animal} (repetition {row.repetition}): {row.cause or NONE}"
        innocent = sorted(set(row.tests) - set(animal.names))
        if innocent:
            blamed.append(f"{label}: {', '.join(innocent)}")
        elif animal.kind == "noise" and not row.cause:
            missed.append(label)
        elif animal.kind in ("miss", "drift") and row.cause:
            excused.append(label)
        elif not row.right(animal):
            other.append(label)
        if row.times > BOUND:
            over.append(f"{label}: {row.times:.0f} T")
    lines = ["", "right answer -> given answer"]
    for (truth, answer), count in sorted(matrix.items()):
        lines.append(f"  {truth:22} -> {answer:22} {count:4}{'' if truth == answer else '   <- wrong'}")
    lines.append(f"{'animal':38} right       T: median most   CPU: median most")
    for animal in animals:
        seen = of[animal.name]
        if seen:
            times, cpu = [r.times for r in seen], [r.cpu_times for r in seen]
            right = f"{sum(r.right(animal) for r in seen)} of {len(seen)}"
            lines.append(
                f"  {animal.name:36} {right:12} {median(times):6.1f} {max(times):6.1f}"
                f"     {median(cpu):6.1f} {max(cpu):6.1f}"
            )
    for title, found in errors.items():
        lines += [f"{title}: {len(found)}", *(f"  {line}" for line in found)]
    every = [(row, named[name]) for name, seen in of.items() for row in seen]
    right_ones = sum(row.right(animal) for row, animal in every)
    lines.append(f"{right_ones} of {len(every)} right")
    return "\n".join(lines), right_ones == len(every) and not over


def read_rows(path: Path | None) -> list[Row]:
    """Return the answers that a file of an earlier call has, none if there is no file."""
    if path is None or not path.exists():
        return []
    # a call that was stopped may have left half a line
    whole = path.read_text().rpartition("\n")[0]
    return [Row(**json.loads(line)) for line in whole.splitlines()]


def main() -> int:
    """Print the matrix; return 0 if every answer was right and in time."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--repetitions", type=int, default=1)
    options.add_argument("--only", action="append", help="an animal's name")
    options.add_argument("--budget", type=float, help="seconds for one animal; default: redbucket's own")
    options.add_argument(
        "--rows", type=Path, help="answers are added to this file; what it has is not run again"
    )
    given = options.parse_args()
    animals = [a for a in ANIMALS if not given.only or a.name in given.only]
    rows = read_rows(given.rows)
    if given.rows and given.rows.exists():
        given.rows.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    done = {(row.animal, row.repetition) for row in rows}
    for number in range(1, given.repetitions + 1):
        for animal in animals:
            if (animal.name, number) in done:
                continue
            with tempfile.TemporaryDirectory() as folder:
                row = explain(animal, number, Path(folder), given.budget)
            rows.append(row)
            if given.rows:
                with given.rows.open("a") as out:
                    out.write(json.dumps(asdict(row)) + "\n")
            mark = "ok   " if row.right(animal) else "WRONG"
            print(
                f"{mark} {animal.name:38} {row.cause or NONE:22} {row.seconds:5.1f} s {row.times:5.1f} T "
                f"{row.cpu_times:5.1f} CPU, load {row.load:.1f}  {', '.join(row.state)}",
                flush=True,
            )
            if not row.right(animal):
                print("     ", json.dumps(row.why), flush=True)
    text, right = report(rows, animals)
    print(text)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
