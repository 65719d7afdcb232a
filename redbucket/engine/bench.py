"""Runs several specs at once on one runner and reads their records back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from redbucket.core.inuse import collided
from redbucket.core.records import Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.ports import Runner


@dataclass
class ParallelBench:
    """``jobs`` processes at a time. An interrupt or a failed run stops all others.

    ``after`` is called when no run is under way any more. Runs that took an address from each other are made again,
    alone, and from then on each run is: ``sharing`` are the tests that made it so.
    """

    runner: Runner
    read: Callable[[Path], Run]
    jobs: int
    cancelled: threading.Event
    after: Callable[[], object] = lambda: None
    sharing: set[str] = field(default_factory=set)
    _by_themselves: set[str] = field(default_factory=set)

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        """Return one run for each spec, in the order of the specs."""
        if self.sharing or min(len(specs), self.jobs) < 2:
            return self._runs(specs, 1)
        runs = self._runs(specs, self.jobs)
        struck = [n for n, run in enumerate(runs) if collided(run) - self._by_themselves]
        return self._apart(specs, runs, struck) if struck else runs

    def _apart(self, specs: Sequence[RunSpec], runs: list[Run], struck: Sequence[int]) -> list[Run]:
        """Make the runs again that an address was in use for; where that helps, they were each other's trouble."""
        again = self._runs([replace(specs[n], again=True) for n in struck], 1)
        before = frozenset[str]().union(*(collided(runs[n]) for n in struck))
        still = frozenset[str]().union(*map(collided, again))
        self._by_themselves |= still
        self.sharing |= before - still
        if self.sharing:
            for n, run in zip(struck, again, strict=True):
                runs[n] = run
        return runs

    def _runs(self, specs: Sequence[RunSpec], jobs: int) -> list[Run]:
        pool = ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="run")
        futures: list[Future[Path]] = []
        try:
            futures = [pool.submit(self.runner.run, spec) for spec in specs]
            pending = set(futures)
            while pending:
                # short waits: a signal is handled between them, by the main thread
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException:
            self.cancelled.set()
            for future in futures:
                future.cancel()
            raise
        finally:
            pool.shutdown(wait=True)
            self.after()
        return [self.read(future.result()) for future in futures]
