"""The keyed record lines and the bounded output, without a process."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.errors import WorldFailed
from redbucket.edges.environment import hash_number
from redbucket.edges.supervise import Bounded, Listener, Process, run_plain, run_process


class Writer:
    """Writes lines as the recorder does."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def line(self, event: dict[str, Any]) -> bytes:
        body = json.dumps(event).encode()
        mac = hashlib.blake2b(body, key=self.key, digest_size=16).hexdigest().encode()
        self.key = hashlib.blake2b(self.key, digest_size=32).digest()
        return mac + b" " + body + b"\n"


START = {"event": "start", "nodeid": "a", "index": 0}
END = {"event": "end", "nodeid": "a", "outcome": "passed"}


def listen() -> tuple[Listener, Writer, list[dict[str, Any]]]:
    seen: list[dict[str, Any]] = []
    return Listener(b"k" * 32, seen.append), Writer(b"k" * 32), seen


def test_lines_in_any_pieces() -> None:
    listener, writer, seen = listen()
    data = writer.line(START) + writer.line(END)
    for at in range(len(data)):
        listener.feed(data[at : at + 1], 0.0)
    assert seen == [START, END]
    assert listener.said.open_test == ""
    assert listener.said.last_test == "a"


@pytest.mark.parametrize("damage", ["repeat", "skip", "garbage", "edit", "nul"])
def test_damage_is_never_half_trusted(damage: str) -> None:
    listener, writer, seen = listen()
    first, second, third = writer.line(START), writer.line(END), writer.line(START)
    listener.feed(first, 0.0)
    listener.feed(
        {
            "repeat": first,
            "skip": third,
            "garbage": b"hello\n",
            "edit": second.replace(b"passed", b"failed"),
            "nul": b"\0" * 100 + b"\n",
        }[damage],
        0.0,
    )
    listener.feed(second, 0.0)
    assert "did not write" in listener.said.forged
    assert seen == [START]


def test_bounded_output() -> None:
    kept = Bounded(10, 10)
    for _ in range(1000):
        kept.add(b"abcdefg")
    text = kept.text()
    assert text.startswith("abcdefgabc")
    assert text.endswith("abcdefg")
    assert "bytes cut" in text
    assert len(text) < 100
    whole = Bounded(10, 10)
    whole.add("ü".encode() * 5)
    whole.add(b"tail")
    assert whole.text() == "üüüüütail"


def test_hash_number() -> None:
    assert hash_number("0") == "0"
    assert hash_number("4294967295") == "4294967295"
    for seed in ("4294967296", "x", "-1", "٣", ""):
        assert 0 <= int(hash_number(seed)) <= 4294967295


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    process = Process([str(tmp_path / "no")], {}, tmp_path, {}, 1.0, 1.0, time.monotonic() + 5)
    before = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
    with pytest.raises(WorldFailed, match="could not be started"):
        run_process(process, lambda event: None, threading.Event())
    if sys.platform == "linux":
        assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_run_plain(tmp_path: Path) -> None:
    def run(code: str, seconds: float = 20.0) -> tuple[int, str]:
        return run_plain(
            [sys.executable, "-c", code], tmp_path, {}, time.monotonic() + seconds, threading.Event()
        )

    assert run("print('x')") == (0, "x\n")
    status, output = run("print('y' * 10**6); raise SystemExit(3)")
    assert status == 3
    assert len(output) < 20_000
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        run("import time; time.sleep(100)", 0.3)
    # what it leaves behind has a moment to end, and does not hold us up
    assert run("import subprocess; subprocess.Popen(['sleep', '100'])")[0] == 0
    assert time.monotonic() - began < 60
    late = "import time; time.sleep(1); open('late', 'w').write('whole')"
    assert run(f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {late!r}])")[0] == 0
    assert (tmp_path / "late").read_text() == "whole"
