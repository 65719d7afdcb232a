"""What in the project's interpreter acts on each new process: seen before the runs and after.

Code under test may write there, and would then act in the runs to come before the
recorder is loaded, in base's too, and in the user's own work after that.
"""

from __future__ import annotations

import os
import stat
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

# Imported in each run, by the runner or by Python itself.
_PACKAGES = (
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "unittest",
    "importlib",
    "collections",
    "encodings",
    "json",
    "redbucket",
)
_STARTING = (".pth", ".egg-link")
_STARTED = ("sitecustomize.py", "usercustomize.py")


def own_folders() -> list[str]:
    """Return where redbucket itself and what it needs are imported from, but for the standard library."""
    here = Path(__file__).resolve().parent.parent.parent
    paths = sysconfig.get_paths()
    return list(dict.fromkeys((str(here), paths["purelib"], paths["platlib"])))


def look(folders: Sequence[str], *, closed: bool = True) -> dict[str, str]:
    """Return {path: what tells one state of it from another} for the import path ``folders``.

    With ``closed`` False only the packages that run tests are looked at: something
    is known to install in between.
    """
    seen: dict[str, str] = {}
    for folder in folders:
        for package in _PACKAGES:
            seen.update(_files(f"{folder}/{package}"))
        if not closed:
            continue
        for entry in _entries(folder):
            if entry.name.endswith((".py", ".so", *_STARTING)):
                seen[entry.path] = _state(entry.path)
    return seen


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths that changed or went, and the new ones that act on each process."""
    changed = [path for path, state in before.items() if after.get(path, "") != state]
    new = [p for p in after if p not in before and _acts(p)]
    return sorted(changed + new)


def _acts(path: str) -> bool:
    return path.endswith(_STARTING) or path.rpartition("/")[2] in _STARTED


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError:
        return []


def _files(folder: str) -> Iterator[tuple[str, str]]:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        elif entry.name.endswith((".py", ".pyc", ".so")):
            yield entry.path, _state(entry.path)


def _state(path: str) -> str:
    """The change time can't be set back by who writes to a file."""
    try:
        found = os.stat(path)  # noqa: PTH116 (plain strings: half the time)
    except OSError:
        return "unreadable"
    return f"{stat.S_IFMT(found.st_mode):o} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
