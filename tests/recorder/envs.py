"""Other interpreters and environments for the recorder's tests; made once, kept in the temporary folder."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str:
    """Return an interpreter of ``version`` ("3.9") from pyenv or PATH, or skip the test."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for folder in sorted(root.glob(f"versions/{version}.*"), reverse=True):
        if (folder / "bin" / "python").exists():
            return str(folder / "bin" / "python")
    found = shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"no Python {version} here")
    return found


def venv(version: str, *requirements: str) -> str:
    """Return the interpreter of an environment with ``requirements``, or skip the test."""
    python = interpreter(version)
    key = hashlib.sha256("\0".join((python, *requirements)).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir(), f"redbucket-envs-{os.getuid()}", f"{version}-{key}")
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make(folder, python, requirements)
    return str(folder / "bin" / "python")


def _make(folder: Path, python: str, requirements: Sequence[str]) -> None:
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True, capture_output=True)
        if requirements:
            done = subprocess.run(
                [str(folder / "bin" / "pip"), "install", "-q", *requirements],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                pytest.skip(f"{' '.join(requirements)} can't be installed here: {done.stderr[-200:]}")
        (folder / "done").touch()
