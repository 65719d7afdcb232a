"""``.gitmodules``: what it says of each submodule (gitmodules(5), git-config(1))."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

SUBMODULES = ".gitmodules"
_SECTION = re.compile(r'\s*\[\s*submodule\s+"((?:[^"\\]|\\.)*)"\s*\]\s*(.*)', re.IGNORECASE)
_KEY = re.compile(r"\s*([A-Za-z][-A-Za-z0-9]*)\s*=\s*(.*?)\s*")


@dataclass(frozen=True)
class Submodule:
    """One submodule: where it lies, where it comes from, how it is updated, and its line."""

    path: str = ""
    url: str = ""
    branch: str = ""
    update: str = ""
    line: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Submodule):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[str, str, str, str]:
        return self.path, self.url, self.branch, self.update


def submodules(raw: bytes) -> dict[str, Submodule]:
    """Return the submodules of a ``.gitmodules``, by name."""
    found: dict[str, Submodule] = {}
    name = ""
    for number, line in enumerate(raw.decode("utf-8", "surrogateescape").splitlines(), start=1):
        if section := _SECTION.fullmatch(line):
            name, line = section[1], section[2]
            found.setdefault(name, Submodule(line=number))
        elif line.lstrip().startswith("["):
            name = ""
        match = _KEY.fullmatch(line)
        if name and match and match[1].lower() in ("path", "url", "branch", "update"):
            value = match[2].strip('"')
            fields: dict[str, Any] = {match[1].lower(): value}
            found[name] = replace(found[name], **fields)
    return found
