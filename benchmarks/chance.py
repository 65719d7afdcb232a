"""How often chance alone makes the gate blame a patch, and how often it hides what a patch did.

    python -m benchmarks.chance [--gates 1000]

One test of a suite fails at a constant rate. Its runs are scripted, all else is the
gate's own judge: three runs, challenge, pairs, decision. Per rate four shares of gates:
blocked where base fails at that rate as well (a false block); blocked where the patch
brought that rate, beside those in which three runs saw it at all; and of a test
that fails at that rate in base and always with the patch, blocked.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable

from redbucket.core.records import Outcome
from tests.engine.scripted import F, P, ScriptedBench
from tests.engine.test_judge import CLEAN, A, judge

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.98)


def share(gates: int, fails: Callable[[str], bool]) -> tuple[float, float]:
    """Return the shares of ``gates`` that saw a failure and that blocked; ``fails`` is asked for each run's world."""
    seen = blocked = 0
    for _ in range(gates):

        def test(spec: object, count: int) -> Outcome:
            return F if fails(str(getattr(spec, "world", ""))) else P

        rows = judge(ScriptedBench({A: test, **CLEAN}, touches={A}), agent=False).rows
        seen += any("failed" in row.outcomes["H"] for row in rows)
        blocked += any(row.blocks for row in rows)
    return seen / gates, blocked / gates


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chance", description=__doc__.splitlines()[0])
    parser.add_argument("--gates", type=int, default=1000, help="judged for each number")
    gates = parser.parse_args(words).gates
    chance = random.Random("redbucket")
    print(f"{gates} gates each\n")
    print("rate   in both: blocked   by the patch: seen   blocked   noisy, then broken: blocked")
    for rate in RATES:

        def falls(rate: float = rate) -> bool:
            return chance.random() < rate

        _, false = share(gates, lambda world: falls())
        seen, found = share(gates, lambda world: world != "B" and falls())
        _, broken = share(gates, lambda world: world != "B" or falls())
        print(f"{rate:4.0%}   {false:16.1%}   {seen:18.1%}   {found:7.1%}   {broken:27.1%}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
