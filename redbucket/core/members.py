"""What is inside an archive: zip (npz, xlsx, wheels), tar, and single compressed files.

Everything is bounded: a bomb is no fixture.
"""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

MOST_MEMBERS = 10_000
MOST_BYTES = 128 * 1024 * 1024
_PART = 1024 * 1024
_PACKED: tuple[tuple[bytes, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", lzma.LZMADecompressor),
)


class Unopened(ValueError):
    """Why an archive was not opened: damaged, locked, or larger than the limits."""


def members(raw: bytes) -> dict[str, bytes] | None:
    """Return the members of an archive by name, None if this is none. Raises Unopened.

    A single compressed file has one member, called "".
    """
    if raw.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _guarded(_zip, raw)
    for sign, opener in _PACKED:
        if raw.startswith(sign):
            plain = _inflate(raw, opener)
            return _guarded(_tar, plain) if _is_tar(plain) else {"": plain}
    return _guarded(_tar, raw) if _is_tar(raw) else None


def _is_tar(raw: bytes) -> bool:
    return raw[257:262] == b"ustar"


def _guarded(read: Callable[[bytes], dict[str, bytes]], raw: bytes) -> dict[str, bytes]:
    try:
        return read(raw)
    except Unopened:
        raise
    # A damaged archive makes the two modules raise a dozen kinds of error, IndexError for a nameless member among them.
    except Exception as problem:
        raise Unopened(str(problem) or type(problem).__name__) from problem


def _inflate(raw: bytes, opener: Callable[[], Any]) -> bytes:
    out = bytearray()
    rest = raw
    try:
        while rest:
            step = opener()
            while not step.eof:
                part = step.decompress(rest, _PART)
                rest = getattr(step, "unconsumed_tail", b"")
                if not part and not rest and not step.eof:
                    raise Unopened("it ends too early")
                out += part
                if len(out) > MOST_BYTES:
                    raise Unopened(f"more than {MOST_BYTES >> 20} MiB inside")
            rest = step.unused_data.lstrip(b"\0")
            if not rest.startswith(raw[:2]):
                break
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as problem:
        raise Unopened(str(problem)) from problem
    return bytes(out)


def _zip(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise Unopened(f"more than {MOST_MEMBERS:,} members")
        found: dict[str, bytes] = {}
        left = MOST_BYTES
        for info in infos:
            if info.is_dir():
                continue
            with archive.open(info) as stream:
                data = stream.read(left + 1)
            left -= len(data)
            if left < 0:
                raise Unopened(f"more than {MOST_BYTES >> 20} MiB inside")
            found[_free(found, info.filename)] = data
        return found


def _tar(raw: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
        for number, info in enumerate(archive):
            if number >= MOST_MEMBERS:
                raise Unopened(f"more than {MOST_MEMBERS:,} members")
            if info.isdir():
                continue
            stream = archive.extractfile(info) if info.isreg() else None
            data = stream.read() if stream else f"link to {info.linkname}".encode("utf-8", "surrogateescape")
            found[_free(found, info.name)] = data
    return found


def _free(found: dict[str, bytes], name: str) -> str:
    """Return the name, with a number if the archive has it twice."""
    free, number = name, 2
    while free in found:
        free, number = f"{name} ({number})", number + 1
    return free
