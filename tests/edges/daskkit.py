"""A real dask cluster on the loopback address: scheduler and workers are processes, ended by who started them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass
class Dask:
    """One cluster; ``workers`` are its processes, without nannies: one that is killed is gone."""

    place: Path
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def host(self) -> str:
        """HOST:PORT of the scheduler."""
        return str(json.loads((self.place / "scheduler.json").read_text())["address"]).partition("://")[2]

    def address(self, folder: Path | str = "", query: str = "") -> str:
        """An address of this cluster."""
        return f"dask://{self.host}{folder}{'?' + query if query else ''}"

    def add(self, **env: str) -> subprocess.Popen[bytes]:
        """Start one more worker, of one thread."""
        number = len(self.workers)
        words = [self.host, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard"]
        words += ["--local-directory", str(self.place / f"worker-{number}"), "--death-timeout", "30"]
        worker = _started(self.place / f"worker-{number}.log", "dask_worker", words, env)
        self.workers.append(worker)
        return worker

    def kill(self, number: int) -> None:
        """End one worker as a lost machine would."""
        self.workers[number].send_signal(signal.SIGKILL)
        self.workers[number].wait()

    def living(self) -> list[int]:
        """The numbers of the workers that live."""
        return [n for n, worker in enumerate(self.workers) if worker.poll() is None]


@contextlib.contextmanager
def clustered(place: Path, workers: int) -> Iterator[Dask]:
    """Start a scheduler and ``workers``; nothing of the user's own dask configuration is used."""
    pytest.importorskip("distributed", reason="no dask here: pip install 'redbucket[dask]'")
    place.mkdir()
    file = place / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    dask = Dask(place, _started(place / "scheduler.log", "dask_scheduler", words, {}))
    try:
        until = time.monotonic() + 60
        while not file.exists() or not file.stat().st_size:
            assert dask.scheduler.poll() is None, (place / "scheduler.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        for _ in range(workers):
            dask.add()
        yield dask
    finally:
        for process in (*dask.workers, dask.scheduler):
            process.kill()
        for process in (*dask.workers, dask.scheduler):
            process.wait()


# no session of its own: redbucket ends its children in another session as what runs left
def _started(log: Path, program: str, words: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", *words],
            cwd=log.parent,
            env={**os.environ, "DASK_CONFIG": str(log.parent / "none"), **env},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
