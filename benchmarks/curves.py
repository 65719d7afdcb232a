"""What redbucket costs as the work grows, and with which exponent.

    python -m benchmarks.curves [--rounds 3] [--only classify] [--rows FILE] [--svg docs/assets/curves.svg]

Whole processes (a tree is laid out in a forked one), CPU seconds with all that they start, and the peak of
resident memory; of the rounds the least, because other work on a machine only adds. The exponent is the slope
of log (cost above that of the smallest size) over log (size above the smallest), fitted to the upper half of
the sizes: what is linear over a fixed start-up has 1. With --rows, what the file has is not measured again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from statistics import pvariance

import msgspec

from benchmarks import fixtures, scale, static_hooks
from redbucket.core.records import End, Footer, Header, Outcome, Start
from redbucket.edges.repository import Repository
from redbucket.edges.scratch import Scratch
from redbucket.edges.trees import layout
from tests.gitkit import Repo

LINEAR = 1.15
FILES = (100, 300, 1_000, 3_000, 10_000)
REDBUCKET = [sys.executable, "-m", "redbucket"]
# Below this the difference of two costs is noise, and an exponent would be made of it.
SEEN = 0.03
Measure = Callable[[], static_hooks.Cost]


@dataclass(frozen=True)
class Curve:
    """One line: what grows, over which sizes, and how inputs of a size are made and measured.

    Lines next to each other over the same unit and sizes share their inputs.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    made: Callable[[Path, int], Measure]


@dataclass(frozen=True)
class Point:
    """The least CPU seconds and the peak in MB of one size."""

    curve: str
    size: int
    cpu: float
    peak: float


def made_hook(name: str) -> Callable[[Path, int], Measure]:
    """Return what measures a hook on a patch of so many staged files."""

    def made(place: Path, files: int) -> Measure:
        if not (place / "many").exists():  # the hooks share it
            scale.child(lambda: static_hooks.big(place, files))
        many = Repo(place / "many", place / "small.home")
        return lambda: static_hooks.cost(static_hooks.hook(name), many.path, many.environment())

    return made


def made_range(place: Path, commits: int) -> Measure:
    """Return what measures the guards on a range of so many commits."""
    scale.child(lambda: static_hooks.history(place, commits))
    repo = Repo(place / "history", place / "history.home")
    words = [*REDBUCKET, "guard", "--quiet", "--base", "main", "--head", "agent/work"]
    return lambda: static_hooks.cost(words, repo.path, repo.environment())


def record(number: int, tests: int) -> Iterator[msgspec.Struct]:
    """Yield the lines of one run: every hundredth test fails, and every thousandth in the second run only."""
    yield Header(run_id=number, tree="7" * 40, seed="7", hash_seed="7", nonce=f"{number:016}")
    failed = 0
    for at in range(tests):
        nodeid = f"tests/part{at // 1000:03}/test_module_{at // 50 % 20}.py::TestWork::test_work[{at % 50}]"
        red = at % 100 == 7 and (at % 1000 != 7 or number == 2)
        failed += red
        yield Start(nodeid=nodeid, index=at)
        more = {"message": f"assert {at} == {at + 1}", "exception": "AssertionError", "fingerprint": f"f{at}"}
        outcome = Outcome.FAILED if red else Outcome.PASSED
        yield End(nodeid=nodeid, outcome=outcome, duration=0.01, seed="7", index=at, **(more if red else {}))
    counts = {"passed": tests - failed, "failed": failed}
    yield Footer(complete=True, counts=counts, status=1, pinned=["PYTHONHASHSEED", "TEST_SEED", "random"])


def made_records(place: Path, tests: int) -> Measure:
    """Return what measures ``classify`` on three records of so many tests."""
    encoder, paths = msgspec.json.Encoder(), [place / f"run-{number}.jsonl" for number in (1, 2, 3)]

    def write() -> None:
        for number, path in enumerate(paths, 1):
            with path.open("wb") as out:
                out.writelines(encoder.encode(line) + b"\n" for line in record(number, tests))

    scale.child(write)
    # what classify says is red: noise and misses are in the records
    words = [*REDBUCKET, "classify", *map(str, paths)]
    return lambda: static_hooks.cost(words, place, dict(os.environ))


def made_tree(place: Path, files: int) -> Measure:
    """Return what measures one tree of so many files laid out from git's objects."""
    scale.child(lambda: scale.build(place / "repo", files, 0))
    repo = Repo(place / "repo", place / "repo.home")

    def lay() -> None:
        with Scratch(place / "scratch.git", Repository.discover(repo.path)) as scratch:
            layout(scratch, scratch.tree_of(repo.head()), place / "tree")

    def measure() -> static_hooks.Cost:
        one = scale.child(lay)
        for left in ("tree", "scratch.git"):
            shutil.rmtree(place / left, ignore_errors=True)
        return static_hooks.Cost(one.cpu, one.wall, one.peak)

    return measure


def made_locked(place: Path, files: int) -> Measure:
    """Return what measures ``fixtures verify`` on so many locked files of 1,000 bytes."""
    scale.child(lambda: fixtures.build(place / "repo", [(files, 1_000)]))
    words = [*REDBUCKET, "fixtures", "verify", "--quiet"]
    return lambda: static_hooks.cost(words, place / "repo", dict(os.environ))


CURVES = (
    *(Curve(f"hook {name}", "changed files", FILES, made_hook(name)) for name in static_hooks.HOOKS),
    Curve("guard", "commits in range", (10, 50, 250, 1_000, 2_500, 5_000), made_range),
    Curve("classify", "tests in three records", (1_000, 3_000, 10_000, 30_000, 100_000), made_records),
    Curve("tree layout", "files of a tree", (1_000, 3_000, 10_000, 25_000, 50_000), made_tree),
    Curve("fixtures verify", "locked files", (1_000, 3_000, 10_000, 25_000, 50_000), made_locked),
)


def exponent(points: list[Point]) -> float | None:
    """Return the power over the upper half, None if what grows is too little to be seen."""
    first, *rest = sorted(points, key=lambda point: point.size)
    upper = [p for p in rest[-((len(points) + 1) // 2) :] if p.cpu - first.cpu >= SEEN]
    if len(upper) < 2:
        return None

    def spread(power: float) -> float:
        """How far the points are from start + unit * size ** power, whatever the start and the unit."""
        off = [math.log((p.cpu - first.cpu) / (p.size**power - first.size**power)) for p in upper]
        return pvariance(off)

    return min((at / 100 for at in range(20, 400)), key=spread)


def table(points: list[Point]) -> str:
    """Return the table, a line a curve."""
    lines = ["| what | over | CPU s (peak MB) | exponent |", "|---|---|---|---|"]
    for curve in CURVES:
        seen = sorted((p for p in points if p.curve == curve.name), key=lambda p: p.size)
        if seen:
            cells = "; ".join(f"{p.size:,}: {p.cpu:.2f} ({p.peak:.0f})" for p in seen)
            slope = exponent(seen)
            said = "too little growth to fit" if slope is None else f"{slope:.2f}"
            lines.append(f"| {curve.name} | {curve.unit} | {cells} | {said} |")
    return "\n".join(lines)


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5195", "#8c6d1f", "#56707f", "#c1272d")
WIDE, HIGH, LEFT, RIGHT, TOP, BELOW = 760, 460, 56, 190, 24, 48


def svg(points: list[Point]) -> str:
    """Return the plot: CPU seconds over the size, both logarithmic, each line named at its end."""
    sizes, costs = [p.size for p in points], [p.cpu for p in points]
    low_x, high_x = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    low_y, high_y = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))

    def across(size: float) -> float:
        return LEFT + (math.log10(size) - low_x) / (high_x - low_x) * (WIDE - LEFT - RIGHT)

    def up(cost: float) -> float:
        return HIGH - BELOW - (math.log10(cost) - low_y) / max(1, high_y - low_y) * (HIGH - TOP - BELOW)

    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" '
        'aria-label="CPU seconds over the size of the work, both axes logarithmic" '
        'font-family="sans-serif" font-size="12">'
    )
    out = [head, f'<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>']
    for power in range(low_x, high_x + 1):
        x = across(10**power)
        out.append(f'<path d="M{x:.1f} {TOP}V{HIGH - BELOW}" stroke="#dddddd"/>')
        out.append(f'<text x="{x:.1f}" y="{HIGH - BELOW + 18}" text-anchor="middle">{10**power:,}</text>')
    for power in range(low_y, high_y + 1):
        y = up(10**power)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDE - RIGHT}" stroke="#dddddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    out.append(f'<text x="{LEFT}" y="{TOP - 8}">CPU seconds</text>')
    middle = (LEFT + WIDE - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HIGH - 10}" text-anchor="middle">files, commits or tests</text>')
    drawn = []
    for curve, colour in zip(CURVES, COLOURS, strict=True):
        seen = sorted((p for p in points if p.curve == curve.name), key=lambda p: p.size)
        if seen:
            drawn.append((up(seen[-1].cpu), curve.name, colour, seen))
    shelf = float(TOP)
    for y, name, colour, seen in sorted(drawn):
        line = " ".join(f"{across(p.size):.1f},{up(p.cpu):.1f}" for p in seen)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [
            f'<circle cx="{across(p.size):.1f}" cy="{up(p.cpu):.1f}" r="3" fill="{colour}"/>' for p in seen
        ]
        shelf = max(shelf + 15, y)
        x = WIDE - RIGHT + 16
        out.append(
            f'<path d="M{across(seen[-1].size) + 4:.1f} {y:.1f}L{x - 4} {shelf:.1f}" stroke="{colour}" '
            f'stroke-width="0.7" stroke-dasharray="2 2"/>'
            f'<text x="{x}" y="{shelf + 4:.1f}" fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def _measured(measure: Measure, rounds: int) -> static_hooks.Cost:
    """Return the least CPU seconds and the highest peak; the first run warms the caches."""
    # a child begins with the peak of who starts it, which Linux forgets on demand
    forget = Path("/proc/self/clear_refs")
    seen = []
    for _ in range(rounds + 1):
        if forget.exists():
            forget.write_text("5")
        seen.append(measure())
    seen = seen[1:]
    best = min(seen, key=lambda one: one.cpu)
    return static_hooks.Cost(best.cpu, best.wall, max(one.peak for one in seen))


def _read(path: Path | None) -> dict[tuple[str, int], Point]:
    if path is None or not path.exists():
        return {}
    # a call that was stopped may have left half a line
    points = [Point(**json.loads(line)) for line in path.read_text().rpartition("\n")[0].splitlines()]
    return {(point.curve, point.size): point for point in points}


def told(points: Mapping[tuple[str, int], Point]) -> int:
    """Print the table; return 1 if a cost grows faster than its input."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(table(list(points.values())))
    steep = []
    for curve in CURVES:
        slope = exponent([p for p in points.values() if p.curve == curve.name] or [Point("", 1, 0, 0)])
        if slope is not None and slope > LINEAR:
            steep.append(f"{curve.name}: {slope:.2f}")
    print(f"steeper than linear: {', '.join(steep) or 'none'}")
    return 1 if steep else 0


def main() -> int:
    """Measure, print, and draw; 1 if a cost grows faster than its input."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", action="append", help="the beginning of a curve's name")
    options.add_argument("--rows", type=Path, help="points are added to this file")
    options.add_argument("--svg", type=Path, help="where the plot goes")
    given = options.parse_args()
    points = _read(given.rows)
    chosen = [c for c in CURVES if not given.only or c.name.startswith(tuple(given.only))]
    for (_, sizes), group in groupby(chosen, lambda curve: (curve.unit, curve.sizes)):
        curves = list(group)
        for size in sizes:
            with tempfile.TemporaryDirectory(prefix="redbucket-curves-") as folder:
                for curve in curves:
                    if (curve.name, size) in points:
                        continue
                    cost = _measured(curve.made(Path(folder).resolve(), size), given.rounds)
                    point = Point(curve.name, size, cost.cpu, cost.peak)
                    points[curve.name, size] = point
                    if given.rows:
                        with given.rows.open("a") as out:
                            out.write(json.dumps(asdict(point)) + "\n")
                    print(
                        f"{curve.name:24} {size:7,} {point.cpu:6.2f} s CPU {point.peak:5.0f} MB", flush=True
                    )
    if given.svg:
        given.svg.write_text(svg(list(points.values())))
    return told(points)


if __name__ == "__main__":
    sys.exit(main())
