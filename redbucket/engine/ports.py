"""What the engine asks of the world, as Protocols; the command line hands the real things in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

# Only named here: a static hook runs no tests, and must start quickly.
if TYPE_CHECKING:
    from pathlib import Path

    from redbucket.core.patch import Change, Commit, Entry, Hunk
    from redbucket.core.records import Run
    from redbucket.core.runspec import RunSpec
    from redbucket.guards.context import TreeView


class Merged(Protocol):
    """The outcome of a merge: a tree, and the paths that conflict."""

    @property
    def tree(self) -> str:
        """The tree id."""

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The paths that conflict."""

    @property
    def clean(self) -> bool:
        """True if nothing conflicts."""


class Branches(Protocol):
    """What the names of commits stand for."""

    def resolve(self, revision: str) -> str:
        """Return a commit id, or raise Misused."""

    def current_branch(self) -> str:
        """Return the short name of the current branch, "" if detached."""


class History(Branches, Protocol):
    """The user's repository, read only."""

    @property
    def is_shallow(self) -> bool:
        """True if the history is cut off."""

    def merge_base(self, one: str, other: str) -> str:
        """Return the best common ancestor, or raise Undecided."""

    def refs_at(self, commit: str) -> tuple[str, ...]:
        """Return the short names of the branches that point at a commit."""

    def commits(self, merge_base: str, head: str) -> tuple[Commit, ...]:
        """Return the commits of a range, newest first."""

    def rewrites(self) -> tuple[str, ...]:
        """Return what here makes git show another history than the objects hold: replace refs, grafts."""

    def signers(self, merge_base: str, head: str, allowed: bytes) -> Mapping[str, str]:
        """Return {commit id: principal} for the signatures that verify against ``allowed``."""


class Objects(Protocol):
    """The scratch repository: reads every object, writes none into the user's."""

    def tree_of(self, commit: str) -> str:
        """Return the tree id of a commit."""

    def merge_tree(self, base: str, head: str) -> Merged:
        """Merge two commits without a work tree."""

    def entries(self, tree: str) -> dict[str, Entry]:
        """Return every file of a tree."""

    def entry(self, tree: str, path: str) -> Entry | None:
        """Return what stands at one path of a tree, None for nothing; the others are not listed."""

    def read(self, oid: str) -> bytes:
        """Return a blob's exact bytes, or raise Undecided."""

    def diff(self, one: str, other: str) -> tuple[Change, ...]:
        """Return what differs between two trees."""

    def hunks(
        self, one: str, other: str, paths: Iterable[str] | None = None
    ) -> Mapping[str, tuple[Hunk, ...]]:
        """Return the hunks of changed text files."""

    def write_blob(self, content: bytes) -> str:
        """Return the id of a new blob."""

    def write_tree(self, base_tree: str | None, updates: Mapping[str, Entry | None]) -> str:
        """Return the id of a tree that differs from ``base_tree`` by ``updates``."""

    def tree_view(self, tree: str) -> TreeView:
        """Return a tree whose blobs are read on demand."""


class Runner(Protocol):
    """Whatever runs specs: this machine, another one, a cluster."""

    def run(self, spec: RunSpec) -> Path:
        """Run a spec and return the path of its record."""


class Bench(Protocol):
    """Runs several specs at once and reads their records."""

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        """Return one run for each spec, in the order of the specs."""
