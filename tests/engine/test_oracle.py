"""What a run says of a mutant: only the mutant's own doing kills it."""

from __future__ import annotations

import pytest

from redbucket.core import records
from redbucket.core.mutants import Mutant
from redbucket.core.records import Outcome, Run
from redbucket.engine.oracle import _judged

MUTANT = Mutant("m.py", 1, "negate", b"", "key")
GREEN = {"t": records.Test(nodeid="t", outcome=Outcome.PASSED)}
RED = {"t": records.Test(nodeid="t", outcome=Outcome.FAILED)}


@pytest.mark.parametrize(
    ("run", "killed"),
    [
        (Run(run_id=1, tests=GREEN), False),
        (Run(run_id=1, tests=RED), True),
        (Run(run_id=1, errors={"t.py": "SyntaxError"}), True),
        (Run(run_id=1, broken="x: the run is incomplete: the process ended with exit status 3"), True),
        (
            Run(
                run_id=1, broken="x: the run is incomplete: the session ended before the tests were collected"
            ),
            True,
        ),
        (Run(run_id=1, broken="x: the run is incomplete: the time budget ran out"), None),
        (Run(run_id=1, broken="x: the run is incomplete: the time budget ran out", tests=RED), True),
        (Run(run_id=1, broken="x: the run is incomplete: the interpreter's own files were changed"), None),
    ],
)
def test_a_run_that_is_broken_off_from_outside_says_nothing(run: Run, killed: bool | None) -> None:
    tried = _judged(MUTANT, "H", "tree", run)
    assert (None if tried is None else tried.killed) is killed
