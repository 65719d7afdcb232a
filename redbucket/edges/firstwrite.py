"""Makes files that are not there yet, whole or not at all; whatever is there stays."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from redbucket.core.errors import WorldFailed


def is_free(top: Path, path: str) -> bool:
    """Return whether a file can be made at ``path`` of the work tree: nothing is there, and no link leads away."""
    place = top
    for part in path.split("/")[:-1]:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return False
    return not os.path.lexists(top / path)


def create(top: Path, path: str, data: bytes) -> bool:
    """Make the file, with its folders. Returns False if something is there. Raises WorldFailed "not-writable"."""
    place = top / path
    aside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        if not is_free(top, path):
            return False
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(aside, place)  # unlike a rename, never takes the place of a file
        except FileExistsError:
            return False
        except OSError:  # a disk without hard links
            with place.open("xb") as stream:
                stream.write(data)
    except FileExistsError:
        return False
    except OSError as problem:
        raise WorldFailed(
            "not-writable", f"{place}: {problem.strerror}", "free some space, or open the folder"
        ) from problem
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()
    return True
