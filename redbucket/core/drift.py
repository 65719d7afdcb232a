"""What kind of change a fixture underwent: the first class that fits, and where it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from itertools import islice

from redbucket.core.cassettes import as_seen, is_cassette
from redbucket.core.lfs import is_annexed
from redbucket.core.lineends import same_but_for_line_ends
from redbucket.core.members import Unopened, members
from redbucket.core.nodediff import Moved, differences
from redbucket.core.nodes import Node, Unparsable, from_json, parser_of
from redbucket.core.policy import Volatile
from redbucket.core.volatile import stays_volatile

_MOST_PLACES = 100_000
_SNIFFED = 8192
_DEPTH = 2  # an archive in an archive; deeper ones are compared as bytes


class Drift(str, Enum):
    """The classes, in the order in which they are tried."""

    SAME = "same"
    ADDED = "added"
    GONE = "gone"
    ABSENT = "not materialised"
    LINE_ENDS = "line ends only"
    REPRESENTATION = "representation only"
    VOLATILE = "volatile only"
    PAYLOAD = "payload"
    OPAQUE = "opaque"


@dataclass(frozen=True)
class Side:
    """One side of a fixture, in short; ``here`` is False where only a pointer to the content says it."""

    size: int
    sha256: str
    here: bool = field(default=True, compare=False)

    @classmethod
    def of(cls, data: Content) -> Side | None:
        """Describe a content; None where there is no file."""
        if isinstance(data, bytes):
            return cls(len(data), sha256(data).hexdigest())
        return data if isinstance(data, Side) else None


@dataclass(frozen=True)
class NoFile:
    """What stands at a path instead of a file, in words; ``absent`` if the file is meant to be elsewhere."""

    what: str
    absent: bool = False


# A content that is too large to be read whole, or not here, is known by its size and its checksum alone.
Content = bytes | Side | NoFile | None


@dataclass(frozen=True)
class Change:
    """A fixture's change. ``moved`` are places of a parsed document, ``inside`` changed members of an archive.

    ``form`` names the format that was parsed, ``said`` why one could not be; ``more`` counts places left out.
    ``instead`` says of either side what stands there if it is no file, "" if it is one or nothing.
    """

    path: str
    drift: Drift
    old: Side | None = None
    new: Side | None = None
    form: str = ""
    said: str = ""
    moved: tuple[Moved, ...] = ()
    more: int = 0
    inside: tuple[Change, ...] = ()
    is_text: bool = field(default=False)
    instead: tuple[str, str] = ("", "")


def change_of(
    path: str, old: Content, new: Content, rules: Sequence[Volatile] = (), depth: int = 0
) -> Change:
    """Return the change between two contents of a fixture; None where it is absent."""
    sides = (Side.of(old), Side.of(new))
    if isinstance(old, NoFile) or isinstance(new, NoFile):
        return Change(path, _without_file(old, new), *sides, instead=(_what(old), _what(new)))
    if old is None or new is None:
        drift = Drift.SAME if old is new else Drift.ADDED if old is None else Drift.GONE
        there = new if old is None else old
        return Change(path, drift, *sides, is_text=isinstance(there, bytes) and is_text(there))
    if isinstance(old, Side) or isinstance(new, Side):
        if sides[0] == sides[1]:
            return Change(path, Drift.SAME, *sides)
        if not all(side is None or side.here for side in sides):
            return Change(
                path, Drift.ABSENT, *sides, said="its content is in Git LFS and not here: git lfs fetch"
            )
        return Change(path, Drift.OPAQUE, *sides, said="too large to be compared otherwise than by checksum")
    text = is_text(old) and is_text(new)
    if old == new:
        return Change(path, Drift.SAME, *sides, is_text=text)
    if is_annexed(old) or is_annexed(new):
        return Change(path, Drift.ABSENT, *sides, said="one side is a pointer to its content", is_text=text)
    if text and same_but_for_line_ends(old, new):
        return Change(path, Drift.LINE_ENDS, *sides, is_text=text)
    if not text:
        return _archives(path, old, new, sides, rules, depth)
    return _documents(path, old, new, sides, rules)


def _without_file(old: Content, new: Content) -> Drift:
    if old == new:
        return Drift.SAME
    if any(isinstance(each, NoFile) and each.absent for each in (old, new)):
        return Drift.ABSENT
    return Drift.ADDED if old is None else Drift.GONE if new is None else Drift.OPAQUE


def _what(content: Content) -> str:
    return content.what if isinstance(content, NoFile) else ""


def is_text(data: bytes) -> bool:
    """Return whether git would call these bytes text: no NUL near the start."""
    return b"\0" not in data[:_SNIFFED]


def _documents(
    path: str, old: bytes, new: bytes, sides: tuple[Side | None, Side | None], rules: Sequence[Volatile]
) -> Change:
    known = parser_of(path)
    if known is None and old[:1] in b"{[" and new[:1] in b"{[":
        known = ("JSON", from_json)
    if known is None:
        return Change(path, Drift.PAYLOAD, *sides, is_text=True)
    form, parse = known
    try:
        before, after = parse(old), parse(new)
        if is_cassette(before) and is_cassette(after):
            form, before, after = f"{form} cassette", as_seen(before), as_seen(after)
        moved, more = _moved(before, after)
        volatile = not more and stays_volatile(path, moved, before, after, rules)
    except (Unparsable, RecursionError) as problem:
        said = f"not {form}: {problem}" if str(problem) else f"not {form}"
        return Change(path, Drift.OPAQUE, *sides, form, said, is_text=True)
    drift = Drift.REPRESENTATION if not moved else Drift.VOLATILE if volatile else Drift.PAYLOAD
    return Change(path, drift, *sides, form, "", tuple(moved), more, is_text=True)


def _moved(before: Node, after: Node) -> tuple[list[Moved], int]:
    found = differences(before, after)
    kept = list(islice(found, _MOST_PLACES))
    return kept, sum(1 for _ in found)


def _archives(
    path: str,
    old: bytes,
    new: bytes,
    sides: tuple[Side | None, Side | None],
    rules: Sequence[Volatile],
    depth: int,
) -> Change:
    try:
        before, after = (members(data) if depth < _DEPTH else None for data in (old, new))
    except Unopened as problem:
        return Change(path, Drift.OPAQUE, *sides, "archive", f"not opened: {problem}")
    if before is None or after is None:
        return Change(path, Drift.OPAQUE, *sides)
    names = [*before, *(name for name in after if name not in before)]
    inside = tuple(
        change
        for name in names
        if (change := change_of(name or path, before.get(name), after.get(name), rules, depth + 1)).drift
        is not Drift.SAME
    )
    drifts = {change.drift for change in inside}
    if not inside:
        drift = Drift.REPRESENTATION
    elif len(drifts) == 1 and drifts <= {Drift.LINE_ENDS, Drift.REPRESENTATION, Drift.VOLATILE, Drift.OPAQUE}:
        (drift,) = drifts
    else:
        drift = Drift.PAYLOAD
    return Change(path, drift, *sides, "archive", inside=inside)
