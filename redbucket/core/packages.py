"""What a manifest or a lock file says of packages: values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Package:
    """One package: ``source`` is "" for the index, else where it comes from instead."""

    version: str = ""
    source: str = ""
    hashes: frozenset[str] = frozenset()


@dataclass
class Packages:
    """What one file says; ``indexes`` are the package indexes that it names besides PyPI."""

    named: dict[str, Package] = field(default_factory=dict)
    indexes: set[str] = field(default_factory=set)

    def add(self, name: str, package: Package) -> None:
        """Add a package under its normalised name; two sources under one name are kept apart."""
        name = normal(name)
        known = self.named.get(name)
        if known is not None and known != package:
            package = Package(
                ", ".join(sorted({known.version, package.version} - {""})),
                ", ".join(sorted({known.source, package.source} - {""})),
                known.hashes | package.hashes,
            )
        self.named[name] = package


def normal(name: str) -> str:
    """Return a distribution's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
