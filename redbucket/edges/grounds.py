"""What a run asks of the place where it happens: this machine, or one at the end of a connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from redbucket.edges import supervise
from redbucket.edges.interpreter import Launch
from redbucket.edges.site import Place


class SiteLost(Exception):
    """The site where a run happened can't be reached any more: the run has no end, and its folders are gone.

    ``open_test`` is the test that was running ("" if none was), ``done`` the outcome of each test that had ended.
    """

    def __init__(self, reason: str, open_test: str = "", done: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.reason, self.open_test, self.done = reason, open_test, dict(done or {})


class Grounds(Protocol):
    """What a run asks of the place where it happens; ``Site`` explains the methods. Raises SiteLost."""

    def settle(
        self, name: str, tree: str, tree_name: str, *, masked: bool, used_home: str, empty_home: bool
    ) -> Place: ...
    def environment(
        self, launch: Launch, place: Place, seed: str, hash_seed: str, extra: Mapping[str, str]
    ) -> dict[str, str]: ...
    def confine(self, launch: Launch, place: Place, network: bool) -> list[str]: ...
    def mask(self, tree: str, seed: str) -> None: ...
    def digest(self, tree: str, paths: Sequence[str]) -> Mapping[str, str]: ...
    def stamps(self, tree: str, paths: Sequence[str]) -> Mapping[str, list[int]]: ...
    def note_files(self, tree: str) -> None: ...
    def new_files(self, tree: str) -> list[str]: ...
    def plain(
        self,
        words: Sequence[str],
        tree: str,
        env: Mapping[str, str],
        left: Callable[[], float],
        load: tuple[str, int] = ("", 0),
    ) -> tuple[int, str, str]: ...
    def reports(self, tree: str, pattern: str) -> list[str]: ...
    def report(self, tree: str, name: str) -> Callable[[], Iterator[bytes]]: ...
    def post(self, place: str, boot: str, package: str, main: str, python: str) -> str: ...
    def process(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        tree: str,
        settings: dict[str, Any],
        limits: tuple[float, float, float],
        load: int,
        on_event: Callable[[dict[str, Any]], None],
    ) -> supervise.Spoken: ...
    def installed(self) -> Mapping[str, str]: ...
    def leave(self, place: str) -> None: ...
