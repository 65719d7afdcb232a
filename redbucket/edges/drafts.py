"""Writes drafts: whole files, aside first, never over what a person may have edited."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from redbucket.core.errors import Misused, WorldFailed
from redbucket.edges import wholefile


def write_drafts(folder: Path, files: Mapping[str, str]) -> None:
    """Write ``files`` into ``folder``, which is made. Raises Misused where one is there with other text."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            place, data = folder / name, text.encode("utf-8", "backslashreplace")
            if place.exists() and place.read_bytes() != data:
                raise Misused(
                    "draft-exists",
                    f"{place} is there already, with other text",
                    "move it, or name another --out",
                )
        for name, text in files.items():
            wholefile.put(folder / name, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WorldFailed("not-writable", f"{folder}: {error.strerror}", "name another --out") from error
