"""The folder in which records of other jobs lie, each with its seal beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from redbucket.core.brought import Offer
from redbucket.core.errors import Misused
from redbucket.edges import wholefile
from redbucket.edges.workshop import cannot_write

RECORD, SEAL = ".jsonl", ".seal"
_EARLIER = re.compile(r"earlier-\d+")


def offers(folder: Path) -> list[Offer]:
    """Return every record and seal under ``folder``, whatever folders a download put them in.

    What an earlier run of the same number left in ``earlier-N`` is left out. Raises Misused "unreadable-file".
    """
    if not folder.is_dir():
        raise Misused("unreadable-file", f"{folder} is not a folder", "name the folder with the records")
    try:
        found = [
            p for p in sorted(folder.rglob("*")) if p.suffix in (RECORD, SEAL) and not _is_earlier(p, folder)
        ]
        return [_offer(folder, place) for place in dict.fromkeys(p.with_suffix("") for p in found)]
    except OSError as error:
        raise Misused("unreadable-file", f"{error.filename}: {error.strerror}", "check the path") from error


def _is_earlier(path: Path, folder: Path) -> bool:
    return any(_EARLIER.fullmatch(part) for part in path.relative_to(folder).parts[:-1])


def _offer(folder: Path, place: Path) -> Offer:
    record, seal = place.with_name(place.name + RECORD), place.with_name(place.name + SEAL)
    return Offer(
        name=str(record.relative_to(folder)),
        record=record.read_bytes() if record.exists() else None,
        seal=seal.read_bytes() if seal.exists() else None,
    )


def put(record: Path, seal: bytes, name: str, folder: Path) -> Path:
    """Move a record to ``folder`` as NAME.jsonl, and write its seal beside it, last; return the record's place.

    What an earlier run left there under this name goes into a folder ``earlier-N``.
    """
    target, beside = folder / f"{name}{RECORD}", folder / f"{name}{SEAL}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _set_aside((target, beside), folder)
        # from a temporary folder, perhaps of another disk
        for place, data in ((target, record.read_bytes()), (beside, seal)):
            wholefile.put(place, data)
    except OSError as problem:
        raise cannot_write(folder, problem) from problem
    return target


def _set_aside(places: Sequence[Path], folder: Path) -> None:
    old = [place for place in places if os.path.lexists(place)]
    if not old:
        return
    number = 1
    while os.path.lexists(folder / f"earlier-{number}"):
        number += 1
    (folder / f"earlier-{number}").mkdir()
    for place in old:
        place.rename(folder / f"earlier-{number}" / place.name)
