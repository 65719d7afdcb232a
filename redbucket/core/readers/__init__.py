"""Reads run records of any supported form, told apart by their content.

The forms: redbucket's own JSON Lines (``own``), one JSON object a run
(``objects``), pytest-reportlog (``reportlog``) and JUnit XML (``junit``).
Bytes that are none of them are refused; bytes that begin as one of them and
break off give a ``Run`` whose ``broken`` says where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from redbucket.core.readers import junit, objects, own, reportlog
from redbucket.core.readers.common import Given, Place, refuse
from redbucket.core.readers.joined import joined
from redbucket.core.records import Run

EXPECTED = "a redbucket record, a run object, a pytest-reportlog file or JUnit XML"

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SPACE = b" \t\r\n"
# Keys that tell the forms apart. Quotes inside a string are escaped, so no message can look like one of them.
_KEY = re.compile(rb'"(event|\$report_type|_report_type|pytest_version|run_id|tests)"\s*:')


def read(raw: bytes, source: str, *, seed: str | None = None, fixture_hash: str | None = None) -> list[Run]:
    """Return the runs that ``raw`` holds; ``source`` names it in messages.

    ``seed`` and ``fixture_hash`` fill in for tests whose record does not have
    that field; they never replace one that is there, even an empty one. Raises
    ``Misused("record-unreadable")`` for bytes of no known form, naming the place
    and what was expected there.
    """
    given = Given(seed=seed, fixture_hash=fixture_hash)
    try:
        return _read(raw, Place(source), given)
    except RecursionError:
        raise refuse(Place(source), "it is nested too deeply", EXPECTED) from None


def read_chunks(
    chunks: Callable[[], Iterable[bytes]],
    source: str,
    *,
    seed: str | None = None,
    fixture_hash: str | None = None,
) -> list[Run]:
    """Return the runs of a record that comes in pieces, each time from its beginning; as ``read``.

    JUnit XML is never held as a whole: reports with captured output grow to gigabytes.
    """
    first = next(iter(chunks()), b"")
    if first.removeprefix(_BOM).lstrip(_SPACE).startswith(b"<") or first.startswith(_UTF16):
        try:
            return [junit.read_chunks(chunks, Place(source), Given(seed=seed, fixture_hash=fixture_hash))]
        except RecursionError:
            raise refuse(Place(source), "it is nested too deeply", EXPECTED) from None
    return read(b"".join(chunks()), source, seed=seed, fixture_hash=fixture_hash)


def _read(raw: bytes, place: Place, given: Given) -> list[Run]:
    body = raw[len(_BOM) :] if raw.startswith(_BOM) else raw
    start = body.lstrip(_SPACE)
    if not start:
        raise refuse(place, "it is empty", EXPECTED)
    if start.startswith(b"<") or body.startswith(_UTF16):
        return [junit.read(raw, place, given)]
    if not start.startswith((b"{", b"[")):
        raise refuse(place, "byte 0 begins no known form", EXPECTED)
    match _form(start):
        case b"event":
            return own.read(body, place)
        case b"$report_type" | b"_report_type" | b"pytest_version":
            return [reportlog.read(body, place, given)]
        case b"run_id" | b"tests":
            return objects.read(body, place, given)
        case _:
            raise refuse(place, "its first keys belong to no known form", EXPECTED)


def _form(start: bytes) -> bytes:
    """Return the first deciding key; ``run_id`` decides only alone, since a header has it too."""
    found = b""
    for match in _KEY.finditer(start):
        if match[1] != b"run_id":
            return match[1]
        found = match[1]
    return found


__all__ = ["EXPECTED", "joined", "read", "read_chunks"]
