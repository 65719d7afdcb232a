"""Which tests the scout runs: those that execute changed lines, within a share of the suite's time."""

from __future__ import annotations

from collections.abc import Sequence

from redbucket.core.records import Test
from redbucket.core.seeds import derive

# The gate on a green patch is to stay below 1.7 times one plain run; three runs on
# two cores take 1.5 of them, so the scout may take a tenth of a run, or a few seconds.
SHARE = 0.10
LEAST_SECONDS = 3.0


def choose_scouted(tests: Sequence[Test], seed: str) -> tuple[list[str], int]:
    """Return the node ids to scout, and how many that run changed lines were left out.

    The choice is by a seed that the patch can't know, so that it can't keep out of it.
    """
    touching = [t for t in tests if t.touched]
    allowed = max(LEAST_SECONDS, SHARE * sum(t.duration for t in tests))
    chosen: list[str] = []
    used = 0.0
    for test in sorted(touching, key=lambda t: derive(seed, t.nodeid)):
        if used + test.duration <= allowed:
            chosen.append(test.nodeid)
            used += test.duration
    return chosen, len(touching) - len(chosen)
