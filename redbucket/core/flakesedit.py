"""Edits of ``flakes.toml`` as text: what is not asked to change stays byte for byte."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace

from redbucket.core.errors import Misused
from redbucket.core.flakes import NAMED_TWICE, Flakes, Freeze, parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]


def readable(raw: bytes, name: str) -> Flakes:
    """Return the freezes of a file that is to be edited; raise Misused if it can't be read."""
    flakes = parse(raw, name)
    if flakes.broken:
        raise Misused("flakes-unreadable", flakes.broken, f"correct {name} by hand first")
    return flakes


def with_entry(raw: bytes, freeze: Freeze, name: str) -> bytes:
    """Return the file with one more entry at its end. Raises Misused."""
    import tomlkit

    before = readable(raw, name).entries
    table = tomlkit.table()
    for field in ("owner", "ticket", "expires", "replay", "reason"):
        if value := getattr(freeze, field):
            table.add(field, value)
    block = tomlkit.dumps({freeze.nodeid: table})
    text = raw.decode("utf-8")
    end = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += end
    if text:
        text += end
    new = (text + block.strip("\n").replace("\n", end) + end).encode("utf-8")
    if parse(new, name).entries != (*before, freeze):
        raise Misused(
            "flakes-not-editable",
            f"{name}: the entry can't be added to what it holds",
            f"edit {name} by hand",
        )
    return new


def without_entry(raw: bytes, freeze: Freeze, name: str) -> bytes:
    """Return the file without one entry; comments outside its table stay. Raises Misused."""
    rest = _alone(entry for entry in readable(raw, name).entries if entry.keys != freeze.keys)
    for new in _without(raw.decode("utf-8"), freeze.keys):
        after = parse(new.encode("utf-8"), name)
        if not after.broken and _alone(after.entries) == rest:
            return new.encode("utf-8")
    raise Misused(
        "flakes-not-editable", f"{name}: {freeze.nodeid} can't be taken out safely", f"edit {name} by hand"
    )


def _alone(entries: Iterable[Freeze]) -> list[Freeze]:
    """Return entries without what another entry does to them."""
    return [replace(e, faults=tuple(f for f in e.faults if f != NAMED_TWICE)) for e in entries]


def _without(text: str, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield what the file may be afterwards: each place where its header may stand, then tomlkit's answer.

    tomlkit drops the comments below a table with the table, those of the next one too.
    """
    lines = text.splitlines(keepends=True)
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number in headers:
        if _header(lines[number]) != keys:
            continue
        for end in [n for n in headers if n > number] + [len(lines)]:
            last = end
            while last > number + 1 and lines[last - 1].strip().partition("#")[0] == "":
                last -= 1
            while last < end and not lines[last].strip() and not (number and lines[number - 1].strip()):
                last += 1
            kept = lines[:number] + lines[last:]
            yield "".join(kept)
    yield from _tomlkit(text, keys)


def _header(line: str) -> tuple[str, ...]:
    try:
        value = tomllib.loads(line)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return ()
    keys = []
    while isinstance(value, dict) and len(value) == 1:
        ((key, value),) = value.items()
        keys.append(key)
    return tuple(keys) if value == {} else ()


def _tomlkit(text: str, keys: tuple[str, ...]) -> Iterator[str]:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        doc = tomlkit.parse(text)
        for depth in range(len(keys), 0, -1):
            at = doc
            for key in keys[: depth - 1]:
                at = at[key]
            if depth == len(keys) or not at[keys[depth - 1]]:
                del at[keys[depth - 1]]
        yield tomlkit.dumps(doc)
    except (TOMLKitError, KeyError, TypeError, RecursionError):
        return
