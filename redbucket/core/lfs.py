"""Git LFS pointers: what a blob holds instead of the content (github.com/git-lfs/git-lfs, docs/spec.md)."""

from __future__ import annotations

import re

LARGEST = 1024  # the specification: a pointer file is smaller than this
SIGN = b"version https://git-lfs.github.com/spec/"
_OID = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.MULTILINE)
# What git-annex leaves of unlocked content that is not here.
_ANNEX = re.compile(rb"(?:/annex/objects/|\.git/annex/objects/)\S+\s*")


def pointed_at(content: bytes) -> str | None:
    """Return the SHA-256 of the content that a pointer stands for, None if this is no pointer."""
    if len(content) >= LARGEST or not content.startswith(SIGN):
        return None
    oid = _OID.search(content)
    return oid[1].decode("ascii") if oid else None


def is_stand_in(content: bytes) -> bool:
    """Return whether these bytes stand for content that is elsewhere, in LFS or git-annex."""
    if len(content) < LARGEST and content.startswith(SIGN):
        return True
    return len(content) < LARGEST and _ANNEX.fullmatch(content) is not None
