"""A newer Python on this machine, which reads what redbucket's own can't: it parses, and runs nothing of it."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from redbucket.core.foreigntree import SCRIPT, told
from redbucket.core.pytree import Told

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?")
_SECONDS = 20.0  # for one answer
_NEWEST = 20  # python3.20 is looked for on PATH, and all down to the one after ours
_MOST = 6  # interpreters that are started


class NewerPythons:
    """The newer Pythons of this machine, started when one is asked for, and ended with ``close``."""

    def __init__(self, work_tree: Path | None, env: Mapping[str, str]) -> None:
        self._work_tree = work_tree.resolve() if work_tree is not None else None
        self._env = env
        self._found: list[_Reader] | None = None
        self._known: dict[bytes, Told] = {}

    def ask(self, source: bytes) -> Told | None:
        """Return what the first of them that can read ``source`` makes of it, else what the last one says is wrong.

        None where there is no newer Python.
        """
        if source not in self._known:
            said = None
            for reader in self._readers():
                answer = reader.ask(source)
                said = answer or said
                if answer is not None and answer[0] is not None:
                    break
            if said is None:
                return None
            self._known[source] = said
        return self._known[source]

    def close(self) -> None:
        """End the processes."""
        for reader in self._found or ():
            reader.close()
        self._found = []

    def _readers(self) -> list[_Reader]:
        if self._found is None:
            self._found = []
            for path in list(self._candidates())[:_MOST]:
                reader = _Reader(path, self._env)
                if reader.version > sys.version_info[:2]:
                    self._found.append(reader)
                else:
                    reader.close()
        return self._found

    def _candidates(self) -> Iterator[str]:
        """Yield interpreters by what they really are, none of them a file of the work tree: a patch may bring one."""
        seen = {Path(sys.executable).resolve()}
        for place in self._places():
            real = place.resolve()
            inside = self._work_tree is not None and self._work_tree in real.parents
            if real in seen or inside or not _PYTHON.fullmatch(place.resolve().name):
                continue
            seen.add(real)
            if os.access(real, os.X_OK) and real.is_file():
                yield str(real)

    def _places(self) -> Iterator[Path]:
        for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            if folder := self._env.get(variable):
                yield Path(folder, "bin", "python")
        if self._work_tree is not None:
            yield from (self._work_tree / name / "bin" / "python" for name in (".venv", "venv", "env"))
        folders = [Path(word) for word in self._env.get("PATH", os.defpath).split(os.pathsep) if word]
        yield from (folder / name for folder in folders for name in ("python", "python3"))
        for minor in range(_NEWEST, sys.version_info[1], -1):
            yield from (folder / f"python3.{minor}" for folder in folders)


class _Reader:
    """One interpreter that parses; whatever goes wrong with it, it is asked no more."""

    def __init__(self, python: str, env: Mapping[str, str]) -> None:
        clean = {k: v for k, v in env.items() if not k.startswith(("PYTHON", "GIT_", "COV_"))}
        self.version: tuple[int, ...] = (0,)
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [python, "-I", "-S", "-c", SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=clean,
                cwd="/",
                start_new_session=True,
            )
        raw = self._answer()
        with suppress(ValueError, TypeError):
            self.version = tuple(int(part) for part in json.loads(raw or b"[]"))

    def ask(self, source: bytes) -> Told | None:
        """Return what the interpreter makes of ``source``; None where it does not answer."""
        if self._process is None or self._process.stdin is None:
            return None
        try:
            self._process.stdin.write(len(source).to_bytes(4, "big") + source)
            self._process.stdin.flush()
        except OSError:
            self.close()
            return None
        raw = self._answer()
        try:
            return told(raw) if raw is not None else None
        except (ValueError, AttributeError):
            self.close()
            return None

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _answer(self) -> bytes | None:
        size = self._read(4)
        raw = self._read(int.from_bytes(size, "big")) if size else None
        if raw is None:
            self.close()
        return raw

    def _read(self, size: int) -> bytes | None:
        if self._process is None or self._process.stdout is None:
            return None
        parts, until = bytearray(), time.monotonic() + _SECONDS
        while len(parts) < size:
            descriptor = self._process.stdout.fileno()
            if not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            part = os.read(descriptor, size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)
