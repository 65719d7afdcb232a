"""What ``rerun`` says of its runs, for a person; the records say the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from redbucket.core.records import Run
from redbucket.formats.clean import line

_NAMED = 3


def rerun_summary(runs: Sequence[Run]) -> str:
    """Return how many tests did the same each time, which did not, and what broke."""
    seen: dict[str, list[str]] = {}
    for run in runs:
        for nodeid, test in run.tests.items():
            seen.setdefault(nodeid, []).append(test.outcome.value)
    same = Counter(kinds[0] for kinds in seen.values() if len(kinds) == len(runs) and len(set(kinds)) == 1)
    mixed = [nodeid for nodeid, kinds in seen.items() if len(kinds) < len(runs) or len(set(kinds)) > 1]
    times = "once" if len(runs) == 1 else f"each of {len(runs)} times"
    parts = [f"{n:,} {kind} {times}" for kind, n in same.most_common()]
    if mixed:
        few = ", ".join(map(line, mixed[:_NAMED])) + ("..." if len(mixed) > _NAMED else "")
        parts.append(f"{len(mixed):,} not the same each time: {few}")
    parts += [f"run {run.run_id} is not complete: {line(run.broken)}" for run in runs if run.broken]
    return "; ".join(parts) or "no test ran"
