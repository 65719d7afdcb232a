"""Sends trees over a connection as git objects: only those that are not there."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from redbucket.edges.link import Link, pieces
from redbucket.edges.scratch import Scratch


class Shipping:
    """What one connection's far side has.

    ``clone`` says that it has objects besides those that were sent; ``looked`` is called with a tree before that.
    """

    def __init__(self, link: Link, scratch: Scratch, *, clone: bool, looked: Callable[[str], None]) -> None:
        self._link, self._scratch, self._clone, self._looked = link, scratch, clone, looked
        self._there: set[str] = set()
        self._lock = threading.Lock()
        self.sent_objects = self.sent_bytes = 0

    def ship(self, tree: str) -> None:
        """See that ``tree`` and all that is in it is there. Raises SiteLost, and Undecided "missing-object"."""
        with self._lock:
            if tree in self._there:
                return
            self._looked(tree)
            listed = self._scratch.git.run("rev-list", "--objects", "--no-object-names", tree)
            oids = [oid for oid in listed.out.decode("ascii").split() if oid not in self._there]
            wanted = self._link.call("lacks", {"oids": oids}) if self._clone else oids
            if wanted:
                self._send(wanted)
            self._there.update(oids, (tree,))

    def _send(self, oids: list[str]) -> None:
        with tempfile.TemporaryDirectory(dir=self._scratch.folder, prefix="pack-") as place:
            stdin = "".join(f"{oid}\n" for oid in oids).encode("ascii")
            self._scratch.git.run("pack-objects", "-q", f"{place}/ship", stdin=stdin)
            for pack in Path(place).glob("*.pack"):
                with pack.open("rb") as stream:
                    self.sent_bytes += self._link.call("take", {}, body=pieces(stream))
        self.sent_objects += len(oids)
