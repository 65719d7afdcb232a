"""Which places of two parsed documents differ: JSON pointers with the old and the new value."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from redbucket.core.nodes import Node, Number, Tagged


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


_FEW = 16  # bytes that are shown one by one
ABSENT = _Absent()
Pointer = tuple[str, ...]


class Moved(NamedTuple):
    """One place: the way to it, the old and the new value; ``ABSENT`` where there is none."""

    pointer: Pointer
    old: Node
    new: Node


def differences(old: Node, new: Node, at: Pointer = ()) -> Iterator[Moved]:
    """Yield what differs, in the order of the old document.

    Lists are compared from both ends, so that an insertion is one difference.
    """
    if old == new and type(old) is type(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key in new:
                yield from differences(value, new[key], (*at, key))
            else:
                yield Moved((*at, key), value, ABSENT)
        for key, value in new.items():
            if key not in old:
                yield Moved((*at, key), ABSENT, value)
    elif type(old) is list and type(new) is list:
        yield from _lists(old, new, at)
    else:
        yield Moved(at, old, new)


def _lists(old: list[Node], new: list[Node], at: Pointer) -> Iterator[Moved]:
    short = min(len(old), len(new))
    start = 0
    while start < short and old[start] == new[start]:
        start += 1
    end = 0
    while end < short - start and old[-1 - end] == new[-1 - end]:
        end += 1
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    for number, (one, other) in enumerate(zip(before, after, strict=False), start):
        yield from differences(one, other, (*at, str(number)))
    both = min(len(before), len(after))
    for number, value in enumerate(before[both:], start + both):
        yield Moved((*at, str(number)), value, ABSENT)
    for number, value in enumerate(after[both:], start + both):
        yield Moved((*at, str(number)), ABSENT, value)


def leaves(node: Node, at: Pointer = ()) -> Iterator[tuple[Pointer, Node]]:
    """Yield every scalar with the way to it."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*at, key))
    elif type(node) is list:
        for number, value in enumerate(node):
            yield from leaves(value, (*at, str(number)))
    else:
        yield at, node


def written(pointer: Pointer) -> str:
    """Return a pointer in the form of RFC 6901: "" is the whole document, "/" its key ""."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in pointer)


def _bytes(tag: str, data: bytes) -> str:
    said = data.hex(" ") if len(data) <= _FEW else f"SHA-256 {sha256(data).hexdigest()[:16]}"
    return f"{tag} of {len(data)} bytes ({said})" if data else f"{tag} of 0 bytes"


def shown(value: Node) -> str:
    """Return a value in a few words, its type recognisable."""
    if value is ABSENT:
        return "(absent)"
    if isinstance(value, Number):
        return value.number
    if isinstance(value, Tagged):
        inner = value.value
        return _bytes(value.tag, inner) if isinstance(inner, bytes) else f"{value.tag} {inner}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return f"{{{len(value)} keys}}"
    if isinstance(value, list):
        return f"[{len(value)} items]"
    text = str(value)
    return f'"{text}"' if len(text) <= 80 else f'"{text[:60]}..." ({len(text)} characters)'
