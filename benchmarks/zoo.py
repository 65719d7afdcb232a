"""Explains every animal of tests/zoo, and prints the confusion matrix.

python -m benchmarks.zoo --repetitions 20
python -m benchmarks.zoo --only "set order"
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.gitkit import Repo
from tests.zoo.animals import ANIMALS, Animal

POLICY = '[run]\ncommand = ["python", "-m", "pytest"]\ntimeout = 60\n'
NONE = "(none)"


def explain(animal: Animal, place: Path, budget: float | None) -> dict[str, object]:
    """Return what redbucket says of one animal, in a fresh repository."""
    repo = Repo.init(place / "repo")
    repo.commit({"redbucket.toml": POLICY, **animal.files}, "a zoo")
    words = [sys.executable, "-m", "redbucket", "explain", animal.test, "-C", str(repo.path)]
    words += ["--format", "json", "-q", *(["--budget", str(budget)] if budget else [])]
    env = {**os.environ, "VIRTUAL_ENV": sys.prefix, "HOME": str(place)}
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    if not done.stdout.startswith("{"):
        return {"cause": f"error {done.returncode}: {done.stderr.strip()[:300]}", "tests": []}
    return dict(json.loads(done.stdout))


def main() -> int:
    """Print the matrix; return 0 if every answer was right."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repetitions", type=int, default=1)
    options.add_argument("--only", action="append", help="an animal's name")
    options.add_argument("--budget", type=float, help="seconds for one animal; default: redbucket's own")
    given = options.parse_args()
    animals = [a for a in ANIMALS if not given.only or a.name in given.only]
    matrix: Counter[tuple[str, str]] = Counter()
    false_misses: list[str] = []
    excused: list[str] = []
    blamed: list[str] = []
    wrong: list[str] = []
    over: list[str] = []
    for number in range(1, given.repetitions + 1):
        for animal in animals:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                said = explain(animal, Path(folder), given.budget)
            cause = str(said.get("cause") or "")
            took = time.monotonic() - began
            matrix[animal.cause or NONE, cause or NONE] += 1
            label = f"{animal.name} (repetition {number}): {cause or NONE} instead of {animal.cause or NONE}"
            if animal.kind == "noise" and not cause:
                false_misses.append(label)
            if animal.kind in ("miss", "drift") and cause:
                excused.append(label)
            names = set(map(str, said.get("tests") or ()))  # type: ignore[call-overload]
            if names - set(animal.names):
                blamed.append(f"{animal.name} (repetition {number}): {', '.join(sorted(names))}")
            right = cause == animal.cause and names == set(animal.names)
            if not right:
                wrong.append(label)
            suite = float(said.get("suite_seconds") or 0)  # type: ignore[arg-type]
            spent = float(said.get("seconds") or 0)  # type: ignore[arg-type]
            times = spent / suite if suite else 0.0
            if times > 42:
                over.append(f"{animal.name} (repetition {number}): {times:.0f} T")
            state = ", ".join(map(str, said.get("state") or ()))  # type: ignore[call-overload]
            mark = "ok   " if right else "WRONG"
            print(
                f"{mark} {animal.name:38} {cause or NONE:22} {took:5.1f} s {times:5.1f} T  {state}",
                flush=True,
            )
            if not right:
                print("     ", json.dumps({k: said.get(k) for k in ("what", "outcomes", "notes", "untried")}))
    print("\nright answer -> given answer")
    for (truth, answer), count in sorted(matrix.items()):
        print(f"  {truth:22} -> {answer:22} {count:4}{'' if truth == answer else '   <- wrong'}")
    for title, found in (
        ("false misses (noise without a cause)", false_misses),
        ("excused bugs (a cause for a miss or a drift)", excused),
        ("innocent tests blamed", blamed),
        ("over 40 T", over),
    ):
        print(f"{title}: {len(found)}")
        for line in found:
            print(f"  {line}")
    print(f"{sum(matrix.values()) - len(wrong)} of {sum(matrix.values())} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
