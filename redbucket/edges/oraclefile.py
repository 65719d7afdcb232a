"""Keeps what the oracle tried, a line each, so that a look that was broken off can go on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from redbucket.core.errors import Misused, WorldFailed
from redbucket.core.oracled import Tried

_DECODER = msgspec.json.Decoder(Tried)


def read(path: Path) -> dict[tuple[str, str, str], Tried]:
    """Return the results in a file, {} if there is none; what a kill cut off is left out."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Misused("unreadable-file", f"{path}: {error.strerror}", "check the path") from error
    found = {}
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError):
            tried = _DECODER.decode(line)
            found[tried.key, tried.world, tried.tree] = tried
    if len(lines) > 1 and not found:
        raise Misused("not-a-state", f"{path} holds no result of the oracle", "name another --resume")
    return found


def keeper(path: Path) -> Callable[[Tried], None]:
    """Return what adds a result to the file."""

    def keep(tried: Tried) -> None:
        try:
            with path.open("a+b") as stream:
                if stream.tell() and not _whole(path):
                    stream.write(b"\n")  # after a line that a kill cut off
                stream.write(msgspec.json.encode(tried) + b"\n")
        except OSError as error:
            raise WorldFailed("not-writable", f"{path}: {error.strerror}", "name another --resume") from error

    return keep


def _whole(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read(1) == b"\n"
