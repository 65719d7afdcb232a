"""Git LFS: pointers, what a blob holds instead of the content (github.com/git-lfs/git-lfs, docs/spec.md).

A pointer is replaced by its content only where ``.gitattributes`` says ``filter=lfs``; elsewhere it is a text
like any other, and what tests read is the pointer itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from redbucket.core.patch import EXECUTABLE_MODE, FILE_MODE

if TYPE_CHECKING:
    from redbucket.core.attributes import Attributes

LARGEST = 1024  # the specification: a pointer file is smaller than this
SIGN = b"version https://git-lfs.github.com/spec/"
_FILES = (FILE_MODE, EXECUTABLE_MODE)
# Whole: what only begins so, git-lfs hands to the reader as it is. With "ext-" lines other programs have a hand in
# the content, so that such a pointer does not say what its checksum is.
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n?"
)
# What git-annex leaves of unlocked content that is not here.
_ANNEX = re.compile(rb"(?:/annex/objects/|\.git/annex/objects/)\S+\s*")


class Pointer(NamedTuple):
    """What a pointer stands for: a content of that checksum and size."""

    sha256: str
    size: int


def pointer(content: bytes) -> Pointer | None:
    """Return what a pointer says of its content, None if this is no pointer."""
    if len(content) >= LARGEST or not content.startswith(SIGN):
        return None
    found = _POINTER.fullmatch(content)
    return Pointer(found[1].decode("ascii"), int(found[2])) if found else None


def pointed_at(content: bytes) -> str | None:
    """Return the SHA-256 of the content that a pointer stands for, None if this is no pointer."""
    found = pointer(content)
    return found.sha256 if found else None


def is_pointer_like(content: bytes) -> bool:
    """Return whether these bytes are a pointer, or of a kind that we do not know."""
    return len(content) < LARGEST and content.startswith(SIGN)


def is_annexed(content: bytes) -> bool:
    """Return whether these bytes stand for content that git-annex has elsewhere."""
    return len(content) < LARGEST and _ANNEX.fullmatch(content) is not None


class Filter:
    """Which paths of one tree Git LFS filters; its ``.gitattributes`` are read when first asked."""

    def __init__(self, modes: Mapping[str, str], read: Callable[[str], bytes]) -> None:
        """Take the mode of each path of the tree, and what reads a file of it."""
        self._modes, self._read = modes, read

    def __call__(self, path: str) -> bool:
        """Return whether a pointer at ``path`` is replaced by its content."""
        found = self._attributes.of(path).get("filter") if self.any else None
        return found is not None and found.value == "=lfs"

    @property
    def any(self) -> bool:
        """Whether an attribute speaks of LFS at all."""
        return bool(self._attributes.rules)

    @cached_property
    def _attributes(self) -> Attributes:
        from redbucket.core.attributes import (
            NAME,
            Attributes,
        )  # late: a hook that meets no pointer does without

        files = [path for path in self._modes if path.endswith(NAME) and path.rpartition("/")[2] == NAME]
        # git reads no .gitattributes that is a link
        texts = [(path, self._read(path)) for path in files if self._modes[path] in _FILES]
        return Attributes(texts if any(b"lfs" in text for _, text in texts) else ())
