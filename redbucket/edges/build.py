"""Which redbucket this is, to the byte: two builds of one version may judge differently."""

from __future__ import annotations

import hashlib
from pathlib import Path

from redbucket import __version__

_PACKAGE = Path(__file__).resolve().parent.parent


def version() -> str:
    """Return the version and the first digits of a digest over redbucket's own source files."""
    seen = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        seen.update(f"{path.relative_to(_PACKAGE)}\0".encode())
        seen.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{__version__}+{seen.hexdigest()[:8]}"
