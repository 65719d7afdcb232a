"""Runs the real local runner over a few files and gives the record's events back."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import textwrap
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redbucket.core.runspec import RunSpec
from redbucket.edges.interpreter import resolve
from redbucket.edges.local import LocalRunner
from tests import lean

# The environment of these tests themselves: Hypothesis and pytest's plugins are in it.
EVERYTHING = sys.executable


@dataclass(frozen=True)
class Recorded:
    """The events of one record, and the usual questions about them."""

    events: list[dict[str, Any]]
    folder: Path

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [e for e in self.events if e["event"] == kind]

    @property
    def outcomes(self) -> dict[str, str]:
        return {e["nodeid"]: e["outcome"] for e in self.of("end")}

    def end(self, name: str) -> dict[str, Any]:
        (found,) = [e for e in self.of("end") if e["nodeid"].endswith(name)]
        return found

    @property
    def footer(self) -> dict[str, Any]:
        (footer,) = self.of("footer")
        return footer

    @property
    def collected(self) -> list[str]:
        return [i for e in self.of("collected") for i in e.get("ids", ())]


def sha256(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    return {
        p: hashlib.sha256((folder / p).read_bytes()).hexdigest() if (folder / p).is_file() else ""
        for p in paths
    }


def record(
    tmp_path: Path,
    files: Mapping[str, str],
    /,
    *,
    command: Sequence[str] = ("python", "-m", "pytest"),
    python: str | None = None,
    outside: Sequence[str] = (),
    tracked: Sequence[str] = (),
    deadline: float = 120.0,
    cancelled: threading.Event | None = None,
    env: Mapping[str, str] | None = None,
    run_folder: str = "runs",
    start_timeout: float = 300.0,
    prepare: Sequence[Sequence[str]] = (),
    work_tree: Path | None = None,
    **spec: Any,
) -> Recorded:
    """Run ``files`` as a tree and return what the record holds; ``spec`` are fields of the run's.

    Without ``python`` it is one with pytest and nothing else.
    """
    python = lean.python() if python is None else python

    def lay_out(tree: str, folder: Path) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")

    words = [python if w == "python" else w for w in command]
    runner = LocalRunner(
        launch=resolve(words, work_tree, os.environ),
        folder=tmp_path / run_folder,
        lay_out=lay_out,
        digest=sha256,
        outside=tuple(outside),
        tracked=tuple(tracked),
        deadline=time.monotonic() + deadline,
        user_env=os.environ,
        extra_env=env or {},
        cancelled=cancelled or threading.Event(),
        start_timeout=start_timeout,
        prepare=tuple(map(tuple, prepare)),
    )
    values: dict[str, Any] = {"run_id": 1, "world": "H", "tree": "t", "seed": "7", "timeout": 5.0, **spec}
    path = runner.run(RunSpec(**values))
    return Recorded([json.loads(line) for line in path.read_text("utf-8").splitlines()], path.parent)
