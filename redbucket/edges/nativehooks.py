"""Puts scripts into git's hooks folder and takes them out again; what was there is kept beside them."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redbucket.core.errors import Misused, WorldFailed
from redbucket.edges.repository import Repository

_LEGACY = ".legacy"  # where `pre-commit install` moves the hook that it finds
_MADE = "# the folder was made for it\n"


@dataclass(frozen=True)
class HooksFolder:
    """Where git looks for hooks: ``scope`` is that of ``core.hooksPath``, "" where it is not set."""

    path: Path
    scope: str = ""
    in_work_tree: bool = False


def hooks_folder(repository: Repository) -> HooksFolder:
    """Return the effective hooks folder; linked work trees share one."""
    done = repository.git.run(
        "config", "--show-scope", "--type=path", "--get-all", "core.hooksPath", ok=(0, 1)
    )
    # our own git calls set it on the command line, so that they run no hooks
    found = [line.partition("\t") for line in done.line.splitlines() if not line.startswith("command\t")]
    if not found or not found[-1][2]:
        return HooksFolder(repository.common_dir / "hooks")
    scope, _, value = found[-1]
    top = repository.work_tree
    path = Path(os.path.normpath((top or repository.git_dir) / value))
    inside = top is not None and path.is_relative_to(top) and not path.is_relative_to(repository.common_dir)
    return HooksFolder(path, scope, inside)


def require_room(folder: Path, name: str, marker: str, kept: str) -> None:
    """Raise Misused "hook-overwritten" or "not-a-hook" where ``install`` could not keep what is there."""
    place, aside = folder / name, folder / (name + kept)
    if place.is_dir():
        raise Misused("not-a-hook", f"{place} is a folder", "move it away")
    ours = _ours(place, marker) or _ours(folder / (name + _LEGACY), marker)
    if not ours and os.path.lexists(place) and os.path.lexists(aside):
        raise Misused(
            "hook-overwritten",
            f"{place} is not redbucket's, and {aside.name} holds an older hook",
            f"put the two together in {name}, remove {aside.name}, and install again",
        )


def install(folder: Path, name: str, text: str, marker: str, kept: str) -> str:
    """Put ``text`` at ``folder/name``; a hook that is there moves to ``name + kept``.

    Returns what was done, as a word for the user. A kill at any moment leaves
    the old hook or the new one, and the next call finishes the work. Raises
    as ``require_room`` does, and WorldFailed "not-writable".
    """
    place, aside, legacy = folder / name, folder / (name + kept), folder / (name + _LEGACY)
    require_room(folder, name, marker, kept)
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if _ours(legacy, marker) and not _ours(place, marker):
            _write(legacy, text, made=False)
            return "chained by pre-commit"
        if _ours(place, marker):
            made = _MADE in place.read_text(encoding="utf-8")
            return "updated" if _write(place, text, made=made) else "unchanged"
        if os.path.lexists(place):
            place.rename(aside)
        _write(place, text, made=made)
    except OSError as problem:
        raise _unwritable(place, problem) from problem
    return "installed; the hook that was there runs first" if os.path.lexists(aside) else "installed"


def uninstall(folder: Path, name: str, marker: str, kept: str) -> str:
    """Take our script away and put back what was there; return what was done, "" for nothing."""
    place, aside, legacy = folder / name, folder / (name + kept), folder / (name + _LEGACY)
    try:
        ours = next((path for path in (place, legacy) if _ours(path, marker)), None)
        if ours is None:
            if os.path.lexists(aside) and not os.path.lexists(place):
                aside.rename(place)  # a killed installation
                return "put back"
            return f"left alone: not redbucket's; {aside.name} is kept" if os.path.lexists(aside) else ""
        made = _MADE in ours.read_text(encoding="utf-8")
        if os.path.lexists(aside):
            aside.replace(ours)
            return "put back"
        ours.unlink()
        if made:
            with suppress(OSError):
                folder.rmdir()
    except OSError as problem:
        raise _unwritable(place, problem) from problem
    return "removed"


def _unwritable(place: Path, problem: OSError) -> WorldFailed:
    return WorldFailed("not-writable", f"{place}: {problem.strerror}", "check its owner and rights")


def _ours(path: Path, marker: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(200).split(b"\n")[1:2] == [marker.encode()]


def _write(place: Path, text: str, *, made: bool) -> bool:
    """Write a script whole or not at all; return whether anything changed."""
    data = (text + (_MADE if made else "")).encode("utf-8", "surrogateescape")
    with suppress(OSError):
        if place.read_bytes() == data and os.access(place, os.X_OK):
            return False
    aside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        aside.write_bytes(data)
        aside.chmod(0o755)
        aside.replace(place)
    finally:
        aside.unlink(missing_ok=True)
    return True
