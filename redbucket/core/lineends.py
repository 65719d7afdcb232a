"""What git's own attributes change in a file on its way to the work tree: line ends, and the words for ``$Id$``."""

from __future__ import annotations

import re
from hashlib import sha256

_IDENT = re.compile(rb"\$Id: [^$\n]*\$")


def same_but_for_line_ends(one: bytes, other: bytes) -> bool:
    """Return whether only LF against CRLF tells the two apart; a lone CR is content."""
    return one != other and one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def idented(content: bytes) -> bytes:
    """Return ``content`` as the attribute ident stores it: without the words that it puts into ``$Id$``."""
    return _IDENT.sub(b"$Id$", content)


def locked_but_for_line_ends(content: bytes, locked: str) -> bool:
    """Return whether ``content`` with all its line ends as LF, or all as CRLF, has the SHA-256 ``locked``."""
    plain = content.replace(b"\r\n", b"\n")
    return locked in (sha256(plain).hexdigest(), sha256(plain.replace(b"\n", b"\r\n")).hexdigest())
