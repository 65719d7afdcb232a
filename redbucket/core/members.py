"""What is inside an archive: zip (npz, xlsx, wheels), tar, and single compressed files.

Everything is bounded: a bomb is no fixture. Besides the files, what unpacking them would show is a member, too: links,
empty folders, who may run a file. Dates, owners and the way of packing are none. What stands behind the end of an
archive is read by one program and refused by the next, so such a file is not opened.
"""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

MOST_MEMBERS = 10_000
MOST_BYTES = 128 * 1024 * 1024
_PART = 1024 * 1024
_BEHIND = "bytes stand behind its end"
_KINDS = {tarfile.SYMTYPE: "symbolic link", tarfile.LNKTYPE: "hard link"}
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
    if rest:
        raise Unopened(_BEHIND)
    return bytes(out)


def _zip(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise Unopened(f"more than {MOST_MEMBERS:,} members")
        end = raw.rfind(b"PK\x05\x06")
        if end + 22 + len(archive.comment) != len(raw):
            raise Unopened(_BEHIND)
        found: dict[str, bytes] = {"(comment)": archive.comment} if archive.comment else {}
        folders = [info.filename for info in infos if info.is_dir()]
        left = MOST_BYTES
        for info in infos:
            if info.is_dir():
                continue
            with archive.open(info) as stream:
                data = stream.read(left + 1)
            left -= len(data)
            if left < 0:
                raise Unopened(f"more than {MOST_BYTES >> 20} MiB inside")
            mode = info.external_attr >> 16
            name = info.filename
            if stat.S_ISLNK(mode):
                found[_free(found, f"{name} (symbolic link)")] = data
                continue
            found[_free(found, name)] = data
            _add_mode(found, name, mode)
    return _with_empty(found, folders)


def _tar(raw: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    folders: list[str] = []
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
        for number, info in enumerate(archive):
            if number >= MOST_MEMBERS:
                raise Unopened(f"more than {MOST_MEMBERS:,} members")
            if info.isdir():
                folders.append(info.name)
                continue
            stream = archive.extractfile(info) if info.isreg() else None
            if stream is None:
                name = f"{info.name} ({_KINDS.get(info.type, 'special file')})"
                found[_free(found, name)] = info.linkname.encode("utf-8", "surrogateescape")
                continue
            found[_free(found, info.name)] = stream.read()
            _add_mode(found, info.name, info.mode)
        # the module stops without a word at a header that is damaged
        if raw[archive.offset :].strip(b"\0"):
            raise Unopened(_BEHIND)
    return _with_empty(found, folders)


def _add_mode(found: dict[str, bytes], name: str, mode: int) -> None:
    """Add what git's modes tell of a file, too: that it may be run; and the set-id bits, which git does not know."""
    if mode & 0o7111:
        found[_free(found, f"{name} (mode)")] = b"%04o" % (mode & 0o7111)


def _with_empty(found: dict[str, bytes], folders: list[str]) -> dict[str, bytes]:
    """Add the folders that nothing lies in: of others some programs make an entry, and some do not."""
    above = {parent for name in [*found, *folders] for parent in _parents(name.rstrip("/"))}
    for folder in folders:
        name = folder.rstrip("/")
        if name and name not in above:
            found[_free(found, f"{name}/")] = b""
    return found


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _free(found: dict[str, bytes], name: str) -> str:
    """Return the name, with a number if the archive has it twice."""
    free, number = name, 2
    while free in found:
        free, number = f"{name} ({number})", number + 1
    return free
