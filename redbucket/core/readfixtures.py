"""From the files that tests opened in one recorded run to the patterns of ``[fixtures] paths``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from redbucket.core.paths import Matcher, literal
from redbucket.core.wellknown import CODE_AND_DOCS, SHARED_CONFIG, TEST_CONFIG

# Read by tests that try examples or the release: a lock of them would be a lock of the documentation.
_PROSE = frozenset({"doc", "docs", "documentation", "example", "examples", "licenses"})


@dataclass(frozen=True)
class Recordings:
    """``patterns`` cover what tests read of recorded data; ``left`` maps each other file they read to the reason."""

    patterns: tuple[str, ...]
    left: dict[str, str]


def candidates(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that may be recorded data: neither code, documentation nor configuration of the tests."""
    other = Matcher((*CODE_AND_DOCS, *TEST_CONFIG, *SHARED_CONFIG, "*.sha256", ".git*"))
    return tuple(path for path in paths if not other.matches(path))


def recordings(
    read: Iterable[str], written: Collection[str], paths: Collection[str], tests: Matcher, known: Matcher
) -> Recordings:
    """Return the patterns for what was ``read``, in the tree of ``paths``.

    ``written`` are files that the run changed; ``tests`` and ``known`` match the judge side's tests, and what the
    fixture patterns cover already.
    """
    packages = {path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py")}
    with_code = {folder for path in paths if path.endswith(".py") for folder in _above(path)}
    patterns: dict[str, None] = {}
    left: dict[str, str] = {}
    for path in sorted(read):
        reason = _reason(path, written, packages, tests)
        if reason:
            left[path] = reason
        elif not known.matches(path):
            patterns.setdefault(_pattern(path, with_code))
    return Recordings(tuple(patterns), left)


def _reason(path: str, written: Collection[str], packages: Collection[str], tests: Matcher) -> str:
    """Return why ``path`` is not recorded data, "" if it is."""
    if path in written:
        return "tests write it"
    if not path.isprintable():
        return "its name can't stand in a policy"
    if tests.matches(path):
        return ""
    if "/" not in path:
        return "it lies at the top"
    if any(folder in packages for folder in _above(path)):
        return "it belongs to a package"
    if path.startswith(("src/", ".")) or path.partition("/")[0].lower() in _PROSE:
        return "it belongs to the product or its documentation"
    return ""


def _pattern(path: str, with_code: Collection[str]) -> str:
    """Return the widest folder above ``path`` that holds no Python, else the files of its kind beside it."""
    clean = [folder for folder in _above(path) if folder not in with_code]
    if clean:
        return f"{literal(min(clean, key=len))}/**"
    folder, _, name = path.rpartition("/")
    stem, dot, kind = name.rpartition(".")
    return f"{literal(folder)}/*.{literal(kind)}" if stem and dot else literal(path)


def _above(path: str) -> list[str]:
    """Return the folders above ``path``, the innermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
