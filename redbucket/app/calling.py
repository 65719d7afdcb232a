"""How this process was called, and from where: so that the commands that it prints can be pasted."""

from __future__ import annotations

import os
import shutil
import sys
from contextvars import ContextVar
from pathlib import Path
from shlex import quote

from redbucket.core.calling import AS_WRITTEN, Calling

_NAME = "redbucket"
_FOLDER: ContextVar[Path] = ContextVar("folder", default=Path())


def work_in(folder: Path) -> None:
    """Remember the folder that this command was told to work in (``-C``)."""
    _FOLDER.set(folder)


def calling() -> Calling:
    """Return how the user calls redbucket, and where commands are to work from where the user stands."""
    if "GIT_QUARANTINE_PATH" in os.environ:
        return AS_WRITTEN  # a server's hook, whose words are read in the clone of whoever pushes
    return Calling(program(), place(_FOLDER.get()))


def program() -> str:
    """Return the words that start redbucket from any folder: its name where PATH has it, else how this one was."""
    if shutil.which(_NAME) is not None:
        return _NAME
    called = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path()
    for script in (called, Path(sys.executable).parent / _NAME):
        if script.name == _NAME and script.is_file() and os.access(script, os.X_OK):
            return quote(str(script.absolute()))
    # run from its sources by an interpreter in which it is not installed
    sources = Path(__file__).resolve().parents[2]
    return f"PYTHONPATH={quote(str(sources))} {quote(sys.executable)} -m {_NAME}"


def place(folder: Path) -> str:
    """Return the top of the work tree that ``folder`` is in, as seen from the user's shell; "" if it stands there."""
    here = Path.cwd()
    top = _top(here / folder)
    # git runs hooks and aliases at the top, and says where they were called
    stands = here / os.environ.get("GIT_PREFIX", "") if _same(top, here) else here
    if _same(top, stands):
        return ""
    return str(top) if folder.is_absolute() else os.path.relpath(top, stands)


def _top(folder: Path) -> Path:
    start = Path(os.path.normpath(folder))
    return next((each for each in (start, *start.parents) if (each / ".git").exists()), start)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
