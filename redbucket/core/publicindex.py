"""Whether an address is one of the public package index that pip takes by default.

Its host names stand here as SHA-256 digests: nothing in this repository names an
index. The test compares them with what pip itself has built in.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

_ADDRESS = re.compile(r"https?://([^/?#\\\s]+)(?:/.*)?")
_HOSTS = frozenset(
    {
        "a4aa2ac280bb8d1a0ce7a1be5a7bfb10292b49fe9435ad5cff19f421f3c70e41",  # the index
        "d6d7019ca9fcbf07c769e445342515ef0c92e4f18a96adbb3bf6460f5b0ba17f",  # its name of old, in old lock files
        "c899567ee906851741bf7f3bde17a33777859ff9f53ff54d6f0ea54cf31ad636",  # where it keeps the files
    }
)


def is_public(address: str) -> bool:
    """Return whether an http(s) address is on the public index, by its host alone; a port or a user is no match."""
    match = _ADDRESS.fullmatch(address)
    return match is not None and _known(match[1].lower())


@lru_cache(maxsize=256)
def _known(host: str) -> bool:
    return hashlib.sha256(host.encode("utf-8", "surrogateescape")).hexdigest() in _HOSTS
