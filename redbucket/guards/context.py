"""What every static guard is given: values, and a port to read blobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from redbucket.core.patch import Entry, Patch
from redbucket.core.policy import Policy

# Of a patch with more files than that, notes are not worked out one by one: nobody reads them.
MANY_FILES = 500


class TreeView(Protocol):
    """One tree, by path. Blobs are read from git objects, never from a work tree."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every file, link and submodule of the tree, by path."""

    def read(self, path: str) -> bytes:
        """Return the exact bytes of the blob at ``path`` (a link's target for a link).

        Raises KeyError if the tree has no such path.
        """

    def size(self, path: str) -> int:
        """Return the size in bytes of the blob at ``path``. Raises KeyError as ``read`` does."""

    def sha256s(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return the SHA-256 of each blob at ``paths``, whatever its size. Raises KeyError as ``read`` does."""

    def prefetch(self, paths: Iterable[str]) -> None:
        """Make reading ``paths`` cheap: they are about to be read. Paths that the tree lacks are left out."""


@dataclass(frozen=True, eq=False)
class Context:
    """The patch under judgement.

    ``base`` is the tree of the base commit; ``head`` the tree that would land
    (the merge tree; the index's tree for a staged check); ``ancestor`` the
    merge base's tree. ``agent_paths`` are the changed paths whose last writer
    counts as an agent and that no endorsement covers; every other changed path
    is trusted. ``put_back`` are paths that commits of the range touched but
    whose net change is nothing. ``marks`` are the reasons for which the patch
    counts as an agent's ("" none).
    ``evil_merges`` says, when it is called, which merge commits of the range
    hold paths otherwise than merging their parents gives; ``rewrites`` which
    replace refs and grafts the user's repository has, which nothing here obeys.
    ``misses`` are the node ids of invariant misses that the patch is to answer; ``recalled`` those that earlier gates
    found in an earlier state of it, each with the tree of that state.
    """

    policy: Policy
    patch: Patch
    base: TreeView
    head: TreeView
    ancestor: TreeView
    agent_paths: frozenset[str]
    put_back: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ()
    evil_merges: Callable[[], Mapping[str, tuple[str, ...]]] = dict
    rewrites: Callable[[], tuple[str, ...]] = tuple
    misses: tuple[str, ...] = ()
    recalled: Mapping[str, TreeView] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
