"""Is one world redder than another by more than chance?"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

SIGNIFICANT = 0.05
# Where base shows it, too, or where it was looked for: one in twenty of all noisy tests would block a patch each time.
SURE = 0.002


def redder_by_chance(failed: int, runs: int, base_failed: int, base_runs: int) -> float:
    """Return the probability that head fails at least this much more often by chance alone.

    Fisher's exact test, one-sided (Fisher 1922), for ``failed`` of ``runs`` in head
    against ``base_failed`` of ``base_runs`` in base. 1.0 if either has no run.
    """
    return redder_in_strata([(failed, runs, base_failed, base_runs)])


def redder_in_strata(strata: Iterable[tuple[int, int, int, int]]) -> float:
    """Return the same over several conditions, each with rates of its own: (failed, runs, base failed, base runs).

    The exact conditional test of a common odds ratio (Birch 1964): given how many runs of a condition
    failed, those of head among them are hypergeometric; their sums are compared. A condition in which both
    always fail, or that only one world ran, says nothing.
    """
    seen, spread = 0, {0: 1.0}
    for failed, runs, base_failed, base_runs in strata:
        if not runs or not base_runs:
            continue
        total = failed + base_failed
        ways = comb(runs + base_runs, total)
        seen += failed
        wider: dict[int, float] = {}
        for k in range(max(0, total - base_runs), min(runs, total) + 1):
            share = comb(runs, k) * comb(base_runs, total - k) / ways
            for before, chance in spread.items():
                wider[before + k] = wider.get(before + k, 0.0) + chance * share
        spread = wider
    return min(1.0, sum(chance for sum_, chance in spread.items() if sum_ >= seen))
