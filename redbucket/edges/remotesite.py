"""The site at the end of a connection: the same methods as ``Site``, done there."""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from redbucket.edges.interpreter import Launch
from redbucket.edges.link import Link
from redbucket.edges.reportfiles import NotAReport
from redbucket.edges.shipping import Shipping
from redbucket.edges.site import Place
from redbucket.edges.supervise import Spoken


@dataclass
class Installed:
    """The interpreter's own files on the far side, as they were seen first: whatever the connection."""

    folders: Sequence[str]
    closed: bool
    seen: dict[str, str] = field(default_factory=dict)

    def of(self, link: Link) -> Mapping[str, str]:
        """Return what they are now; only a difference travels."""
        known = hashlib.sha256(json.dumps(self.seen, sort_keys=True).encode("ascii")).hexdigest()
        given = {"folders": list(self.folders), "closed": self.closed, "known": known}
        now: dict[str, str] | None = link.call("look", given)
        if not self.seen and now is not None:
            self.seen = now
        return self.seen if now is None else now


@dataclass(frozen=True)
class RemoteSite:
    """One connection's site. Every method raises SiteLost when the connection breaks."""

    link: Link
    shipping: Shipping
    files: Installed

    def settle(
        self, name: str, tree: str, tree_name: str, *, masked: bool, used_home: str, empty_home: bool
    ) -> Place:
        """As ``Site`` does, after the tree's objects were sent."""
        self.shipping.ship(tree)
        given = {"name": name, "tree": tree, "tree_name": tree_name, "masked": masked}
        return Place(**self.link.call("settle", {**given, "used_home": used_home, "empty_home": empty_home}))

    def knows(self, name: str) -> bool:
        """As ``Site`` does."""
        return bool(self.link.call("knows", {"name": name}))

    def environment(
        self, launch: Launch, place: Place, seed: str, hash_seed: str, extra: Mapping[str, str]
    ) -> dict[str, str]:
        """As ``Site`` does, from the far side's own variables."""
        given = {"launch": asdict(launch), "place": asdict(place), "seed": seed, "hash_seed": hash_seed}
        return dict(self.link.call("environment", {**given, "extra": dict(extra)}))

    def confine(self, launch: Launch, place: Place, network: bool) -> list[str]:
        """As ``Site`` does."""
        given = {"launch": asdict(launch), "place": asdict(place), "network": network}
        return list(self.link.call("confine", given))

    def mask(self, tree: str, seed: str) -> None:
        """As ``Site`` does."""
        self.link.call("mask", {"tree": tree, "seed": seed})

    def digest(self, tree: str, paths: Sequence[str]) -> Mapping[str, str]:
        """As ``Site`` does."""
        return dict(self.link.call("digest", {"tree": tree, "paths": list(paths)}))

    def stamps(self, tree: str, paths: Sequence[str]) -> Mapping[str, list[int]]:
        """As ``Site`` does."""
        return dict(self.link.call("stamps", {"tree": tree, "paths": list(paths)}))

    def note_files(self, tree: str) -> None:
        """As ``Site`` does."""
        self.link.call("note_files", {"tree": tree})

    def new_files(self, tree: str) -> list[str]:
        """As ``Site`` does."""
        return list(self.link.call("new_files", {"tree": tree}))

    def reports(self, tree: str, pattern: str) -> list[str]:
        """As ``Site`` does."""
        return list(self.link.call("reports", {"tree": tree, "pattern": pattern}))

    def report(self, tree: str, name: str) -> Callable[[], Iterator[bytes]]:
        """As ``Site`` does; the report is brought here first."""
        copy = tempfile.TemporaryFile()  # noqa: SIM115 (it is read again and again, as long as the reader lives)

        def take(piece: dict[str, Any]) -> None:
            copy.write(base64.b64decode(piece["data"]))

        wrong = self.link.call("report", {"tree": tree, "name": name}, on_event=take)
        if wrong:
            raise NotAReport(wrong)

        def read() -> Iterator[bytes]:
            copy.seek(0)
            while data := copy.read(1 << 20):
                yield data

        return read

    def plain(
        self,
        words: Sequence[str],
        tree: str,
        env: Mapping[str, str],
        left: Callable[[], float],
        load: tuple[str, int] = ("", 0),
    ) -> tuple[int, str, str]:
        """As ``Site`` does."""
        given = {"words": list(words), "tree": tree, "env": dict(env), "load": list(load)}
        status, output, problem = self.link.call("plain", given, over=lambda: left() < 0)
        return status, output, problem

    def post(self, place: str, boot: str, package: str, main: str, python: str) -> str:
        """As ``Site`` does."""
        given = {"place": place, "boot": boot, "package": package, "main": main, "python": python}
        return str(self.link.call("post", given))

    def process(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        tree: str,
        settings: dict[str, Any],
        limits: tuple[float, float, float],
        load: int,
        on_event: Callable[[dict[str, Any]], None],
    ) -> Spoken:
        """As ``Site`` does; each event comes as it happens."""
        given = {"argv": list(argv), "env": dict(env), "tree": tree, "settings": settings}
        said = self.link.call("process", {**given, "limits": list(limits), "load": load}, on_event=on_event)
        return Spoken(**said)

    def installed(self) -> Mapping[str, str]:
        """As ``Site`` does."""
        return self.files.of(self.link)

    def leave(self, place: str) -> None:
        """As ``Site`` does."""
        self.link.call("leave", {"place": place})
