"""One run of a command that writes JUnit XML: started, watched, and its report turned into the run's record.

Nothing of redbucket is in the process, so that the report and the exit status are all there is: they are held
against each other, and a run that leaves a doubt is incomplete.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redbucket.core.classification import FAILING
from redbucket.core.errors import Misused
from redbucket.core.readers import joined, read_chunks
from redbucket.core.records import Collected, End, Footer, Outcome, Run, Session, Test
from redbucket.core.reportcheck import PRINTED, contradiction
from redbucket.core.runspec import RunSpec
from redbucket.edges.grounds import Grounds
from redbucket.edges.placeless import placeless
from redbucket.edges.recordfile import RecordFile
from redbucket.edges.reportfiles import NotAReport
from redbucket.edges.site import TIMEOUT, Place

if TYPE_CHECKING:
    from redbucket.edges.local import LocalRunner

# A command whose first runs took so long may take this many times as long: load is no hang.
_SLACK = 10.0
_SHOWN, _FIRST = 700, 250


@dataclass
class ReportedRun:
    """One run: the runner's ``report`` is the path or glob of what the command writes in the tree."""

    runner: LocalRunner
    site: Grounds
    spec: RunSpec
    settled: Place
    env: Mapping[str, str]
    record: RecordFile
    confined: Sequence[str] = ()  # what puts it into a sandbox
    open: str = ""  # which test runs, or how one ended, is known when all have ended
    done: dict[str, str] = field(default_factory=dict)

    def go(self) -> Footer:
        """Return the footer once the command has ended one way or the other."""
        report, command = self.runner.report, self.runner.launch.args
        self.record.write(Session(runner="junit", interpreter=" ".join(command)))
        early = self.site.reports(self.settled.tree, report)
        if early:
            return _incomplete(
                f"{early[0]} is there before the command is started, so that nobody knows what wrote it"
            )
        began = time.monotonic()
        words = [
            *self.confined,
            self.runner.launch.python if command[0] == "python" else command[0],
            *command[1:],
        ]
        load = (self.runner.launch.python, self.spec.conditions.load)
        status, output, problem = self.site.plain(words, self.settled.tree, self.env, self._left, load)
        self.site.leave(self.settled.place)  # what it left behind may still write
        if problem == TIMEOUT:
            if time.monotonic() > self.runner.deadline:
                return _incomplete("the time budget ran out")
            return _incomplete(f"no end within {time.monotonic() - began:.0f} s, many times what base takes")
        if problem:
            return _incomplete(f"{command[0]} could not be started: {problem}")
        if self.runner.cancelled.is_set():
            return _incomplete("cancelled", status)
        footer = self._read(status, output)
        if footer.complete and self.spec.world in ("B", ""):  # the patch may end sooner, or never
            self.runner.took.append(time.monotonic() - began)
        return footer

    def _left(self) -> float:
        """Seconds to the budget's end, or sooner once it is known how long a run takes."""
        usual = max(self.runner.took, default=float("inf"))
        end = min(self.runner.deadline, self._began + max(self.spec.timeout, _SLACK * usual))
        return end - time.monotonic()

    def __post_init__(self) -> None:
        self._began = time.monotonic()

    def _read(self, status: int, output: str) -> Footer:
        try:
            run = self._run()
        except (NotAReport, Misused) as error:
            reason = error.reason if isinstance(error, Misused) else str(error)
            return _incomplete(f"{self._text(reason)}{self._printed(output)}", status)
        if run is None:
            return _incomplete(
                f"no report: the command left no {self.runner.report} (exit status {status}){self._printed(output)}",
                status,
            )
        ids = [self._text(nodeid) for nodeid in run.tests]
        self.record.write(Collected(ids=ids, last=True))
        counts: dict[str, int] = {}
        for nodeid, test in zip(ids, run.tests.values(), strict=True):
            end = self._end(nodeid, test)
            self.record.write(end)
            counts[end.outcome.value] = counts.get(end.outcome.value, 0) + 1
        self.runner.on_test(self.spec, len(ids))
        reason = run.broken or contradiction(status, (test.outcome for test in run.tests.values()))
        if reason:
            reason = f"{self._text(reason)}{self._printed(output)}"
        return Footer(complete=not reason, counts=counts, reason=reason, status=status)

    def _run(self) -> Run | None:
        names = self.site.reports(self.settled.tree, self.runner.report)
        parts: dict[str, Run] = {}
        for name in names:
            (parts[name],) = read_chunks(self.site.report(self.settled.tree, name), name, seed=self.spec.seed)
        if len(parts) == 1:
            return next(iter(parts.values()))
        return joined(parts, self.runner.report) if parts else None

    def _end(self, nodeid: str, test: Test) -> End:
        return End(
            nodeid=nodeid,
            outcome=_worst(test),
            duration=test.duration,
            seed=test.seed,
            message=self._text(test.message),
            exception=test.exception,
            attempts=list(test.attempts),
        )

    def _printed(self, output: str) -> str:
        """Return the beginning and the end of the command's output, in a clause: the error may stand in either."""
        text = self._text(output.strip())
        if len(text) > _SHOWN:
            text = f"{text[:_FIRST]} … {text[-(_SHOWN - _FIRST) :]}"
        return f"{PRINTED}: {text}" if text else f"{PRINTED} nothing"

    def _text(self, text: str) -> str:
        return placeless(text, self.settled)


def _worst(test: Test) -> Outcome:
    """Return a failure that a rerun by the runner itself hid, as the recorder counts it; else the test's outcome."""
    if test.outcome in FAILING:
        return test.outcome
    return next((one for one in map(Outcome, test.attempts) if one in FAILING), test.outcome)


def _incomplete(reason: str, status: int = 0) -> Footer:
    return Footer(complete=False, reason=reason, status=status)
