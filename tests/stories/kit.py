"""A person at a terminal: runs redbucket in process, and keeps what it said and how it ended.

shop = Shop.open(tmp_path)                    # main has shop.py and tests
shop.patch({"shop.py": "..."})                # a branch of an agent; main stays checked out
told = shop.gate()
assert told.exit_code == 1 and told.row("test_total")["bucket"] == "invariant_miss"
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redbucket.cli import main
from tests.gitkit import Content, Repo

AGENT = "Claude <noreply@anthropic.com>"
UNITTEST = '["python", "-m", "unittest"]'
PYTEST = '["python", "-m", "pytest"]'
CONSOLE = str(Path(sys.prefix) / "bin" / "redbucket")

SHOP = """\
def total(prices):
    return sum(prices)


def label(price):
    return f"{price:.2f} EUR"
"""

TESTS = """\
import unittest

from shop import label, total


class ShopTests(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_total_of_nothing(self):
        self.assertEqual(total([]), 0)

    def test_label(self):
        self.assertEqual(label(3), "3.00 EUR")
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    exit_code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The ids of the errors on stderr, in square brackets at the end of a line."""
        return [
            line.rpartition("[")[2][:-1]
            for line in self.err.splitlines()
            if line.startswith("redbucket: ") and line.endswith("]")
        ]


@dataclass(frozen=True)
class Told(Ended):
    """A gate or guard that ended with a report."""

    report: Mapping[str, Any]

    def rows(self, name: str) -> list[Mapping[str, Any]]:
        """The rows of the tests whose id ends with ``name``."""
        return [row for row in self.report["tests"] if row["nodeid"].endswith(name)]

    def row(self, name: str) -> Mapping[str, Any]:
        """The one row of a test whose id ends with ``name``."""
        (row,) = self.rows(name)
        return row

    def buckets(self) -> dict[str, str]:
        """{the last part of each id: its bucket}."""
        return {
            row["nodeid"].replace("::", ".").rpartition(".")[2]: row["bucket"] for row in self.report["tests"]
        }

    def findings(self, rule: str) -> list[Mapping[str, Any]]:
        """The findings of one rule."""
        return [f for f in self.report["findings"] if f["rule"] == rule]

    @property
    def problems(self) -> list[str]:
        """The ids of what was left undecided."""
        return [p["code"] for p in self.report["undecided"]]


def redbucket(*words: str | Path) -> Ended:
    """Run redbucket in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True) for _ in "oe")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return Ended(code, *(_text(stream) for stream in (out, err)))


def reported(*words: str | Path) -> Told:
    """Run a command that reports, and read its JSON."""
    ended = redbucket(*words, "--format", "json")
    assert ended.out.startswith("{"), (
        f"no report; exit {ended.exit_code}, stderr: {ended.err}, stdout: {ended.out}"
    )
    report = json.loads(ended.out)
    assert report["exit_code"] == ended.exit_code
    return Told(ended.exit_code, ended.out, ended.err, report)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8")


def policy(command: str = UNITTEST, *, timeout: float = 20, more: str = "") -> str:
    """A policy with ``command``; ``more`` are lines that go before the ``[run]`` table."""
    return f"{more}\n[run]\ncommand = {command}\ntimeout = {timeout}\n"


@dataclass(frozen=True)
class Shop:
    """A small project on ``main``, and a branch that is offered."""

    repo: Repo

    @classmethod
    def open(
        cls,
        place: Path,
        files: Mapping[str, Content] | None = None,
        *,
        rules: str | None = None,
        name: str = "repo",
    ) -> Shop:
        """Make the project; ``files`` come on top of the usual ones, ``None`` leaves one out."""
        repo = Repo.init(place / name)
        usual: dict[str, Content] = {
            "shop.py": SHOP,
            "tests/__init__.py": "",
            "tests/test_shop.py": TESTS,
            "redbucket.toml": policy() if rules is None else rules,
        }
        repo.commit({k: v for k, v in {**usual, **(files or {})}.items() if v is not None}, "a shop")
        return cls(repo)

    @property
    def path(self) -> Path:
        """The work tree."""
        return self.repo.path

    def patch(
        self,
        files: Mapping[str, Content],
        message: str = "change",
        *,
        branch: str = "agent/fix",
        author: str = AGENT,
    ) -> str:
        """Commit ``files`` on ``branch``, made from main if need be; main is checked out again."""
        known = self.repo.git("branch", "--list", branch)
        if known:
            self.repo.switch(branch)
        else:
            self.repo.branch(branch, "main")
        head = self.repo.commit(files, message, author=author)
        self.repo.switch("main")
        return head

    def gate(self, head: str = "agent/fix", *words: str, base: str = "main") -> Told:
        """Judge a branch; the user's repository and work tree are as they were afterwards."""
        before = self.snapshot()
        told = reported("gate", "-C", self.path, "--base", base, "--head", head, *words)
        assert self.snapshot() == before
        return told

    def refused(self, *words: str) -> Ended:
        """Run the gate where it ends without a report."""
        before = self.snapshot()
        ended = redbucket("gate", "-C", self.path, *words)
        assert self.snapshot() == before
        return ended

    def snapshot(self) -> dict[str, str]:
        """Work tree, index, refs and objects, to the byte.

        Whoever makes a tree that exists already gets git to "freshen" the file it is in: the time of a loose
        object moves, also across alternates (git 2.39, freshen_loose_object). Everywhere else times count too.
        """
        seen = self.repo.snapshot()
        return {k: v.rpartition(" ")[2] if k.startswith(".git/objects/") else v for k, v in seen.items()}


def assert_clear(ended: Ended, exit_code: int, error: str) -> None:
    """One line with the reason and the error's id, one with the remedy, and nothing else."""
    assert (ended.exit_code, ended.errors, ended.out) == (exit_code, [error], "")
    first, *rest = ended.err.splitlines()
    assert first.startswith("redbucket: ")
    assert len(rest) == 1
    assert rest[0].startswith("  do this: ")
    assert "Traceback" not in ended.err


def listening() -> None:
    """A shell starts what runs in its background with SIGINT ignored, and that is inherited."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def started(*words: str | Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the console script as a process of its own; it is killed at the end if it still lives."""
    process = subprocess.Popen(
        [CONSOLE, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        preexec_fn=listening,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(true: Callable[[], bool], what: str, seconds: float = 20.0) -> float:
    """Wait for a condition; return how long it took, and fail if it does not come."""
    began = time.monotonic()
    while not true():
        waited = time.monotonic() - began
        assert waited < seconds, f"not within {seconds} s: {what}"
        time.sleep(0.01)
    return time.monotonic() - began


def _give_up_rights() -> None:
    """Root may read anything: take that away for good (prctl PR_CAPBSET_DROP, every capability)."""
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def without_rights(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run redbucket so that closed files are closed."""
    return subprocess.run(
        [sys.executable, "-m", "redbucket", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_give_up_rights,
    )


def alive_in(folder: Path) -> list[str]:
    """The command lines of living processes whose environment or working directory names ``folder``."""
    found = []
    needle = os.fsencode(folder)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            seen = (entry / "environ").read_bytes() + os.fsencode((entry / "cwd").readlink())
            if state != "Z" and needle + b"/redbucket-" in seen:
                found.append(f"{entry.name} {(entry / 'cmdline').read_bytes()!r}")
    return found
