"""Runs several specs at once on one runner and reads their records back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from redbucket.core.records import Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.ports import Runner


@dataclass
class ParallelBench:
    """``jobs`` processes at a time. An interrupt or a failed run stops all others.

    ``after`` is called when no run is under way any more.
    """

    runner: Runner
    read: Callable[[Path], Run]
    jobs: int
    cancelled: threading.Event
    after: Callable[[], object] = lambda: None

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        """Return one run for each spec, in the order of the specs."""
        pool = ThreadPoolExecutor(max_workers=max(1, self.jobs), thread_name_prefix="run")
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
