"""The fields of a freeze: what each may hold, and what is wrong with one that does not."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# What ends a line or moves the cursor; a report prints an owner as it stands.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def one_line(text: str) -> str:
    """Return ``text`` without anything that breaks or turns a line."""
    return _CONTROL.sub(" ", text)


def read_expiry(value: object) -> tuple[date | None, str]:
    """Return (the last day in force, "") or (None, what is wrong).

    A time of day is dropped after it is brought to UTC; one without a zone
    counts as UTC.
    """
    if value is None:
        return None, "expires is missing"
    if isinstance(value, datetime):
        try:
            return (value.astimezone(timezone.utc) if value.tzinfo else value).date(), ""
        except OverflowError:
            return None, "expires is not a date of the calendar in UTC"
    if isinstance(value, date):
        return value, ""
    if isinstance(value, str) and _DATE.fullmatch(value.strip()):
        try:
            return date.fromisoformat(value.strip()), ""
        except ValueError:
            pass
    return None, "expires is not a date (write it as 2026-10-02)"


def replay_trouble(path: str) -> str:
    """Return what is wrong with the path of a capture, "" if it can be one."""
    if "://" in path or path.startswith(("/", "~", "\\")) or re.match("[A-Za-z]:", path):
        return "replay is not a path in the repository"
    return "replay leaves the repository by `..`" if ".." in re.split(r"[\\/]", path) else ""


def bad_id(nodeid: str) -> str:
    """Return why ``nodeid`` names no single test, "" if it may name one.

    A parameter's id may hold anything; before it nothing but one test's name is taken.
    """
    name, bracket, _ = nodeid.partition("[")
    if not name.strip():
        return "it names no test"
    if any(c in name for c in "*?") or (bracket and not nodeid.endswith("]")):
        return "wildcards are not taken: name one test"
    if len(nodeid) > 4000:
        return "its name is longer than 4,000 characters"
    if _CONTROL.search(nodeid):
        return "its name holds a control character"
    path, colons, rest = name.partition("::")
    if colons:
        return "" if path and rest.strip(":") else "it names a file, not a test"
    # a dotted id: module, class and method, or module and function
    if "/" in name or name.endswith(".py"):
        return "it names a file or a folder, not a test"
    return "" if "." in name.strip(".") and ".." not in name else "it names no test"
