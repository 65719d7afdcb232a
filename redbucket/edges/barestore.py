"""A bare repository of our own, laid down by hand. Also runs on the far side of a connection: standard library only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

# Written by hand after gitrepository-layout(5): `git init` costs a process, and obeys templates and defaults.
# Nothing in it outlives the command, so that no write waits for the disk.
_CONFIG = """\
[core]
\trepositoryFormatVersion = 1
\tbare = true
\tfileMode = true
\tsymlinks = true
\tautocrlf = false
\teol = lf
\tsafecrlf = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tlogAllRefUpdates = false
[extensions]
\tobjectFormat = {object_format}
[gc]
\tauto = 0
[checkout]
\tworkers = {workers}
\tthresholdForParallelism = 200
"""

# info/attributes outranks every .gitattributes of a tree: bytes leave the object database unchanged.
_ATTRIBUTES = "* !text !eol !crlf !ident !filter !working-tree-encoding !merge !diff !conflict-marker-size\n"

SEALED = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}


def lay_down(folder: Path, object_format: str, alternates: Sequence[str]) -> None:
    """Make the repository; ``alternates`` are object folders, quoted as git wants them. Raises OSError."""
    for name in ("objects/info", "objects/pack", "refs/heads", "info", "indexes"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    workers = max(1, min(8, os.cpu_count() or 1))
    (folder / "config").write_text(_CONFIG.format(object_format=object_format, workers=workers))
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "info/attributes").write_text(_ATTRIBUTES)
    (folder / "objects/info/alternates").write_bytes(os.fsencode("".join(f"{line}\n" for line in alternates)))
