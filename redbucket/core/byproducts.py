"""Names of what tools leave behind wherever they run: no recordings, and read by no test as what it expects."""

from __future__ import annotations

import re

_NAMES = re.compile(
    # caches
    r"__pycache__|.*\.py[co]|\.(?:pytest|mypy|ruff|hypothesis|ipynb|import_linter)(?:_cache|_checkpoints)?|\.git"
    r"|\.coverage(?:\..*)?|\.DS_Store|Thumbs\.db|\.nfs[0-9a-f]+"
    # locks, and the side files of a SQLite that is open
    r"|.*\.lock|.*-(?:journal|wal|shm)"
    # what was seen instead, written beside what was expected: pytest-regressions, approvaltests, others
    r"|.*\.(?:obtained|received|actual|orig|rej)(?:\.[\w.]+)?|.*~|\..*\.sw[op]"
)


def is_byproduct(name: str) -> bool:
    """Return whether a file or folder of this name is left behind by a tool, as a cache or to be compared."""
    return _NAMES.fullmatch(name) is not None
