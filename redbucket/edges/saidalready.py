"""What the hooks of one running git command have printed: one small file in the git folder, the last command's.

Where the process can't be known for sure (no /proc, no git above), nothing is remembered and every hook says all.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

_NAME = "said.jsonl"
_PROC = Path("/proc")
_DEEPEST = 64  # processes between a hook and git: a shell, pre-commit, an interpreter's launcher
_LARGEST = 1 << 20


class _Line(msgspec.Struct, frozen=True):
    """What one hook printed for one subject, under one command."""

    origin: str
    subject: str
    hook: str
    marks: list[str]


@dataclass(frozen=True)
class SaidAlready:
    """What was printed for one ``subject`` under the git command ``origin``, which is "" where none is known."""

    path: Path
    origin: str
    subject: str

    @classmethod
    def under(cls, environment: Mapping[str, str], folder: Path, subject: str) -> SaidAlready:
        """Return what the hooks that the same command started have said; the file is in git's ``folder``."""
        return cls(folder / _NAME, _origin(environment), subject)

    @staticmethod
    def forget(folder: Path) -> None:
        """Remove what was remembered in git's ``folder``."""
        with contextlib.suppress(OSError):
            (folder / _NAME).unlink()

    def by_others(self, hook: str) -> dict[str, str]:
        """Return {mark: hook} of what hooks other than ``hook`` have printed."""
        return {
            mark: line.hook
            for line in self._lines()
            if line.subject == self.subject and line.hook != hook
            for mark in line.marks
        }

    def add(self, hook: str, marks: Iterable[str]) -> None:
        """Remember what ``hook`` has printed. What can't be written is not remembered, and said twice."""
        if not self.origin:
            return
        lines = [*self._lines(), _Line(self.origin, self.subject, hook, list(marks))]
        aside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            self.path.parent.mkdir(exist_ok=True)
            with os.fdopen(os.open(aside, flags, 0o600), "wb") as file:
                file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
            aside.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                aside.unlink()

    def _lines(self) -> list[_Line]:
        """Return the lines of this command; those of an earlier one count for nothing."""
        if not self.origin:
            return []
        try:
            number = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(number, "rb") as file:
                given = file.read(_LARGEST) if _is_own(number) else b""
            lines = [msgspec.json.decode(line, type=_Line) for line in given.splitlines()]
        except (OSError, msgspec.MsgspecError):
            return []  # nothing is known, and everything is said
        return [line for line in lines if line.origin == self.origin]


def _is_own(number: int) -> bool:
    """Return whether an open file is a plain one of this user's that nobody else can write."""
    seen = os.fstat(number)
    return stat.S_ISREG(seen.st_mode) and seen.st_uid == os.getuid() and not seen.st_mode & 0o022


def _origin(environment: Mapping[str, str]) -> str:
    """Return id and start of the nearest git above this process; without one, those of the pre-commit above it.

    Together they name one process of this machine's uptime: an id alone may be given anew.
    """
    above = os.getppid()
    parent = above
    for _ in range(_DEEPEST):
        seen = _process(above)
        if seen is None:
            break
        name, next_above, began = seen
        if name == "git":
            return f"{above}-{began}"
        above = next_above
    seen = _process(parent)
    return f"{parent}-{seen[2]}" if seen and environment.get("PRE_COMMIT") else ""


def _process(number: int) -> tuple[str, int, str] | None:
    """Return name, parent and start (in clock ticks since boot) of a process, None if it can't be seen."""
    try:
        text = (_PROC / str(number) / "stat").read_text(errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return name, int(fields[1]), fields[19]
