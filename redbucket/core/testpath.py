"""From a test's id to the file that defines it."""

from __future__ import annotations

from collections.abc import Container, Iterable


def file_of(nodeid: str, paths: Container[str]) -> str | None:
    """Return the path of a test's file among ``paths``, None if none fits.

    Takes pytest's ids (``path::name``) and unittest's dotted ones.
    """
    path, colons, _ = nodeid.partition("::")
    if colons or "/" in path or path.endswith(".py"):
        return path if path in paths else None
    parts = nodeid.split(".")
    for length in range(len(parts), 0, -1):
        for prefix in ("", "tests/", "test/", "src/"):
            candidate = prefix + "/".join(parts[:length]) + ".py"
            if candidate in paths:
                return candidate
    return None


def stands_for(place: str, nodeid: str) -> bool:
    """True if ``place``, which could not be collected, is the test or holds it: its file, folder, module or class."""
    if place in ("", ".", nodeid):
        return True
    dotted = "::" not in nodeid and "/" not in nodeid  # unittest's ids; beside a folder "a" stands "a.py"
    return nodeid.startswith((f"{place}::", f"{place}/", *([f"{place}."] if dotted else ())))


def pytest_id(nodeid: str, paths: Container[str]) -> str:
    """Return a unittest id in pytest's form (``path::Class::test``); others as they are."""
    path = file_of(nodeid, paths)
    if path is None or "::" in nodeid or nodeid == path:
        return nodeid
    module = path.removesuffix(".py").replace("/", ".")
    while module and not nodeid.startswith(module + "."):
        module = module.partition(".")[2]
    rest, bracket, row = (nodeid[len(module) + 1 :] if module else nodeid).partition("[")
    return f"{path}::{rest.replace('.', '::')}{bracket}{row}"


def in_either_form(nodeid: str, ids: Iterable[str], paths: Container[str]) -> str | None:
    """Return which of ``ids`` is that test, in pytest's form or unittest's; None if none is."""
    wanted = pytest_id(nodeid, paths)
    return next((each for each in ids if nodeid == each or pytest_id(each, paths) == wanted), None)
