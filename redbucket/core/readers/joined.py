"""Several JUnit reports of one run as one: Maven, Gradle and many others write a file for each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from redbucket.core.readers.junit import TIMESTAMPS
from redbucket.core.records import Run, Test


def joined(parts: Mapping[str, Run], source: str) -> Run:
    """Return one run of the ``parts``, {name of the report: its run}, in the order of the names.

    An id that several reports have is preceded by its report's name in each. The run is broken if a part is,
    and has a seed where all parts have the same one.
    """
    ordered = dict(sorted(parts.items()))
    counts = Counter(nodeid for run in ordered.values() for nodeid in run.tests)
    tests: dict[str, Test] = {}
    for name, run in ordered.items():
        for nodeid, test in run.tests.items():
            own = nodeid if counts[nodeid] == 1 else f"{name} > {nodeid}"
            tests[own] = test if own == nodeid else msgspec.structs.replace(test, nodeid=own)
    runs = list(ordered.values())
    seeds = {run.seed for run in runs}
    nonces = [run.nonce.removeprefix(TIMESTAMPS) for run in runs if run.nonce]
    return Run(
        run_id=0,
        nonce=f"{TIMESTAMPS}{''.join(nonces)}" if nonces else "",
        source=source,
        seed=seeds.pop() if len(seeds) == 1 else "",
        tests=tests,
        collected=tuple(tests),
        session=runs[0].session if runs else Run(run_id=0).session,
        broken=next((run.broken for run in runs if run.broken), ""),
    )
