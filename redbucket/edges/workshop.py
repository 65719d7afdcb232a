"""The private temporary folder of one gate: made, locked, and cleared away whatever happened in it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path
from types import TracebackType

from redbucket.core.errors import WorldFailed
from redbucket.edges.names import PATTERN, shuffled

_PREFIX = "redbucket-"
_UNBORN = ".redbucket-new-"  # a folder that has no lock yet, so that no other process takes it for stale
_LOCK = ".lock"
_ELSEWHERE = "work-"
_MARKER = ".elsewhere-"
_UNBORN_AGE = 3600.0


def temporary_root() -> Path:
    """Return where workshops are made: REDBUCKET_TMPDIR, or the system's temporary folder."""
    return Path(os.environ.get("REDBUCKET_TMPDIR") or tempfile.gettempdir()).absolute()


class Workshop:
    """Use it in a ``with``: ``root`` is mode 0700 and goes at the end.

    A workshop whose process was killed is removed by the next one that starts.
    Raises WorldFailed "disk-full" or "not-writable" if the folder can't be made, ``parent`` not being there for
    instance: a folder that was made for a slip in REDBUCKET_TMPDIR would stay behind.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = parent or temporary_root()
        self._owner = os.getpid()
        self.root = Path()
        self._lock = -1

    def __enter__(self) -> Workshop:
        try:
            self._make(shuffled())
        except OSError as problem:
            raise cannot_write(self._parent, problem) from problem
        try:
            collect(self._parent)
        except BaseException:  # no one calls __exit__ after an interrupt in here
            self.close()
            raise
        return self

    def _make(self, name: str) -> None:
        """Make the folder and lock it, then give it its name; an interrupt half-way leaves nothing."""
        unborn, root = self._parent / f"{_UNBORN}{name}", self._parent / f"{_PREFIX}{name}"
        try:
            unborn.mkdir(mode=0o700)
            self._lock = os.open(unborn / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            # pytest searches upwards for its configuration; the search from any tree inside ends here
            (unborn / "pytest.ini").write_text("[pytest]\n")
            self.root = root
            unborn.rename(root)
        except FileExistsError:
            raise  # somebody else's
        except BaseException:
            shutil.rmtree(unborn if os.path.lexists(unborn) else root, ignore_errors=True)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> Path | None:
        """Remove the workshop. Returns the root if something in it resisted; the next start tries again."""
        if self._lock < 0 or os.getpid() != self._owner:
            return None  # closed before, or a forked child: the parent still works here
        try:
            gone = remove(self.root)
        except KeyboardInterrupt:
            remove(self.root)  # a second interrupt does not come so soon
            raise
        os.close(self._lock)
        self._lock = -1
        return None if gone else self.root

    def folder(self, name: str) -> Path:
        """Make and return a new folder; a number is added if the name is taken."""
        for number in range(1, 1_000_000):
            place = self.root / (name if number == 1 else f"{name}-{number}")
            try:
                place.mkdir(mode=0o700, parents=True)
            except FileExistsError:
                continue
            except OSError as problem:
                raise cannot_write(place, problem) from problem
            return place
        raise WorldFailed("not-writable", f"{self.root} holds a million folders named {name}", "clear it")

    def elsewhere(self) -> Path:
        """Make and return a folder beside the workshop whose path does not tell what it is for.

        It goes with the workshop: a marker inside says its name.
        """
        name = f"{_ELSEWHERE}{shuffled()}"
        try:
            (self.root / f"{_MARKER}{name}").touch()
            place = self.root.parent / name
            place.mkdir(mode=0o700)
            (place / "pytest.ini").write_text("[pytest]\n")
        except OSError as problem:
            raise cannot_write(self.root, problem) from problem
        return place

    def keep(self, path: Path, folder: Path) -> Path:
        """Move ``path`` out of the workshop into the user's ``folder``; return its new place.

        Nothing there is overwritten: a number is added to the name if it is taken.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _open_up(path)
            target = folder / path.name
            number = 1
            while os.path.lexists(target):
                number += 1
                target = folder / f"{path.name}-{number}"
            shutil.move(path, target)
        except OSError as problem:
            raise cannot_write(folder, problem) from problem
        return target


def set_aside(folder: Path) -> Path | None:
    """Move the run records of an earlier rerun into a folder ``earlier-N`` beside; return it, None if there were none.

    So that ``folder/*.jsonl`` is one rerun's records, and nothing is lost.
    """
    old = [path for path in sorted(folder.glob("*.jsonl")) if _is_record(path)]
    if not old:
        return None
    number = 1
    while os.path.lexists(folder / f"earlier-{number}"):
        number += 1
    place = folder / f"earlier-{number}"
    try:
        place.mkdir()
        for path in old:
            path.rename(place / path.name)
    except OSError as problem:
        raise cannot_write(folder, problem) from problem
    return place


def _is_record(path: Path) -> bool:
    from redbucket.core.records import SCHEMA  # not on the far side of a connection

    try:
        with path.open("rb") as stream:
            return SCHEMA.encode() in stream.read(4096)
    except OSError:
        return False


def collect(parent: Path) -> list[Path]:
    """Remove the workshops of dead processes in ``parent``; return those that were removed."""
    removed = []
    for place in _ours(parent):
        if place.name.startswith(_UNBORN):
            # made and killed within the same millisecond; a living one is renamed at once,
            # by another process perhaps just now
            with contextlib.suppress(OSError):
                if time.time() - place.lstat().st_mtime > _UNBORN_AGE and remove(place):
                    removed.append(place)
            continue
        with contextlib.suppress(OSError):
            lock = os.open(place / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where its process is alive
                if remove(place):
                    removed.append(place)
            finally:
                os.close(lock)
    return removed


def _ours(parent: Path) -> list[Path]:
    """Return the folders here that look like workshops and belong to this user."""
    found = []
    with contextlib.suppress(OSError), os.scandir(parent) as listing:
        for entry in listing:
            if not entry.name.startswith((_PREFIX, _UNBORN)):
                continue
            with contextlib.suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid():
                    found.append(Path(entry.path))
    return found


def remove(root: Path) -> bool:
    """Remove a tree, closed folders and all; return whether it is gone.

    The lock file goes last, so that a broken-off removal is finished by the next start.
    """
    for marker in root.glob(f"{_MARKER}*"):
        name = marker.name[len(_MARKER) :]
        if re.fullmatch(_ELSEWHERE + PATTERN, name):  # code under test may write here
            place = root.parent / name
            _open_up(place)
            shutil.rmtree(place, ignore_errors=True)
    for attempt in range(4):
        if not os.path.lexists(root):
            return True
        if attempt:
            # a straggler may still write; a test may have closed its folders
            _open_up(root)
            time.sleep(0.05 * attempt)
        with contextlib.suppress(OSError):
            for place in root.iterdir():
                if place.name != _LOCK:
                    if place.is_dir() and not place.is_symlink():
                        shutil.rmtree(place, ignore_errors=True)
                    else:
                        place.unlink()
        with contextlib.suppress(OSError):
            if os.listdir(root) in ([], [_LOCK]):  # noqa: PTH208 (a list of names)
                shutil.rmtree(root, ignore_errors=True)
    return not os.path.lexists(root)


def _open_up(root: Path) -> None:
    """Give the owner every right on the folders of a tree, without following links."""
    waiting = [str(root)]
    while waiting:
        place = waiting.pop()
        with contextlib.suppress(OSError):
            mode = os.lstat(place).st_mode
            if not stat.S_ISDIR(mode):
                continue
            if mode & 0o700 != 0o700:
                os.chmod(place, stat.S_IMODE(mode) | 0o700)  # noqa: PTH101 (a plain string: trees are huge)
            with os.scandir(place) as listing:
                waiting.extend(entry.path for entry in listing if entry.is_dir(follow_symlinks=False))


def cannot_write(place: Path, problem: OSError) -> WorldFailed:
    """Return the error that a failed write to ``place`` means."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return WorldFailed(
            "disk-full", f"{place}: {problem.strerror}", "free some space, or set REDBUCKET_TMPDIR"
        )
    return WorldFailed(
        "not-writable",
        f"{place}: {problem.strerror}",
        "set REDBUCKET_TMPDIR to a folder that is there and that you can write to",
    )
