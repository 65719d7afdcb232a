"""The recorder in the folder of a run: its text, and bytecode that the run's interpreter takes as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from redbucket.edges.recordercopy import RecorderCopy, read

SOURCES = {"__init__.py": "", "said.py": "WORD = 'é, compiled once'\n"}


def said(folder: Path) -> str:
    words = [
        sys.executable,
        "-I",
        "-X",
        "utf8",
        "-c",
        "import sys; sys.path[:0] = [sys.argv[1]]; import m.said as s",
    ]
    words[-1] += "; print(s.WORD, s.__file__)"
    return subprocess.run([*words, str(folder)], capture_output=True, encoding="utf-8", check=True).stdout


def test_a_run_does_not_compile_it_again(tmp_path: Path) -> None:
    copy = RecorderCopy(SOURCES)
    for name in ("one", "two"):
        copy.put(tmp_path / name / "m", sys.executable)
        assert read(tmp_path / name / "m") == SOURCES
        # nobody would see this text if it were not compiled
        (tmp_path / name / "m" / "said.py").write_text("WORD = 'compiled anew'\n")
        assert said(tmp_path / name) == f"é, compiled once {tmp_path}/{name}/m/said.py\n"


def test_an_interpreter_that_cannot_compile_it_costs_nothing_else(tmp_path: Path) -> None:
    for python in ("/bin/false", str(tmp_path / "nowhere")):
        folder = tmp_path / Path(python).name
        RecorderCopy(SOURCES).put(folder / "m", python)
        assert sorted(p.name for p in (folder / "m").iterdir()) == sorted(SOURCES)
        assert said(folder).startswith("é, compiled once")
