"""Is a good part of a suite skipped where it ran?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from redbucket.core.answers import first_line
from redbucket.core.records import Outcome, Test

# Below that a suite has its few tests for another platform.
_MANY = 0.1
REMEDY = (
    "if they lack a package, install it where the tests run; if they run in your checkout, they need what git does "
    "not hold: make it in [run] prepare"
)


def many_skipped(tests: Collection[Test]) -> str:
    """Return how many of ``tests`` are skipped, and why most of these; "" for less than a tenth or a single one."""
    reasons = [test.message for test in tests if test.outcome is Outcome.SKIPPED]
    if len(reasons) < max(2, _MANY * len(tests)):
        return ""
    most, times = Counter(reasons).most_common(1)[0]
    line = first_line(most).removeprefix("Skipped: ")
    why = f"; {times} of them: {line}" if line else ""
    return f"{len(reasons)} of {len(tests)} tests are skipped here, and say nothing of a patch{why}"
