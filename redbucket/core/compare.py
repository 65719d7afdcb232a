"""Is one world redder than another by more than chance?"""

from __future__ import annotations

from math import comb

SIGNIFICANT = 0.05


def redder_by_chance(failed: int, runs: int, base_failed: int, base_runs: int) -> float:
    """Return the probability that head fails at least this much more often by chance alone.

    Fisher's exact test, one-sided (Fisher 1922), for ``failed`` of ``runs`` in head
    against ``base_failed`` of ``base_runs`` in base. 1.0 if either has no run.
    """
    if runs == 0 or base_runs == 0:
        return 1.0
    total = failed + base_failed
    ways = comb(runs + base_runs, total)
    tail = sum(
        comb(runs, k) * comb(base_runs, total - k)
        for k in range(failed, min(runs, total) + 1)
        if 0 <= total - k <= base_runs
    )
    return tail / ways
