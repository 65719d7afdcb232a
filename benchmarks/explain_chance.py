"""How often chance alone makes explain name a cause, or an innocent test, and how often it hides a cause.

    python -m benchmarks.explain_chance [--tests 1000]

The runs are scripted, all else is explain's own engine. Per rate four shares of tests:
a coin (fails at that rate whatever is changed) that was given any cause; a victim that its
polluter breaks always and that falls at that rate besides, explained by the polluter alone;
the same, where a test that is not the polluter was named, too; a race that shows at that rate under
a tiny switch interval alone, called a race.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence

from redbucket.core.runspec import RunSpec
from tests.engine.test_explain import NAMES, explain

RATES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99)
POLLUTER = NAMES[4]


def answers(
    tests: int, rule: Callable[[RunSpec, Sequence[str]], bool]
) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return how often each (cause, blamed tests) was the answer; the cause is empty where none was named."""
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for _ in range(tests):
        _, found = explain(rule)
        culprits = found.culprits if found else None
        groups = [culprits.tests, *culprits.others] if culprits else []
        blamed = {name for group in groups for name in group}
        seen[found.cause if found else "", tuple(sorted(blamed))] += 1
    return seen


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.explain_chance", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--tests", type=int, default=1000, help="explained for each number")
    tests = parser.parse_args(words).tests
    chance = random.Random("redbucket")
    print(f"{tests} tests each\n")
    print(
        "rate   coin: a cause   victim: polluter   innocent blamed   race: found   false causes of the coin"
    )
    for rate in RATES:

        def falls(rate: float = rate) -> bool:
            return chance.random() < rate

        coin = answers(tests, lambda spec, before: falls())
        victim = answers(tests, lambda spec, before: POLLUTER in before or falls())
        race = answers(tests, lambda spec, before: spec.conditions.switch_interval == 1e-6 and falls())
        false = Counter({cause: n for (cause, _), n in coin.items() if cause})
        right = victim["order", (POLLUTER,)]
        innocent = sum(n for (_, blamed), n in victim.items() if set(blamed) - {POLLUTER})
        raced = sum(n for (cause, _), n in race.items() if cause == "concurrency")
        print(
            f"{rate:4.0%}   {sum(false.values()) / tests:13.1%}   {right / tests:16.1%}   {innocent / tests:15.1%}   "
            f"{raced / tests:11.1%}   {', '.join(f'{c} {n}' for c, n in false.most_common())}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
