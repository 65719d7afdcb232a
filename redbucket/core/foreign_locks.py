"""Lock files of other languages, as far as they can put other bytes in the place of a package.

npm, Yarn, pnpm, Cargo and Go: another version of a package is the product's business; other bytes under the same
version, another place to take them from, or another package under the same name are not.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_DEEPEST = 100
# What a reader raises for a file of another shape than it knows.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
_YARN_FIELD = re.compile(r'^\s+"?(version|resolved|integrity|checksum|resolution)"?:?\s+"?([^"\n]+)"?$')
_PNPM_KEY = re.compile(r"^  '?/?((?:@[^/@\s]+/)?[^@/\s']+)[@/]([^:'\s(]+)[^:]*'?:\s*$")
_PNPM_HASH = re.compile(r"\bintegrity: ([\w+/=-]+)")
_PNPM_PLACE = re.compile(r"\b(?:tarball|repo): ([^,}\s]+)")


@dataclass(frozen=True)
class Locked:
    """One package at one version: where it comes from ("" if the file does not say), its hashes, its real name."""

    name: str
    version: str
    source: str = ""
    hashes: frozenset[str] = frozenset()
    alias: str = ""

    @property
    def place(self) -> str:
        """The host that it is taken from; the scheme where there is none (file, link); "" if nothing is said."""
        parts = urlsplit(self.source.partition("+")[2] if self.source.startswith(_WRAPPED) else self.source)
        return parts.netloc.lower() or parts.scheme


_WRAPPED = ("registry+", "sparse+", "git+")


def is_lock(path: str) -> bool:
    """Return whether ``path`` is such a lock file, by its name."""
    return path.rpartition("/")[2].lower() in _READERS


def replaced(path: str, old: bytes, new: bytes) -> list[str]:
    """Return what ``new`` puts in the place of what ``old`` locks, in words; a file that can't be read is said."""
    read = _READERS[path.rpartition("/")[2].lower()]
    try:
        before = list(read(old))
    except _UNREADABLE:
        return []  # base's own is unreadable: nothing can be compared
    try:
        after = list(read(new))
    except _UNREADABLE:
        return ["can't be read any more"]
    exact = {(one.name, one.version): one for one in before}
    names = {one.name: one for one in before}
    places = {one.place for one in before}
    said = []
    for one in after:
        known = exact.get((one.name, one.version))
        earlier = known or names.get(one.name)
        if known is not None and known.hashes and one.hashes and not known.hashes & one.hashes:
            said.append(f"locks other bytes as {one.name} {one.version}")
        elif known is not None and known.hashes and not one.hashes:
            said.append(f"locks {one.name} {one.version} without a hash")
        elif one.place not in places if earlier is None or not earlier.place else one.place != earlier.place:
            if one.place and (earlier is not None or "." in one.place):
                said.append(f"takes {one.name} from {one.place[:80]}")
        elif earlier is not None and one.alias != earlier.alias:
            said.append(f"puts {one.alias or one.name} in the place of {earlier.alias or earlier.name}")
    return list(dict.fromkeys(said))


def _npm(raw: bytes) -> Iterator[Locked]:
    data = json.loads(raw)
    for key, entry in data.get("packages", {}).items():
        name = key.rpartition("node_modules/")[2]
        if name and "node_modules/" in key:
            yield _npm_entry(name, entry)
    if "packages" not in data:
        yield from _npm_tree(data.get("dependencies", {}), 0)


def _npm_tree(entries: dict[str, Any], depth: int) -> Iterator[Locked]:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    for name, entry in entries.items():
        yield _npm_entry(name, entry)
        yield from _npm_tree(entry.get("dependencies", {}), depth + 1)


def _npm_entry(name: str, entry: dict[str, Any]) -> Locked:
    source = "link:" if entry.get("link") else str(entry.get("resolved", ""))
    real = str(entry.get("name", ""))
    hashes = frozenset(str(entry.get("integrity", "")).split())
    return Locked(name, str(entry.get("version", "")), source, hashes, real if real != name else "")


def _cargo(raw: bytes) -> Iterator[Locked]:
    for entry in tomllib.loads(raw.decode("utf-8")).get("package", []):
        hashes = frozenset(str(entry.get("checksum", "")).split())
        yield Locked(str(entry["name"]), str(entry["version"]), str(entry.get("source", "path:")), hashes)


def _go(raw: bytes) -> Iterator[Locked]:
    found: dict[tuple[str, str], set[str]] = {}
    for line in raw.decode("utf-8").splitlines():
        words = line.split()
        if len(words) == 3:
            found.setdefault((words[0], words[1]), set()).add(words[2])
    for (name, version), hashes in found.items():
        yield Locked(name, version, hashes=frozenset(hashes))


def _yarn(raw: bytes) -> Iterator[Locked]:
    for block in re.split(r"\n(?=\S)", raw.decode("utf-8")):
        head, _, body = block.partition(":\n")
        first = head.partition(",")[0].strip().strip('"')
        name = first[: first.find("@", 1)] if "@" in first[1:] else ""
        fields = {m[1]: m[2].strip() for line in body.splitlines() if (m := _YARN_FIELD.match(line))}
        if name and "version" in fields:
            hashes = frozenset((fields.get("integrity") or fields.get("checksum") or "").split())
            real = fields.get("resolution", "")
            real = real[: real.find("@", 1)] if "@" in real[1:] else ""
            source = fields.get("resolved", "").partition("#")[0]
            yield Locked(name, fields["version"], source, hashes, real if real != name else "")


def _pnpm(raw: bytes) -> Iterator[Locked]:
    name = version = ""
    for line in raw.decode("utf-8").splitlines():
        if key := _PNPM_KEY.match(line):
            name, version = key[1], key[2]
        elif name and line.startswith("    resolution:"):
            place = _PNPM_PLACE.search(line)
            yield Locked(name, version, place[1] if place else "", frozenset(_PNPM_HASH.findall(line)))
            name = ""


_READERS: dict[str, Callable[[bytes], Iterator[Locked]]] = {
    "package-lock.json": _npm,
    "npm-shrinkwrap.json": _npm,
    "cargo.lock": _cargo,
    "go.sum": _go,
    "yarn.lock": _yarn,
    "pnpm-lock.yaml": _pnpm,
}
