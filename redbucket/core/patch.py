"""The parsed patch: what head brings over the merge base.

Paths are ``str`` with ``surrogateescape`` (as ``os.fsdecode`` gives them),
always with ``/``. Trust decisions compare object ids and modes, never text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

ABSENT_MODE = "000000"
SYMLINK_MODE = "120000"
GITLINK_MODE = "160000"
FOLDER_MODE = "040000"
EXECUTABLE_MODE = "100755"
FILE_MODE = "100644"


class Entry(NamedTuple):
    """One path of a tree: its mode and object id."""

    mode: str
    oid: str

    @property
    def is_symlink(self) -> bool:
        """True for a symbolic link."""
        return self.mode == SYMLINK_MODE

    @property
    def is_gitlink(self) -> bool:
        """True for a submodule."""
        return self.mode == GITLINK_MODE

    @property
    def is_folder(self) -> bool:
        """True for a folder, which the listing of a whole tree leaves out."""
        return self.mode == FOLDER_MODE

    @property
    def is_file(self) -> bool:
        """True for a regular file, executable or not."""
        return self.mode.startswith("100")


class Change(NamedTuple):
    """One path that differs between two trees; ``None`` means absent there."""

    path: str
    old: Entry | None
    new: Entry | None

    @property
    def added(self) -> bool:
        """True if the path is new."""
        return self.old is None

    @property
    def deleted(self) -> bool:
        """True if the path is gone."""
        return self.new is None

    @property
    def type_changed(self) -> bool:
        """True if a file became a link, a link a submodule, and so on."""
        return self.old is not None and self.new is not None and (self.old.mode[:3] != self.new.mode[:3])


@dataclass(frozen=True)
class Hunk:
    """One hunk of a text file, made with no context lines.

    ``old_start``/``new_start`` are 1-based line numbers as git prints them;
    ``removed`` and ``added`` hold the text without line ends.
    """

    old_start: int
    new_start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """Author or committer as the commit object has them."""

    name: str
    email: str


@dataclass(frozen=True)
class Commit:
    """One commit of the range, with the paths that it touched itself.

    ``signed_by`` is the principal of a signature that verified against the
    base's allowed signers, or ``None``.
    """

    oid: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str
    touched: tuple[str, ...]
    notes: str = ""
    signed_by: str | None = None


@dataclass(frozen=True)
class Patch:
    """What head brings over the merge base.

    ``changes`` is the net difference merge base -> head, sorted by path, one
    for each path (a rename is a deletion and an addition). ``commits`` are the
    commits of ``merge_base..head``, newest first. ``hunks`` maps changed text
    files to their hunks.
    """

    base: str
    head: str
    merge_base: str
    changes: tuple[Change, ...]
    commits: tuple[Commit, ...] = ()
    hunks: Mapping[str, tuple[Hunk, ...]] = field(default_factory=dict)
    branch: str = ""

    def change(self, path: str) -> Change | None:
        """Return the change of ``path``, or ``None``."""
        for change in self.changes:
            if change.path == path:
                return change
        return None
