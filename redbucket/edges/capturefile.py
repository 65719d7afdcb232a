"""Writes a capture whole or not at all; the folder is made where it is missing."""

from __future__ import annotations

from pathlib import Path

from redbucket.core.errors import WorldFailed
from redbucket.edges import wholefile


def write(path: Path, data: bytes) -> Path:
    """Write ``data`` and return the path. Raises WorldFailed "not-writable"."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        wholefile.put(path, data)
    except OSError as error:
        raise WorldFailed("not-writable", f"{path}: {error.strerror}", "name another folder") from error
    return path
