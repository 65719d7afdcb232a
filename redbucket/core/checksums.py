"""The lock's format: what ``sha256sum -c --strict`` takes, read more strictly than it does.

``sha256sum`` skips junk with exit 0, follows links and absolute names, and of a
list written with ``-z`` verifies the first entry only (coreutils 9.1). Here each
such line is a flaw with its number, a reason and a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from redbucket.core.errors import Misused
from redbucket.core.paths import fold

VERSION = 1
HEADER = b"# redbucket lock %d: SHA-256 of the exact bytes; sha256sum -c --strict takes this file\n" % VERSION
_VERSION = re.compile(rb"# redbucket lock (\d+)\b")

_DIGITS = b"0123456789abcdef"

_TAGGED = re.compile(rb"SHA256 ?\((.*)\)[ \t]*=[ \t]*([0-9a-fA-F]{64})")
_OTHER_TAG = re.compile(rb"[A-Za-z0-9/-]+ ?\(.*\)[ \t]*=[ \t]*[0-9a-fA-F]+")
_UNTAGGED = re.compile(rb"([0-9a-fA-F]{64})[ \t](.*)", re.DOTALL)
_HEX = re.compile(rb"[ \t]*\\?([0-9a-fA-F]+)(?:[ \t].*)?", re.DOTALL)
_ODD = re.compile(rb"[\\\r\n]")
_ESCAPES = {b"\\\\": b"\\", b"\\n": b"\n", b"\\r": b"\r"}
# lock edits no file that it can't read
_REWRITE = "delete it, and let a human write it anew: redbucket fixtures lock"
_MALFORMED = "no checksum, two spaces and a path"


class Line(NamedTuple):
    """One good line: its number, the checksum in lower case, the path as it stands."""

    number: int
    sha256: str
    path: str


@dataclass(frozen=True)
class Flaw:
    """Why a line (0: the file) can't be trusted, and what to do."""

    number: int
    reason: str
    remedy: str


@dataclass(frozen=True)
class Checksums:
    """A check file, in columns: line numbers, checksums, paths; with a flaw nothing in it counts as locked."""

    numbers: Sequence[int]
    shas: Sequence[str]
    paths: Sequence[str]
    flaws: tuple[Flaw, ...] = ()

    @property
    def lines(self) -> list[Line]:
        """The good lines, in order."""
        return list(map(Line, self.numbers, self.shas, self.paths))


def read(raw: bytes) -> Checksums:
    """Return the lines and flaws of a check file."""
    found = _plain(raw)
    flaws: list[Flaw] = []
    if found is None:
        lines, flaws = _slow(raw)
        found = Checksums(*zip(*lines, strict=True)) if lines else Checksums((), (), ())
    flaws += _twice(found)
    if not found.paths and not flaws:
        flaws.append(
            Flaw(0, "it lists nothing, so it locks nothing", "lock the fixtures: redbucket fixtures lock")
        )
    return Checksums(found.numbers, found.shas, found.paths, tuple(flaws))


def _plain(raw: bytes) -> Checksums | None:
    """Return the lines of a file in the canonical form, or None; a few passes in C, no loop over its lines."""
    body, first = raw, 1
    if raw.startswith(HEADER):
        body, first = raw[len(HEADER) :], 2
    if not body.endswith(b"\n") or any(sign in body for sign in (b"\0", b"\r", b"\\", b":", b"/\n", b".\n")):
        return None
    lines = body.decode("utf-8", "surrogateescape").split("\n")[:-1]
    shas, paths = [line[:64] for line in lines], [line[66:] for line in lines]
    digits = "".join(shas)
    if len(digits) != 64 * len(lines) or not digits.isascii() or not all(paths):
        return None
    if digits.encode("ascii").translate(None, _DIGITS):
        return None
    if "".join([line[64:66] for line in lines]) != "  " * len(lines):
        return None
    folders = {path.rpartition("/")[0] for path in paths}
    if any({"", ".", ".."} & set(folder.split("/")) for folder in folders if folder):
        return None
    if "-" in paths or b"  /" in body:
        return None
    return Checksums(range(first, first + len(lines)), shas, paths)


def _slow(raw: bytes) -> tuple[list[Line], list[Flaw]]:
    lines: list[Line] = []
    flaws: list[Flaw] = []
    if raw.startswith(b"\xef\xbb\xbf"):
        flaws.append(Flaw(1, "it starts with a byte order mark", "save it without one"))
        raw = raw[3:]
    elif raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return [], [Flaw(1, "it is UTF-16", "save it as plain bytes, without a byte order mark")]
    for number, text in enumerate(raw.split(b"\n"), start=1):
        text = text.removesuffix(b"\r")  # one: a second belongs to the name, as in coreutils 9.0 and newer
        if text.startswith(b"#") and b"\0" not in text:
            version = _VERSION.match(text)
            if version and int(version[1]) != VERSION:
                flaws.append(
                    Flaw(
                        number,
                        f"it is a lock of version {int(version[1])}; this reads version {VERSION}",
                        f"use a newer redbucket; or {_REWRITE}",
                    )
                )
            continue
        if not text:
            continue
        found = _line(number, text)
        if isinstance(found, Flaw):
            flaws.append(found)
        else:
            lines.append(found)
    return lines, flaws


def _line(number: int, text: bytes) -> Line | Flaw:
    if b"\0" in text:
        return Flaw(
            number,
            "it holds a NUL, as a list written with -z does: sha256sum verifies its first entry only",
            _REWRITE,
        )
    rest = text.lstrip(b" \t")
    escaped = rest.startswith(b"\\")
    rest = rest[1:] if escaped else rest
    tagged = _TAGGED.fullmatch(rest)
    if tagged:
        sha, name = tagged[2], tagged[1]
    else:
        untagged = _UNTAGGED.fullmatch(rest)
        if untagged is None:
            return _malformed(number, rest)
        sha, rest = untagged[1], untagged[2]
        if rest in (b"", b" ", b"*"):
            return Flaw(number, "it names no file", "delete the line")
        if len(rest) == 1 or rest[:1] not in (b" ", b"*"):
            return Flaw(
                number, "it has one blank before the name (the reversed form)", "put two spaces there"
            )
        name = rest[1:]
    if escaped:
        plain = _unescape(name)
        if plain is None:
            return Flaw(number, "the name has an escape other than \\\\, \\n or \\r", _REWRITE)
        name = plain
    reason = _bad_name(name)
    if reason:
        spelling = "name the file by its path from the lock's folder"
        odd = _ODD.search(name) is not None
        return Flaw(number, reason, "delete the line, and rename the file" if odd else spelling)
    name = name.removeprefix(b"./") if name == b"./-" else name
    return Line(number, sha.decode("ascii").lower(), name.decode("utf-8", "surrogateescape"))


def _malformed(number: int, rest: bytes) -> Flaw:
    if not rest.strip(b" \t"):
        return Flaw(number, "it is a line of blanks", "delete the line")
    if rest.startswith(b"#"):
        return Flaw(
            number, "its comment does not start in the first column", "put the # first, or delete the line"
        )
    if _OTHER_TAG.fullmatch(rest):
        return Flaw(number, "its tag is not SHA256, or its checksum is not 64 digits", "use sha256sum")
    digits = _HEX.fullmatch(rest)
    if digits and len(digits[1]) != 64 and len(digits[1]) >= 32:
        return Flaw(number, f"its checksum has {len(digits[1])} digits, not 64", "use sha256sum")
    if digits and len(digits[1]) == 64:
        return Flaw(number, "it names no file", "delete the line")
    return Flaw(number, "it is " + _MALFORMED, "delete it, or write the lock anew")


def _unescape(name: bytes) -> bytes | None:
    out = bytearray()
    at = 0
    while at < len(name):
        if name[at : at + 1] != b"\\":
            out += name[at : at + 1]
            at += 1
            continue
        plain = _ESCAPES.get(name[at : at + 2])
        if plain is None:
            return None
        out += plain
        at += 2
    return bytes(out)


def _bad_name(name: bytes) -> str:
    """Return why a lock can't name ``name``, or ""."""
    if not name:
        return "it names no file"
    if _ODD.search(name):
        return "the name holds a backslash or a line end, which tools read in different ways"
    if name.startswith(b"/") or re.match(rb"[A-Za-z]:/", name):
        return "the path is absolute"
    parts = name.split(b"/")
    if b".." in parts:
        return "the path leaves the folder by .."
    if name == b"-":
        return "sha256sum takes - for its standard input"
    if name != b"./-" and (b"" in parts or b"." in parts):
        return "the path is not in its shortest form"
    return ""


def _twice(found: Checksums) -> list[Flaw]:
    joined = "\n".join(found.paths)
    names = joined.lower().split("\n") if joined.isascii() else [fold(path) for path in found.paths]
    if len(set(names)) == len(found.paths) or not found.paths:
        return []
    lines = found.lines
    seen: dict[str, Line] = {}
    flaws = []
    for line in lines:
        other = seen.setdefault(fold(line.path), line)
        if other is line:
            continue
        if other.path == line.path:
            flaws.append(Flaw(line.number, f"line {other.number} names the same file", "delete one of them"))
        else:
            flaws.append(
                Flaw(
                    line.number,
                    f"it and line {other.number} name one file where a disk folds case or normalises names",
                    "rename one of the two files",
                )
            )
    return flaws


def contradicted(found: Checksums) -> frozenset[str]:
    """Return the paths of which two lines say different things."""
    if len(set(found.paths)) == len(found.paths):
        return frozenset()
    said: dict[str, str] = {}
    pairs = zip(found.paths, found.shas, strict=True)
    return frozenset(path for path, sha in pairs if said.setdefault(path, sha) != sha)


def unlockable(path: str) -> str:
    """Return why no lock can hold this name, or ""."""
    name = path.encode("utf-8", "surrogateescape")
    return "the name holds a NUL" if b"\0" in name else _bad_name(b"./-" if name == b"-" else name)


def said_otherwise(one: Checksums, other: Checksums) -> list[str]:
    """Return the names that only one of two check files lists, or with another checksum, sorted."""
    lines = [set(zip(each.paths, each.shas, strict=True)) for each in (one, other)]
    return sorted({path for path, _ in lines[0] ^ lines[1]})


def write(checksums: Mapping[str, str], *, header: bool = True) -> bytes:
    """Return a check file that ``sha256sum -c --strict`` takes, names sorted as bytes.

    Raises Misused "unlockable-name" for a name that tools read in different ways.
    """
    named: list[tuple[bytes, str]] = []
    for path, sha in checksums.items():
        name = path.encode("utf-8", "surrogateescape")
        name = b"./-" if name == b"-" else name
        reason = unlockable(path)
        if reason:
            raise Misused("unlockable-name", f"{path!r} can't be locked: {reason}", "rename the file")
        named.append((name, sha))
    body = b"".join(b"%s  %s\n" % (sha.encode("ascii"), name) for name, sha in sorted(named))
    return HEADER + body if header else body
