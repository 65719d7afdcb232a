"""Seeds that a patch can't know in advance: derived from the tree under judgement."""

from __future__ import annotations

import hashlib


def derive(tree: str, purpose: str = "") -> str:
    """Return a decimal seed of 1 to 4294967295 for a tree's object id.

    The range is what PYTHONHASHSEED and NumPy's global generator take; 0 is left
    out because it switches hash randomisation off. ``purpose`` gives another seed
    for the same tree ("hash 1", "seed 2", ...).
    """
    digest = hashlib.sha256(f"{tree}\0{purpose}".encode("utf-8", "backslashreplace")).digest()
    return str(int.from_bytes(digest[:4], "big") % 4294967295 + 1)
