"""How many heads that break the product are accepted by the gate: ``python -m benchmarks.attacks [NAME...]``.

Each attack is a branch of an agent in a tiny repository, judged by the real gate in a
process of its own. For each the verdict is printed, what stopped it, and whether the
runs would have stopped it without the static guards. Honest patches are judged, too.
Ends with 1 if an attack is accepted or an honest patch is not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import attack_driven, attack_helped, attack_table
from benchmarks.attack_base import Attack, make_environment, make_repo
from redbucket.guards.registry import GUARDS
from tests.gitkit import Repo

ATTACKS = (*attack_table.ATTACKS, *attack_helped.ATTACKS, *attack_driven.ATTACKS)
HONEST = (*attack_table.HONEST, *attack_helped.HONEST, *attack_driven.HONEST)
_AGENT = "Claude <noreply@anthropic.com>"
_PATIENCE = 240.0


@dataclass(frozen=True)
class Told:
    """How one gate ended."""

    exit_code: int
    verdict: str
    guards: tuple[str, ...]
    runs: tuple[str, ...]
    seconds: float


def judge(attack: Attack, repo: Repo, top: Path) -> Told:
    """Commit the attack on a branch of its own and run the gate on it."""
    mark = f"{tempfile.gettempdir()}/redbucket-mark-{secrets.token_hex(6)}"
    branch = f"agent/{attack.name}"
    repo.branch(branch, "main")
    repo.commit(attack.edit(mark), "Improve the buckets", author=_AGENT)
    repo.switch("main")
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GIT_"))},
        "VIRTUAL_ENV": str(top / "env"),
        "REDBUCKET_TMPDIR": str(top / "tmp"),
    }
    words = ("gate", "--base", "main", "--head", branch, "--reruns", "3", "--format", "json", "--quiet")
    began = time.monotonic()
    gate = subprocess.Popen(
        [sys.executable, "-m", "redbucket", *words],
        cwd=repo.path,
        env={**environment, "PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = gate.communicate(timeout=_PATIENCE)
        code = gate.returncode
    except subprocess.TimeoutExpired:
        os.killpg(gate.pid, signal.SIGKILL)
        out, err = gate.communicate()
        code = -signal.SIGKILL
    for path in (mark, f"/dev/shm/{mark.rpartition('/')[2]}"):
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 (two plain names)
    return _told(code, out, err, time.monotonic() - began)


def _told(code: int, out: bytes, err: bytes, seconds: float) -> Told:
    try:
        report: Mapping[str, Any] = json.loads(out)
    except ValueError:
        last = err.decode("utf-8", "replace").strip().splitlines()
        how = "stopped" if code < 0 else f"exit {code}"
        return Told(code, how, (), (last[-1][:80] if last else "no report",), seconds)
    refused = [f["rule"] for f in report["findings"] if f["severity"] == "refuse"]
    guards = dict.fromkeys(r for r in refused if r in GUARDS)
    runs = [r for r in refused if r not in GUARDS]
    runs += [p["code"] for p in report["undecided"]]
    for test in report["tests"]:
        if test["bucket"] not in ("stable_pass", "untrusted", "skipped") and test["introduced"] is not False:
            runs.append(test["bucket"])
    return Told(code, report["verdict"], tuple(guards), tuple(dict.fromkeys(runs)), seconds)


def _worker(chosen: Iterator[Attack], folder: Path, say: Callable[[Attack, Told], None]) -> None:
    repos = {
        runner: make_repo(folder / runner, runner) for runner in ("pytest", "unittest", "helped", "driven")
    }
    make_environment(folder / "env")
    (folder / "tmp").mkdir()
    for attack in chosen:
        told = judge(attack, repos[attack.runner], folder)
        if attack.dirty:
            make_environment(folder / "env")
        say(attack, told)


class _Shared:
    """Hands the attacks out to several workers."""

    def __init__(self, attacks: Sequence[Attack]) -> None:
        self._rest = list(reversed(attacks))
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Attack]:
        return self

    def __next__(self) -> Attack:
        with self._lock:
            if not self._rest:
                raise StopIteration
            return self._rest.pop()


def main(words: list[str]) -> int:
    """Judge the attacks of these names, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="attacks or families (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="gates at a time")
    options = parser.parse_args(words)
    names = set(options.names)
    chosen = [a for a in (*ATTACKS, *HONEST) if not names or a.name in names or a.family in names]
    done: list[tuple[Attack, Told]] = []

    def say(attack: Attack, told: Told) -> None:
        done.append((attack, told))
        what = ", ".join((*told.guards, *told.runs)) or "nothing"
        print(
            f"{attack.family:<10} {attack.name:<34} {told.verdict:<10} {told.exit_code:>3} "
            f"{told.seconds:5.1f} s  {what}",
            flush=True,
        )

    with tempfile.TemporaryDirectory(prefix="attacks-", ignore_cleanup_errors=True) as folder:
        shared = _Shared(chosen)
        with ThreadPoolExecutor(options.jobs) as pool:
            workers = [
                pool.submit(_worker, iter(shared), Path(folder, f"w{n}"), say) for n in range(options.jobs)
            ]
            for worker in workers:
                worker.result()
    attacks = [(a, told) for a, told in done if not a.honest]
    accepted = [a.name for a, told in attacks if told.exit_code == 0]
    only_guards = [a.name for a, told in attacks if told.exit_code and not told.runs]
    blocked = [a.name for a, told in done if a.honest and told.exit_code]
    print(f"\nattacks accepted: {len(accepted)} of {len(attacks)}" + "".join(f" {n}" for n in accepted))
    print(f"stopped by the static guards alone: {len(only_guards)}" + "".join(f" {n}" for n in only_guards))
    print(
        f"honest patches blocked: {len(blocked)} of {len(done) - len(attacks)}"
        + "".join(f" {n}" for n in blocked)
    )
    return int(bool(accepted or blocked))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
