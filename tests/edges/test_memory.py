"""A test that fills the machine is ended before the machine is full, and an innocent one is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from redbucket.edges import memory
from tests.recorder.runkit import record

MEMINFO = (
    "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    30 kB\nSwapTotal:  50 kB\nSwapFree:   15 kB\n"
)
HOG = """
    import time
    HELD = []
    def test_first(): pass
    def test_hog():
        while len(HELD) < 400: HELD.append(bytearray(1 << 20))
        time.sleep(60)
    def test_patient(): time.sleep(1.2)
"""


def test_what_is_left_counts_the_swap() -> None:
    assert memory.parse(MEMINFO) == (1000 * 1024, 45 * 1024)


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="Linux says what is left there")
def test_a_process_is_no_hog_while_there_is_room_nor_while_it_is_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert memory.hog(os.getpid()) == ""
    monkeypatch.setattr(memory, "_LEFT", 9.0)
    assert memory.hog(os.getpid()) == ""
    monkeypatch.setattr(memory, "_LARGE", 0.0)
    assert memory.hog(os.getpid()).endswith(" GiB")
    assert memory.hog(-1) == ""


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="Linux says what is left there")
def test_a_hog_costs_one_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    total, _ = memory.parse(Path("/proc/meminfo").read_text())
    monkeypatch.setattr(memory, "_LEFT", 9.0)
    monkeypatch.setattr(memory, "_LARGE", 300 * 2**20 / total)
    r = record(tmp_path, {"test_h.py": HOG})
    assert list(r.outcomes.values()) == ["passed", "crashed", "passed"]
    assert "GiB when the machine had no memory left" in r.end("test_hog")["message"]


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="Linux has that")
def test_the_system_is_asked_to_end_a_test_before_anything_else(tmp_path: Path) -> None:
    text = "def test_x(): assert open('/proc/self/oom_score_adj').read() == '1000\\n'\n"
    assert list(record(tmp_path / "seen", {"test_o.py": text}).outcomes.values()) == ["passed"]
    assert list(record(tmp_path / "masked", {"test_o.py": text}, masked=True).outcomes.values()) == ["failed"]
