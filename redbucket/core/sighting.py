"""What ``init`` saw of a repository, and what it proposes for it: values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """Where this redbucket can be had again: the address for git, and the commit."""

    address: str
    revision: str

    @property
    def requirement(self) -> str:
        """Return what ``pip install`` takes."""
        return f"git+{self.address}@{self.revision}"


@dataclass(frozen=True)
class Trial:
    """One recorded run of HEAD's tests. Times are in seconds; ``broken`` says why it is not whole.

    ``elsewhere`` maps the tree's own modules that came from another place to that place; ``skipped`` says that a good
    part of the tests was skipped.
    """

    count: int = 0
    files: frozenset[str] = frozenset()
    red: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    reads: Mapping[str, int] = field(default_factory=dict)
    wrote: frozenset[str] = frozenset()
    elapsed: float = 0.0
    longest: float = 0.0
    broken: str = ""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    skipped: str = ""


@dataclass(frozen=True)
class Sighting:
    """One repository as ``init`` found it.

    ``files`` are the work tree's files that may be kept, by path, with their bytes; ``paths`` the names of all
    tracked files. ``dirty`` says that the work tree's differ from the commit. ``properties`` maps a test file to
    its numbers of tests and of properties. ``trial`` is None where no test was run. ``env`` is what the tests
    need, past the policy that is there, to import the tree's own code.
    """

    top: str
    commit: str
    branch: str
    remote: str
    paths: frozenset[str]
    files: Mapping[str, bytes]
    command: tuple[str, ...]
    interpreter: str = ""
    python: str = ""
    runner: str = ""
    trial: Trial | None = None
    properties: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    source: Source | None = None
    dirty: bool = False
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposed:
    """One file: new with ``text``, or kept as it is (``text`` empty) with what it lacks.

    ``lacks`` are sentences, ``snippet`` the lines that would mend it; ``what`` is a short name for ``--without``.
    """

    what: str
    path: str
    text: str = ""
    lacks: tuple[str, ...] = ()
    snippet: str = ""
    why: str = ""
