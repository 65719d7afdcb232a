"""What every static guard is given: values, and a port to read blobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from redbucket.core.patch import Entry, Patch
from redbucket.core.policy import Policy


class TreeView(Protocol):
    """One tree, by path. Blobs are read from git objects, never from a work tree."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every file, link and submodule of the tree, by path."""

    def read(self, path: str) -> bytes:
        """Return the exact bytes of the blob at ``path`` (a link's target for a link).

        Raises KeyError if the tree has no such path.
        """


@dataclass(frozen=True)
class Context:
    """The patch under judgement.

    ``base`` is the tree of the base commit; ``head`` the tree that would land
    (the merge tree; the index's tree for a staged check); ``ancestor`` the
    merge base's tree. ``agent_paths`` are the changed paths whose last writer
    counts as an agent and that no endorsement covers; every other changed path
    is trusted. ``put_back`` are paths that commits of the range touched but
    whose net change is nothing. ``marks`` are the reasons for which the patch
    counts as an agent's ("" none).
    """

    policy: Policy
    patch: Patch
    base: TreeView
    head: TreeView
    ancestor: TreeView
    agent_paths: frozenset[str]
    put_back: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
