"""Writes a capture whole or not at all; the folder is made where it is missing."""

from __future__ import annotations

import os
from pathlib import Path

from redbucket.core.errors import WorldFailed


def write(path: Path, data: bytes) -> Path:
    """Write ``data`` and return the path. Raises WorldFailed "not-writable"."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(data)
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise WorldFailed("not-writable", f"{path}: {error.strerror}", "name another folder") from error
    return path
